"""Constant evaluation of a predicate over the names and classes of modules."""

from __future__ import annotations

import ast
import fnmatch
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dynamo_lint.conditions.has_attribute import is_set_by_methods
from dynamo_lint.index.ir import Call as CallFact
from dynamo_lint.index.ir import Constant, Expr, Name
from dynamo_lint.index.lower import ExpressionLowering
from dynamo_lint.index.scopes import FunctionScope
from dynamo_lint.program.refs import Confidence, FunctionRef
from dynamo_lint.program.scopes import Local
from dynamo_lint.values.annotations import typed
from dynamo_lint.values.classes import is_instance_of
from dynamo_lint.values.model import (
    ClassValue,
    Container,
    Context,
    ExternalInstance,
    FunctionValue,
    Instance,
    Text,
    Value,
    ValueSet,
)
from dynamo_lint.values.points_to import PointsTo


class _Open:
    """An answer that the code does not settle."""

    def __bool__(self) -> bool:
        return False


OPEN = _Open()
_TEXT_METHODS = frozenset(
    {"startswith", "endswith", "split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix"}
    | {"isdigit", "isnumeric", "isdecimal", "lower", "upper", "strip", "lstrip", "rstrip"}
    | {"replace", "count", "find"}
)
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_MOST_REPEATS, _LONGEST_NAME = 3, 200
"""Matching takes at most about the length of the name to the power of the repeats."""
_REGEX = {"match": re.match, "search": re.search, "fullmatch": re.fullmatch}
_COMPARING: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    # Classes and `None` are the same if they are equal.
    **dict.fromkeys((ast.Eq, ast.Is), operator.eq),
    **dict.fromkeys((ast.NotEq, ast.IsNot), operator.ne),
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, whole: item in whole,
    ast.NotIn: lambda item, whole: item not in whole,
}
_MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "len": len,
    "int": int,
    "str": str,
    "bool": bool,
    **dict.fromkeys(("set", "list", "tuple"), tuple),
}
_DEEPEST = 4
"""Functions that judge by calling others: further than this nobody nests them."""


