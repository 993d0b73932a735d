"""Keyword arguments on their way through factories: `def conv(**options)` that hands `**options` on.

A dictionary with known keys is a `seq` of `dict`; what is done to one that only a caller knows is kept as a
term (`extended`, `without`, `merge`, `get`) and worked out once the caller's is put in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynamo_lint.units.construct import Construction
    from dynamo_lint.units.frames import Frame
    from dynamo_lint.units.terms import Term, Terms

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
        found = merged(terms, found, value) if name == "**" else extended(terms, found, name, value)
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


def merged(terms: Terms, first: Term, second: Term) -> Term:
    """`{**first, **second}`."""
    if first.kind == "seq" and not first.parts:
        return second
    if first.kind == second.kind == "seq":
        return closed(terms, {**first.argument, **second.argument})
    return terms.make("merge", None, (first, second))


def looked_up(terms: Terms, owner: Term, key: str, default: Term) -> Term:
    """`owner.get(key, default)`; of a dictionary that nobody knows, the default is as good a guess as any."""
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
            return merged(terms, *parts)
    given = list(spread(zip(term.names, parts, strict=True)))
    return terms.make(term.kind, term.leaf, tuple(v for _, v in given), tuple(n for n, _ in given), term.line)


def spread(arguments: Iterable[tuple[str, Term]]) -> Iterator[tuple[str, Term]]:
    """The arguments of a call with those dictionaries opened whose keys are known."""
    for name, value in arguments:
        if name == "**" and value.kind == "seq" and value.leaf == "dict":
            yield from zip(value.names, value.parts, strict=True)
            continue
        while name == "**" and value.kind == "extended":
            yield str(value.leaf), value.parts[1]
            value = value.parts[0]
        yield name, value


def taken(
    run: Construction, name: str, how: str, arguments: list[tuple[str | None, Term]], frame: Frame
) -> Term | None:
    """`options.pop("bias", True)` and its kin, on a dictionary or on the options that a function is given."""
    owner, key = frame.names[name], arguments[0][1].leaf
    rest = owner.kind == "param" and any(
        parameter.name == owner.leaf and parameter.kind == "kwarg"
        for parameter in run.project.function(frame.function).parameters
    )
    if not isinstance(key, str) or not (rest or is_dictionary(owner)):
        return None
    default = arguments[1][1] if len(arguments) > 1 else run.terms.const(None)
    found = looked_up(run.terms, owner, key, default)
    if how == "pop":
        frame.names[name] = without(run.terms, owner, key)
    elif how == "setdefault":
        frame.names[name] = extended(run.terms, owner, key, found)
    return found
