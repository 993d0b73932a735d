"""The programs of a project: the functions and files above all that compiles, or calls what is compiled."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice

from dynamo_lint.index.ir import MODULE_KEY, Attribute, Call, Expr, Name
from dynamo_lint.models.drivers import MODULES, NAMES
from dynamo_lint.program.files import in_tests, is_for_tests
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.points_to import points_to_of

_MOST_NAMES = 8
"""Compiled names of one file whose callers are programs: each of them runs the whole file."""


def programs(tables: Tables) -> dict[FunctionRef, set[FunctionRef]]:
    """The programs that lead to what compiles something, each with that: files first, for what they call
    runs with them, and tests last."""
    found: dict[FunctionRef, set[FunctionRef]] = {}
    callers: dict[FunctionRef, list[FunctionRef]] = {}
    for seed in dict.fromkeys(_seeds(tables)):
        pending, seen = [seed], {seed}
        while pending:
            function = pending.pop()
            if function not in callers:
                callers[function] = _callers(tables.project, function)
            pending += (one for one in callers[function] if one not in seen)
            seen.update(callers[function])
            if not callers[function]:
                found.setdefault(function, set()).add(seed)
    in_order = sorted(
        tables.project.in_order(found), key=lambda one: (in_tests(one.path), one.key != MODULE_KEY)
    )
    return {root: found[root] for root in in_order}


def _callers(project: Project, function: FunctionRef) -> list[FunctionRef]:
    """The functions that run a function, or make what does."""
    calls = points_to_of(project).call_sites(function) if function.key != MODULE_KEY else ()
    callers = [
        one.function
        for one, _ in calls
        if one.function != function and not is_for_tests(one.function.path, function.path)
    ]
    outer = project.function(function).outer
    if "<locals>" in function.key and outer is not None:
        callers.append(FunctionRef(function.path, outer))
    owner = project.owner(function)
    if not callers and owner is not None:  # whoever makes its object may call it
        callers = [one for one in _users(project, owner) if one != function]
    return callers


def _seeds(tables: Tables) -> Iterator[FunctionRef]:
    """The functions that compile something, or call what a decorator compiles."""
    project = tables.project
    lines: dict[str, set[int]] = {}
    for entry in tables.regions.entries:
        lines.setdefault(entry.path, set()).add(entry.line)
    for path, at in lines.items():
        in_order = sorted(at)
        for key, function in project.files[path].functions.items() if path in project.files else ():
            if any(site.call.line in at for site in function.calls) and (
                key == MODULE_KEY
                or bisect_left(in_order, function.first_line) < bisect_right(in_order, function.end_line)
            ):
                yield FunctionRef(path, key)
    for name in sorted({"compile", "optimize", *project.aliases_of("compile")}):
        for where, site in project.calls_of(name):
            symbols = project.symbols(site.call.function, where.path, where.key)
            outside = [one.dotted for one in symbols if isinstance(one, ExternalSymbol)]
            of_torch = any(one in NAMES["compile"] or one.startswith(MODULES) for one in outside)
            if of_torch or (isinstance(site.call.function, Attribute) and not outside):
                yield where
        for ref, _ in project.decorated_with(name):
            yield from _users(project, ref)
            yield from _takers(project, ref)
    for path, at in lines.items():
        bound = project.function(FunctionRef(path, MODULE_KEY)).bindings if path in project.files else ()
        compiled = (one.name for one in bound if isinstance(one.value, Call) and one.value.line in at)
        for name in islice(compiled, _MOST_NAMES):
            yield from (where for where, _ in project.calls_of(name))
    for ref, _ in project.decorated_with("partial"):
        yield from _users(project, ref)


def _users(project: Project, ref: FunctionRef | ClassRef) -> Iterator[FunctionRef]:
    owner = project.owner(ref) if isinstance(ref, FunctionRef) else None
    yield from (where for where, _ in project.calls_of(owner.name if owner is not None else ref.name))


def _takers(project: Project, ref: FunctionRef | ClassRef) -> Iterator[FunctionRef]:
    """The functions of its file that hand a function on to what may call it."""
    for key, function in project.files[ref.path].functions.items():
        given = (one for site in function.calls for one in (*site.call.arguments, *_named(site.call)))
        if any(isinstance(one, Name) and one.id == ref.name for one in given):
            yield FunctionRef(ref.path, key)


def _named(call: Call) -> Iterator[Expr]:
    """The values of the keywords of a call."""
    yield from (value for _, value in call.keywords)