class Judge:
    """Interprets tests that stand in one scope of a project."""

    def __init__(self, pts: PointsTo, context: Context, depth: int = 0) -> None:
        self._pts = pts
        self._context = context
        self._depth = depth
        self._found: dict[ast.expr, Any] = {}
        """Values of parts of a test that the project gives."""
        self._judges: dict[FunctionRef, tuple[Judge, ast.FunctionDef | ast.Lambda]] = {}

    def verdict(self, test: ast.expr, known: dict[str, Any]) -> bool | None:
        """Return the outcome of a test where some names are known; None if that is open."""
        answer = self._value(test, known)
        return None if answer is OPEN else bool(answer)

    # --- expressions ------------------------------------------------------------------------------------

    def _value(self, node: ast.expr, known: dict[str, Any]) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in known:
                return known[name]
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return self._all([self._value(item, known) for item in items])
            case ast.BoolOp(op=op, values=values):
                return self._joined((self._value(value, known) for value in values), isinstance(op, ast.Or))
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                value = self._value(inner, known)
                return OPEN if value is OPEN else not value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
                return -number
            case ast.IfExp(test=test, body=body, orelse=orelse):
                truth = self._value(test, known)
                return OPEN if truth is OPEN else self._value(body if truth else orelse, known)
            case ast.Attribute(value=of, attr="__class__") | ast.Call(func=ast.Name(id="type"), args=[of]):
                module = self._value(of, known)
                return ClassValue(module.ref) if isinstance(module, Instance) else OPEN
            case ast.Compare():
                return self._compared(node, known)
            case ast.Subscript(value=whole, slice=index):
                return self._item(self._value(whole, known), index, known)
            case ast.Call():
                return self._called(node, known)
            case (
                ast.GeneratorExp(elt=elt, generators=[generator])
                | ast.ListComp(elt=elt, generators=[generator])
                | ast.SetComp(elt=elt, generators=[generator])
            ):
                return self._each(elt, generator, known)
            case ast.Attribute(value=of, attr="__name__" | "__qualname__"):
                class_ = self._value(of, known)
                return class_.ref.name if isinstance(class_, ClassValue) else OPEN
        return self._looked_up(node, known)

    def _all(self, items: list[Any]) -> Any:
        return OPEN if any(item is OPEN for item in items) else tuple(items)

    def _joined(self, values: Iterable[Any], settling: bool) -> Any:
        """`or` where truth settles it, `and` where falsity does."""
        answer: Any = not settling
        for value in values:
            if value is OPEN:
                answer = OPEN
            elif bool(value) is settling:
                return value
        return answer

    def _compared(self, node: ast.Compare, known: dict[str, Any]) -> Any:
        left = self._value(node.left, known)
        answers = []
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self._value(other, known)
            compare = _COMPARING.get(type(op))
            if left is OPEN or right is OPEN or compare is None:
                answers.append(OPEN)
            else:
                answers.append(_tried(compare, left, right) if _is_known(op, left, right) else OPEN)
            left = right
        return self._joined(answers, False)

    def _item(self, whole: Any, index: ast.expr, known: dict[str, Any]) -> Any:
        if whole is OPEN or not isinstance(whole, str | tuple | list):
            return OPEN
        if isinstance(index, ast.Slice):
            ends = [None if end is None else self._value(end, known) for end in (index.lower, index.upper)]
            return OPEN if OPEN in ends else _tried(lambda a, b: whole[a:b], *ends)
        position = self._value(index, known)
        return OPEN if position is OPEN else _tried(operator.getitem, whole, position)

    def _each(self, elt: ast.expr, generator: ast.comprehension, known: dict[str, Any]) -> Any:
        over = self._value(generator.iter, known)
        if over is OPEN or not isinstance(generator.target, ast.Name) or not isinstance(over, tuple | list):
            return OPEN
        found = []
        for item in over:
            inner = {**known, generator.target.id: item}
            kept = self._joined((self._value(test, inner) for test in generator.ifs), False)
            if kept is OPEN:
                found.append(OPEN)
            elif kept:
                found.append(self._value(elt, inner))
        return tuple(found)

    def _called(self, node: ast.Call, known: dict[str, Any]) -> Any:
        arguments = [self._value(argument, known) for argument in node.args]
        match node.func:
            case ast.Name(id="any" | "all" as name) if arguments and arguments[0] is not OPEN:
                return self._joined(arguments[0], name == "any")
            case ast.Name(id="isinstance") if len(node.args) == 2:
                return self._is_instance(arguments[0], node.args[1])
            case ast.Name(id="len" | "int" | "str" | "bool" | "set" | "list" | "tuple" as name) if arguments:
                return OPEN if arguments[0] is OPEN else _tried(_MAKERS[name], arguments[0])
            case ast.Name(id="set" | "list" | "tuple"):
                return ()
            case ast.Attribute(value=ast.Name(id="str"), attr=method) if (
                method in _TEXT_METHODS and arguments
            ):
                return self._of_text(arguments[0], method, arguments[1:])
            case ast.Attribute(attr="match" | "search" | "fullmatch" as name):
                return self._matched(node.func, _REGEX[name], arguments)
            case ast.Attribute(attr="fnmatch" | "fnmatchcase") | ast.Name(id="fnmatch" | "fnmatchcase"):
                plain = len(arguments) == 2 and all(isinstance(one, str) for one in arguments)
                return fnmatch.fnmatchcase(*arguments) if plain else OPEN
            case ast.Attribute(value=of, attr=method) if method in _TEXT_METHODS:
                return self._of_text(self._value(of, known), method, arguments)
        callee = self._value(node.func, known)
        if not isinstance(callee, FunctionValue):
            return self._looked_up(node, known)
        return self._judged(callee, arguments)

    def _of_text(self, text: Any, method: str, arguments: list[Any]) -> Any:
        if not isinstance(text, str) or any(one is OPEN for one in arguments):
            return OPEN
        return _tried(getattr(text, method), *arguments)

    def _matched(
        self, callee: ast.Attribute, find: Callable[[str, str], object], arguments: list[Any]
    ) -> Any:
        """`re.match(pattern, name)`, or a pattern that is compiled once at the top of the file."""
        texts = [one for one in arguments[:2] if isinstance(one, str)]
        if len(texts) == 1 and isinstance(callee.value, ast.Name):
            bound = self._pts.project.global_bindings(self._context.function.path).get(callee.value.id, [])
            match bound:
                case [CallFact(_, (Constant(str() as pattern), *_))]:
                    texts.insert(0, pattern)
        if len(texts) != 2 or not _is_tame(*texts):
            return OPEN
        return _tried(lambda pattern, name: find(pattern, name) is not None, *texts)

    # --- what only the project knows --------------------------------------------------------------------

    def _is_instance(self, module: Any, types: ast.expr) -> Any:
        if isinstance(module, str) and isinstance(types, ast.Name) and types.id == "str":
            return True
        wanted = typed(self._pts.project, _fact(types), self._context)
        if not wanted or not isinstance(module, Instance):
            return OPEN
        return is_instance_of(self._pts, module, wanted)

    def _looked_up(self, node: ast.expr, known: dict[str, Any]) -> Any:
        """A name or attribute that the test itself does not bind."""
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        if names & known.keys():
            return self._declared(node, known)
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            return OPEN
        if node not in self._found:
            told = self._strings_of(node.id) if isinstance(node, ast.Name) else OPEN
            self._found[node] = _plain(self._pts.value(_fact(node), self._context)) if told is OPEN else told
        return self._found[node]

    def _declared(self, node: ast.expr, known: dict[str, Any]) -> Any:
        """The value that the class of a module declares: `getattr(model, "_no_split_modules")`."""
        match node:
            case (
                ast.Attribute(value=of, attr=name)
                | ast.Call(func=ast.Name(id="getattr"), args=[of, ast.Constant(value=str() as name), *_])
            ):
                return self._of_class(self._value(of, known), name)
        return OPEN

    def _of_class(self, owner: Any, name: str) -> Any:
        """An attribute that the body of a class gives all its instances, and no method sets anew."""
        project = self._pts.project
        if not isinstance(owner, Instance | ClassValue):
            return OPEN
        if is_set_by_methods(project, owner.ref, name):
            return OPEN
        return _plain(self._pts.attributes({owner: Confidence.CERTAIN}, name))

    def _strings_of(self, name: str) -> Any:
        """The value of a local that `getattr` or a plain function gave: `names = names_of_blocks(model)`."""
        local = self._pts.project.locals_of(self._context.function).get(name)
        match local:
            case Local((CallFact(Name("getattr"), (Name(owner), Constant(str() as asked), *_)),), None):
                return self._of_class(_only(dict(self._context.passed(owner) or ())), asked)
            case Local((CallFact(function, arguments, ()),), None):
                callees = list(self._pts.value(function, self._context))
                if len(callees) == 1 and isinstance(callees[0], FunctionValue):
                    return self._judged(callees[0], [self._argument(one) for one in arguments])
        return OPEN

    def _argument(self, given: Expr) -> Any:
        """The one module or other thing that an argument is."""
        held = self._context.passed(given.id) if isinstance(given, Name) else None
        return _only(self._pts.value(given, self._context) if held is None else dict(held))

    def _judged(self, callee: FunctionValue, arguments: list[Any]) -> Any:
        """The outcome of a function of the project, if all it does is to judge."""
        if callee.ref not in self._judges:
            text = self._pts.project.function(callee.ref).judgement
            if text is None or self._depth == _DEEPEST:
                return OPEN
            parsed = ast.parse(text).body[0]
            function = parsed.value if isinstance(parsed, ast.Expr) else parsed
            assert isinstance(function, ast.FunctionDef | ast.Lambda)
            judge = Judge(self._pts, Context(callee.ref, callee.receiver), self._depth + 1)
            self._judges[callee.ref] = judge, function
        judge, function = self._judges[callee.ref]
        known = _given(function.args, arguments, bound=callee.receiver is not None)
        if isinstance(function, ast.Lambda):
            return judge._value(function.body, known)
        return judge._run(function.body, known)

    def _run(self, body: list[ast.stmt], known: dict[str, Any]) -> Any:
        """The result of running a function body; `None` where it runs through."""
        for statement in body:
            match statement:
                case ast.Return(value=value):
                    return None if value is None else self._value(value, known)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    known[name] = self._value(value, known)
                case ast.If(test=test, body=inner, orelse=orelse):
                    truth = self._value(test, known)
                    if truth is OPEN:
                        return OPEN
                    answer = self._run(inner if truth else orelse, known)
                    if answer is not None:
                        return answer
                case ast.For(target=ast.Name(id=name), iter=iterable, body=inner, orelse=[]):
                    over = self._value(iterable, known)
                    if not isinstance(over, tuple | list):
                        return OPEN
                    for item in over:
                        answer = self._run(inner, {**known, name: item})
                        if answer is not None:
                            return answer
                case _:
                    return OPEN
        return None


