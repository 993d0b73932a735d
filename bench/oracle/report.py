"""Writes bench/oracle/README.md: the figures, by rule and by family, and every missed and false one."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.oracle import broken, fixtures
from bench.oracle.join import Outcome, by_subject, lasting, outcome
from bench.oracle.lint import lint

HEAD = """# How right the linter is on models that people use

Written by `python -m bench.oracle run`, then `report`; do not edit. Each architecture is built from a tiny
random configuration, each of its repeated blocks is compiled (`blocks`) or the whole model (`whole`), and it
lives through training steps, another batch size and length, evaluation without gradients and, where it
writes texts, generation with a dynamic and a static cache. What Dynamo did is heard by the witness of
`dynamo-lint confirm`; the same sources are linted with what was compiled declared as regions, and the two are
joined.

- **true**: Python state whose guard failed, and a finding said so.
- **missed**: ... and no finding said so.
- **false**: a finding, a note as well as an error, whose line ran compiled and whose state differed, and no
  guard of it failed.
- **unknown**: a finding whose line never ran compiled here, or whose state never differed. State is what
  outlives a call: that of the compiled modules and of the objects in them, of the objects that a call is
  given, and of the environment. What compiled code makes for itself and drops, as a cache that nobody passed,
  is none; but a finding on a class of which no object outlives a call, in no model of the table, is false.

Recompiles for anything else have columns of their own: shapes and types of input tensors, weights of another
shape, modes (train or eval, gradients on or off), and arguments of another kind (None or not, another class,
other keywords, or made of parts of another class, which only constructors choose), which the caller decides;
where a graph break cuts a function in two, what the code between returned, by itself or in a tuple or dict,
is an argument of the second half. Weights count where instances of one class differ in size, so that nothing
could spare the compile: a weight's guard is part of the explanation, or the state in it never differs between
two instances without a difference in some weight's shape, as measured on the model itself.

Images and sounds are not given to models that also take text. Guards of Python state are Dynamo's own, made
before a backend is asked, so the backend is `eager`, which takes a third of the time of `aot_eager`; 38
models recorded with either recompiled alike. All models of a table are declared at once, as if one project
compiled them all. To reproduce: `python -m bench.oracle run && python -m bench.oracle report`, with
transformers==5.23.0, x-transformers==2.31.10 and timm==1.0.31 importable.
"""


def report(folder: Path, sources: Sequence[str], modes: Sequence[str], every: int = 1) -> str:
    """The page, from the records in a folder, or from every so-manieth that ran."""
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    parts: list[str] = []
    everything: list[Outcome] = []
    for source in sources:
        for mode in modes:
            chosen = [one for one in records if (one["source"], one["mode"]) == (source, mode)]
            if ran := [one for one in chosen if one["status"] == "ran"][::every]:
                everything_said, root = lint(source, ran)
                findings = [one for one in everything_said if not broken.is_of_break(one)]
                outlived = lasting(ran)
                outcomes = [outcome(one, findings, root, outlived) for one in ran]
                everything += outcomes
                parts.append(_section(source, mode, chosen, outcomes))
                parts += broken.section(ran, everything_said, root)
    return "\n".join([HEAD, _total(everything), *parts, *fixtures.section()])


def _total(outcomes: Sequence[Outcome]) -> str:
    """What stands above all tables."""
    true, missed, false = (
        sum(len(getattr(one, column)) for one in outcomes) for column in ("true", "missed", "false")
    )
    return (
        f"**{len(outcomes)} runs in all: {true} true, {missed} missed, {false} false: "
        f"precision {_share(true, false)}, recall {_share(true, missed)}.**\n"
    )


def _section(source: str, mode: str, records: Sequence[dict[str, Any]], outcomes: list[Outcome]) -> str:
    left_out = [one for one in records if one["status"] != "ran"]
    partly = [one for one in records if one.get("failures")]
    lines = [
        f"## {source}, {mode}",
        "",
        f"{len(records) - len(left_out)} of {len(records)} architectures ran, {len(partly)} not through "
        f"every phase; {len(outcomes)} are held against the findings. {_versions(records)}",
        "",
        *_table("family", _families(outcomes)),
        "",
        *_table("rule", _rules(outcomes)),
        "",
        *_listed("Missed", by_subject(outcomes, "missed")),
        *_listed("False", by_subject(outcomes, "false")),
        *_listed("Left out", _reasons(left_out)),
    ]
    return "\n".join(lines) + "\n"


def _versions(records: Iterable[dict[str, Any]]) -> str:
    """With which torch the records were made, and what got the graphs."""
    receipts = [one["receipt"] for one in records if "receipt" in one]
    torch = sorted({one["torch_version"].partition("+")[0] for one in receipts})
    backends = Counter(one["backend"] for one in receipts)
    by = ", ".join(f"{name} ({count})" for name, count in sorted(backends.items()))
    return f"Recorded with torch {', '.join(torch)}; backends: {by}."


Row = Counter[str]
COLUMNS = ("true", "missed", "false", "unknown", "recompiles", "inputs", "weights", "modes", "arguments")


def _families(outcomes: Iterable[Outcome]) -> dict[str, Row]:
    table: dict[str, Row] = defaultdict(Counter)
    for one in outcomes:
        for name in (one.family, "all"):
            table[name]["ran"] += 1
            for column in COLUMNS:
                value = getattr(one, column)
                table[name][column] += value if isinstance(value, int) else len(value)
    return table


def _rules(outcomes: Iterable[Outcome]) -> dict[str, Row]:
    """Per rule; what was missed has none."""
    table: dict[str, Row] = defaultdict(Counter)
    for one in outcomes:
        for finding in one.true.values():
            table[finding.code]["true"] += 1
        for column in ("false", "unknown"):
            for finding in getattr(one, column):
                table[finding.code][column] += 1
    return dict(sorted(table.items()))


def _table(head: str, rows: dict[str, Row]) -> list[str]:
    columns = [column for column in ("ran", *COLUMNS) if any(column in row for row in rows.values())]
    lines = [f"| {head} | {' | '.join(columns)} | precision | recall |", "|---" * (len(columns) + 3) + "|"]
    for name, row in rows.items():
        cells = " | ".join(str(row[column]) for column in columns)
        precision = _share(row["true"], row["false"])
        recall = _share(row["true"], row["missed"]) if "missed" in row else ""
        lines.append(f"| {name} | {cells} | {precision} | {recall} |")
    return lines


def _share(right: int, wrong: int) -> str:
    return f"{right / (right + wrong):.3f}" if right + wrong else ""


def _listed(title: str, table: dict[str, list[str]]) -> list[str]:
    if not table:
        return []
    rows = [f"- `{text}`: {len(names)} ({_names(names)})" for text, names in table.items()]
    return [f"### {title}", "", *rows, ""]


def _names(names: Sequence[str]) -> str:
    unique = sorted(set(names))
    return ", ".join(unique[:6]) + (", ..." if len(unique) > 6 else "")


def _reasons(records: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = defaultdict(list)
    for one in records:
        why = " ".join(one.get("why", one["status"]).split())
        # Of several attempts the first says enough.
        table[why.partition("; ")[0][:100].replace("`", "'")].append(one["name"])
    return dict(sorted(table.items(), key=lambda row: -len(row[1])))
