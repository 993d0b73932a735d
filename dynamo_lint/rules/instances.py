"""Helpers of the rules about instances: how many versions there are, and what makes each its own."""

from __future__ import annotations

from dynamo_lint.findings import Related
from dynamo_lint.instances.model import Difference, DifferenceKind
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.regions.entries import entry_keywords
from dynamo_lint.rules.base import Context
from dynamo_lint.rules.changes import FLOAT_MATH
from dynamo_lint.rules.messages import bounded
from dynamo_lint.state.instance_uses import Consumed
from dynamo_lint.state.model import Key, Kind, Kinds, Use
from dynamo_lint.state.provenance import Tables

DYNAMIC_INT = FLOAT_MATH | {Use.POWER}
"""Uses of an int that stay dynamic where Dynamo makes int attributes dynamic at all."""


def versions(tables: Tables, found: Consumed) -> int | None:
    """How many compiled versions a difference costs, where that is known."""
    count = found.difference.count
    if count.values is not None:
        return count.values
    known = [getattr(tables.regions.entries[index], "instances", None) for index in found.hot.entries]
    numbers = [number for number in known if isinstance(number, int)]
    return max(numbers) if numbers and count.each else None


def isolated(tables: Tables, context: Context, found: Consumed) -> bool:
    """Every instance is compiled for itself anyway (torch 2.13: `isolate_recompiles=True`)."""
    entries = [tables.regions.entries[index] for index in found.hot.entries]
    asked = bool(entries) and all(
        entry_keywords(tables.project, entry).get("isolate_recompiles") is True for entry in entries
    )
    return asked and context.has("isolated-recompiles")


def construction_site(difference: Difference) -> tuple[tuple[str, int], Related]:
    """Where the instances are made."""
    text = f"instances of `{difference.unit.name}` are made here"
    return (difference.path, difference.line), Related(difference.path, difference.line, 1, text)


def broken_apart(tables: Tables, unit: ClassRef) -> str:
    """Why the instances are compiled one by one, if nobody asks for that but a graph break makes it so."""
    alone = tables.units.alone.get(unit)
    if alone is None:
        return ""
    where = f"{alone.cause.function.key.split('#')[0]}` (line {alone.cause.line})"
    how = "in a loop or a `try`, " if alone.stuck == alone.cause.function else ""
    return (
        f"; the graph breaks at `{alone.cause.text}` of `{where}, {how}so that Dynamo compiles every call of "
        "it separately"
    )


def without_break(tables: Tables, unit: ClassRef) -> str:
    """How to keep the calls in one graph."""
    return "remove the graph break, or " if unit in tables.units.alone else ""


def cost_of(tables: Tables, context: Context, found: Consumed) -> tuple[str, int | None]:
    """Effect and number of versions of a difference."""
    difference = found.difference
    entries = versions(tables, found)
    kinds = _kinds(tables, found) - {Kind.NONE}
    if difference.sort == DifferenceKind.SCALAR and entries != 2:
        if kinds == {Kind.FLOAT} and found.uses <= FLOAT_MATH:
            return "once", 2
        if kinds == {Kind.INT} and found.uses <= DYNAMIC_INT:
            constant = not context.unspec_int and context.has("int-attributes-are-constants")
            return ("per-instance", entries) if constant else ("once", 2)
    return "per-instance", entries


def _kinds(tables: Tables, found: Consumed) -> Kinds:
    difference = found.difference
    known = tables.initial.kinds(Key(difference.owner, difference.attribute))
    if known:
        return known
    constants = {type(term.leaf) for term in difference.samples if term.kind == "const"}
    names = {int: Kind.INT, float: Kind.FLOAT, str: Kind.STR, bool: Kind.BOOL}
    return frozenset(names[constant] for constant in constants if constant in names)


def price(effect: str, entries: int | None, context: Context) -> str:
    """Return the cost of a difference, as a sentence."""
    limit = context.recompile_limit
    if effect == "once":
        return "one extra compile, after which the value is dynamic"
    if entries is None:
        return (
            "one compiled version per instance; the number of instances is unknown, and beyond the "
            f"recompile limit ({limit}) the rest run eagerly"
        )
    if entries > limit:
        return (
            f"{entries} compiled versions, but the recompile limit is {limit}: the other instances are never "
            "compiled and run eagerly"
        )
    return bounded(entries)