def _is_known(op: ast.cmpop, left: Any, right: Any) -> bool:
    """Whether an answer is one where a container holds something unknown."""
    inside = isinstance(op, ast.In | ast.NotIn) and isinstance(right, tuple | list)
    return not inside or OPEN not in right or left in right


def _is_tame(pattern: str, name: str) -> bool:
    """Whether matching surely ends soon: the pattern is the linted code's, and it may be hostile."""
    repeats = sum(pattern.count(sign) for sign in "*+?{")
    return len(name) <= _LONGEST_NAME and repeats <= _MOST_REPEATS and not _REPEATED_GROUP.search(pattern)


def _given(parameters: ast.arguments, arguments: list[Any], *, bound: bool) -> dict[str, Any]:
    names = [one.arg for one in (*parameters.posonlyargs, *parameters.args)]
    if bound and len(names) > len(arguments):
        arguments = [OPEN, *arguments]
    return {name: arguments[at] if at < len(arguments) else OPEN for at, name in enumerate(names)}


def _fact(node: ast.expr) -> Expr:
    """A piece of source as the index would note it."""
    reader = ExpressionLowering(lambda _: "", set())
    reader.scope = FunctionScope("", "", 0, 0, 0)
    return reader.read(node)


def _only(values: ValueSet) -> Any:
    """The one module or other thing that values are; that it is some module says nothing more."""
    modules = [value for value in values if isinstance(value, Instance)]
    others = [value for value in values if not isinstance(value, Instance | ExternalInstance)]
    return modules[0] if len(modules) == 1 and not others else _plain(values)


def _plain(values: ValueSet) -> Any:
    """The one thing that values are: a text, a function, a class, or all that a container of these holds."""
    if len(values) == 1:
        value = next(iter(values))
        match value:
            case Text(text):
                return text
            case FunctionValue() | ClassValue():
                return value
    groups = [value for value in values if isinstance(value, Container)]
    if groups and len(groups) == len(values):
        items = [_single(inner) for group in groups for item in group.items for inner, _ in item]
        return tuple(items)
    return OPEN


def _single(value: Value) -> Any:
    match value:
        case Text(text):
            return text
        case FunctionValue() | ClassValue():
            return value
    return OPEN


def _tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a Python builtin for some arguments; open if it does not take them."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, IndexError, re.error, OverflowError):
        return OPEN
