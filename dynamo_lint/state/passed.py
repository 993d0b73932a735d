"""What code around the regions passes to compiled callables, and which of it changes from call to call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Function
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.model import CompiledFunction, Regions
from dynamo_lint.state.body import body_of
from dynamo_lint.state.drivers import Drivers
from dynamo_lint.state.handles import Handles
from dynamo_lint.state.model import Position
from dynamo_lint.state.reaching import Reach
from dynamo_lint.state.telling import Signature, Telling
from dynamo_lint.state.varying import Varying, in_loop
from dynamo_lint.values.model import Context, FunctionValue, Instance
from dynamo_lint.values.points_to import glimpse


@dataclass(frozen=True, slots=True)
class Passed:
    """One parameter of a compiled function, as the calls that can be seen fill it."""

    hot: CompiledFunction
    name: str
    value: Varying
    where: FunctionRef
    """The function with the call to change."""
    position: Position
    starred: bool = False
    """The parameter is `*args`."""
    inside: tuple[str, ...] = ()
    """The items of the tuple, list or dict that change, as `['length']`, where not the whole does."""


Compiled = dict[tuple[FunctionRef | None, ClassRef | None], CompiledFunction]


@dataclass(slots=True)
class _Sites:
    values: list[Varying] = field(default_factory=list)
    inside: tuple[str, ...] = ()
    where: FunctionRef | None = None
    position: Position | None = None


def passed(
    project: Project, regions: Regions, drivers: Drivers, read_source: Callable[[str], str]
) -> tuple[Passed, ...]:
    """The parameters of compiled functions whose value changes between calls."""
    compiled: Compiled = {
        (hot.function, hot.receiver): hot for hot in regions.hot if hot.compiled and _takes(project, hot)
    }
    if not any(len(project.function(hot.function).parameters) > 1 for hot in compiled.values()):
        return ()
    found: dict[tuple[CompiledFunction, str], _Sites] = {}
    handles = Handles.of(project, regions.entries)
    for ref, call, target in _calls(project, compiled, drivers, handles):
        _note(project, ref, call, target, read_source(ref.path), found)
    return tuple(
        Passed(
            hot,
            name,
            value,
            sites.where,
            sites.position,
            _starred(project.function(hot.function), name),
            sites.inside,
        )
        for (hot, name), sites in found.items()
        if sites.where is not None and sites.position is not None
        if (value := Varying.of_all(sites.values)).changes
    )


def _takes(project: Project, hot: CompiledFunction) -> bool:
    """Something can be passed to it, besides its instance."""
    function = project.function(hot.function)
    return len(function.parameters) > int(hot.receiver is not None and function.owner is not None)


def _plausible(project: Project, ref: FunctionRef) -> bool:
    """A driver is a function that somebody may call again and again, or loops."""
    function = project.function(ref)
    return bool(function.loops) or ref.key != MODULE_KEY


def _reach(project: Project, compiled: Compiled) -> Reach:
    """Tells the calls that have nothing to do with what is compiled, which are nearly all."""
    classes = [
        receiver
        for function, receiver in compiled
        if receiver is not None and project.method(receiver, "forward") == function
    ]
    return Reach(project, (function for function, _ in compiled if function is not None), classes)


def _calls(
    project: Project, compiled: Compiled, drivers: Drivers, handles: Handles
) -> Iterator[tuple[FunctionRef, facts.Call, CompiledFunction]]:
    """The calls of whatever is called with something that may change, all of them.

    Who is called takes long to work out: first it is asked of the calls that may tell of a change, and of
    the others only if they may be calls of the same functions.
    """
    signatures = {hot: Signature.of(project, hot) for hot in compiled.values()}
    telling = Telling(project, signatures.values())
    reach = _reach(project, compiled)
    callers = project.in_order(ref for ref in _callers(project, reach) if ref not in drivers.hot)
    refs = [ref for ref in callers if _plausible(project, ref)]
    asked: dict[int, list[CompiledFunction]] = {}  # by the identity of the call site
    changed: set[CompiledFunction] = set()
    for ref in refs:
        for site, shape in telling.calls(ref, reach.may_be_called):
            called = asked[id(site)] = _called(project, ref, site.call, compiled, reach, handles)
            told = [hot for hot in called if hot not in changed and signatures[hot].tells(shape)]
            if told and drivers.often(ref, site.call.line) != "rarely":
                changed.update(told)
    if not changed:
        return
    compiled = {pair: hot for pair, hot in compiled.items() if hot in changed}
    fitting = {signatures[hot] for hot in changed}
    reach = _reach(project, compiled)
    for ref in refs:
        for site in project.calls_in(ref, reach.may_be_called):
            if id(site) not in asked:
                if not any(signature.fits(site.call) for signature in fitting):
                    continue
                asked[id(site)] = _called(project, ref, site.call, compiled, reach, handles)
            called = [hot for hot in asked[id(site)] if hot in changed]
            if called and drivers.often(ref, site.call.line) != "rarely":
                yield from ((ref, site.call, hot) for hot in called)


def _callers(project: Project, reach: Reach) -> Iterator[FunctionRef]:
    """The functions with a call that may be of something compiled, by the name that it goes by."""

    def is_method(name: str) -> bool:
        return reach.may_be_called(facts.Attribute(facts.UNKNOWN, name), "")

    def is_function(name: str) -> bool:
        path, _, called = name.rpartition(":")
        return reach.may_be_called(facts.Name(called), path)

    yield from project.screened("methods called", is_method)
    yield from project.screened("names called", is_function)
    yield from project.named("else called").get("", ())


def _called(
    project: Project, ref: FunctionRef, call: facts.Call, compiled: Compiled, reach: Reach, handles: Handles
) -> list[CompiledFunction]:
    callee = call.function
    if not reach.may_run(callee, ref):
        return []
    found = []
    for value in glimpse(project, callee, Context(ref, project.owner(ref))):
        match value:
            case Instance(owner):
                method = project.method(owner, "forward") if project.is_module(owner) else None
                target = compiled.get((method, owner))
            case FunctionValue(function, receiver):
                target = compiled.get((function, receiver))
            case _:
                target = None
        if target is not None and not handles.is_raw(callee, ref, target):
            found.append(target)
    return found


def _note(
    project: Project,
    ref: FunctionRef,
    call: facts.Call,
    hot: CompiledFunction,
    source: str,
    found: dict[tuple[CompiledFunction, str], _Sites],
) -> None:
    """What one call passes for each parameter, judged by the text of the function around it."""
    body = body_of(project.function(ref), source)
    node = body.call(call) if body is not None else None
    if body is None or node is None:
        return
    env = in_loop(body, node)
    parameters = project.function(hot.function).parameters
    positional = [p.name for p in parameters if p.kind == "positional"]
    if hot.receiver is not None and project.function(hot.function).owner is not None:
        positional = positional[1:]
    star = next((p.name for p in parameters if p.kind == "vararg"), None)
    given: dict[str, ast.expr] = {}
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            if star is not None and not positional:
                given[star] = argument.value
            break
        if positional:
            given[positional.pop(0)] = argument
    given.update({keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None})
    for parameter in parameters:
        sites = found.setdefault((hot, parameter.name), _Sites())
        if parameter.name in given:
            items = env.changing_items(given[parameter.name])
            value = Varying.of_all(items.values()) if items else env.value(given[parameter.name])
            if sites.where is None or value.changes:
                sites.where = ref
                sites.inside = tuple(items)
                end = (node.end_lineno or node.lineno) + body.shift
                sites.position = Position(call.line, node.col_offset + 1, end, (node.end_col_offset or 0) + 1)
            sites.values.append(value)
        elif isinstance(parameter.default, facts.Constant):
            sites.values.append(Varying.constant(parameter.default.value))


def _starred(function: Function, name: str) -> bool:
    return any(p.name == name and p.kind == "vararg" for p in function.parameters)
