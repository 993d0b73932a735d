"""Whether what a site compiles is only ever trained, or only evaluated, by `train()` and `eval()` around it.

Dynamo guards on `self.training` and traces the branch that it finds. A program that calls `model.train()` and
nowhere `model.eval()` on what it has compiled never traces what only evaluation runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Attribute, Binding, Call, Constant, Expr, Function, Import, Name, Store
from dynamo_lint.index.walking import itself, untested, walk
from dynamo_lint.program.refs import External, FunctionRef, Node
from dynamo_lint.regions.modules import SELF_RETURNING
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.roots import Root
from dynamo_lint.regions.shown import MODE, contradicts
from dynamo_lint.values.points_to import evaluation_of

_SAME = frozenset(
    {"compile", "DDP", "DistributedDataParallel", "FSDP", "FullyShardedDataParallel", "fully_shard"}
)
"""Calls whose result is their first argument, or takes its place."""
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
        project.memo[key] = _told(project, root.site, root.entry.line)
    return project.memo[key]  # type: ignore[return-value]


def _told(project: Project, site: FunctionRef, line: int) -> bool | None:
    names = {site.path: set(_compiled_as(project.function(site), line))}
    callers = evaluation_of(project).call_sites(site)
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
    """What a value is another name for: `model` of `DDP(model.to(device), …)`, of `model.module`."""
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
            targets = _imports(project, near)
            means = {one for target in targets for one in project.symbols(target, near)}
            means |= {one for target in targets for one in project.imported_modules(target, near)}
            found |= {one.path for one in means if not isinstance(one, External)}
    return found


def _imports(project: Project, path: str) -> list[Import]:
    functions = project.files[path].functions.values()
    return [one.value for function in functions for one in function.bindings if isinstance(one.value, Import)]
