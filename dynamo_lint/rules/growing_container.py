"""DYN105: a list, dict, set or deque that outlives the call changes its length or keys in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region, related_sites, spell, subject
from dynamo_lint.rules.changes import depends_on_input, verdict
from dynamo_lint.rules.growth import Growth, growth
from dynamo_lint.rules.messages import bounded, storm
from dynamo_lint.state.model import Mutation, MutationSite, Write, WriteSite
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per container, at the change that costs most."""
    for state in (*tables.attributes, *tables.globals):
        found = growth(tables, state, context)
        if found is None or (found.effect == "once" and _counted(tables, found, context)):
            continue
        site = found.site
        place = _change(site).place
        name, where = spell(place), region(tables, site.hot)
        claim = Claim(
            message=_message(name, where, found),
            cost=_cost(found, context),
            effect=found.effect,
            entries=found.entries,
            severity="note" if _is_rare(tables, found) else None,
            subject=subject(state),
            keys=(state.key,),
            advice=_advice(name, found),
            step=f"changes `{name}`",
            related=related_sites(state, site),
        )
        yield finding(rule, tables, context, site.hot, site.position, claim)


def _change(site: WriteSite | MutationSite) -> Write | Mutation:
    return site.write if isinstance(site, WriteSite) else site.mutation


def _is_rare(tables: Tables, found: Growth) -> bool:
    """Whether it happens only for an unusual input, as far as is shown: few caches ever get many keys."""
    site = found.site
    if found.keyed and found.effect == "per-value":
        return True
    function, line = tables.project.function(site.hot.function), site.position.line
    exceeded = any(first <= line <= last for first, last in function.exceeding)
    return exceeded or depends_on_input(_change(site), fills=True)


def _counted(tables: Tables, found: Growth, context: Context) -> bool:
    """The line also counts under the key (`self.hits["calls"] += 1`), which costs more and is reported."""
    here = found.site.hot.function, found.site.position.line
    written = (
        state
        for state in tables.attributes
        for site in state.writes
        if (site.hot.function, site.position.line) == here
    )
    return any(verdict(state, context) is not None for state in written)


def _message(name: str, where: str, found: Growth) -> str:
    what, guarded = ("gets new keys in", "keys") if found.keyed else ("changes its length in", "length")
    if found.effect == "once":
        what = "gets keys that are missing at first in" if found.keyed else "starts empty and is filled by"
    return f"`{name}` outlives the call and {what} the compiled `{where}`, and Dynamo guards on its {guarded}"


def _cost(found: Growth, context: Context) -> str:
    limit = context.recompile_limit
    each = "key" if found.keyed else "length"
    match found.effect:
        case "storm":
            return storm(limit)
        case "once":
            when = "the call after the keys appeared" if found.keyed else "the second call"
            return f"one extra compile, at {when}"
        case _ if found.entries is not None:
            return bounded(found.entries, each)
        case _:
            return f"one compiled version per {each}; beyond the recompile limit ({limit}) it runs eagerly"


def _advice(name: str, found: Growth) -> str:
    if found.effect == "once" and found.keyed:
        return f"give `{name}` all its keys in `__init__`"
    if found.effect == "once":
        return (
            f"assign a new list to `{name}` instead of clearing it: Dynamo does not guard on a value that is "
            "overwritten"
        )
    if found.keyed:
        return f"fill `{name}` in `__init__` or outside the compiled region, and only read it here"
    return (
        f"return the value and let the caller, which is not compiled, keep `{name}`; or write it into a "
        "tensor of fixed size (a ring buffer)"
    )


GROWING_CONTAINER = Rule("DYN105", "growing-container", check)
