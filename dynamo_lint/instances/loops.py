"""Loop summaries: the items of an iterable, or samples of them, and the containers that a loop fills."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from dynamo_lint.instances.terms import Term, Terms, leaves, tests

_SAMPLES = (9, 3, 2)
"""How many rounds stand for a loop of unknown length, by how deep it is nested in such loops."""
_LONGEST = 64
_MOST_LISTS = 16
"""How many lists a name is taken to hold one of."""
_CONTAINERS = frozenset({"seq", "each", "part"})


def elements(terms: Terms, iterable: Term, depth: int) -> tuple[list[Term], bool]:
    """The items of an iterable, and whether they only stand for an unknown number of them."""
    known = _known(terms, iterable)
    if known is not None:
        return known[:_LONGEST], False
    count = _SAMPLES[min(depth, len(_SAMPLES) - 1)]
    return [_sample(terms, iterable, number) for number in range(count)], True


def _known(terms: Terms, iterable: Term) -> list[Term] | None:
    if iterable.kind == "seq":
        return None if iterable.leaf == "dict" else list(iterable.parts)
    if iterable.kind != "call" or iterable.leaf not in {
        "range",
        "enumerate",
        "zip",
        "reversed",
        "list",
        "tuple",
    }:
        return None
    values = [part.leaf for part in iterable.parts]
    match iterable.leaf:
        case "range":
            whole = [value for value in values if isinstance(value, int)]
            if len(whole) != len(values) or not 1 <= len(whole) <= 3 or (len(whole) == 3 and not whole[2]):
                return None
            return [terms.const(number) for number in range(*whole)[:_LONGEST]]
        case "enumerate":
            inner = _known(terms, iterable.parts[0]) if iterable.parts else None
            start = values[1] if len(values) > 1 and isinstance(values[1], int) else 0
            if inner is None:
                return None
            return [_pair(terms, terms.const(start + n), item) for n, item in enumerate(inner)]
        case "zip":
            columns = [_known(terms, part) for part in iterable.parts]
            lengths = [len(column) for column in columns if column is not None]
            if not lengths:
                return None
            return [
                terms.make("seq", "tuple", tuple(_at(terms, part, n) for part in iterable.parts))
                for n in range(min(lengths))
            ]
        case _:
            inner = _known(terms, iterable.parts[0]) if iterable.parts else None
            return inner[::-1] if inner is not None and iterable.leaf == "reversed" else inner


def _sample(terms: Terms, iterable: Term, number: int) -> Term:
    if iterable.kind == "call":
        match iterable.leaf:
            case "range":
                first = iterable.parts[0] if len(iterable.parts) > 1 else terms.const(0)
                return terms.operation("Add", first, terms.const(number))
            case "enumerate" if iterable.parts:
                return _pair(terms, terms.const(number), _at(terms, iterable.parts[0], number))
            case "zip":
                parts = tuple(_at(terms, part, number) for part in iterable.parts)
                return terms.make("seq", "tuple", parts)
    return _at(terms, iterable, number)


def _at(terms: Terms, iterable: Term, number: int) -> Term:
    known = _known(terms, iterable)
    if known is not None:
        return known[number] if number < len(known) else terms.make("absent")
    if iterable.kind == "call" and iterable.leaf in {"range", "enumerate", "zip"}:
        return _sample(terms, iterable, number)
    return terms.item(iterable, terms.const(number))


def _pair(terms: Terms, first: Term, second: Term) -> Term:
    return terms.make("seq", "tuple", (first, second))


def longer(terms: Terms, old: Term, new: tuple[Term, ...], loops: list[Term], sampled: bool) -> Term | None:
    """A container with more in it (None for anything else): how much more may be unknown in a loop.

    `loops` is what those around the statement run over, which is kept since it decides the length.
    """
    match old.kind:
        case "ite":
            test, *options = old.parts
            then, other = (longer(terms, option, new, loops, sampled) for option in options)
            return terms.choice(test, then, other) if then is not None and other is not None else None
        case "part" if loops:
            last = old.parts[-1] if old.parts and old.parts[-1].kind == "each" else terms.make("each", 0)
            before = tuple(part for part in old.parts if part is not last)
            parts = (*before, _each(terms, last, new, loops))
            return terms.make("part", old.leaf, parts, ("*",) * len(parts), old.line)
        case "part":
            names = (*old.names, *("*" for _ in new))
            return terms.make("part", old.leaf, (*old.parts, *new), names, old.line)
        case "each":
            return _each(terms, old, new, loops)
        case "seq" if loops or sampled:
            return _each(terms, terms.make("each", 0, old.parts), new, loops)
        case "seq":
            return terms.make("seq", old.leaf, (*old.parts, *new))
    return None


def _each(terms: Terms, old: Term, new: tuple[Term, ...], loops: list[Term]) -> Term:
    """A container that loops fill: what they run over, as many as `leaf` says, then samples."""
    count = old.leaf if isinstance(old.leaf, int) else 0
    over = tuple(dict.fromkeys((*old.parts[:count], *loops)))
    return terms.make("each", len(over), (*over, *old.parts[count:], *new))


def merged(terms: Terms, test: Term, then: Term, other: Term) -> Term:
    """The term after two branches: of a container that loops fill, one with a choice of items.

    A choice of containers would double with every round of the loop.
    """
    if then.kind == other.kind == "ite" and then.parts[0] is other.parts[0]:
        options = list(zip(then.parts[1:], other.parts[1:], strict=True))
        if all(option.kind in _CONTAINERS for pair in options for option in pair):
            # Which container it is was decided before the loop.
            return terms.choice(then.parts[0], *(merged(terms, test, *pair) for pair in options))
    one, two = _filled(then, other), _filled(other, then)
    if one is None or two is None:
        return _folded(terms, terms.choice(test, then, other))
    (before, first), (same, second) = one, two
    count = first.leaf if isinstance(first.leaf, int) else 0
    if before != same or first.parts[:count] != second.parts[:count]:
        return _folded(terms, terms.choice(test, then, other))
    absent = terms.make("absent")
    pairs = zip_longest(first.parts[count:], second.parts[count:], fillvalue=absent)
    items = tuple(terms.choice(test, *pair) for pair in pairs)
    each = terms.make("each", count, (*first.parts[:count], *items))
    if then.kind != "part" and other.kind != "part":
        return each
    parts = (*before, each)
    return terms.make("part", then.leaf, parts, ("*",) * len(parts), then.line)


def _folded(terms: Terms, choice: Term) -> Term:
    """A choice of lists; of too many, one list that holds what any of them does, and over it all tests.

    Each `if` that adds to a list doubles how many it may be: two dozen of them would never end.
    """
    options = list(leaves(choice))
    if len(options) <= _MOST_LISTS or len({_sort(option) for option in options} | {None}) != 2:
        return choice
    deciding, held = dict.fromkeys(tests(choice)), dict[Term, None]()
    for option in options:
        for part in option.parts if option.kind != "each" else (option,):
            count = part.leaf if part.kind == "each" and isinstance(part.leaf, int) else None
            deciding.update(dict.fromkeys(part.parts[:count] if count is not None else ()))
            held.update(dict.fromkeys(part.parts[count:] if count is not None else (part,)))
    each = terms.make("each", len(deciding), (*deciding, *held))
    first = options[0]
    return terms.make("part", first.leaf, (each,), ("*",), first.line) if first.kind == "part" else each


def _sort(container: Term) -> object:
    """The common kind of lists that can be put together; None for anything else."""
    if container.kind == "part" and set(container.names) <= {"*"}:
        return container.leaf
    is_list = container.kind == "each" or (container.kind == "seq" and container.leaf != "dict")
    return "list" if is_list else None


def _filled(this: Term, beside: Term) -> tuple[tuple[Term, ...], Term] | None:
    """The items of a container before loops fill it, and those they add; `beside` is the other branch's."""
    match this.kind, beside.kind:
        case "each", "each" | "seq":
            return (), this
        case "seq", "each" if isinstance(beside.leaf, int):
            return (), replace(beside, parts=(*beside.parts[: beside.leaf], *this.parts))
        case "part", "part" if this.leaf == beside.leaf:
            if this.parts and this.parts[-1].kind == "each":
                return this.parts[:-1], this.parts[-1]
            if beside.parts and (last := beside.parts[-1]).kind == "each" and isinstance(last.leaf, int):
                return this.parts, replace(last, parts=last.parts[: last.leaf])
    return None
