"""Lines that run only if an environment variable is set that by default is not."""

from __future__ import annotations

import ast
import operator
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from dynamo_lint.index.ir import MODULE_KEY, Import
from dynamo_lint.index.walking import nodes
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.state.environment_writes import ANY, environment_writes
from dynamo_lint.values.points_to import points_to_of

_READS = frozenset({"os.environ.get", "environ.get", "os.getenv", "getenv"})
_TEXT = frozenset({"lower", "upper", "strip", "casefold", "title"})
_MADE: dict[str, Callable[[object], object]] = {
    "bool": bool,
    "int": lambda value: int(str(value)),
    "str": str,
    "strtobool": lambda value: str(value).lower() in {"1", "true", "t", "yes", "y", "on"},
}
_COMPARED: dict[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, other: one in other,  # type: ignore[operator]
    ast.NotIn: lambda one, other: one not in other,  # type: ignore[operator]
}
_DEEPEST = 4


class _Unknown(Exception):
    """A value that is not told by the environment alone."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A value where nothing is set in the environment."""

    value: object
    variables: tuple[str, ...] = ()
    """Those that were asked."""


@dataclass(frozen=True, slots=True)
class OptIn:
    """The reading of one project."""

    project: Project
    bodies: Bodies
    asking: set[tuple[str, FunctionRef]] = field(default_factory=set)
    """The names that are being looked up."""
    given: dict[FunctionRef, dict[str, list[ast.expr]]] = field(default_factory=dict)
    """What each function assigns to names, of those that were asked."""
    leaving: dict[int, list[ast.If]] = field(default_factory=dict)
    """The tests of a body behind which nothing else of it may run, by the identity of the body."""

    def variable_for(self, where: FunctionRef, line: int, depth: int = 0) -> str | None:
        """The variable without which a line does not run; None if it runs anyway, or nothing is known."""
        top = where.key == MODULE_KEY
        body = self.bodies.outline(where.path) if top else self.bodies.of(where)
        found = next(self._guards(body or (), line, where), None)
        if found is not None or top or depth == _DEEPEST:
            return found
        calls = [
            (caller.function, site.call.line)
            for caller, site in points_to_of(self.project).call_sites(where)
            if caller.function != where and not in_tests(caller.function.path)
        ]
        asked = [self.variable_for(*call, depth + 1) for call in calls]
        return asked[0] if asked and None not in asked else None

    def _guards(self, body: Sequence[ast.stmt], line: int, where: FunctionRef) -> Iterator[str]:
        """The variables that keep a line of some statements from being reached."""
        for statement in self._that_matter(body, line):
            inside = statement.lineno <= line <= (statement.end_lineno or statement.lineno)
            if isinstance(statement, ast.If):
                branches = ((statement.body, True), (statement.orelse, False))
                for branch, taken in branches:
                    if inside and any(one.lineno <= line <= (one.end_lineno or 0) for one in branch):
                        yield from self._unless(statement.test, taken, where)
                        yield from self._guards(branch, line, where)
                if not inside and statement.lineno < line and _leaves(statement.body):
                    yield from self._unless(statement.test, False, where)
            elif inside:
                for one in ast.walk(statement):
                    if isinstance(one, ast.IfExp) and _holds(one.body, line):
                        yield from self._unless(one.test, True, where)
                    elif isinstance(one, ast.IfExp) and _holds(one.orelse, line):
                        yield from self._unless(one.test, False, where)
                for field in ("body", "orelse", "finalbody"):
                    yield from self._guards(getattr(statement, field, ()), line, where)
            if inside:
                return

    def _that_matter(self, body: Sequence[ast.stmt], line: int) -> Iterator[ast.stmt]:
        """The tests before a line that may leave the body, and the statements on it."""
        if id(body) not in self.leaving:
            tests = (one for one in body if isinstance(one, ast.If) and _leaves(one.body))
            self.leaving[id(body)] = list(tests)
        behind = bisect_right(body, line, key=lambda one: one.lineno)
        first = behind
        while first and (body[first - 1].end_lineno or body[first - 1].lineno) >= line:
            first -= 1
        yield from takewhile(lambda one: (one.end_lineno or one.lineno) < line, self.leaving[id(body)])
        yield from body[first:behind]

    def _unless(self, test: ast.expr, taken: bool, where: FunctionRef) -> Iterator[str]:
        """The first variable of a test that by default goes the other way."""
        try:
            known = self._value(test, where)
        except (_Unknown, TypeError, ValueError):
            return
        if bool(known.value) is not taken:
            yield from known.variables[:1]

    def _value(self, node: ast.expr, where: FunctionRef) -> _Known:
        """The value of an expression where nothing is set; raises if more than the environment decides it."""
        match node:
            case ast.Constant(value=value):
                return _Known(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return _Known(tuple(self._value(one, where).value for one in parts))
            case ast.Name() | ast.Attribute(value=ast.Name()):
                return self._bound(ast.unparse(node), where)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                known = self._value(inner, where)
                return _Known(not known.value, known.variables)
            case ast.BoolOp(op=op, values=parts):
                return self._joined(parts, isinstance(op, ast.Or), where)
            case ast.Compare(
                ops=[ast.In() | ast.NotIn() as op], left=ast.Constant(str(name)), comparators=[held]
            ) if ast.unparse(held) in {"os.environ", "environ"}:
                return _Known(isinstance(op, ast.NotIn), self._unset(name))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                one, other = self._value(left, where), self._value(right, where)
                return _Known(_COMPARED[type(op)](one.value, other.value), one.variables + other.variables)
            case ast.Call(func=callee, args=[ast.Constant(str(name)), *rest]) if (
                ast.unparse(callee) in _READS
            ):
                default = self._value(rest[0], where).value if rest else None
                return _Known(default, self._unset(name))
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _TEXT:
                known = self._value(inner, where)
                if isinstance(known.value, str):
                    return _Known(getattr(known.value, name)(), known.variables)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner]) if name in _MADE:
                known = self._value(inner, where)
                return _Known(_MADE[name](known.value), known.variables)
        raise _Unknown

    def _joined(self, parts: list[ast.expr], wanted: bool, where: FunctionRef) -> _Known:
        """The value of `and` or `or`, of which one part may decide."""
        unknown, variables = False, tuple[str, ...]()
        for part in parts:
            try:
                known = self._value(part, where)
            except _Unknown:
                unknown = True
                continue
            variables += known.variables
            if bool(known.value) is wanted:
                return known
        if unknown:
            raise _Unknown
        return _Known(not wanted, variables)

    def _unset(self, variable: str) -> tuple[str, ...]:
        """A variable that no code of the project sets."""
        if any(one.sets and one.key in {variable, ANY} for one in environment_writes(self.project)):
            raise _Unknown
        return (variable,)

    def _bound(self, name: str, where: FunctionRef) -> _Known:
        """The value of a name that is assigned once, here, in the file, or in the one that it comes from."""
        if (name, where) in self.asking:
            raise _Unknown
        self.asking.add((name, where))
        try:
            values, place = self._values(name, where)
            if len(values) != 1:
                raise _Unknown
            return self._value(values[0], place)
        finally:
            self.asking.remove((name, where))

    def _values(self, name: str, where: FunctionRef) -> tuple[list[ast.expr], FunctionRef]:
        """The values that are given to a name, and where that is."""
        file, (first, _, rest) = FunctionRef(where.path, MODULE_KEY), name.partition(".")
        if rest and any(self.project.stores_of(rest)):
            return [], file  # any code may set the attribute
        for place in (where, file):
            if place not in self.given:
                self.given[place] = _assigned(self.bodies.of(place) or [])
            values = self.given[place].get(name, [])
            if values or any(one.name == first for one in self.project.function(place).parameters):
                return values, place
        for binding in self.project.function(file).bindings:
            if binding.name == first and isinstance(binding.value, Import):
                module, origin = binding.value.module, binding.value.name
                homes = [path for path, one in self.project.files.items() if one.module == module]
                meant = f"{origin}.{rest}" if origin and rest else origin or rest
                if len(homes) == 1 and meant:
                    return [ast.parse(meant, mode="eval").body], FunctionRef(homes[0], MODULE_KEY)
        return [], file


def _assigned(body: list[ast.stmt]) -> dict[str, list[ast.expr]]:
    """The values that statements give names, and classes among them attributes of their own."""
    found: dict[str, list[ast.expr]] = {}
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            own = {name: values for name, values in _assigned(statement.body).items() if "." not in name}
            for name, values in own.items():
                found.setdefault(f"{statement.name}.{name}", []).extend(values)
        for node in nodes(statement):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for name in dict.fromkeys(one.id for one in targets if isinstance(one, ast.Name)):
                found.setdefault(name, []).append(getattr(node, "value", None) or ast.Name("_"))
    return found


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return | ast.Raise | ast.Continue)


def _holds(node: ast.expr, line: int) -> bool:
    return any(isinstance(one, ast.Call) and one.lineno == line for one in ast.walk(node))
