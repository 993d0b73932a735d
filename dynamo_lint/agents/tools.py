"""The tools as commands: the words of each, and what is kept of its output.

Answers are short, because they are read by a model: long lists are cut, and say so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dynamo_lint import files
from dynamo_lint.trouble import Trouble

Answer = dict[str, Any]
MOST = 20
"""Findings, causes or probes in an answer, if nobody asks for more."""
_LONGEST_TEXT = 16_000
"""Characters of a page or of a patch."""
_OF_PROBES = {
    "recompiles": ("path", "line", "function", "call", "guard", "expected", "actual", "cause"),
    "graph_breaks": ("path", "line", "function", "id", "reason"),
    "findings": ("path", "line", "code", "verdict"),
}
"""What is kept of the rows of a receipt."""
_STEPS, _EDITS, _SITES = 8, 12, 10
_LONGEST_EDIT = 600
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,60}")


def words_of_check(root: Path, paths: Sequence[str], select: str | None, torch: str | None) -> list[str]:
    """The command for the findings of some paths."""
    return ["check", *_options(select, torch), "--output-format=json", "--context", *_below(root, paths)]


def words_of_fix(root: Path, paths: Sequence[str], select: str | None, apply: bool) -> list[str]:
    """The command that makes all safe fixes, or shows them as a patch."""
    how = ["--fix", "--output-format=json"] if apply else ["--diff"]
    return ["check", *_options(select, None), *how, *_below(root, paths)]


def words_of_why(root: Path, paths: Sequence[str], name: str) -> list[str]:
    """The command that says why a function is compiled, or is not."""
    return ["regions", f"--why={name}", "--color=never", *_below(root, paths)]


def words_of_rule(_: Path, rule: str) -> list[str]:
    """The command for the page of a rule."""
    if not _CODE.fullmatch(rule):
        raise Trouble(f"{rule!r} is no rule; name one by its code, such as DYN101, or by its name")
    return ["rule", rule, "--output-format=json"]


def words_of_logs(root: Path, logs: Sequence[str], sources: Sequence[str]) -> list[str]:
    """The command that reads what a job has logged."""
    if not logs:
        raise Trouble("name the log file or the trace folder of a job")
    named = [f"--source={path}" for path in (_below(root, sources) if sources else [])]
    return ["logs", *named, "--output-format=json", *_below(root, logs)]


def words_of_confirm(root: Path, probes: Sequence[str], fixed: bool) -> list[str]:
    """The command that runs probes."""
    named = []
    for probe in probes:
        path, mark, name = probe.partition("::")
        named.append(_below(root, [path])[0] + mark + name)
    return ["confirm", *(["--fixed"] if fixed else []), "--output-format=json", *named]


def found(document: Mapping[str, Any], most: int) -> Answer:
    """The answer of `check`: what was found, the worst first."""
    order = ("error", "warning", "note")
    findings = sorted(document["findings"], key=lambda one: order.index(one["severity"]))
    unresolved = [f"{_place(one)} {one['expression']}: {one['why']}" for one in document["unresolved"]]
    return {
        "torch_version": document["torch_version"],
        "compiled_functions": document["summary"]["hot_functions"],
        "findings": [finding(one) for one in findings[:most]],
        "left_out": max(len(findings) - most, 0),
        "unresolved": _cut(unresolved, _SITES),
        "errors": _cut([f"{_place(one)} {one['message']}" for one in document["errors"]], _SITES),
    }


def finding(one: Mapping[str, Any]) -> Answer:
    """One finding: the rule, the place, what happens, the way there, and the edit."""
    steps = [f"{_place(step)} {step['note']}" for step in one["chain"]]
    steps += [f"{_place(other)} {other['message']}" for other in one["related"]]
    kept = ("code", "name", "severity", "effect", "confidence", "message", "cost", "fingerprint")
    return {
        **{key: one[key] for key in kept},
        "place": _place(one, column=True),
        "source": [f"{line['line']}: {line['text'][:_LONGEST_EDIT]}" for line in _source(one)],
        "chain": _cut(steps, _STEPS),
        "fix": None if one["fix"] is None else _fix(one["fix"]),
    }


def rule(pages: Sequence[Mapping[str, Any]]) -> Answer:
    """The answer of `explain`: what a rule finds, what it costs and how to fix it."""
    page = pages[0]
    kept = {key: page[key] for key in ("code", "name", "summary", "fix", "effects")}
    return {**kept, "page": cut_text(page["body"]), "others": [one["code"] for one in pages[1:]]}


def causes(document: Mapping[str, Any], most: int) -> Answer:
    """The answer of `read_logs`: the lines of the code that made a job slow, and what stays unexplained."""
    kept = ("path", "line", "code", "subject", "recompiles", "breaks", "limits")
    told = [
        {**{key: one[key] for key in kept}, "finding": one["finding"] and finding(one["finding"])}
        for one in document["causes"]
    ]
    unexplained = [*document["unexplained"], *document["unexplained_breaks"]]
    return {
        "proof": document["proof"],
        "torch": document["torch"],
        "recompiles": sum(one["count"] for one in document["recompiles"]),
        "breaks": sum(one["count"] for one in document["breaks"]),
        "limits_hit": len(document["limits"]),
        "causes": told[:most],
        "unexplained": unexplained[:most],
        "left_out": max(len(told) - most, 0) + max(len(unexplained) - most, 0),
        "notes": _cut(list(map(str, document["notes"])), _SITES),
    }


def receipt(document: Mapping[str, Any], most: int) -> Answer:
    """The answer of `confirm`: what Dynamo did with each probe, and which findings it proves."""
    kept = ("name", "path", "calls", "compiles", "hit_limit", "matches_eager", "error")
    probes = []
    for probe in document["probes"]:
        told = {key: probe[key] for key in kept if key in probe}
        for key, words in _OF_PROBES.items():
            rows = probe.get(key) or []
            told[key] = [{word: row[word] for word in words if word in row} for row in rows[:most]]
            told[f"{key}_left_out"] = max(len(rows) - most, 0)
        probes.append(told)
    answer = {
        "torch_version": document["torch_version"],
        "summary": document["summary"],
        "probes": probes[:most],
    }
    if "fixed" in document:
        answer["fixed"] = document["fixed"]
    return {**answer, "left_out": max(len(probes) - most, 0)}


def cut_text(text: str) -> str:
    """A text of bounded length."""
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}\n... {len(text) - _LONGEST_TEXT} more characters"


def _options(select: str | None, torch: str | None) -> Iterator[str]:
    if select:
        yield f"--select={select}"
    if torch:
        yield f"--torch-version={torch}"


def _below(root: Path, paths: Sequence[str]) -> list[str]:
    """The paths as the command takes them; one that leads out of the folder of the server is refused."""
    top = os.path.realpath(root)
    named = []
    for path in paths or ["."]:
        if "\0" in path or not files.inside(root / path, [top]):
            raise Trouble(f"{path!r} lies outside of {root}, the folder that this server was started in")
        # As it was named, but never an option, nor `-`, which is stdin.
        named.append(os.path.join(".", path) if not os.path.isabs(path) else path)
    return named


def _source(one: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The lines of a finding and around it, where the command has told them."""
    lines: Sequence[Mapping[str, Any]] = one.get("context", {}).get("finding", ())
    return lines[:_STEPS]


def _fix(fix: Mapping[str, Any]) -> Answer:
    edits = []
    for edit in fix["edits"][:_EDITS]:
        start, end = edit["start"], edit["end"]
        where = f"{edit['path']}:{start['line']}:{start['column']}-{end['line']}:{end['column']}"
        edits.append({"place": where, "replacement": edit["replacement"][:_LONGEST_EDIT]})
    said = {name: fix[name] for name in ("kind", "applicability", "message", "reason") if name in fix}
    return {**said, "edits": edits}


def _place(one: Mapping[str, Any], column: bool = False) -> str:
    """`path:line:column`; in a notebook `path:cell 3:line`."""
    line = f"cell {one['cell']}:{one['cell_line']}" if one.get("cell") is not None else one["line"]
    return f"{one['path']}:{line}:{one['column']}" if column else f"{one['path']}:{line}"


def _cut(lines: Iterable[str], most: int) -> list[str]:
    """Some lines, and how many more there are."""
    told = list(lines)
    return [*told[:most], f"... {len(told) - most} more"] if len(told) > most else told
