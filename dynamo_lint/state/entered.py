"""What certainly holds whenever a hot function is entered: what has been written, and which tests held."""

from __future__ import annotations

from collections import defaultdict

from dynamo_lint.regions.model import HotFunction
from dynamo_lint.state.model import CallEvent, FunctionState, Guard, Key

_MOST_WAYS = 16
"""To one function; of more is only known what all of them found."""

Facts = tuple[frozenset[Key], frozenset[Guard], frozenset[frozenset[Key]]]
"""What has been written, which tests held, and for each way what it found absent."""
NOTHING: Facts = (frozenset(), frozenset(), frozenset({frozenset()}))


def absent(guards: frozenset[Guard]) -> frozenset[Key]:
    """The attributes that tests found missing or None."""
    return frozenset(guard.key for guard in guards if guard.missing)


def entry_facts(states: dict[HotFunction, FunctionState]) -> dict[HotFunction, Facts]:
    """What certainly holds whenever a hot function is entered, over all hot calls of it."""
    by_pair = {(hot.function, hot.receiver): hot for hot in states}
    incoming: dict[HotFunction, list[tuple[HotFunction, CallEvent]]] = defaultdict(list)
    for caller, state in states.items():
        for event in state.calls:
            callee = by_pair.get((event.callee.function, event.callee.receiver))
            if callee is not None and callee != caller:
                incoming[callee].append((caller, event))
    # Only what hot code fills can be absent once and there for ever; the rest would only tell ways apart.
    filled = frozenset(key for state in states.values() for write in state.writes for key in write.keys)
    facts_: dict[HotFunction, Facts] = {}

    def of(hot: HotFunction, above: frozenset[HotFunction]) -> tuple[Facts, bool]:
        """The facts, and whether they are whole: no call was left out because its caller asks."""
        if hot in facts_:
            return facts_[hot], True
        calls = [] if hot.compiled else incoming[hot]
        answers = [(of(caller, above | {hot}), event) for caller, event in calls if caller not in above]
        whole = all(caller not in above for caller, _ in calls) and all(known for (_, known), _ in answers)
        found = [(caller_facts, event) for (caller_facts, _), event in answers]
        ways = frozenset(
            way | (absent(event.guards) & filled) for caller_facts, event in found for way in caller_facts[2]
        )
        result = NOTHING
        if found:
            result = (
                frozenset.intersection(*(event.written | caller_facts[0] for caller_facts, event in found)),
                frozenset.intersection(*(event.guards | caller_facts[1] for caller_facts, event in found)),
                ways if len(ways) <= _MOST_WAYS else frozenset({frozenset.intersection(*ways)}),
            )
        if whole or not above:
            facts_[hot] = result
        return result, whole or not above

    return {hot: of(hot, frozenset())[0] for hot in states}
