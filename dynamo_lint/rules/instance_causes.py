"""Why instances of a class differ: the constructor arguments that a difference follows from, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dynamo_lint.instances.model import Difference, DifferenceKind
from dynamo_lint.instances.terms import Term, decider, depends_on
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.rules.base import Context
from dynamo_lint.rules.instances import isolated
from dynamo_lint.state.instance_uses import Consumed, consumed
from dynamo_lint.state.model import Key
from dynamo_lint.state.provenance import Tables

LABELLED = frozenset({"Eq", "NotEq", "In", "NotIn"})
"""Tests by which a label picks a variant; the others ask how large a number is."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The differences between instances that have one cause, so that one change ends all of them."""

    numbers: tuple[Consumed, ...]
    """Numbers, flags and labels, and settings of torch's layers."""
    variants: tuple[Consumed, ...]
    """Submodules of other types, and parts that some instances lack."""
    rate: bool = False
    """The variants follow from how large a number is that compiled code uses: no such part at zero."""


def causes(tables: Tables, context: Context) -> list[Cause]:
    """Everything that differs and costs, by its reason."""
    groups: dict[tuple[object, ...], list[Consumed]] = {}
    homes: dict[tuple[object, ...], tuple[object, ...]] = {}
    for one in consumed(tables):
        difference = one.difference
        if not isolated(tables, context, one) and (
            difference.sort != DifferenceKind.VARIANT or has_name(difference)
        ):
            home = difference.unit, difference.owner, difference.attribute
            key = homes.setdefault(home, (difference.unit, difference.roots, difference.cause))
            groups.setdefault(key, []).append(one)
    found = [Cause(*_by_sort(group)) for group in groups.values()]
    numbers = [cause for cause in found if not cause.variants]
    for variant in (cause for cause in found if cause.variants):
        index = next((i for i, one in enumerate(numbers) if _follows(variant, one)), None)
        if index is None:
            numbers.append(variant)
        else:
            numbers[index] = _joined(numbers[index], variant)
    return numbers


def _by_sort(group: list[Consumed]) -> tuple[tuple[Consumed, ...], tuple[Consumed, ...]]:
    return (
        tuple(one for one in group if one.difference.sort != DifferenceKind.VARIANT),
        tuple(one for one in group if one.difference.sort == DifferenceKind.VARIANT),
    )


def _follows(variant: Cause, number: Cause) -> bool:
    """Which variant an instance has is computed from its number."""
    if not number.numbers:
        return False
    chosen, value = variant.variants[0].difference, number.numbers[0].difference
    if (chosen.unit, chosen.roots, len(chosen.values)) != (value.unit, value.roots, len(value.values)):
        return False
    pairs = zip(chosen.values, value.values, strict=True)
    return all(number.kind != "const" and depends_on(decider(one), number) for one, number in pairs)


def _joined(number: Cause, variant: Cause) -> Cause:
    labelled = all(decider(one).kind in LABELLED for one in variant.variants[0].difference.values)
    return Cause(
        (*number.numbers, *variant.numbers),
        (*number.variants, *variant.variants),
        rate=number.rate or (not labelled and not number.variants),
    )


def has_name(difference: Difference) -> bool:
    """Somebody can say what a variant is: values that nobody can name are numbers more often than code."""
    return any(map(spell_variant, difference.samples))


def spell_variant(term: Term) -> str:
    """A kind of submodule, as a person would say it; empty where it cannot be said."""
    match term.kind, term.leaf:
        case "class" | "new", ClassRef() as ref:
            return f"a `{ref.name}`"
        case "external", str() as dotted if term.parts:
            parts = dict.fromkeys(spell_variant(part).removeprefix("a ") for part in term.parts)
            return f"a `{dotted.rpartition('.')[2]}` of {', '.join(filter(None, parts)) or len(term.parts)}"
        case "length", int() as count:
            return f"a list of {count}"
        case "length", _:
            return "a list of another length"
        case "external" | "part", str() as dotted:
            name = dotted.rpartition(".")[2]
            return f"a `{name}`" if name[:1].isupper() else f"`{name}`"
        case "function", FunctionRef():
            return "one of several functions"
        case "absent", _:
            return "missing"
        case "const", None:
            return "None"
    return ""


def name_of(term: Term) -> str:
    """The same, also for what is known by its maker alone."""
    match term.kind, term.leaf:
        case "made", FunctionRef() as ref:
            return f"the result of `{ref.key.rpartition('.')[2]}`"
        case "made", str() as name:
            return f"the result of `{name}`"
    return spell_variant(term)


def keys(found: Iterable[Consumed]) -> list[Key]:
    """The attribute of each."""
    return [Key(one.difference.owner, one.difference.attribute) for one in found]


def subjects(found: Iterable[Consumed]) -> tuple[str, ...]:
    """`Class.attribute` of each."""
    return tuple(dict.fromkeys(f"{one.difference.owner.name}.{one.difference.attribute}" for one in found))
