"""Call edges that a path condition rules out: training mode, gradients off, parameters not given."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from dynamo_lint import knowledge
from dynamo_lint.calls.contexts import givers
from dynamo_lint.calls.model import Edge
from dynamo_lint.conditions.arguments import NO_SWITCHES, is_off
from dynamo_lint.conditions.constructor import MODE, contradicts, starts_off
from dynamo_lint.index.ir import (
    MODULE_KEY,
    Attribute,
    Binding,
    Call,
    Constant,
    Expr,
    Function,
    Name,
    Store,
)
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import arguments_of, itself, untested, walk
from dynamo_lint.models.drivers import GRADIENTS, MODES
from dynamo_lint.program.classes import SELF_RETURNING
from dynamo_lint.program.files import imported
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef, Node
from dynamo_lint.regions.model import Root
from dynamo_lint.values.points_to import points_to_of

_GRADIENTS = {dotted: mode.value for dotted, mode in MODES.items() if mode.name == GRADIENTS}
_OFF = frozenset(dotted for dotted, value in _GRADIENTS.items() if value in ("no_grad", "inference_mode"))
_ON = sorted({one.rpartition(".")[2] for one, value in _GRADIENTS.items() if value != "no_grad"})
"""Functions that may turn gradients on again."""
_APPLY = "apply"


def without_gradients(
    project: Project, starts: Iterable[Node], edges: Mapping[Node, Iterable[Edge]]
) -> frozenset[Node]:
    """The backwards that nothing applies but what runs below functions that turn gradients off."""
    applied = {
        edge.target
        for found in edges.values()
        for edge in found
        if edge.callee == _APPLY and edge.target.function.key.endswith(".backward")
    }
    if not applied:
        return frozenset()
    on: set[object] = {ref for name in _ON for ref in project.named("callers").get(name, ())}
    on.update(ref for name in _ON for ref, _ in project.decorated_with(name) if not _turns_off(project, ref))
    pending = [*starts, *(node for node in edges if node.function in on)]
    with_them: set[Node] = set()
    while pending:
        node = pending.pop()
        if node not in with_them and (node.function in on or not _turns_off(project, node.function)):
            with_them.add(node)
            pending += (edge.target for edge in edges.get(node, ()))
    named = {edge.target for found in edges.values() for edge in found if edge.callee != _APPLY}
    return frozenset(applied - with_them - named)


def _turns_off(project: Project, ref: FunctionRef | ClassRef) -> bool:
    """Whether a decorator turns gradients off while a function runs."""
    function = project.function(ref) if isinstance(ref, FunctionRef) else project.class_(ref)
    for decorator in function.decorators:
        callee = decorator.function if isinstance(decorator, Call) else decorator
        given = arguments_of(decorator) if isinstance(decorator, Call) else ()
        if any(argument != Constant(True) for argument in given):
            continue  # `@inference_mode(False)`
        if terminal_name(callee) in ("no_grad", "inference_mode"):
            symbols = project.symbols(callee, ref.path, function.outer or MODULE_KEY)
            if any(isinstance(one, ExternalSymbol) and one.dotted in _OFF for one in symbols):
                return True
    return False


def if_given(
    project: Project,
    edges: Iterator[Edge],
    names: tuple[str, ...],
    where: FunctionRef,
    entered: Collection[FunctionRef],
) -> Iterator[Edge]:
    """The edges of a call that is only made if what may be None or off, as the names say, is not."""
    pts = points_to_of(project)
    optional = [p for p in project.function(where).parameters if p.name in names]
    if not optional and not any(starts_off(project, name, where) for name in names):
        yield from edges
        return
    for edge in edges:
        likely = replace(edge, confidence=max(edge.confidence, Confidence.LIKELY))
        asked = [] if edge.needs else [givers(pts, where, one, entered) for one in optional]
        known = next((one for one in asked if one is not None), None)
        yield from (likely,) if known is None else (replace(likely, needs=one) for one in known)


class Switches:
    """Switches that all calls of a node so far leave off, and the edges that wait for one that does not.

    Dynamo traces a function with what compiled code passes: eager calls of it count for nothing.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._off: dict[Node, frozenset[str]] = {}
        self._waiting: dict[Node, list[Edge]] = {}

    def opens(self, edge: Edge) -> bool:
        """Whether an edge to a node that was visited leaves less off than those before it."""
        return not self._off.get(edge.target, NO_SWITCHES) <= edge.off

    def enter(self, node: Node, off: frozenset[str]) -> list[Edge]:
        """A visit of a node: what has waited for it, to be looked at again."""
        before = self._off.get(node)
        self._off[node] = off if before is None else before & off
        return self._waiting.pop(node, []) if before != self._off[node] else []

    def holds_back(self, node: Node, edge: Edge) -> bool:
        """Whether an edge has to wait: it stands where some switch is on that all calls leave off."""
        held = is_off(self._project, node.function, self._off.get(node, NO_SWITCHES), edge.line)
        if held:
            self._waiting.setdefault(node, []).append(edge)
        return held


