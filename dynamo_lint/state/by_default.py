"""Lines that run, or do not, where nobody sets anything: no environment variable, no option."""

from __future__ import annotations

import ast
import operator
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index.ir import MODULE_KEY, Call, Constant, Import, Name, Store
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.spelling import spelled
from dynamo_lint.index.walking import nodes
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.state.environment_writes import ANY, environment_writes
from dynamo_lint.state.option_defaults import OptionDefaults
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
_COMMANDS = frozenset({"command", "callback", "option"})
"""Decorators of click and typer that make a command of a function."""
_DEEPEST = 4


class _Unknown(Exception):
    """A value that is not told by what is set by default alone."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A value where nothing is set."""

    value: object
    variables: tuple[str, ...] = ()
    """The variables, and the options, that were asked."""


_Guard = tuple[ast.expr | None, bool]
"""A test, None for one that is not read, and whether it holds where a line runs."""


@dataclass(frozen=True, slots=True)
class ByDefault:
    """The reading of one project."""

    project: Project
    bodies: Bodies
    options: OptionDefaults | None = None
    """Options are asked, too; else the environment alone tells."""
    asking: set[tuple[str, FunctionRef]] = field(default_factory=set)
    """The names that are being looked up."""
    given: dict[FunctionRef, dict[str, list[ast.expr]]] = field(default_factory=dict)
    """What each function assigns to names, of those that were asked."""
    leaving: dict[int, list[ast.If]] = field(default_factory=dict)
    """The tests of a body behind which nothing else of it may run, by the identity of the body."""

    def variable_for(self, where: FunctionRef, line: int, depth: int = 0) -> str | None:
        """The variable without which a line does not run; None if it runs anyway, or nothing is known."""
        guards = self._guards(self._body(where), line)
        found = next((one for guard in guards for one in self._unless(*guard, where)), None)
        if found is not None or where.key == MODULE_KEY or depth == _DEEPEST:
            return found
        asked = [self.variable_for(*call, depth + 1) for call in self._calls(where)]
        return asked[0] if asked and None not in asked else None

    def runs(self, where: FunctionRef, line: int, depth: int = 0) -> bool | None:
        """Whether a line runs where nothing is set; None if that is not known.

        What is not called is taken to run, and so is a call that nothing but itself leads to.
        """
        here = self.runs_with(where, line)
        calls = self._calls(where) if where.key != MODULE_KEY and depth < _DEEPEST else []
        called = [self.runs(*call, depth + 1) for call in calls if here is not False]
        if called and True not in called:
            return None if None in called else False
        return here

    def runs_with(self, where: FunctionRef, line: int) -> bool | None:
        """Whether a line runs whenever its function does."""
        answers = [self._goes(*guard, where) for guard in self._guards(self._body(where), line)]
        return False if False in answers else None if None in answers else True

    def switches(self, where: FunctionRef, line: int, depth: int = 0) -> tuple[str, ...]:
        """The variables and options that are asked before a line runs, here or around its calls."""
        found: list[str] = []
        for test, _ in self._guards(self._body(where), line):
            found += self.asked(test, where) if test is not None else ()
        if where.key != MODULE_KEY and depth < _DEEPEST:
            found += (one for call in self._calls(where) for one in self.switches(*call, depth + 1))
        return tuple(dict.fromkeys(found))

    def asked(self, node: ast.expr, where: FunctionRef) -> tuple[str, ...]:
        """The variables and options that decide an expression, or a part of one that is not known else."""
        try:
            return self._value(node, where).variables
        except (_Unknown, TypeError, ValueError):
            if isinstance(node, ast.UnaryOp):
                return self.asked(node.operand, where)
            parts = node.values if isinstance(node, ast.BoolOp) else ()
            return tuple(one for part in parts for one in self.asked(part, where))

    def _body(self, where: FunctionRef) -> Sequence[ast.stmt]:
        top = where.key == MODULE_KEY
        return (self.bodies.outline(where.path) if top else self.bodies.of(where)) or ()

    def _calls(self, where: FunctionRef) -> list[tuple[FunctionRef, int]]:
        """Where a function is called, but for itself and for tests."""
        return [
            (caller.function, site.call.line)
            for caller, site in points_to_of(self.project).call_sites(where)
            if caller.function != where and not in_tests(caller.function.path)
        ]

    def _goes(self, test: ast.expr | None, taken: bool, where: FunctionRef) -> bool | None:
        """Whether a test goes the way of a line by default."""
        try:
            return None if test is None else bool(self._value(test, where).value) is taken
        except (_Unknown, TypeError, ValueError):
            return None

    def _guards(self, body: Sequence[ast.stmt], line: int) -> Iterator[_Guard]:
        """The tests that a line of some statements stands under or behind."""
        for statement in self._that_matter(body, line):
            inside = _spans(statement, line)
            if isinstance(statement, ast.If):
                for branch, taken in ((statement.body, True), (statement.orelse, False)):
                    if inside and any(_spans(one, line) for one in branch):
                        yield statement.test, taken
                        yield from self._guards(branch, line)
                if not inside and statement.lineno < line and _leaves(statement.body):
                    yield statement.test, False
            elif inside:
                for one in ast.walk(statement):
                    if isinstance(one, ast.IfExp) and _holds(one.body, line):
                        yield one.test, True
                    elif isinstance(one, ast.IfExp) and _holds(one.orelse, line):
                        yield one.test, False
                for field in ("body", "orelse", "finalbody"):
                    yield from self._guards(getattr(statement, field, ()), line)
                for arm in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                    if any(_spans(one, line) for one in arm.body):
                        yield _of_arm(statement, arm), True
                        yield from self._guards(arm.body, line)
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

    def _unless(self, test: ast.expr | None, taken: bool, where: FunctionRef) -> Iterator[str]:
        """The first variable of a test that by default goes the other way."""
        try:
            known = self._value(test, where) if test is not None else None
        except (_Unknown, TypeError, ValueError):
            return
        if known is not None and bool(known.value) is not taken:
            yield from known.variables[:1]

    def _value(self, node: ast.expr, where: FunctionRef) -> _Known:
        """The value of an expression where nothing is set; raises if more than the environment decides it."""
        match node:
            case ast.Constant(value=value):
                return _Known(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return _Known(tuple(self._value(one, where).value for one in parts))
            case ast.Name() | ast.Attribute(value=ast.Name()):
                try:
                    return self._bound(spelled(node), where)
                except _Unknown:
                    return self._option(node, where)
            case ast.Attribute():
                return self._option(node, where)
            case ast.Subscript(value=held, slice=ast.Constant(str(name))) if not _is_environment(held):
                return self._default_of(name)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                known = self._value(inner, where)
                return _Known(not known.value, known.variables)
            case ast.BoolOp(op=op, values=parts):
                return self._joined(parts, isinstance(op, ast.Or), where)
            case ast.Compare(
                ops=[ast.In() | ast.NotIn() as op], left=ast.Constant(str(name)), comparators=[held]
            ) if spelled(held) in {"os.environ", "environ"}:
                return _Known(isinstance(op, ast.NotIn), self._unset(name))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                one, other = self._value(left, where), self._value(right, where)
                return _Known(_COMPARED[type(op)](one.value, other.value), one.variables + other.variables)
            case ast.Call(func=callee, args=[ast.Constant(str(name)), *rest]) if spelled(callee) in _READS:
                default = self._value(rest[0], where).value if rest else None
                return _Known(default, self._unset(name))
            case ast.Call(func=ast.Name("getattr"), args=[_, ast.Constant(str(name)), *_]):
                return self._default_of(name)
            case ast.Call(func=ast.Attribute(value=held, attr="get"), args=[ast.Constant(str(name)), *_]) if (
                not _is_environment(held)
            ):
                return self._default_of(name)
            case ast.Call(func=ast.Name() as callee, args=[], keywords=[]):
                return self._returned(callee, where)
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _TEXT:
                known = self._value(inner, where)
                if isinstance(known.value, str):
                    return _Known(getattr(known.value, name)(), known.variables)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner]) if name in _MADE:
                known = self._value(inner, where)
                return _Known(_MADE[name](known.value), known.variables)
        raise _Unknown

    def _option(self, node: ast.expr, where: FunctionRef) -> _Known:
        """The value of an option by the name that an expression takes it by, or of what is passed for it."""
        if isinstance(node, ast.Attribute):
            written = [*self.project.stores_of(node.attr)]
            if not all(terminal_name(store.value) == node.attr for _, store in written):
                if len(written) != 1:
                    raise _Unknown
                return self._stored(node.attr, *written[0])
            return self._default_of(node.attr)
        if not isinstance(node, ast.Name) or self.options is None:
            raise _Unknown
        parameter = next((p for p in self.project.function(where).parameters if p.name == node.id), None)
        if parameter is None:
            raise _Unknown
        passed = [] if self._is_command(where) else [*self._passed(node.id, where)]
        if not passed:
            if isinstance(parameter.default, Constant):
                return _Known(parameter.default.value, (node.id,))
            return self._default_of(node.id)
        values = {repr(one.value): one for one in passed}
        if len(values) != 1:
            raise _Unknown
        return next(iter(values.values()))

    def _is_command(self, where: FunctionRef) -> bool:
        """Whether a library fills the parameters of a function from the command line."""
        decorators = self.project.function(where).decorators
        marks = (one.function if isinstance(one, Call) else one for one in decorators)
        return not _COMMANDS.isdisjoint(filter(None, map(terminal_name, marks)))

    def _default_of(self, name: str) -> _Known:
        """The default of an option."""
        found = self.options.of(name) if self.options is not None else ()
        if not found:
            raise _Unknown
        return _Known(found[0], (name,))

    def _stored(self, name: str, where: FunctionRef, store: Store) -> _Known:
        """The value of an attribute that is assigned at one place."""
        for statement in self.bodies.of(where) or () if self.options is not None else ():
            for node in nodes(statement):
                match node:
                    case ast.Assign([ast.Attribute(attr=written)], value) if written == name:
                        if node.lineno == store.line:
                            return self._value(value, where)
        raise _Unknown

    def _passed(self, name: str, where: FunctionRef) -> Iterator[_Known]:
        """The values that the calls of a function pass for a parameter."""
        if ("passed " + name, where) in self.asking:
            raise _Unknown
        self.asking.add(("passed " + name, where))
        try:
            positional = [p.name for p in self.project.function(where).parameters if p.kind == "positional"]
            bound = self.project.owner(where) is not None
            place = positional.index(name) - bound if name in positional else None
            short = where.key.rpartition(".")[2]
            default = next(p.default for p in self.project.function(where).parameters if p.name == name)
            for caller, line in self._calls(where):
                calls = [one for one in _calls_at(self.bodies.of(caller) or (), line) if _name(one) == short]
                if len(calls) != 1 or any(isinstance(one, ast.Starred) for one in calls[0].args):
                    raise _Unknown
                keyword = next((one.value for one in calls[0].keywords if one.arg == name), None)
                if keyword is None and place is not None and place < len(calls[0].args):
                    keyword = calls[0].args[place]
                if keyword is not None:
                    yield self._value(keyword, caller)
                elif isinstance(default, Constant):
                    yield _Known(default.value)
                else:
                    raise _Unknown
        finally:
            self.asking.discard(("passed " + name, where))

    def _returned(self, callee: ast.Name, where: FunctionRef) -> _Known:
        """The value that a function of the project returns, if it has one `return`."""
        symbols = self.project.symbols(Name(callee.id), where.path, where.key)
        match symbols:
            case (FunctionRef() as function,) if (callee.id, function) not in self.asking:
                body = self.bodies.of(function) or []
                returns = [
                    one for statement in body for one in nodes(statement) if isinstance(one, ast.Return)
                ]
                if len(returns) == 1 and returns[0].value is not None and body[-1] is returns[0]:
                    self.asking.add((callee.id, function))
                    try:
                        return self._value(returns[0].value, function)
                    finally:
                        self.asking.remove((callee.id, function))
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


def _of_arm(statement: ast.stmt, arm: ast.ExceptHandler | ast.match_case) -> ast.expr | None:
    """The test that an arm of a `match` with a literal stands for; None for any other."""
    match statement, arm:
        case ast.Match(subject=subject), ast.match_case(pattern=ast.MatchValue(value=value), guard=None):
            return ast.Compare(subject, [ast.Eq()], [value])
    return None


def _spans(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _is_environment(node: ast.expr) -> bool:
    return spelled(node) in {"os.environ", "environ"}


def _calls_at(body: Sequence[ast.stmt], line: int) -> Iterator[ast.Call]:
    """The calls that begin on a line."""
    for statement in body:
        if _spans(statement, line):
            yield from (
                one for one in ast.walk(statement) if isinstance(one, ast.Call) and one.lineno == line
            )


def _name(call: ast.Call) -> str:
    """The last part of what a call calls."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
