"""Reads and writes what each program was measured to cost under each torch: tests/truth/verdicts.json.

A program's row has the hash of its text and a verdict for each version from which on it is another one than
before: `{"text": "1a2b3c4d", "2.6": "1 recompile", "2.8": "storm"}`. A verdict is made of the words below; `-`
says that nothing is lost, `?` that the program was not run, or has changed since. The rows of the cost tables of
the rule pages stand in rules/measured.json, which the wheel ships, in the same form.

`run` says which torch and Python are those of the tests: what was measured under them stands for a run, and only
programs that are new or edited since are run again (`recorded`). Programs of COUNTED have their number of graphs
and the lines that break under them as well: `"graphs": "2, breaks at program.py:12"`.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.truths import FOLDER, Verdict

PROGRAMS = FOLDER / "verdicts.json"
ROWS = FOLDER.parent.parent / "rules" / "measured.json"
UNKNOWN = "?"
CANNOT = "cannot run"
"""The program does not run on this torch, compiled or not."""
RAISES = "raises"
"""It raises when it is compiled: a fault of that torch, about which nothing is claimed."""
COUNTED = ("graph_breaks",)
"""The themes in which every line that breaks a graph is marked, and nothing else makes a second graph."""
SAMPLE = 32
"""One of so many programs is run whatever the table says: it must say what Dynamo does."""

_LACKS = re.compile(r"has no attribute|does not exist|unexpected keyword argument")
"""An error that says that this torch has no such name yet, or no more."""

Version = tuple[int, int]
Row = dict[str, str]
Table = dict[str, Any]
"""`{"torch": {"2.6": "2.6.0"}, "run": {"torch": "2.6.0", "python": "3.11"}, "rows": {name: row}}`."""


@cache
def load(path: Path) -> Table:
    """The table in a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def save(path: Path, table: Table) -> None:
    """Write a table with one row a line, in order."""
    torch = dict(sorted(table["torch"].items(), key=lambda item: version(item[0])))
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(table["rows"].items())]
    rows = ",\n".join(lines)
    head = f'"torch": {json.dumps(torch)},\n"run": {json.dumps(table["run"])}'
    path.write_text(f'{{{head},\n"rows": {{\n{rows}\n}}}}\n', encoding="utf-8")
    load.cache_clear()


def surroundings() -> dict[str, str]:
    """The torch and the Python that a verdict depends on, as this process has them."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"torch": metadata.version("torch").partition("+")[0], "python": python}


def recorded(path: Path, name: str, digest: str) -> Row | None:
    """What a table holds for a run of a text under the installed torch: `verdict`, and `graphs` if counted.

    None where it does not know that text, or not under this torch and Python.
    """
    table = load(path)
    row = table["rows"].get(name, {})
    if table["run"] != surroundings() or row.get("text") != digest:
        return None
    short = ".".join(table["run"]["torch"].split(".")[:2])
    verdict = spread(row, list(table["torch"]), digest)[short]
    return None if verdict == UNKNOWN else {"verdict": verdict, "graphs": row.get("graphs", "")}


def sampled(name: str) -> bool:
    """Whether a program is among those that are run in any case."""
    return hashlib.sha256(name.encode()).digest()[0] % SAMPLE == 0


def version(text: str) -> Version:
    """`2.13` as a pair."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def spread(row: Row, versions: list[str], digest: str) -> dict[str, str]:
    """The verdict for each version; `?` for all of them where the text has changed."""
    found = {}
    last = UNKNOWN
    for one in versions:
        last = row.get(one, last)
        found[one] = last if row.get("text") == digest else UNKNOWN
    return found


def bridged(verdicts: Mapping[str, str]) -> dict[str, str]:
    """The same, with what was not run taken from the versions around it where both have one verdict."""
    found = dict(verdicts)
    names = list(found)
    for place, name in enumerate(names):
        if verdicts[name] == UNKNOWN:
            before = next((verdicts[one] for one in names[:place][::-1] if verdicts[one] != UNKNOWN), None)
            after = next((verdicts[one] for one in names[place:] if verdicts[one] != UNKNOWN), None)
            found[name] = before if before is not None and before == after else UNKNOWN
    return found


def packed(verdicts: Mapping[str, str], digest: str) -> Row:
    """The row of these verdicts, whose keys are all versions in order."""
    row = {"text": digest}
    last = UNKNOWN
    for one, verdict in verdicts.items():
        if verdict != last:
            row[one] = last = verdict
    return row


def words(told: Mapping[str, Any]) -> str:
    """The verdict on what a run came to (see bench/under_torch.py)."""
    if "needs" in told:
        return CANNOT
    if "raises" in told:
        return CANNOT if _LACKS.search(told["raises"]) else RAISES
    verdict = Verdict(
        storm=told["limit"] or told["never_settles"],
        eager=told["graphs_run"] < told["calls"] and not told["limit"],
        stale=told["stale"],
        recompiles=told["recompiles"],
        breaks=told["breaks"] > 0,
    )
    parts = ["storm"] * verdict.storm
    if verdict.recompiles and not verdict.storm:
        parts.append(f"{verdict.recompiles} recompile{'s' * (verdict.recompiles > 1)}")
    parts += ["eager"] * verdict.eager + ["stale"] * verdict.stale + ["breaks"] * verdict.breaks
    return ", ".join(parts) or "-"


def graphs(told: Mapping[str, Any]) -> str:
    """The number of graphs of a run, and the lines that broke them; empty where it raises."""
    if "compiles" not in told:
        return ""
    lines = sorted((name, line) for name, line in told["break_lines"])
    at = ", breaks at " + " ".join(f"{name}:{line}" for name, line in lines) if lines else ""
    return f"{told['compiles']}{at}"


def counted_of(text: str) -> tuple[int, frozenset[tuple[str, int]]]:
    """The number of graphs and the lines that broke them, of such a text."""
    number, _, at = text.partition(", breaks at ")
    places = (place.rsplit(":", 1) for place in at.split())
    return int(number), frozenset((name, int(line)) for name, line in places)


def cells(told: Mapping[str, Any]) -> str:
    """The cells of a row of a cost table, as the rule pages have them, and the effect that they show."""
    if "raises" in told:
        return "cannot run | - | - | - | -" if _LACKS.search(told["raises"]) else "raises | - | - | - | -"
    return " | ".join(
        [
            f"{told['compiles']} (limit)" if told["limit"] else f"{told['compiles']}",
            f"{told['graphs_run']} of {told['calls']}",
            " ".join(told["break_ids"]) or ("yes" if told["breaks"] else "-"),  # older ones have no ids
            "wrong" if told["stale"] else "right",
            _effect(told),
        ]
    )


def _effect(told: Mapping[str, Any]) -> str:
    if told["stale"]:
        return "stale"
    if told["limit"] or told["compiles"] >= told["calls"]:
        return "storm"
    if told["graphs_run"] < told["calls"]:
        return "eager"
    if told["breaks"]:
        return "break"
    return "-" if told["compiles"] == 1 else "once" if told["compiles"] == 2 else "per-value"


def digest_of(path: Path) -> str:
    """A short hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def verdict_of(text: str) -> Verdict | None:
    """The verdict in these words; None where there is nothing to hold a claim against."""
    if text in (UNKNOWN, CANNOT, RAISES):
        return None
    number = re.search(r"(\d+) recompile", text)
    return Verdict(
        storm="storm" in text,
        eager="eager" in text,
        stale="stale" in text,
        recompiles=int(number[1]) if number else 0,
        breaks="breaks" in text,
    )
