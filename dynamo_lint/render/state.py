"""The account of the state that compiled code reads: lines for people, a document for scripts."""

from __future__ import annotations

from dynamo_lint.render.account import Account, Row
from dynamo_lint.render.json_format import SCHEMA_VERSION
from dynamo_lint.render.prose import json_text
from dynamo_lint.render.regions import place
from dynamo_lint.terminal import Look, clean


def document(account: Account) -> str:
    """The account for scripts."""
    rows = [
        {
            "region": one.guarded.region,
            "kind": one.guarded.kind,
            "name": one.guarded.name,
            "type": one.guarded.type,
            "set": [{"path": path, "line": int(line)} for path, line in map(place, one.guarded.places)],
            "writers": one.guarded.writers,
            "read": {"path": one.read[0], "line": one.read[1]},
            "checks": [*one.checks],
            "change": one.change,
            "programs": [*one.programs],
            "recompiles": one.compiles,
            "findings": [{"code": found.code, "fingerprint": found.fingerprint} for found in row.findings],
            **({"was": one.was, "now": one.now} if one.was and one.now else {}),
            **({"called": dict(zip(("path", "line"), one.called, strict=True))} if one.called else {}),
        }
        for row in account.rows
        for one in (row.about,)
    ]
    made = {"schema_version": SCHEMA_VERSION, "summary": account.counts, "state": rows}
    return json_text(made, exact=True)


def text(account: Account, look: Look) -> str:
    """The account for people: a line for each value below its region."""
    if not account.rows:
        return "Compiled code reads no Python values of this project.\n"
    lines: list[str] = []
    for region, rows in account.by_region():
        lines += [""] if lines else []
        lines.append(look.line(look.paint(clean(region), bold=True)))
        lines += [look.line(_told(row, look), "    ", "      ") for row in rows]
    return "\n".join([*lines, "", look.line(f"{account.summary}.")]) + "\n"


def _told(row: Row, look: Look) -> str:
    one, guarded = row.about, row.about.guarded
    set_at = ", ".join(look.place(path, int(line)) for path, line in map(place, guarded.places))
    parts = [f"{guarded.kind} {clean(guarded.name)}: {guarded.type}", row.fate]
    parts += [f"set at {set_at}"] if set_at else []
    parts.append(f"read at {look.place(*one.read)}, guarded by {row.guarded_by}")
    codes = ", ".join(dict.fromkeys(found.code for found in row.findings))
    return "; ".join([*parts, *([codes] if codes else [])])
