"""DYN105: a list, dict, set or deque that outlives the call changes its length or keys in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import Attribute, Name
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.rules.base import (
    Claim,
    Context,
    Rule,
    costs,
    finding,
    named,
    region,
    related_sites,
    spell,
    subject,
)
from dynamo_lint.rules.changes import STOPS, comparison, depends_on_input, verdict
from dynamo_lint.state.initial import InitialContainer, container_of
from dynamo_lint.state.model import AttributeState, Kind, Mutation, MutationSite, Value, Write, WriteSite
from dynamo_lint.state.provenance import Tables


@named("DYN105", "growing-container")
def growing_container(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per container, at the change that costs most."""
    for state in (*tables.attributes, *tables.globals):
        found = growth(tables, state, context)
        if found is None or (found.effect == "once" and _counted(tables, found, context)):
            continue
        site = found.site
        place = _change(site).place
        name, where = spell(place), region(tables, site.hot)
        each, when = (
            ("key", "the call after the keys appeared") if found.keyed else ("length", "the second call")
        )
        once = f"one extra compile, at {when}"
        claim = Claim(
            message=_message(name, where, found),
            cost=costs(found.effect, found.entries, context.recompile_limit, once, each),
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


@dataclass(frozen=True, slots=True)
class Growth:
    """The cost of a container's changes, and the line to blame."""

    site: MutationSite | WriteSite
    effect: str
    entries: int | None
    keyed: bool
    """New keys are the matter, not the length."""


def growth(tables: Tables, state: AttributeState, context: Context) -> Growth | None:
    """The cost of the hot changes of a container, if they cost anything."""
    if state.external:
        return None
    if state.root == "argument":
        # Whether the object that is passed in is a new one each time cannot be seen from here, unless the
        # code itself expects to find it filled.
        filled = (site for site in state.mutations if _fills_up(state, site))
        return next((Growth(site, "per-value", None, keyed=False) for site in filled), None)
    container = container_of(state)
    resets = [o for o in state.outside if not o.initial and Kind.CONTAINER in o.kinds and o.often != "rarely"]
    if any(outside.often == "each" for outside in resets):
        return None
    clears = [site for site in state.mutations if site.mutation.how == "clear"]
    rebuilt = [site for site in state.writes if not _own(site) and not site.write.guards]
    always = [site for site in clears if not site.mutation.guards]
    if rebuilt or always:
        return _left_over(state, always, container) if always and not rebuilt else None
    found = [g for site in state.mutations if (g := _of_mutation(tables, state, site, container, context))]
    found += [g for site in state.writes if (g := _of_rebinding(state, site, context))]
    return max(found, key=lambda g: ("once", "per-value", "storm").index(g.effect), default=None)


def _fills_up(state: AttributeState, site: MutationSite) -> bool:
    """`while len(cache.slots) <= index: cache.slots.append(…)`: filled up to the largest index asked for."""
    below = any(
        guard.key == state.key and comparison(guard)[0] in {"<", "<="} and not comparison(guard)[1].isdigit()
        for guard in site.mutation.guards
    )
    return below and site.mutation.how == "grow"


def _left_over(
    state: AttributeState, clears: list[MutationSite], container: InitialContainer | None
) -> Growth | None:
    """Emptied in every call; what is put in behind that is found there by the second call, not the first."""
    if container is None or not container.empty:
        return None
    last = max(clears, key=lambda site: site.position.line)
    for site in state.mutations:
        behind = site.hot.function == last.hot.function and site.position.line > last.position.line
        if behind and site.mutation.how == "grow" and not site.mutation.guards:
            return Growth(site, "once", 2, keyed=False)
    return None


def _of_mutation(
    tables: Tables,
    state: AttributeState,
    site: MutationSite,
    container: InitialContainer | None,
    context: Context,
) -> Growth | None:
    mutation = site.mutation
    match mutation.how:
        case "grow":
            return _of_length(state, site, container, context)
        case "shrink":
            return _of_emptying(tables, state, site, container)
        case "item" | "element" | "merge":
            if container is None or container.kind in {"list", "deque"} or mutation.index is None:
                return None
            if any(other.mutation.how in {"shrink", "clear"} for other in state.mutations):
                return Growth(site, "per-value", None, keyed=True)
            return _of_key(tables, site, mutation.index, container)
    return None


def _of_length(
    state: AttributeState, site: MutationSite, container: InitialContainer | None, context: Context
) -> Growth | None:
    if container is not None and container.bounded:
        return _bounded(site, container.maxlen + 1 if container.maxlen is not None else None, context)
    shrinks = [other for other in state.mutations if other.mutation.how in {"shrink", "clear"}]
    if container is not None and container.empty and any(not s.mutation.guards for s in shrinks):
        return None  # a stack: every call leaves it as it found it
    rebound = [other for other in state.writes if not _own(other)]
    limits = [_limit(state, other.mutation) for other in (site, *shrinks)]
    known = next((limit for limit in limits if limit is not None), None)
    emptied = any(o.often == "some" and Kind.CONTAINER in o.kinds for o in state.outside if not o.initial)
    if known is not None or shrinks or rebound or emptied:
        return _bounded(site, known or None, context)
    return Growth(site, "storm", None, keyed=False)


def _of_emptying(
    tables: Tables, state: AttributeState, site: MutationSite, container: InitialContainer | None
) -> Growth | None:
    """A list that is used up: `self.todo.pop()`, and nobody ever adds to it."""
    used_up = container is not None and container.kind in {"list", "deque"} and not container.empty
    if not used_up or site.mutation.guards or state.writes or _refilled(tables, state):
        return None
    return Growth(site, "storm", None, keyed=False)


def _refilled(tables: Tables, state: AttributeState) -> bool:
    """Some code, compiled or not, adds to a container of that name or binds it to another one."""
    name = state.key.attribute
    if any(not outside.initial for outside in state.outside):
        return True
    return any(
        isinstance(site.call.function, Attribute)
        and isinstance(site.call.function.value, Attribute | Name)
        and terminal_name(site.call.function.value) == name
        for method in ("append", "appendleft", "extend", "insert")
        for _, site in tables.project.calls_of(method)
    )


def _bounded(site: MutationSite | WriteSite, entries: int | None, context: Context) -> Growth:
    storm = entries is not None and entries > context.recompile_limit
    return Growth(site, "storm" if storm else "per-value", None if storm else entries, keyed=False)


def _limit(state: AttributeState, mutation: Mutation) -> int | None:
    """How many lengths it takes if `len(...)` is compared with a number around the change; 0 if unknown."""
    for guard in mutation.guards:
        operator, number = comparison(guard)
        if guard.key == state.key and operator:
            extra = STOPS.get(operator, 1 if operator == ">" else 0)
            return int(number) + extra if number.isdigit() else 0
    return None


def _of_key(tables: Tables, site: MutationSite, index: Value, container: InitialContainer) -> Growth | None:
    """New keys: how many depends on where they come from."""
    if index.constants is not None:
        return None if index.constants <= container.keys else Growth(site, "once", 2, keyed=True)
    origins = tables.origins.value(site.hot, index)
    sources = {origin.source for origin in origins}
    if index.derived and any(load.place == site.mutation.place for load in index.derived | index.pending):
        return Growth(site, "storm", None, keyed=True)  # keyed by its own length
    if sources & {"argument", "shape", "item", "host"}:
        # Everything in a run is on one device and of one dtype.
        once = all(origin.source == "shape" and origin.name for origin in origins)
        return Growth(site, "once" if once else "per-value", 2 if once else None, keyed=True)
    if sources and sources <= {"literal", "state", "global"}:
        return Growth(site, "once", 2, keyed=True)
    return None


def _of_rebinding(state: AttributeState, site: WriteSite, context: Context) -> Growth | None:
    """`self.losses = self.losses + [loss]`, with or without a window cut out of it."""
    value = site.write.value
    if not _own(site) or not value.kinds or not value.kinds <= {Kind.CONTAINER}:
        return None
    if value.bound is not None:
        return _bounded(site, value.bound + 1 if value.bound else None, context)
    return Growth(site, "storm", None, keyed=False)


def _own(site: WriteSite) -> bool:
    value = site.write.value
    return any(load.place == site.write.place for load in value.derived | value.pending)
