"""Which of the classes that are compiled by themselves for a break certainly meet in one process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations, product

from dynamo_lint.breaks.model import Alone
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.model import Regions


def meeting(regions: Regions, found: Sequence[Alone]) -> list[Alone]:
    """All but those in whose place one of the others may run: a call that reaches both runs one of them."""
    ways: dict[ClassRef | FunctionRef, set[int]] = defaultdict(set)
    for number, one in enumerate(found):
        ways[one.unit].add(number)
        if one.stuck is not None:
            ways[one.stuck].add(number)
    rivals: set[tuple[int, int]] = set()
    for calls in regions.calls.values():
        places: dict[tuple[int, str], list[set[int]]] = defaultdict(list)
        for call in calls:
            function, receiver = call.target
            led = ways.get(function) or (ways.get(receiver) if receiver is not None else None)
            if call.callee is not None and led:
                places[call.line, call.callee].append(led)
        for reached in places.values():
            for mine, others in permutations(reached, 2):
                rivals.update(product(mine - others, others - mine))
    kept: list[int] = []
    for number in range(len(found)):
        if all((number, other) not in rivals for other in kept):
            kept.append(number)
    return [found[number] for number in kept]
