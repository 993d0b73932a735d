"""Which writes happen together with a first value that another finding speaks of: one cause, one finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.state.model import AttributeState, Guard, Key, Kind, WriteSite
from dynamo_lint.state.origins import Tables

_Function = tuple[FunctionRef, ClassRef | None]


@dataclass(frozen=True, slots=True)
class Firsts:
    """Attributes that hot code sets where it finds them absent, None or false, so that it does so once.

    `if not self.ready: self.table = ...; self.ready = True`: from the next call on the guard on `ready`
    fails, and whatever else was set with it costs no compile of its own.
    """

    guarded: frozenset[Key]
    """Those whose own absence every call tests before they are set."""
    raised: dict[_Function, frozenset[tuple[Key, frozenset[Guard]]]]
    """Flags that a function sets to True, under which tests, where some call of it tests their absence."""

    def tell(self, site: WriteSite, state: AttributeState) -> bool:
        """The write belongs to the first value of another attribute, which is reported instead."""
        asked = _absent(site.write.guards)
        if state.key in asked:
            return False
        if not asked.isdisjoint(self.guarded - site.write.keys):
            return True
        flags = self.raised.get((site.hot.function, site.hot.receiver), frozenset())
        # Of two flags neither tells of the other.
        return (state.key, site.write.guards) not in flags and any(g == site.write.guards for _, g in flags)


def firsts(tables: Tables) -> Firsts:
    """The first values in all hot code."""
    tested: dict[_Function, set[Key]] = defaultdict(set)
    for _, function in tables.functions:
        for call in function.calls:
            tested[call.callee.function, call.callee.receiver] |= _absent(call.guards)
    raised: dict[_Function, set[tuple[Key, frozenset[Guard]]]] = defaultdict(set)
    guarded = set()
    for state in tables.attributes:
        for site in state.writes:
            if _is_unset(site):
                continue
            if state.key in _absent(site.write.guards):
                guarded.add(state.key)
            place = site.hot.function, site.hot.receiver
            if state.key in tested[place] and site.write.value.constants == frozenset({"True"}):
                raised[place].add((state.key, site.write.guards))
    return Firsts(frozenset(guarded), {place: frozenset(flags) for place, flags in raised.items()})


def _is_unset(site: WriteSite) -> bool:
    value = site.write.value
    return Kind.NONE in value.kinds or bool((value.constants or frozenset()) & {"False", "None", "0"})


def _absent(guards: Iterable[Guard]) -> frozenset[Key]:
    return frozenset(guard.key for guard in guards if guard.missing and guard.limit is None)
