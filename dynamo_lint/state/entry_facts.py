"""Must-facts at function entry: attributes that every caller has tested or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dynamo_lint.program.graph import strongly_connected
from dynamo_lint.program.refs import Node
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.state.model import CallEvent, EnclosingTest, FunctionState, Key

Facts = tuple[frozenset[Key], frozenset[EnclosingTest]]
"""The keys written, and the tests that held."""
NOTHING: Facts = (frozenset(), frozenset())
Calls = list[tuple[CompiledFunction, CallEvent]]
"""The callers of a function, each with what holds at the call."""


def entry_facts(
    states: dict[CompiledFunction, FunctionState], callers: Mapping[Node, Sequence[Node]]
) -> dict[CompiledFunction, Facts]:
    """Return the facts that hold whenever a hot function is entered, over all its `callers` in regions."""
    incoming = _incoming(states, callers)
    found: dict[CompiledFunction, Facts] = {}
    for circle in strongly_connected(
        {hot: [caller for caller, _ in calls] for hot, calls in incoming.items()}
    ):
        changing = True
        while changing:  # facts only get fewer
            changing = False
            for hot in circle:
                calls = [(found[caller], event) for caller, event in incoming[hot] if caller in found]
                if incoming[hot] and not calls:
                    continue  # its turn comes when a caller is known
                facts = _joined(calls)
                changing |= len(circle) > 1 and found.get(hot) != facts
                found[hot] = facts
        for hot in circle:
            found.setdefault(hot, NOTHING)  # it is not known who enters this cycle
    return found


def _incoming(
    states: dict[CompiledFunction, FunctionState], callers: Mapping[Node, Sequence[Node]]
) -> dict[CompiledFunction, Calls]:
    """Who calls each function; none where nothing is known of a call, as of those that torch makes."""
    by_pair = {(hot.function, hot.receiver): hot for hot in states}
    incoming: dict[CompiledFunction, Calls] = {hot: [] for hot in states}
    for caller, state in states.items():
        for event in state.calls:
            callee = by_pair.get((event.callee.function, event.callee.receiver))
            if callee is not None and callee != caller and not callee.compiled:
                incoming[callee].append((caller, event))
    for hot, calls in incoming.items():
        node = Node(hot.function, hot.receiver)
        told = {node, *(Node(caller.function, caller.receiver) for caller, _ in calls)}
        if not told.issuperset(callers.get(node, ())):
            incoming[hot] = []
    return incoming


def _joined(calls: list[tuple[Facts, CallEvent]]) -> Facts:
    """The facts that hold whichever of the calls it was."""
    if not calls:
        return NOTHING
    return (
        frozenset.intersection(*(event.written | facts[0] for facts, event in calls)),
        frozenset.intersection(*(event.guards | facts[1] for facts, event in calls)),
    )