_SAME = knowledge.names("takes_place")
_FEW = 8
"""Calls of a helper that compiles: one with more of them is for everybody."""


def never_runs(project: Project, root: Root, node: Node, line: int) -> bool:
    """Whether a line of a method never runs on what an entry compiles, as code around the entry tells."""
    function = project.function(node.function)
    if node.receiver is None or not function.flags:
        return False
    wanted = {on for first, last, flag, on in function.flags if flag == MODE and first <= line <= last}
    if len(wanted) == 1 and _mode(project, root) not in (None, *wanted):
        return True
    shown = root.shown if node.receiver == root.module else ()
    return contradicts(project, shown, node.receiver, function, line)


def _mode(project: Project, root: Root) -> bool | None:
    """True where what is compiled is only ever trained, False where it is only evaluated; None if unknown."""
    if root.site is None or root.entry.idiom == "library":
        return None  # a library that compiles a model sets its mode as well
    key = ("mode", root.site, root.entry.line)
    if key not in project.memo:
        project.memo[key] = _mode_around(project, root.site, root.entry.line)
    return project.memo[key]  # type: ignore[return-value]


def _mode_around(project: Project, site: FunctionRef, line: int) -> bool | None:
    names = {site.path: set(_compiled_as(project.function(site), line))}
    callers = points_to_of(project).call_sites(site)
    for caller, call in callers if len(callers) <= _FEW else ():
        known = names.setdefault(caller.function.path, set())
        known.update(_around(project.function(caller.function), call.call))
    for path, known in names.items():
        names[path] = _other_names(project, path, known)
    modes = set(_set_in(project, names, whole=True))
    if len(modes) == 1:
        everywhere = set().union(*names.values())
        near = {one for path in names for one in _imported(project, path)} - names.keys()
        modes.update(_set_in(project, dict.fromkeys(near, everywhere), whole=False))
    return modes.pop() if len(modes) == 1 else None


def _compiled_as(function: Function, line: int) -> Iterator[str]:
    """The names of what a line compiles, and of what it makes of that."""
    for site in function.calls:
        if site.call.line == line:
            yield from _around(function, site.call)


def _around(function: Function, call: Call) -> Iterator[str]:
    """The names in a call, those that its result is bound to, and of loop variables what is looped over."""
    values: list[Expr] = [call]
    values += [one.value for one in function.bindings if Name(one.name) in walk(call)]
    yield from (name for value in values for part in walk(value) if (name := _name(part)))
    yield from (one.name for one in _bound(function) if one.value == call)


def _bound(function: Function) -> tuple[Binding | Store, ...]:
    return (*function.bindings, *function.stores)


def _name(part: Expr) -> str | None:
    return terminal_name(part) if isinstance(part, Name | Attribute) else None


def _other_names(project: Project, path: str, names: set[str]) -> set[str]:
    """The names, and what the file copies them to, or what holds them that it wraps."""
    known = names - {"self", "cls", "torch", "compile"}
    functions = project.files[path].functions.values()
    bound = [(one.name, _copied(one.value)) for function in functions for one in _bound(function)]
    while more := {name for name, copied in bound if copied in known} - known:
        known |= more
    return known


def _copied(value: Expr) -> str | None:
    """The name that a value is another name for: `model` of `DDP(model.to(device), …)`, of `model.module`."""
    value = itself(untested(value), SELF_RETURNING)
    while isinstance(value, Call):
        if terminal_name(value.function) not in _SAME or not value.arguments:
            return None
        value = itself(untested(value.arguments[0]), SELF_RETURNING)
    if isinstance(value, Attribute) and value.name == "module":
        value = value.value
    return _name(value)


def _set_in(project: Project, names: Mapping[str, set[str]], *, whole: bool) -> Iterator[bool]:
    """The modes that some files put into what goes by some names there.

    In the `whole` of a file that compiles, so counts what has no name; elsewhere, what a function is handed.
    """
    for method in ("train", "eval"):
        for where, site in project.calls_of(method):
            callee, known = site.call.function, names.get(where.path)
            if known is None or not isinstance(callee, Attribute):
                continue
            name = _copied(callee.value)
            handed = {one.name for one in project.function(where).parameters} - {"self", "cls"}
            if name in known or (name is None if whole else name in handed):
                given = site.call.arguments[:1] or tuple(value for _, value in site.call.keywords)
                yield from _modes(method, given)


def _modes(method: str, given: tuple[Expr, ...]) -> tuple[bool, ...]:
    if method == "eval" or given == (Constant(False),):
        return (False,)
    return (True,) if not given or given == (Constant(True),) else (True, False)


def _imported(project: Project, path: str) -> set[str]:
    """The files that a file takes something from, and those that they do."""
    found = {path}
    for _ in range(2):
        for near in tuple(found):
            found |= imported(project, near)
    return found
