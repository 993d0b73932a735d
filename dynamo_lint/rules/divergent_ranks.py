"""DYN521: what is compiled, or how, depends on the rank of the process."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import MODULE_KEY, Name
from dynamo_lint.index.process_tests import RANK
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.practices import at_line, is_quiet
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.points_to import points_to_of

_TALK = re.compile(r"verbose|log|report|print|debug|trace|repro|cache_dir")
"""Settings that change what is said, not what is compiled."""
_DEEPEST = 3
Ranked = tuple[str, bool]
"""The source of a test, and whether it holds."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line that some ranks alone come to."""
    seen: dict[tuple[FunctionRef, int], tuple[str, Ranked]] = {}
    for where, line, what, condition in _sites(tables):
        asked = _asked(tables.project, where, line)
        if asked is None:
            asked = _chosen(tables, where, line)
        if asked is None and condition and any(map(RANK.fullmatch, re.findall(r"\w+", condition))):
            asked = condition, True
        if asked is None and not is_quiet(tables.project, where):
            asked = _on_all_ways(tables.project, where, 0)
        if asked is not None and not is_quiet(tables.project, where):
            seen.setdefault((where, line), (what, asked))
    for (where, line), (what, asked) in seen.items():
        if _also_otherwise(tables.project, where, what, asked, seen):
            continue
        test, holds = asked
        claim = Claim(
            message=f"{what} only on ranks where `{test}` {'holds' if holds else 'does not hold'}",
            cost="a rank waits in a collective for another that still compiles, until a timeout ends the job",
            effect="",
            severity="error",
            subject=what,
            advice="do it on every rank alike, and leave only what is printed to one",
            step="depends on the rank",
        )
        yield at_line(rule, tables, context, where, line, claim)


def _sites(tables: Tables) -> Iterator[tuple[FunctionRef, int, str, str]]:
    """The lines that compile or change how, with what they do and their condition."""
    project, practice = tables.project, tables.practice
    conditions = {(one.path, one.line): one.condition or "" for one in tables.regions.entries}
    for one in practice.compiles:
        place = (one.where.path, one.line)
        if one.sure or place in conditions:
            yield one.where, one.line, "this compiles", conditions.get(place, "")
    for path, line in conditions:
        for where in _around(project, path, line):
            yield where, line, "this compiles", conditions[path, line]
    for made in practice.settings:
        if not _TALK.search(made.name):
            yield made.where, made.line, f"`{made.name}` is set", ""
    for site in practice.resets:
        yield site.where, site.line, "compiled code is thrown away", ""


def _chosen(tables: Tables, where: FunctionRef, line: int) -> Ranked | None:
    """A test of the rank that decides about an option of a compile, which has a name."""
    names = {
        value.id
        for site in tables.practice.compiles
        if (site.where, site.line) == (where, line)
        for _, value in site.keywords
        if isinstance(value, Name)
    }
    bindings = [one for name in names for one in tables.project.bindings_of(where).get(name, ())]
    return next((asked for one in bindings if (asked := _asked(tables.project, where, one.line))), None)


def _around(project: Project, path: str, line: int) -> list[FunctionRef]:
    """The innermost function around a call that compiles in place."""
    found = [
        FunctionRef(path, key)
        for key, function in (project.files[path].functions.items() if path in project.files else ())
        if (key == MODULE_KEY or function.first_line <= line <= function.end_line)
        and any(site.call.line == line for site in function.calls)
    ]
    return found[-1:]


def _asked(project: Project, where: FunctionRef, line: int) -> Ranked | None:
    """The innermost test of the rank around a line."""
    tests = project.function(where).process_tests
    around = [row for row in tests if row[0] <= line <= row[1] and row[2] == "rank"]
    inner = max(around, key=lambda row: (row[0], -row[1], row[4]), default=None)
    return (inner[3], inner[4]) if inner is not None else None


def _on_all_ways(project: Project, where: FunctionRef, depth: int) -> Ranked | None:
    """A test that every known call of a function stands under."""
    calls = list(points_to_of(project).call_sites(where)) if depth < _DEEPEST else []
    found = [
        _asked(project, caller.function, site.call.line) or _on_all_ways(project, caller.function, depth + 1)
        for caller, site in calls
        if caller.function != where
    ]
    return found[0] if found and all(found) else None


def _also_otherwise(
    project: Project,
    where: FunctionRef,
    what: str,
    asked: Ranked,
    seen: dict[tuple[FunctionRef, int], tuple[str, Ranked]],
) -> bool:
    """Whether the same function does the same on the other ranks, too."""
    test, holds = asked
    return any(
        other == where and (did, rank) == (what, (test, not holds))
        for (other, _), (did, rank) in seen.items()
    )


DIVERGENT_RANKS = Rule("DYN521", "divergent-ranks", check)
