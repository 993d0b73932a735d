"""Custom operators without a fake that compiled code calls: Dynamo cannot tell what they give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.regions.model import CompiledFunction, Regions

OPERATORS = knowledge.names("makes_operator")
"""What makes an operator that has no fake of itself."""
FAKES = knowledge.names("registers_fake")
"""Functions that register a fake for the operator that they are given, or its name."""
REGISTRARS = sorted(knowledge.last_names("registers_fake"))
"""The bare names of these, also as methods of the operator."""
NAMESPACE = knowledge.in_order("operator_namespace")[0]
"""Where operators are found by name."""
_Operator = tuple[str, str]
"""The file that makes it, and the name that it has there."""


@dataclass(frozen=True, slots=True)
class Fakeless:
    """A call of an operator without a fake in a compiled function."""

    hot: CompiledFunction
    line: int
    path: str
    """The file that makes the operator."""
    made: int
    """The line that makes it."""
    name: str


@dataclass(frozen=True, slots=True)
class _Made:
    path: str
    name: str
    """In Python."""
    operator: str
    """`mylib::scan`; empty if it is not a literal."""
    line: int


def fakeless_calls(project: Project, regions: Regions) -> tuple[Fakeless, ...]:
    """The calls of operators without a fake, one for each compiled function and operator."""
    operators = [*_decorated(project), *_called(project)]
    faked = _faked(project, operators) if operators else frozenset()
    lacking = [one for one in operators if one not in faked]
    if not lacking or None in faked:
        return ()
    found: dict[tuple[FunctionRef, _Made], Fakeless] = {}
    for hot in regions.hot:
        for site in project.function(hot.function).calls:
            for one in lacking:
                if not site.eager and _is_call(project, site.call.function, hot.function, one):
                    call = Fakeless(hot, site.call.line, one.path, one.line, one.name)
                    found.setdefault((hot.function, one), call)
    return tuple(found.values())


def _decorated(project: Project) -> Iterator[_Made]:
    """The operators that a decorator makes of functions."""
    for name in sorted(one.rpartition(".")[2] for one in OPERATORS):
        for ref, decorator in project.decorated_with(name):
            if isinstance(ref, FunctionRef) and isinstance(decorator, ir.Call):
                outer = project.function(ref).outer or MODULE_KEY
                if _means(project, decorator.function, ref.path, outer, OPERATORS):
                    line = project.function(ref).line
                    yield _Made(ref.path, ref.key.rpartition(".")[2], _text(decorator), line)


def _called(project: Project) -> Iterator[_Made]:
    """The operators that a call makes: `scan = torch.library.custom_op("mylib::scan", kernel, …)`."""
    for name in sorted(one.rpartition(".")[2] for one in OPERATORS):
        for where, site in project.calls_of(name):
            if len(site.call.arguments) < 2 or not _means(
                project, site.call.function, where.path, where.key, OPERATORS
            ):
                continue
            for binding in project.function(where).bindings:
                if binding.value == site.call:
                    yield _Made(where.path, binding.name, _text(site.call), site.call.line)


def _text(call: ir.Call) -> str:
    first = call.arguments[0] if call.arguments else ir.UNKNOWN
    return first.value if isinstance(first, ir.Constant) and isinstance(first.value, str) else ""


def _means(project: Project, expr: ir.Expr, path: str, where: str, names: frozenset[str]) -> bool:
    return any(
        isinstance(symbol, ExternalSymbol) and symbol.dotted in names
        for symbol in project.symbols(expr, path, where)
    )


def _faked(project: Project, operators: list[_Made]) -> frozenset[_Made | None]:
    """The operators with a fake; None among them if some registration may be of any."""
    found: set[_Made | None] = set()
    for path, where, expr in _registrations(project):
        call = expr if isinstance(expr, ir.Call) else None
        callee = call.function if call is not None else expr
        if _means(project, callee, path, where, FAKES):
            first = call.arguments[0] if call is not None and call.arguments else ir.UNKNOWN
            text = _text(call) if call is not None else ""
            named = [
                one
                for one in operators
                if (text and one.operator == text) or _is(project, first, path, where, one)
            ]
            found.update(named or ([] if text else [None]))
        elif isinstance(callee, ir.Attribute):
            found.update(one for one in operators if _is(project, callee.value, path, where, one))
    return frozenset(found)


def _registrations(project: Project) -> Iterator[tuple[str, str, ir.Expr]]:
    """The calls and decorators that register a fake, each with where it stands."""
    for name in REGISTRARS:
        for ref, decorator in project.decorated_with(name):
            outer = project.function(ref).outer if isinstance(ref, FunctionRef) else None
            yield ref.path, outer or MODULE_KEY, decorator
        for where, site in project.calls_of(name):
            yield where.path, where.key, site.call


def _is_call(project: Project, callee: ir.Expr, where: FunctionRef, one: _Made) -> bool:
    """Whether a callee in compiled code is an operator: by its name, or as `torch.ops.mylib.scan`."""
    if one.operator:
        dotted = f"{NAMESPACE}.{one.operator.replace('::', '.')}"
        if _means(project, callee, where.path, where.key, frozenset({dotted, f"{dotted}.default"})):
            return True
    return _is(project, callee, where.path, where.key, one)


def _is(project: Project, expr: ir.Expr, path: str, where: str, one: _Made) -> bool:
    """Whether an expression names an operator."""
    symbols = project.symbols(expr, path, where)
    if any(isinstance(s, FunctionRef) and (s.path, s.key) == (one.path, one.name) for s in symbols):
        return True
    return isinstance(expr, ir.Name) and expr.id == one.name and path == one.path and not symbols
