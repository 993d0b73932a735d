"""DYN107: the blocks of one list share compiled code, and each block brings a constant of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.changes import FLOAT_MATH
from dynamo_lint.rules.instances import isolated, made_here, versions
from dynamo_lint.state.model import Key, Kind, Kinds, Use
from dynamo_lint.state.origins import Tables
from dynamo_lint.units.consumed import Consumed, consumed
from dynamo_lint.units.model import Sort

DYNAMIC_INT = frozenset({Use.ARITHMETIC, Use.TENSOR_MATH, Use.POWER, Use.RETURNED, Use.STORED, Use.NONE_TEST})
"""Uses of an int that stay dynamic where Dynamo makes int attributes dynamic at all."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per place that uses such a constant; several causes at one place are one finding."""
    causes: dict[tuple[object, ...], list[Consumed]] = defaultdict(list)
    for found in consumed(tables):
        if found.difference.sort != Sort.VARIANT and not isolated(tables, context, found):
            causes[found.difference.unit, found.difference.roots].append(found)
    places: dict[tuple[object, ...], list[list[Consumed]]] = defaultdict(list)
    for group in causes.values():
        group.sort(key=lambda one: _weight(tables, context, one), reverse=True)
        places[group[0].path, group[0].position].append(group)
    for groups in places.values():
        groups.sort(key=lambda group: _weight(tables, context, group[0]), reverse=True)
        yield _finding(rule, tables, context, groups)


def _weight(tables: Tables, context: Context, found: Consumed) -> tuple[bool, int]:
    effect, entries = _cost(tables, context, found)
    return effect != "once", entries if entries is not None else 1000


def _cost(tables: Tables, context: Context, found: Consumed) -> tuple[str, int | None]:
    difference = found.difference
    entries = versions(tables, found)
    kinds = _kinds(tables, found) - {Kind.NONE}
    if difference.sort == Sort.SCALAR and entries != 2:
        if kinds == {Kind.FLOAT} and found.uses <= FLOAT_MATH:
            return "once", 2
        dynamic = context.unspec_int or context.torch_version < (2, 8)
        if kinds == {Kind.INT} and dynamic and found.uses <= DYNAMIC_INT:
            return "once", 2
    return "per-instance", entries


def _kinds(tables: Tables, found: Consumed) -> Kinds:
    difference = found.difference
    known = tables.initial.kinds(Key(difference.owner, difference.attribute))
    if known:
        return known
    constants = {type(term.leaf) for term in difference.samples if term.kind == "const"}
    names = {int: Kind.INT, float: Kind.FLOAT, str: Kind.STR, bool: Kind.BOOL}
    return frozenset(names[constant] for constant in constants if constant in names)


def _finding(rule: Rule, tables: Tables, context: Context, groups: list[list[Consumed]]) -> Finding:
    main = groups[0][0]
    difference = main.difference
    effect, entries = _cost(tables, context, main)
    others = sorted({group[0].difference.unit.name for group in groups} - {difference.unit.name})
    more = f" (and {len(others)} other classes)" if others else ""
    if difference.sort == Sort.PART:
        part, _, settings = difference.setting.partition(" ")
        what = f"the {settings} of `self.{difference.attribute}` (`nn.{part}`)"
        name = f"self.{difference.attribute}"
    else:
        what = name = f"`self.{difference.attribute}`"
    unit = difference.unit.name
    message = (
        f"{what} differs between the instances of `{unit}`{more}, which share one compiled `forward` that "
        "uses it, and Dynamo guards on its value"
    )
    claim = Claim(
        message=message,
        cost=_price(effect, entries, context),
        effect=effect,
        entries=entries,
        subject=f"{difference.owner.name}.{difference.attribute}",
        advice=_advice(main, name, context),
        step=f"uses {name}" if difference.sort == Sort.SCALAR else f"gives {name} its settings",
        related=_related(groups),
    )
    return placed(rule, context, main.path, main.position, main.hot.function.id, claim, main.hot, tables)


def _price(effect: str, entries: int | None, context: Context) -> str:
    limit = context.recompile_limit
    if effect == "once":
        return "one extra compile, after which the value is dynamic"
    if entries is None:
        return (
            "one compiled version per instance; how many there are is not known here, but beyond the "
            f"recompile limit ({limit}) the rest run eagerly for ever"
        )
    if entries > limit:
        return (
            f"{entries} compiled versions, but the recompile limit is {limit}: the other instances run "
            "eagerly for ever"
        )
    return f"one compiled version per value, {entries} in all"


def _advice(found: Consumed, name: str, context: Context) -> str:
    isolate = " or compile with `isolate_recompiles=True`" if context.torch_version >= (2, 13) else ""
    name = name.strip("`")
    if Use.INDEX in found.uses:
        return f"let the caller index with `{name}` and pass the element in{isolate}"
    if found.difference.sort == Sort.SCALAR:
        return f"keep `{name}` in a buffer if it only enters tensor math, or decide in `__init__`{isolate}"
    return f"give all instances the same setting{isolate}"


def _related(groups: list[list[Consumed]]) -> tuple[Related, ...]:
    found: dict[tuple[str, int], Related] = {}
    main = groups[0][0]
    for group in groups[:4]:
        first = group[0].difference
        if first.sort == Sort.SCALAR:
            for path, place in first.stores[:2]:
                found[path, place.line] = Related(path, place.line, place.column, "given here")
        for one in group[1:4]:
            text = f"`self.{one.difference.attribute}` differs for the same reason"
            found.setdefault(
                (one.path, one.position.line), Related(one.path, one.position.line, one.position.column, text)
            )
        found.setdefault(*made_here(first))
    found.pop((main.path, main.position.line), None)
    return tuple(found.values())


PER_INSTANCE_CONSTANT = Rule("DYN107", "per-instance-constant", check)
