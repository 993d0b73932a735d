"""DYN107: the blocks of one list share compiled code, and each block brings a constant of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.instances.model import DifferenceKind
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.instance_causes import causes, keys, subjects
from dynamo_lint.rules.instances import broken_apart, construction_site, cost_of, price, without_break
from dynamo_lint.state.instance_uses import Consumed
from dynamo_lint.state.model import Use
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per place that uses such a constant; several causes at one place are one finding."""
    places: dict[tuple[object, ...], list[list[Consumed]]] = defaultdict(list)
    for cause in causes(tables, context):
        if not cause.variants or cause.rate:
            group = sorted(cause.numbers, key=lambda one: _weight(tables, context, one), reverse=True)
            if _only_passed_on(group[0]) and not context.pedantic:
                continue  # most functions that may get it ignore it, or were never chosen
            places[group[0].path, group[0].position].append([*group, *cause.variants])
    for groups in places.values():
        groups.sort(key=lambda group: _weight(tables, context, group[0]), reverse=True)
        yield _finding(rule, tables, context, groups)


def _weight(tables: Tables, context: Context, found: Consumed) -> tuple[bool, bool, int]:
    effect, entries = cost_of(tables, context, found)
    return not _only_passed_on(found), effect != "once", entries if entries is not None else 1000


def _only_passed_on(found: Consumed) -> bool:
    """Only a function that was picked elsewhere may use it."""
    return found.difference.sort == DifferenceKind.SCALAR and found.uses <= {Use.HANDED_ON}


def _finding(rule: Rule, tables: Tables, context: Context, groups: list[list[Consumed]]) -> Finding:
    main = groups[0][0]
    difference = main.difference
    effect, entries = cost_of(tables, context, main)
    others = sorted({group[0].difference.unit.name for group in groups} - {difference.unit.name})
    more = f" (and {len(others)} other classes)" if others else ""
    if difference.sort == DifferenceKind.PART:
        part, _, settings = difference.setting.partition(" ")
        what = f"the {settings} of `self.{difference.attribute}` (`nn.{part}`)"
        name = f"self.{difference.attribute}"
    else:
        what = name = f"`self.{difference.attribute}`"
    unit = difference.unit.name
    use = "that uses it, and Dynamo guards on its value"
    if _only_passed_on(main):
        use = "that passes it on, and Dynamo guards on its value where the called function uses it"
    message = (
        f"{what} differs between the instances of `{unit}`{more}, which share one compiled `forward` {use}"
        f"{broken_apart(tables, difference.unit)}"
    )
    claim = Claim(
        message=message,
        cost=price(effect, entries, context),
        effect=effect,
        entries=entries,
        severity="note" if _only_passed_on(main) else None,
        subject=f"{difference.owner.name}.{difference.attribute}",
        keys=keys(one for group in groups for one in group),
        advice=without_break(tables, difference.unit) + _advice(main, name, context),
        step=f"uses {name}" if difference.sort == DifferenceKind.SCALAR else f"gives {name} its settings",
        related=_related(groups),
        also=subjects(one for group in groups for one in group)[1:],
    )
    return placed(rule, context, main.path, main.position, main.hot.function.id, claim, main.hot, tables)


def _advice(found: Consumed, name: str, context: Context) -> str:
    isolate = " or compile with `isolate_recompiles=True`" if context.has("isolated-recompiles") else ""
    name = name.strip("`")
    if Use.INDEX in found.uses:
        return f"let the caller index with `{name}` and pass the element as an argument{isolate}"
    if found.difference.sort == DifferenceKind.SCALAR:
        return f"keep `{name}` in a buffer if it only enters tensor math, or decide in `__init__`{isolate}"
    return f"give all instances the same setting{isolate}"


def _related(groups: list[list[Consumed]]) -> tuple[Related, ...]:
    found: dict[tuple[str, int], Related] = {}
    main = groups[0][0]
    for group in groups[:4]:
        first = group[0].difference
        if first.sort == DifferenceKind.SCALAR:
            for path, place in first.stores[:2]:
                found[path, place.line] = Related(path, place.line, place.column, "given here")
        for one in group[1:4]:
            text = f"`self.{one.difference.attribute}` differs for the same reason"
            found.setdefault(
                (one.path, one.position.line), Related(one.path, one.position.line, one.position.column, text)
            )
        found.setdefault(*construction_site(first))
    found.pop((main.path, main.position.line), None)
    return tuple(found.values())


PER_INSTANCE_CONSTANT = Rule("DYN107", "per-instance-constant", check)
