"""Checkpoints that carry the prefix of a compiled wrapper, `_orig_mod.`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import Attribute, Call, Choice, Constant, Display, Element, Expr, Name, Subscript
from dynamo_lint.index.walking import untested
from dynamo_lint.program.classes import SELF_RETURNING
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ExternalSymbol, FunctionRef
from dynamo_lint.state.expressions import bound_to
from dynamo_lint.values.points_to import points_to_of

_SAVER = re.compile(r"(torch|torch\.distributed\.checkpoint(\.\w+)?|safetensors\.torch)\.save(_file)?")
_PARALLEL = ("DataParallel", "FullyShardedDataParallel")
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Saved:
    """A `state_dict()` of a compiled wrapper that goes into a file."""

    where: FunctionRef
    line: int
    strict: bool
    """No code of the project loads what it finds and passes over the rest."""


def saved_wrappers(project: Project) -> tuple[Saved, ...]:
    """Every such call; none where any code of the project knows of the prefix."""
    if project.named("unwrapping").get("", ()) or not project.calls_of("state_dict"):
        return ()
    strict = not any(_is_lax(site.call) for _, site in project.calls_of("load_state_dict"))
    found = {}
    for name in ("save", "save_file"):
        for where, site in project.calls_of(name):
            symbols = project.symbols(site.call.function, where.path, where.key)
            if any(isinstance(one, ExternalSymbol) and _SAVER.fullmatch(one.dotted) for one in symbols):
                given = (*site.call.arguments, *(value for _, value in site.call.keywords))
                for home, call in (one for value in given for one in _states(project, value, where, 0)):
                    owner = call.function.value if isinstance(call.function, Attribute) else None
                    if owner is not None and _is_wrapper(project, owner, home, call.line, 0):
                        found[home, call.line] = Saved(home, call.line, strict)
    return tuple(one for one in found.values() if not in_tests(one.where.path))


def _is_lax(call: Call) -> bool:
    return any(name == "strict" and value == Constant(False) for name, value in call.keywords)


def _states(
    project: Project, value: Expr, where: FunctionRef, depth: int
) -> Iterator[tuple[FunctionRef, Call]]:
    """The calls of `state_dict` whose results an expression holds as they are."""
    if depth > _DEEPEST:
        return
    match untested(value):
        case Call(Attribute(_, "state_dict"), _) as call:
            yield where, call
        case Display("each", over=(Call(Attribute(inner, "items")), *_)):  # `{name: value.cpu() for …}`
            yield from _states(project, inner, where, depth + 1)
        case Display(_, items):
            for item in items:
                yield from _states(project, item, where, depth + 1)
        case Choice(options):
            for option in options:
                yield from _states(project, option, where, depth + 1)
        case Element(inner):  # `**model.state_dict()`
            yield from _states(project, inner, where, depth + 1)
        case Name(name):
            values, home = bound_to(project, name, where)
            for one in (*values, *(item for _, item in project.items_of(home).get(name, ()))):
                yield from _states(project, one, home, depth + 1)
            local = project.locals_of(home).get(name)
            if local is not None and local.parameter is not None:
                for caller, given in points_to_of(project).given_to(local.parameter, home):
                    yield from _states(project, given, caller.function, depth + 1)
        case Call(Name("dict" | "OrderedDict" | "deepcopy") | Attribute(_, "deepcopy"), arguments, keywords):
            for one in (*arguments, *(value for _, value in keywords)):
                yield from _states(project, one, where, depth + 1)
        case Call(callee):
            for symbol in project.symbols(callee, where.path, where.key):
                if isinstance(symbol, FunctionRef):
                    for one in project.function(symbol).returns:
                        yield from _states(project, one, symbol, depth + 1)


def _is_wrapper(project: Project, owner: Expr, where: FunctionRef, line: int, depth: int) -> bool:
    """Whether an object is what `torch.compile` gave for a module, seen from a line."""
    if depth > _DEEPEST:
        return False
    match untested(owner):
        case Call(Attribute(inner, name), _) if name in SELF_RETURNING and name != "compile":
            return _is_wrapper(project, inner, where, line, depth + 1)
        case Call(callee, arguments):
            return _gives_wrapper(project, callee, arguments, where, line, depth)
        case Attribute(inner, "module"):
            return _is_wrapper(project, inner, where, line, depth + 1)
        case Choice(options):
            return any(_is_wrapper(project, one, where, line, depth + 1) for one in options)
        case Subscript(inner, Constant()) if isinstance(inner, Call):  # `model, optimizer = build()`
            return _gives_part(project, inner, owner, where, depth)
        case Name(name):
            return _is_name_of_wrapper(project, name, where, line, depth)
        case Attribute(inner, name) if project.is_self(inner, where):
            holder = project.owner(where)
            stores = project.own_stores(holder).get(name, ()) if holder is not None else ()
            found = [_is_wrapper(project, store.value, home, store.line, depth + 1) for home, store in stores]
            return bool(found) and found[-1]
    return False


def _gives_wrapper(
    project: Project, callee: Expr, arguments: tuple[Expr, ...], where: FunctionRef, line: int, depth: int
) -> bool:
    for symbol in project.symbols(callee, where.path, where.key):
        match symbol:
            case ExternalSymbol(dotted) if dotted == COMPILE:
                return bool(arguments) or isinstance(callee, Call)
            case ExternalSymbol(dotted) if dotted.endswith(_PARALLEL) and arguments:
                return _is_wrapper(project, arguments[0], where, line, depth + 1)
            case FunctionRef():
                function = project.function(symbol)
                return any(
                    _is_wrapper(project, one, symbol, function.end_line, depth + 1)
                    for one in function.returns
                )
    return False


def _gives_part(project: Project, call: Call, owner: Expr, where: FunctionRef, depth: int) -> bool:
    """Whether a function returns several things, of which the one that is taken is a wrapper."""
    index = owner.index.value if isinstance(owner, Subscript) and isinstance(owner.index, Constant) else None
    for symbol in project.symbols(call.function, where.path, where.key):
        if isinstance(symbol, FunctionRef) and isinstance(index, int):
            function = project.function(symbol)
            for value in function.returns:
                if isinstance(value, Display) and index < len(value.items):
                    return _is_wrapper(project, value.items[index], symbol, function.end_line, depth + 1)
    return False


def _is_name_of_wrapper(project: Project, name: str, where: FunctionRef, line: int, depth: int) -> bool:
    home = project.home_of(name, where)
    local = project.locals_of(home).get(name)
    bindings = project.bindings_of(home).get(name, ())
    before = [one for one in bindings if one.line < line or home != where]
    if before:
        last = before[-1]
        return _is_wrapper(project, last.value, home, last.line, depth + 1)
    if local is None or local.parameter is None:
        return False
    pts = points_to_of(project)
    given = [(caller.function, value) for caller, value in pts.given_to(local.parameter, home)]
    return bool(given) and any(
        _is_wrapper(project, value, caller, project.function(caller).end_line, depth + 1)
        for caller, value in given
    )
