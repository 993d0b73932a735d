"""Fields of objects that drivers build for compiled code, and which of them hold another number each time.

A sequence length that is read out of a tensor and handed on in a named tuple or dataclass reaches compiled
code far from where it was computed; the class of the parameter is what joins the two.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, CallSite
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.model import Regions
from dynamo_lint.state import kinds as K
from dynamo_lint.state.body import body_of
from dynamo_lint.state.drivers import Drivers
from dynamo_lint.state.model import Key, Kind
from dynamo_lint.state.varying import Varying, in_loop


@dataclass(frozen=True, slots=True)
class Filled:
    """A field that gets another value with every object."""

    key: Key
    value: Varying
    where: FunctionRef
    """The function that makes the objects."""
    line: int


def filled(
    project: Project, regions: Regions, drivers: Drivers, read_source: Callable[[str], str]
) -> tuple[Filled, ...]:
    """The fields of plain objects that code around the regions fills anew, and that compiled code reads."""
    loaded = {load.name for hot in regions.hot for load in project.function(hot.function).loads}
    found: dict[Key, Filled] = {}
    declared = project.named("annotations")
    for ref in project.in_order(ref for name in loaded for ref, _ in declared.get(name, ())):
        names = [name for name, _ in project.class_(ref).annotations]
        if project.is_module(ref):
            continue
        for where, site in project.calls_of(ref.name):
            told = project.symbols(site.call.function, where.path, where.key)
            # Most calls tell by the index alone that they matter to nobody; the others are read.
            if ref not in told or loaded.isdisjoint(_turning(project, names, where, site)):
                continue
            if _anew(project, drivers, where, site.call.line):
                for one in _of_call(project, ref, names, where, site.call, read_source(where.path)):
                    if one.key.attribute in loaded:
                        found.setdefault(one.key, one)
    return tuple(found.values())


def _turning(project: Project, names: list[str], where: FunctionRef, site: CallSite) -> Iterator[str]:
    """The fields that a call may fill with something else each time."""
    told = project.told_of(where, site)
    if not told.moves:
        return
    by_position, starred, by_keyword = told.shape
    positional = zip(names, by_position, strict=False) if starred is None else ()
    yield from (name for name, (changes, _) in (*positional, *by_keyword) if changes)


def _anew(project: Project, drivers: Drivers, where: FunctionRef, line: int) -> bool:
    """The object is made for each call, as far as anybody can see: not once, while something is set up."""
    loops = project.function(where).loops
    if where in drivers.hot or (where.key == MODULE_KEY and not any(a <= line <= b for a, b in loops)):
        return False
    if where.key.rpartition(".")[2].startswith("__"):
        return False
    return drivers.often(where, line) != "rarely" or not drivers.is_called(where)


def _of_call(
    project: Project,
    ref: ClassRef,
    names: list[str],
    where: FunctionRef,
    call: facts.Call,
    source: str,
) -> Iterator[Filled]:
    body = body_of(project.function(where), source)
    node = body.call(call) if body is not None else None
    if body is None or node is None:
        return
    env = in_loop(body, node)
    annotations = dict(project.class_(ref).annotations)
    given: dict[str, ast.expr] = {}
    if not any(isinstance(argument, ast.Starred) for argument in node.args):
        given |= dict(zip(names, node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    for name, argument in given.items():
        value = env.value(argument)
        declared = K.of_annotation(annotations[name]) if name in annotations else K.UNKNOWN
        if value.changes and not value.structure and Kind.TENSOR not in value.kinds | declared:
            kinds = declared or value.kinds
            yield Filled(Key(ref, name), Varying(kinds, True, value.constants), where, call.line)
