"""Custom operators without a fake that compiled code calls: Dynamo cannot tell what they give."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
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
class Operator:
    """An operator that code makes of a function."""

    path: str
    name: str
    """In Python."""
    operator: str
    """`mylib::scan`; empty if it is not a literal."""
    line: int
    kernel: FunctionRef | None = None
    """The function, where it is one of the project."""
    mutates: frozenset[str] | None = frozenset()
    """The arguments that it says it changes; None if that is not known."""
    tensors: tuple[bool, ...] = ()
    """Of each argument of a schema, whether it is a tensor."""
    defined: bool = False
    """`torch.library.define` makes it: its kernel is registered apart."""


def fakeless_calls(project: Project, regions: Regions) -> tuple[Fakeless, ...]:
    """The calls of operators without a fake, one for each compiled function and operator."""
    operators = [*decorated_operators(project), *called_operators(project)]
    faked = _faked(project, operators) if operators else frozenset()
    lacking = [one for one in operators if one not in faked]
    if not lacking or None in faked:
        return ()
    found: dict[tuple[FunctionRef, Operator], Fakeless] = {}
    for hot in regions.hot:
        for site in project.function(hot.function).calls:
            for one in lacking:
                if not site.eager and is_call(project, site.call.function, hot.function, one):
                    call = Fakeless(hot, site.call.line, one.path, one.line, one.name)
                    found.setdefault((hot.function, one), call)
    return tuple(found.values())


def decorated_operators(project: Project) -> Iterator[Operator]:
    """The operators that a decorator makes of functions."""
    for name in sorted(one.rpartition(".")[2] for one in OPERATORS):
        for ref, decorator in project.decorated_with(name):
            if isinstance(ref, FunctionRef) and isinstance(decorator, ir.Call):
                outer = project.function(ref).outer or MODULE_KEY
                if means(project, decorator.function, ref.path, outer, OPERATORS):
                    line, name_in_code = project.function(ref).line, ref.key.rpartition(".")[2]
                    changes = _mutated(decorator)
                    yield Operator(ref.path, name_in_code, _text(decorator), line, ref, changes)


def called_operators(project: Project) -> Iterator[Operator]:
    """The operators that a call makes: `scan = torch.library.custom_op("mylib::scan", kernel, …)`."""
    for name in sorted(one.rpartition(".")[2] for one in OPERATORS):
        for where, site in project.calls_of(name):
            if len(site.call.arguments) < 2 or not means(
                project, site.call.function, where.path, where.key, OPERATORS
            ):
                continue
            for binding in project.function(where).bindings:
                if binding.value == site.call:
                    symbols = project.symbols(site.call.arguments[1], where.path, where.key)
                    kernel = next((one for one in symbols if isinstance(one, FunctionRef)), None)
                    yield Operator(
                        where.path,
                        binding.name,
                        _text(site.call),
                        site.call.line,
                        kernel,
                        _mutated(site.call),
                    )


def _mutated(call: ir.Call) -> frozenset[str] | None:
    """The arguments that `mutates_args` names; None if it leaves that open."""
    match dict(call.keywords).get("mutates_args", ir.UNKNOWN):
        case ir.Display(_, items):
            names = [one.value if isinstance(one, ir.Constant) else None for one in items]
            return frozenset(map(str, names)) if None not in names else None
        case ir.Constant(()):
            return frozenset()
    return None


def _text(call: ir.Call) -> str:
    first = call.arguments[0] if call.arguments else ir.UNKNOWN
    return first.value if isinstance(first, ir.Constant) and isinstance(first.value, str) else ""


def means(project: Project, expr: ir.Expr, path: str, where: str, names: frozenset[str]) -> bool:
    """Whether an expression is one of some functions outside the project."""
    return any(
        isinstance(symbol, ExternalSymbol) and symbol.dotted in names
        for symbol in project.symbols(expr, path, where)
    )


def _faked(project: Project, operators: list[Operator]) -> frozenset[Operator | None]:
    """The operators with a fake; None among them if some registration may be of any."""
    found: set[Operator | None] = set()
    for path, where, expr in _registrations(project):
        call = expr if isinstance(expr, ir.Call) else None
        callee = call.function if call is not None else expr
        if means(project, callee, path, where, FAKES):
            first = call.arguments[0] if call is not None and call.arguments else ir.UNKNOWN
            text = _text(call) if call is not None else ""
            named = [
                one
                for one in operators
                if (text and one.operator == text) or is_operator(project, first, path, where, one)
            ]
            found.update(named or ([] if text else [None]))
        elif isinstance(callee, ir.Attribute):
            found.update(one for one in operators if is_operator(project, callee.value, path, where, one))
    return frozenset(found)


def _registrations(project: Project) -> Iterator[tuple[str, str, ir.Expr]]:
    """The calls and decorators that register a fake, each with where it stands."""
    for name in REGISTRARS:
        for ref, decorator in project.decorated_with(name):
            outer = project.function(ref).outer if isinstance(ref, FunctionRef) else None
            yield ref.path, outer or MODULE_KEY, decorator
        for where, site in project.calls_of(name):
            yield where.path, where.key, site.call


def is_call(project: Project, callee: ir.Expr, where: FunctionRef, one: Operator) -> bool:
    """Whether a callee in compiled code is an operator: by its name, or as `torch.ops.mylib.scan`."""
    if one.operator:
        dotted = f"{NAMESPACE}.{one.operator.replace('::', '.')}"
        if means(project, callee, where.path, where.key, frozenset({dotted, f"{dotted}.default"})):
            return True
    return is_operator(project, callee, where.path, where.key, one)


def is_operator(project: Project, expr: ir.Expr, path: str, where: str, one: Operator) -> bool:
    """Whether an expression names an operator."""
    symbols = project.symbols(expr, path, where)
    if any(isinstance(s, FunctionRef) and (s.path, s.key) == (one.path, one.name) for s in symbols):
        return True
    return isinstance(expr, ir.Name) and expr.id == one.name and path == one.path and not symbols
