"""Which of the classes that are compiled by themselves for a break certainly meet in one process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dynamo_lint.breaks.model import Alone
from dynamo_lint.regions.model import FunctionRef, Regions


def meeting(regions: Regions, found: Sequence[Alone]) -> list[Alone]:
    """All but those in whose place one of the others may run: a call that reaches both runs one of them."""
    ways: dict[FunctionRef, list[int]] = defaultdict(list)
    for number, one in enumerate(found):
        own: set[FunctionRef | None] = {
            one.stuck,
            *(hot.function for hot in one.inside if hot.receiver == one.unit),
        }
        for function in own:
            if function is not None:
                ways[function].append(number)
    rivals: set[tuple[int, int]] = set()
    for calls in regions.calls.values():
        lines: dict[tuple[int, str], set[FunctionRef]] = defaultdict(set)
        for call in calls:
            if call.callee is not None and call.target[0] in ways:
                lines[call.line, call.callee].add(call.target[0])
        for functions in lines.values():
            for function in functions:
                others = {n for other in functions - {function} for n in ways[other]} - set(ways[function])
                rivals.update((mine, number) for mine in ways[function] for number in others)
    kept: list[int] = []
    for number in range(len(found)):
        if all((number, other) not in rivals for other in kept):
            kept.append(number)
    return [found[number] for number in kept]
