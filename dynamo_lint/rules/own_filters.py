"""Whether a guard filter of the project drops a guard, worked out from its text.

It replaces a search for words in that text: `[entry.name != "self.n" for entry in entries]` is asked about
each guard that matters, and what it does not tell without doubt is taken for kept.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

_COMPARE: Mapping[type[ast.cmpop], Callable[[object, object], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
}
_OF_TEXTS = frozenset({"startswith", "endswith", "lower", "upper", "strip", "lstrip", "rstrip"})
Definitions = Callable[[str], ast.expr | None]
"""The one value of a name around the filter."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A guard as a filter sees it (`GuardFilterEntry` in torch/_dynamo/types.py)."""

    guard_type: str
    is_global: bool
    name: str | None
    """None where it is not known."""


class _Unknown(Exception):
    """The text does not tell."""


def drops(function: Sequence[ast.stmt] | ast.Lambda, entries: str, asked: Entry, known: Definitions) -> bool:
    """Whether a filter, which calls its parameter `entries`, surely drops a guard."""
    try:
        return not _Filter(entries, asked, known).kept(function)
    except (_Unknown, TypeError, ValueError):
        return False


@dataclass(slots=True)
class _Filter:
    entries: str
    asked: Entry
    known: Definitions

    def kept(self, function: Sequence[ast.stmt] | ast.Lambda) -> object:
        if isinstance(function, ast.Lambda):
            return self._list(function.body, {})
        match function:
            case [*before, ast.Assign([ast.Name(made)], value), ast.Return(ast.Name(given))] if made == given:
                found = self._list(value, {})
            case [*before, ast.For(target, iterable, body, []), ast.Return(ast.Name(given))]:
                found = self._added(body, self._item(target, iterable), given)
            case [*before, ast.Return(ast.expr() as value)]:
                found = self._list(value, {})
            case _:
                raise _Unknown
        if not all(_is_idle(one) for one in before):
            raise _Unknown
        return found

    def _list(self, node: ast.expr, names: Mapping[str, object]) -> object:
        """The element for the guard in the list that an expression makes."""
        match node:
            case ast.ListComp(element, [ast.comprehension(target, iterable, [])]):
                return self.value(element, {**names, **self._item(target, iterable)})
            case ast.Call(
                ast.Name("list"), [ast.GeneratorExp(element, [ast.comprehension(target, over, [])])]
            ):
                return self.value(element, {**names, **self._item(target, over)})
            case ast.BinOp(ast.List([element]), ast.Mult()) | ast.BinOp(_, ast.Mult(), ast.List([element])):
                return self.value(element, names)
        raise _Unknown

    def _item(self, target: ast.expr, iterable: ast.expr) -> dict[str, object]:
        """The names that a loop over the guards gives the one that is asked about."""
        match target, iterable:
            case ast.Name(name), ast.Name(over) if over == self.entries:
                return {name: self.asked}
            case ast.Tuple([_, ast.Name(name)]), ast.Call(ast.Name("enumerate"), [ast.Name(over), *_]) if (
                over == self.entries
            ):
                return {name: self.asked}
        return {}

    def _added(self, statements: Iterable[ast.stmt], names: dict[str, object], result: str) -> object:
        """The value that a round of a loop appends to a list for the guard."""
        for statement in statements:
            match statement:
                case ast.If(test, body, orelse):
                    found = self._added(body if self.value(test, names) else orelse, names, result)
                    if found is not None:
                        return found
                case ast.Expr(ast.Call(ast.Attribute(_, "append"), [value])) | ast.Return(
                    ast.expr() as value
                ):
                    return bool(self.value(value, names))
                case ast.Assign([ast.Name(name)], value):
                    names[name] = self.value(value, names)
                case ast.Expr(ast.Constant()) | ast.Pass():
                    pass
                case _:
                    raise _Unknown
        return None

    def value(self, node: ast.expr, names: Mapping[str, object]) -> object:
        """The value of an expression; raises where the text does not tell."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                if name in names:
                    return names[name]
                found = self.known(name)
                if found is not None:
                    return self.value(found, {})
            case ast.Attribute(ast.Name(name), "name" | "guard_type" | "is_global" as asked) if isinstance(
                entry := names.get(name), Entry
            ):
                held: object = getattr(entry, asked)
                if held is not None:
                    return held
            case ast.Tuple(items) | ast.List(items) | ast.Set(items):
                return tuple(self.value(one, names) for one in items)
            case ast.UnaryOp(ast.Not(), inner):
                return not self.value(inner, names)
            case ast.BoolOp(how, parts):
                return self._together(parts, isinstance(how, ast.Or), names)
            case ast.IfExp(test, body, orelse):
                return self.value(body if self.value(test, names) else orelse, names)
            case ast.Compare(left, [how], [right]):
                return self._compared(how, self.value(left, names), self.value(right, names))
            case ast.Call():
                return self._called(node, names)
        raise _Unknown

    def _together(self, parts: Sequence[ast.expr], ends: bool, names: Mapping[str, object]) -> bool:
        """The outcome of `and` and `or`: one part may decide, whatever the others are."""
        told = [self._told(part, names) for part in parts]
        if ends in told:
            return ends
        if None in told:
            raise _Unknown
        return not ends

    def _told(self, part: ast.expr, names: Mapping[str, object]) -> bool | None:
        try:
            return bool(self.value(part, names))
        except _Unknown:
            return None

    def _compared(self, how: ast.cmpop, left: object, right: object) -> object:
        if isinstance(how, ast.In | ast.NotIn) and isinstance(right, str | tuple):
            return (left in right) is isinstance(how, ast.In)
        if type(how) in _COMPARE:
            return _COMPARE[type(how)](left, right)
        raise _Unknown

    def _called(self, node: ast.Call, names: Mapping[str, object]) -> object:
        match node:
            case ast.Call(
                ast.Name("any" | "all" as how),
                [ast.GeneratorExp(element, [one]) | ast.ListComp(element, [one])],
            ) if isinstance(one.target, ast.Name) and not one.ifs:
                over = self.value(one.iter, names)
                outcomes = [
                    self.value(element, {**names, one.target.id: held})
                    for held in (over if isinstance(over, tuple) else ())
                ]
                if isinstance(over, tuple):
                    return any(outcomes) if how == "any" else all(outcomes)
            case ast.Call(ast.Name("bool"), [inner]):
                return bool(self.value(inner, names))
            case ast.Call(ast.Attribute(value, method), arguments, []) if method in _OF_TEXTS:
                text = self.value(value, names)
                if isinstance(text, str):
                    return getattr(text, method)(*(self.value(one, names) for one in arguments))
        raise _Unknown


def _is_idle(statement: ast.stmt) -> bool:
    """Whether a statement decides nothing: a docstring, or an empty list."""
    match statement:
        case ast.Expr(ast.Constant()) | ast.Assign([_], ast.List([])) | ast.AnnAssign(_, _, ast.List([])):
            return True
    return False
