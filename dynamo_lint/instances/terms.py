"""Symbolic terms, hash-consed, so that "the same value" is `is`, and dictionaries of keyword arguments.

A dictionary with known keys is a `seq` of `dict`; what is done to one that only a caller knows is kept as a
term (`extended`, `without`, `merge`, `get`) and worked out once the caller's is put in its place.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.program.refs import ClassRef, FunctionRef

OPEN = frozenset({"extended", "without", "merge"})
"""Dictionaries that are known in part."""
REBUILT = OPEN | {"get"}


def is_dictionary(term: Term | None) -> bool:
    """Something is known of its keys."""
    return term is not None and (term.kind in OPEN or (term.kind == "seq" and term.leaf == "dict"))


def closed(terms: Terms, items: Mapping[str, Term]) -> Term:
    """A dictionary with exactly these items."""
    return terms.make("seq", "dict", tuple(items.values()), tuple(items))


def packed(terms: Terms, items: Iterable[tuple[str, Term]]) -> Term:
    """`dict(a=1, **rest)`: what stands under `**` is a dictionary of its own."""
    found = closed(terms, {})
    for name, value in items:
        found = (
            merged_dictionary(terms, found, value) if name == "**" else extended(terms, found, name, value)
        )
    return found


def extended(terms: Terms, owner: Term, key: str, value: Term) -> Term:
    """`owner` with one item more, or another one."""
    if owner.kind == "seq":
        return closed(terms, {**owner.argument, key: value})
    return terms.make("extended", key, (owner, value))


def without(terms: Terms, owner: Term, key: str) -> Term:
    """`owner` after `owner.pop(key)`."""
    if owner.kind == "seq":
        return closed(terms, {name: part for name, part in owner.argument.items() if name != key})
    return terms.make("without", key, (owner,))


def lacking(terms: Terms, owner: Term, keys: Iterable[str]) -> Term:
    """`owner` without any of the keys."""
    for key in keys:
        owner = without(terms, owner, key) if owner.kind != "symbol" else owner
    return owner


def merged_dictionary(terms: Terms, first: Term, second: Term) -> Term:
    """`{**first, **second}`."""
    if first.kind == "seq" and not first.parts:
        return second
    if first.kind == second.kind == "seq":
        return closed(terms, {**first.argument, **second.argument})
    return terms.make("merge", None, (first, second))


def looked_up(terms: Terms, owner: Term, key: str, default: Term) -> Term:
    """`owner.get(key, default)`; of an unknown dictionary, the default is as good a guess as any."""
    match owner.kind:
        case "seq":
            return owner.argument.get(key, default)
        case "extended":
            return owner.parts[1] if owner.leaf == key else looked_up(terms, owner.parts[0], key, default)
        case "without":
            return default if owner.leaf == key else looked_up(terms, owner.parts[0], key, default)
        case "merge":
            first, second = owner.parts
            return looked_up(terms, second, key, looked_up(terms, first, key, default))
        case "ite":
            test, then, other = owner.parts
            return terms.choice(
                test, looked_up(terms, then, key, default), looked_up(terms, other, key, default)
            )
    return terms.make("get", key, (owner, default)) if owner.params else default


def rebuilt(terms: Terms, term: Term, parts: tuple[Term, ...]) -> Term:
    """A term of this module with other parts, or a call that is given such a dictionary as `**`."""
    key = str(term.leaf)
    match term.kind:
        case "get":
            return looked_up(terms, parts[0], key, parts[1])
        case "extended":
            return extended(terms, parts[0], key, parts[1])
        case "without":
            return without(terms, parts[0], key)
        case "merge":
            return merged_dictionary(terms, *parts)
    given = list(opened(zip(term.names, parts, strict=True)))
    return terms.make(term.kind, term.leaf, tuple(v for _, v in given), tuple(n for n, _ in given), term.line)


def opened(arguments: Iterable[tuple[str, Term]]) -> Iterator[tuple[str, Term]]:
    """The arguments of a call with those dictionaries opened whose keys are known."""
    for name, value in arguments:
        if name == "**" and value.kind == "seq" and value.leaf == "dict":
            yield from zip(value.names, value.parts, strict=True)
            continue
        while name == "**" and value.kind == "extended":
            yield str(value.leaf), value.parts[1]
            value = value.parts[0]
        yield name, value


Leaf = str | int | float | bool | None | ClassRef | FunctionRef


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One node; compared by identity, since equal terms are made only once."""

    kind: str
    """`const`, `param`, `symbol`, `class`, `function`, `external`, `seq`, `new`, `part`, `call`, `ite` or
    the name of an operation."""
    leaf: Leaf = None
    parts: tuple[Term, ...] = ()
    names: tuple[str, ...] = ()
    """Parameter names of the parts of `new`, `part` and `call`; `*` marks a positional one."""
    line: int = 0
    """Where a `new` or `part` is made; not part of its identity."""
    params: frozenset[str] = frozenset()
    """Every parameter the term depends on."""

    @property
    def argument(self) -> Mapping[str, Term]:
        """The named parts."""
        return dict(zip(self.names, self.parts, strict=False))


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
}
BOOLEAN = frozenset(
    {
        *("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "In", "NotIn", "Is", "IsNot"),
        *("not", "and", "or", "isinstance"),
    }
)
"""Operations that mostly yield a truth value; `a or b` does where it is used as one."""
CODE = frozenset({"new", "part", "class", "function", "external", "absent", "partial"})
"""Terms that decide what code runs, rather than with which number."""
_REFLEXIVE = {"Eq": True, "NotEq": False}
"""The result of comparing a value with itself, whatever the value is."""
_LARGEST = 10**9
_NONE: frozenset[str] = frozenset()
LONGEST_TABLE = 8
"""With more entries than this it is a registry, and one entry of it serves a whole model."""


@dataclass(slots=True)
class Terms:
    """Makes terms, each once."""

    known: dict[object, Term] = field(default_factory=dict)
    constants: dict[tuple[type, Leaf], Term] = field(default_factory=dict)
    items: dict[tuple[Term, Term], Term] = field(default_factory=dict)
    """The items of choices."""

    def make(
        self,
        kind: str,
        leaf: Leaf = None,
        parts: tuple[Term, ...] = (),
        names: tuple[str, ...] = (),
        line: int = 0,
    ) -> Term:
        """The term of this shape."""
        index = (kind, leaf.__class__, leaf, parts, names)
        found = self.known.get(index)
        if found is None:
            params = _NONE.union(*[part.params for part in parts]) if parts else _NONE
            if kind == "param" and isinstance(leaf, str):
                params |= {leaf}
            found = self.known[index] = Term(kind, leaf, parts, names, line, params)
        return found

    def const(self, value: Leaf) -> Term:
        """A literal."""
        found = self.constants.get((value.__class__, value))
        if found is None:
            found = self.constants[value.__class__, value] = self.make("const", value)
        return found

    def operation(self, name: str, *parts: Term) -> Term:
        """`parts[0] name parts[1]`, computed where both are literals."""
        if len(parts) == 2 and parts[0].kind == parts[1].kind == "const":
            compute = _ARITHMETIC.get(name)
            found = _computed(compute, parts[0].leaf, parts[1].leaf) if compute is not None else ...
            if found is not ...:
                return self.const(found)  # type: ignore[arg-type]
        if name == "Mult" and len(parts) == 2:
            repeated = self._repeated(*parts)
            if repeated is not None:
                return repeated
        if name == "Add" and all(part.kind == "seq" for part in parts):
            return self.make("seq", "list", tuple(item for part in parts for item in part.parts))
        if name == "isinstance":
            known = _is_instance(*parts)
            return self.make(name, None, parts) if known is None else self.const(known)
        if name in {"Is", "IsNot", "In", "NotIn"}:
            truth = _known_relation(name, parts[0], parts[1])
            if truth is not None:
                return self.const(truth)
        if name in _REFLEXIVE and parts[0] is parts[1]:
            return self.const(_REFLEXIVE[name])
        if name == "not" and parts[0].kind == "const":
            return self.const(not parts[0].leaf)
        return self.make(name, None, parts)

    def _repeated(self, first: Term, second: Term) -> Term | None:
        if first.kind == "seq" and second.kind == "const" and isinstance(second.leaf, int):
            return self.make("seq", first.leaf, first.parts * max(0, min(second.leaf, 64)))
        if first.kind == "seq" and len(first.parts) == 1:
            return self.make("repeat", None, (first.parts[0],))
        return None

    def choice(self, test: Term, then: Term, other: Term) -> Term:
        """`then if test else other`."""
        if test.kind == "const":
            return then if test.leaf else other
        return then if then is other else self.make("ite", None, (test, then, other))

    def item(self, owner: Term, index: Term) -> Term:
        """`owner[index]`."""
        if owner.kind == "repeat":
            return owner.parts[0]
        if owner.kind == "seq" and index.kind == "const":
            if isinstance(index.leaf, int) and -len(owner.parts) <= index.leaf < len(owner.parts):
                return owner.parts[index.leaf]
            if isinstance(index.leaf, str) and index.leaf in owner.names:
                return owner.argument[index.leaf]
        if owner.kind in OPEN and isinstance(index.leaf, str):
            return looked_up(self, owner, index.leaf, self.make("absent"))
        if owner.kind == "ite":
            # Ways through choices double: each is looked into once.
            if (owner, index) not in self.items:
                test, then, other = owner.parts
                self.items[owner, index] = self.choice(test, self.item(then, index), self.item(other, index))
            return self.items[owner, index]
        if owner.leaf == "dict" and index.kind != "const" and _names_code(owner):
            # `MIXERS[kind](config)`: a choice among classes, and which is asked by the label.
            found = owner.parts[-1]
            for name, part in list(zip(owner.names, owner.parts, strict=True))[-2::-1]:
                found = self.choice(self.operation("Eq", index, self.const(name)), part, found)
            return found
        return self.make("item", None, (owner, index))

    def attribute(self, owner: Term, name: str) -> Term:
        """`owner.name`, where the object is one that construction code may have changed."""
        while owner.kind == "with":
            if owner.leaf == name:
                return owner.parts[1]
            owner = owner.parts[0]
        if owner.kind == "external":
            return self.make("external", f"{owner.leaf}.{name}")
        return self.make("attribute", name, (owner,))

    def all(self, tests: tuple[Term, ...]) -> Term:
        """Whether all tests hold."""
        return self._connected("and", tests) if tests else self.const(True)

    def any(self, tests: tuple[Term, ...]) -> Term:
        """Whether one of the tests holds."""
        return self._connected("or", tests) if tests else self.const(False)

    def _connected(self, kind: str, parts: tuple[Term, ...]) -> Term:
        """`a and b`, `a or b`: without what literals decide."""
        left: list[Term] = []
        for number, part in enumerate(parts):
            known = part.kind == "const"
            if known and bool(part.leaf) == (kind == "or"):
                left.append(part)
                break
            if not known or number == len(parts) - 1:
                left.append(part)
        return left[0] if len(left) == 1 else self.make(kind, None, tuple(left))

    def substitute(self, term: Term, given: Mapping[str, Term], done: dict[int, Term] | None = None) -> Term:
        """The term with parameters replaced; `done` holds what earlier answers for the same `given` found."""
        if term.params.isdisjoint(given):
            return term
        return self._substitute(term, given, {} if done is None else done)

    def _substitute(self, term: Term, given: Mapping[str, Term], done: dict[int, Term]) -> Term:
        """The same for a term that does have one of the parameters."""
        found = done.get(id(term))
        if found is None:
            if term.kind == "param" and isinstance(term.leaf, str):
                return given[term.leaf]
            parts = tuple(
                [
                    part if part.params.isdisjoint(given) else self._substitute(part, given, done)
                    for part in term.parts
                ]
            )
            found = done[id(term)] = self._rebuilt(term, parts)
        return found

    def _rebuilt(self, term: Term, parts: tuple[Term, ...]) -> Term:
        match term.kind:
            case "new" | "part" | "call" if "**" not in term.names:
                return self.make(term.kind, term.leaf, parts, term.names, term.line)
            case "ite":
                return self.choice(*parts)
            case "item":
                return self.item(*parts)
            case "attribute":
                return self.attribute(parts[0], str(term.leaf))
            case "result" if (text := spelled(parts)) is not None:
                return self.const(text)
            case kind if kind in REBUILT or "**" in term.names:
                return rebuilt(self, term, parts)
            case kind if kind in _OPERATIONS:
                return self.operation(kind, *parts)
            case "and" | "or":
                return self._connected(term.kind, parts)
            case _:
                return self.make(term.kind, term.leaf, parts, term.names, term.line)


def _names_code(table: Term) -> bool:
    few = 2 <= len(table.parts) <= LONGEST_TABLE
    return few and all(part.kind in {"class", "function", "external"} for part in table.parts)


def _computed(compute: Callable[[Any, Any], Any], first: Leaf, second: Leaf) -> object:
    if isinstance(first, str) and isinstance(second, int):
        return ...
    if compute is operator.pow and any(isinstance(n, int | float) and abs(n) > 64 for n in (first, second)):
        return ...
    try:
        found = compute(first, second)
    except (TypeError, ValueError, ArithmeticError):
        return ...
    if isinstance(found, int | float) and not abs(found) < _LARGEST:
        return ...
    return found if isinstance(found, str | int | float | bool) else ...


def _known_relation(name: str, first: Term, second: Term) -> bool | None:
    """Whether `is` or `in` holds, if that can be told."""
    if name in {"Is", "IsNot"}:
        if first.kind == second.kind == "const":
            return (first.leaf is second.leaf) == (name == "Is")
        # What a constructor returns is not None.
        made = {"new", "part", "seq", "class", "function", "external", "text"}
        if second.kind == "const" and second.leaf is None and first.kind in made:
            return name == "IsNot"
        return None
    if first.kind == "const" and second.leaf == "dict":
        return (first.leaf in second.names) == (name == "In") if second.kind == "seq" else None
    if first.kind == "const" and second.kind == "seq" and all(p.kind == "const" for p in second.parts):
        return (first.leaf in {p.leaf for p in second.parts}) == (name == "In")
    return None


def _is_instance(value: Term, types: Term) -> bool | None:
    """Whether a literal or a display is of one of the built-in types, if that can be told."""
    wanted = {part.leaf for part in (types.parts if types.kind == "seq" else (types,))}
    if value.kind == "const":
        own = {kind.__name__ for kind in type(value.leaf).__mro__}
    elif value.kind == "seq":
        own = {str(value.leaf)}
    else:
        return None
    if own & wanted:
        return True
    return False if wanted <= _BUILTIN else None


def leaves(term: Term) -> Iterator[Term]:
    """The values that a choice may come out as, each once: ways through choices double."""
    return (one for one in _alternatives(term) if one.kind != "ite")


def tests(term: Term) -> Iterator[Term]:
    """The tests that a choice depends on, each choice once."""
    return (one.parts[0] for one in _alternatives(term) if one.kind == "ite")


def _alternatives(term: Term) -> Iterator[Term]:
    """A choice, those in it and what they come out as, each once."""
    waiting, seen = [term], set[Term]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        if one.kind == "ite":
            waiting += one.parts[:0:-1]


def spelled(parts: tuple[Term, ...]) -> str | None:
    """`"Same".lower()`: what a method of a literal text gives."""
    callee = parts[0]
    text = callee.parts[0].leaf if callee.kind == "attribute" and callee.parts[0].kind == "const" else None
    if len(parts) == 1 and isinstance(text, str) and callee.leaf in {"lower", "upper", "strip"}:
        return str(getattr(text, str(callee.leaf))())
    return None


def decider(term: Term) -> Term:
    """The test that a choice depends on; any other value stands for itself."""
    while term.kind in {"ite", "not"}:
        term = term.parts[0]
    return term


def data(term: Term) -> frozenset[Term]:
    """The terms that a value is computed from: parameters, and fields and items of unknown objects."""
    found: set[Term] = set()
    waiting, seen = [term], {term}
    while waiting:
        one = waiting.pop()
        if one.kind in {"param", "symbol", "item", "attribute", "get"}:
            found.add(one)
            continue
        new = [part for part in one.parts if part not in seen]
        seen.update(new)
        waiting += new
    return frozenset(found)


def depends_on(term: Term, part: Term) -> bool:
    """A term is computed from another one."""
    waiting, seen = [term], {term}
    while waiting:
        for inner in waiting.pop().parts:
            if inner is part:
                return True
            if inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return False


_OPERATIONS = frozenset({*_ARITHMETIC, "Is", "IsNot", "In", "NotIn", "not", "isinstance"})
_BUILTIN = frozenset({"str", "int", "float", "bool", "tuple", "list", "dict", "set", "bytes"})
OPERATORS: dict[type[ast.AST], str] = {
    kind: kind.__name__ for kind in (*ast.operator.__subclasses__(), *ast.cmpop.__subclasses__())
}
