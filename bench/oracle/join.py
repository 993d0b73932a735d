"""Joins the records with the findings: true, missed, false, unknown, and causes that no reading can know."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.oracle.born import from_birth
from bench.oracle.paths import path_of
from dynamo_lint.confirm.model import Cause, Receipt, Recompile, from_json
from dynamo_lint.confirm.verdicts import of_mode, spoken_of
from dynamo_lint.findings import Finding

ARGUMENT = re.compile(r"L\['(?!self')\w+'\](?:\[[^\]]*\])*\Z")
"""A value that the caller of the compiled function handed over, by itself or in a tuple or dict."""

PASSED = re.compile(r"L\['(?!self')\w+'\](?:\[[^\]]*\])*\.")
"""Something in an object that the caller handed over."""

RETURNED = re.compile(r"L\['___stack\d+'\](?:\.\w+|\[[^\]]*\])\Z")
"""A part of what code that a graph break left to Python returned: new in every call, as an argument is."""

WATCHED = re.compile(r"(os\.environ\[.*\]|\w+\.\w+)(?:\[[^\]]*\])*\Z")
"""An attribute of a class, an item in it, or the environment: subjects whose values a record tells."""


@dataclass(frozen=True, slots=True)
class State:
    """A piece of Python state whose guard failed."""

    owner: str
    """Bare name of the class that holds it, or of the module of a global."""
    attribute: str
    kind: str = field(compare=False)
    path: str = field(compare=False)
    """Of the line that made Dynamo guard, as the record names it."""
    line: int = field(compare=False)

    @property
    def text(self) -> str:
        """`Class.attribute`."""
        return f"{self.owner}.{self.attribute}"


@dataclass(slots=True)
class Outcome:
    """What one architecture shows, in one mode."""

    source: str
    family: str
    name: str
    true: dict[State, Finding] = field(default_factory=dict)
    missed: list[State] = field(default_factory=list)
    false: list[Finding] = field(default_factory=list)
    unknown: list[Finding] = field(default_factory=list)
    recompiles: int = 0
    inputs: int = 0
    """Recompiles for the shapes and types of tensors alone."""
    weights: int = 0
    """... between instances of one class whose weights have other shapes, whatever else differs then."""
    modes: int = 0
    """... and for train or eval, gradients on or off."""
    arguments: int = 0
    """... and for another kind of argument: None or not, another class, other keywords."""


def outcome(
    record: dict[str, Any], findings: Sequence[Finding], root: Path, lasting: Collection[str] = ()
) -> Outcome:
    """Join one record with the findings on the same sources; `root` is where those were linted.

    `lasting` are the classes of which some object outlived a compiled call, in any record of the table.
    """
    receipt = from_json(Receipt, record["receipt"])
    found = Outcome(record["source"], record["family"], record["name"], recompiles=len(receipt.recompiles))
    traced = {path: set(lines) for path, lines in receipt.traced.items()}
    near = [finding for finding in findings if str(root / finding.span.path) in traced]
    explained: set[str] = set()
    speaking: dict[tuple[str, str], Finding] = {}
    states: dict[State, None] = {}
    for recompile in receipt.recompiles:
        for finding in near:
            for cause in spoken_of(finding, recompile, root):
                explained.add(finding.fingerprint)
                speaking.setdefault((_bare(cause.owner), cause.attribute), finding)
        follows = frozenset(record.get("sized", {}).get(recompile.function, ()))
        sort = _sort(recompile, follows, root)
        if sort != "state":
            setattr(found, sort, getattr(found, sort) + 1)
            continue
        states.update(dict.fromkeys(_states(recompile, follows, root)))
    for state in states:
        if (state.owner, state.attribute) in speaking:
            found.true[state] = speaking[state.owner, state.attribute]
        else:
            found.missed.append(state)
    ran = {
        one.fingerprint
        for one in near
        if traced[str(root / one.span.path)] & set(range(one.span.line, one.span.end_line + 1))
    }
    _others(found, near, explained, ran, record, lasting)
    return found


def lasting(records: Iterable[dict[str, Any]]) -> frozenset[str]:
    """The classes of which some object outlived a compiled call, or would where the model generates."""
    names = (name for one in records for key in ("held", "lasting") for name in one.get(key, ()))
    return frozenset(map(_class_of, names))


def _class_of(subject: str) -> str:
    return subject.partition(".")[0]


def _others(
    found: Outcome,
    findings: Iterable[Finding],
    explained: set[str],
    ran: set[str],
    record: dict[str, Any],
    lasting: Collection[str],
) -> None:
    """Sort the findings that no recompile bears out.

    Who watches the objects that calls are given sees all that outlives them: state that was not seen to
    differ did not. What the compiled code makes for itself and drops is none of it, as a cache that nobody
    passed; but where no object of the class ever lasts, in no model, a finding on it is wrong.
    """
    held, differing, changed = (set(record.get(key, ())) for key in ("held", "differing", "changed"))
    for finding in findings:
        if finding.fingerprint in explained:
            continue
        moved = differing if finding.effect == "per-instance" else changed
        watched = [WATCHED.match(subject) for subject in (finding.subject, *finding.also)]
        subjects = {one[1].replace("'", '"') for one in watched if one is not None}
        known = subjects <= held or (
            record.get("watched", False) and any(_class_of(one) in {*lasting, "os"} for one in subjects)
        )
        still = None not in watched and known and subjects.isdisjoint(moved)
        (found.unknown if still or finding.fingerprint not in ran else found.false).append(finding)


def _sort(recompile: Recompile, follows: frozenset[str], root: Path) -> str:
    """`state` if Python state is part of the best explanation; else what it consists of.

    Where weights of another shape are part of it, no other state could have spared the compile; state that
    differs between instances of different sizes alone (`follows`) stands for those weights.

    The receipt puts the smallest explanation first, and of equal ones that of the version used last:
    older versions, from another mode or for other shapes, could always explain a compile as well.
    """
    kinds = {_kind(cause, follows, root) for joint in recompile.causes[:1] for cause in joint}
    return next((sort for sort in ("weights", "state", "arguments", "modes") if sort in kinds), "inputs")


def _kind(cause: Cause, follows: frozenset[str], root: Path) -> str:
    if path_of(cause.source) in follows:
        return "weights"
    if cause.kind == "TENSOR_MATCH" and "_parameters[" in cause.source and cause.aspect in ("size", "rank"):
        return "weights"
    if cause.kind in ("TENSOR_MATCH", "SHAPE_ENV") or (cause.kind == "UNKNOWN" and not cause.owner):
        # Dynamo's own words without a guard: a size was asked of an input that is no tensor this time.
        return "inputs"
    if of_mode(cause):
        return "modes"
    if cause.attribute == "grad" and cause.owner.endswith(".Parameter"):
        return "modes"  # whether there was a backward pass already
    if not cause.bases and ARGUMENT.match(cause.source):
        return "arguments"
    classes = cause.kind in ("TYPE_MATCH", "ID_MATCH") and PASSED.match(cause.source)
    if classes and from_birth(cause.owner, cause.attribute, root):
        return "arguments"  # another object, made of other parts: no code that is compiled chose them
    if RETURNED.match(cause.source) and not {"builtins.dict", "builtins.tuple"}.isdisjoint(cause.bases):
        return "arguments"
    return "state"


def _states(recompile: Recompile, follows: frozenset[str], root: Path) -> Iterator[State]:
    """The Python state of the best explanation."""
    for cause in recompile.causes[0]:
        if _kind(cause, follows, root) == "state":
            yield State(_bare(cause.owner), cause.attribute, cause.kind, cause.path, cause.line)


def _bare(owner: str) -> str:
    return owner.rpartition(".")[2]


def by_subject(outcomes: Iterable[Outcome], which: str) -> dict[str, list[str]]:
    """What was missed or false, with the architectures that show it."""
    table: dict[str, list[str]] = defaultdict(list)
    for one in outcomes:
        for item in getattr(one, which):
            table[item.text if isinstance(item, State) else f"{item.code} {item.subject}"].append(one.name)
    return dict(sorted(table.items(), key=lambda row: (-len(row[1]), row[0])))
