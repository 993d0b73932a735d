"""The arguments that driver code passes to compiled functions, and which of its calls may change them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, CallSite, Expr, Function
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import itself
from dynamo_lint.program.files import one_program
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.literal_arguments import Shape
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef, Position
from dynamo_lint.program.static_bindings import bound_symbols
from dynamo_lint.regions.model import CompiledFunction, Entry, Regions
from dynamo_lint.state.body import body_of
from dynamo_lint.state.frequency import Drivers
from dynamo_lint.state.loop_variance import Varying, in_loop
from dynamo_lint.state.reachable import Reach
from dynamo_lint.values.model import Context, FunctionValue, Instance
from dynamo_lint.values.points_to import glimpse


@dataclass(frozen=True, slots=True)
class CompiledSignature:
    """The parameters of a compiled function, as a call fills them."""

    positional: tuple[str, ...]
    starred: bool
    open: bool
    """It takes any keyword."""
    names: frozenset[str]
    needed: frozenset[str]
    """Those without a default."""
    defaults: frozenset[str]
    """Those with a literal default: a call that leaves them out hands that over."""

    @staticmethod
    def of(project: Project, hot: CompiledFunction) -> CompiledSignature:
        """Of a compiled function, without its instance."""
        function = project.function(hot.function)
        parameters = function.parameters
        bound = int(hot.receiver is not None and function.owner is not None)
        taken = [p for p in parameters[bound:] if p.kind in ("positional", "keyword")]
        return CompiledSignature(
            tuple(p.name for p in taken if p.kind == "positional"),
            any(p.kind == "vararg" for p in parameters),
            any(p.kind == "kwarg" for p in parameters),
            frozenset(p.name for p in parameters),
            frozenset(p.name for p in taken if p.default is None),
            frozenset(p.name for p in parameters if isinstance(p.default, ir.Constant)),
        )

    def fits(self, call: ir.Call) -> bool:
        """Whether a call can be one of the function: it fills what has no default, and nothing else."""
        words = {name for name, _ in call.keywords}
        if any(isinstance(argument, ir.Element) for argument in call.arguments) or None in words:
            return True
        filled = self.positional[: len(call.arguments)]
        return (
            (self.starred or len(filled) == len(call.arguments))
            and (self.open or words <= self.names)
            and self.needed <= words.union(filled)
        )

    def tells(self, shape: Shape) -> bool:
        """Whether a call of this shape may be one of those that make a parameter change."""
        by_position, starred, by_keyword = shape
        if starred is not None and self.starred and len(by_position) >= len(self.positional) and any(starred):
            return True
        filled = (*zip(self.positional, by_position, strict=False), *by_keyword)
        return any(
            name in self.names and (changes or (known and name in self.defaults))
            for name, (changes, known) in filled
        )


class ChangingCalls:
    """Answers for the calls of all functions."""

    def __init__(self, project: Project, signatures: Iterable[CompiledSignature]) -> None:
        self._project = project
        self._signatures = frozenset(signatures)
        self._shapes: dict[Shape, bool] = {}

    def calls(
        self, ref: FunctionRef, may_be_called: Callable[[Expr, str], bool]
    ) -> Iterator[tuple[CallSite, Shape]]:
        """The calls in a function that may tell something, with what they hand over."""
        for site in self._project.calls_in(ref, may_be_called):
            if not (site.call.arguments or site.call.keywords):
                continue
            shape = self._project.arguments_in(ref, site).shape
            if shape not in self._shapes:
                self._shapes[shape] = any(one.tells(shape) for one in self._signatures)
            if self._shapes[shape]:
                yield site, shape


_GIVES_ITSELF = knowledge.names("returns_self")
"""Methods of a module that give back the module."""


@dataclass(frozen=True, slots=True)
class Handles:
    """Which targets are compiled only where somebody calls a handle, and which names are surely no handle."""

    project: Project
    idioms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """How the entries compile each target."""

    @staticmethod
    def of(project: Project, entries: Iterable[Entry]) -> Handles:
        """From all compile entries of a project."""
        handles = Handles(project)
        for entry in entries:
            handles.idioms[entry.target].add(entry.idiom)
        return handles

    def is_raw(self, callee: Expr, where: FunctionRef, hot: CompiledFunction) -> bool:
        """Whether a call, in eager code, surely runs the function or module from which a handle was made."""
        function = self.idioms.get(hot.function.id, set())
        model = self.idioms.get(hot.receiver.id, set()) if hot.receiver is not None else set()
        if not function <= {"call", "library"} or not model <= {"call"} or not function | model:
            return False  # compiled in place: by a decorator, by `model.compile()`, by a declaration
        if hot.receiver is None:
            return self._is_defined(callee, where)
        return self._is_method(callee, hot) if function else self._is_constructed(callee, where)

    def _is_defined(self, callee: Expr, where: FunctionRef) -> bool:
        """A name that nothing but a definition binds, here and where it is imported from."""
        found = bound_symbols(self.project, callee, where) or ()
        return len(found) == 1 and isinstance(found[0], FunctionRef)

    def _is_method(self, callee: Expr, hot: CompiledFunction) -> bool:
        """An attribute that is the method of its class, since nothing else is put there."""
        name = hot.function.key.rpartition(".")[2]
        return isinstance(callee, ir.Attribute) and callee.name == name and not self.project.stores_of(name)

    def _is_constructed(self, callee: Expr, where: FunctionRef) -> bool:
        """A name that stands for a module as its class makes it."""
        bound = self._bound(callee.id, where) if isinstance(callee, ir.Name) else []
        return bool(bound) and all(
            value == callee or (isinstance(value, ir.Call) and self._constructs(value, where))
            for value in (itself(one, _GIVES_ITSELF) for one in bound)
        )

    def _constructs(self, call: ir.Call, where: FunctionRef) -> bool:
        found = self.project.symbols(call.function, where.path, where.key)
        return len(found) == 1 and isinstance(found[0], ClassRef)

    def _bound(self, name: str, where: FunctionRef) -> Sequence[Expr]:
        """All that a name is bound to in the scope where it is found; nothing for a parameter."""
        home = self.project.home_of(name, where)
        if home.key == MODULE_KEY:
            return self.project.global_bindings(home.path).get(name, [])
        local = self.project.locals_of(home)[name]
        return local.bound if local.parameter is None else ()


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


def passed(project: Project, regions: Regions, drivers: Drivers, bodies: Bodies) -> tuple[Passed, ...]:
    """The parameters of compiled functions whose value changes between calls."""
    compiled: Compiled = {
        (hot.function, hot.receiver): hot for hot in regions.hot if hot.compiled and _takes(project, hot)
    }
    if not any(len(project.function(hot.function).parameters) > 1 for hot in compiled.values()):
        return ()
    found: dict[tuple[CompiledFunction, str], _Sites] = {}
    handles = Handles.of(project, regions.entries)
    for ref, call, target in _calls(project, compiled, drivers, handles):
        entries = {regions.entries[number].path for number in target.entries}
        if not any(one_program(project, entry, ref.path) for entry in entries):
            continue
        _note(bodies, ref, call, target, found)
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
    return (bool(function.loops) or ref.key != MODULE_KEY) and not _is_scripted(project, ref)


def _is_scripted(project: Project, ref: FunctionRef) -> bool:
    """Whether TorchScript compiles a function: it scripts what `torch.compile` was given, and calls that."""
    names = {terminal_name(decorator) for decorator in project.function(ref).decorators}
    owner = project.owner(ref)
    bases = project.external_bases(owner) if owner is not None else ()
    return not names.isdisjoint({"script_method", "script"}) or "torch.jit.ScriptModule" in bases


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
) -> Iterator[tuple[FunctionRef, ir.Call, CompiledFunction]]:
    """The calls of whatever is called with something that may change, all of them.

    Who is called takes long to work out: first it is asked of the calls that may tell of a change, and of
    the others only if they may be calls of the same functions.
    """
    signatures = {hot: CompiledSignature.of(project, hot) for hot in compiled.values()}
    telling = ChangingCalls(project, signatures.values())
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


def calls_of(
    project: Project, regions: Regions, drivers: Drivers, wanted: Iterable[CompiledFunction]
) -> Iterator[tuple[FunctionRef, ir.Call, CompiledFunction]]:
    """The calls, in eager code, of functions that are compiled themselves."""
    compiled: Compiled = {(hot.function, hot.receiver): hot for hot in wanted}
    if not compiled:
        return
    handles, reach = Handles.of(project, regions.entries), _reach(project, compiled)
    signatures = {hot: CompiledSignature.of(project, hot) for hot in compiled.values()}
    for ref in project.in_order(ref for ref in _callers(project, reach) if ref not in drivers.hot):
        for site in project.calls_in(ref, reach.may_be_called):
            if any(signature.fits(site.call) for signature in signatures.values()):
                called = _called(project, ref, site.call, compiled, reach, handles)
                yield from ((ref, site.call, hot) for hot in called)


def _callers(project: Project, reach: Reach) -> Iterator[FunctionRef]:
    """The functions with a call that may be of something compiled, by the name that it goes by."""

    def is_method(name: str) -> bool:
        return reach.may_be_called(ir.Attribute(ir.UNKNOWN, name), "")

    def is_function(name: str) -> bool:
        path, _, called = name.rpartition(":")
        return reach.may_be_called(ir.Name(called), path)

    yield from project.screened_if_known("methods called", is_method)
    yield from project.screened("names called", is_function)
    yield from project.named("else called").get("", ())


def _called(
    project: Project, ref: FunctionRef, call: ir.Call, compiled: Compiled, reach: Reach, handles: Handles
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
    bodies: Bodies,
    ref: FunctionRef,
    call: ir.Call,
    hot: CompiledFunction,
    found: dict[tuple[CompiledFunction, str], _Sites],
) -> None:
    """Record the arguments of one call by parameter, judged by the text of the function around it."""
    project, body = bodies.project, body_of(bodies, ref)
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
                sites.position = bodies.position(ref.path, node)
            sites.values.append(value)
        elif isinstance(parameter.default, ir.Constant):
            sites.values.append(Varying.constant(parameter.default.value))


def _starred(function: Function, name: str) -> bool:
    return any(p.name == name and p.kind == "vararg" for p in function.parameters)
