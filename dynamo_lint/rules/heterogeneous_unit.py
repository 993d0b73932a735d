"""DYN108: what shares compiled code is not alike: blocks with other submodules, or several classes."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.eager_code import line_of
from dynamo_lint.rules.instance_causes import causes, keys, name_of, subjects
from dynamo_lint.rules.instances import broken_apart, construction_site, versions, without_break
from dynamo_lint.rules.sharing import claim, shared_code
from dynamo_lint.state.instance_uses import Consumed
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per cause of a difference, and one per shared forward."""
    for shared in shared_code(tables, context):
        said, line = claim(tables, context, shared), tables.project.function(shared.code).line
        position = line_of(tables, shared.code, line)
        yield placed(rule, context, shared.code.path, position, shared.code.id, said, shared.hot, tables)
    for cause in causes(tables, context):
        if cause.variants and not cause.rate:
            group = sorted(
                cause.variants, key=lambda one: (-(versions(tables, one) or 99), one.position.line)
            )
            yield _finding(rule, tables, context, [*group, *cause.numbers])


def _finding(rule: Rule, tables: Tables, context: Context, group: list[Consumed]) -> Finding:
    main = group[0]
    difference = main.difference
    entries = versions(tables, main)
    unit, name = difference.unit.name, f"self.{difference.attribute}"
    names = list(dict.fromkeys(filter(None, map(name_of, difference.samples[:4]))))
    kinds = " or ".join(names if len(names) != 1 else [*names, "something else"])
    holds = f"is {kinds}" if kinds else "is different code"
    whose = "" if difference.owner == difference.unit else f" of `{difference.owner.name}`"
    claim = Claim(
        message=f"`{name}`{whose} {holds}, depending on the instance of `{unit}`, and all instances share "
        f"one compiled `forward` that uses it{broken_apart(tables, difference.unit)}",
        cost=f"one compiled version per variant, {entries} in all"
        if entries is not None and entries <= context.recompile_limit
        else "one compiled version per variant; beyond the recompile limit "
        f"({context.recompile_limit}) the remaining variants run eagerly",
        effect="per-instance",
        entries=entries,
        subject=f"{difference.owner.name}.{difference.attribute}",
        keys=keys(group),
        advice=f"{without_break(tables, difference.unit)}make one class per variant with its own `forward`, "
        "compiled separately, or accept "
        f"{entries or 'the'} versions and raise the recompile limit if they do not fit",
        step=f"chooses `{name}`",
        also=subjects(group)[1:],
        related=_related(group),
    )
    symbol = FunctionRef(main.path, _init(tables, difference.owner, main.path)).id
    return placed(rule, context, main.path, main.position, symbol, claim, main.hot, tables)


def _init(tables: Tables, owner: ClassRef, path: str) -> str:
    for part in tables.project.mro(owner):
        if part.path == path:
            return f"{part.key}.__init__"
    return f"{owner.key}.__init__"


def _related(group: list[Consumed]) -> tuple[Related, ...]:
    main = group[0]
    found: dict[tuple[str, int], Related] = {}
    for path, place in main.others[:3]:
        found[path, place.line] = Related(path, place.line, place.column, "or chosen here")
    for one in group[1:4]:
        text = f"`self.{one.difference.attribute}` differs for the same reason"
        place = one.position
        found.setdefault((one.path, place.line), Related(one.path, place.line, place.column, text))
    found.setdefault(*construction_site(main.difference))
    found.pop((main.path, main.position.line), None)
    return tuple(found.values())


HETEROGENEOUS_UNIT = Rule("DYN108", "heterogeneous-unit", check)
