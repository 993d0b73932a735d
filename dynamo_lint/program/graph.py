"""Graph algorithms with a known name: the merge step of C3, and strongly connected components."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def c3_merge(sequences: list[list[N]], ref: N) -> list[N]:
    """The orders of the bases of `ref` as one; where none is consistent, first come first served."""
    result: list[N] = []
    rest = [[item for item in sequence if item != ref] for sequence in sequences]
    while any(rest):
        rest = [sequence for sequence in rest if sequence]
        heads = [sequence[0] for sequence in rest]
        good = next((head for head in heads if not any(head in s[1:] for s in rest)), heads[0])
        result.append(good)
        rest = [[item for item in sequence if item != good] for sequence in rest]
    return result


def strongly_connected(graph: Mapping[N, Iterable[N]]) -> list[list[N]]:
    """The circles of a graph, each after all that it leads to; a node in none is a circle of its own."""
    found: list[list[N]] = []
    numbers: dict[N, int] = {}
    waiting: list[N] = []
    settled: set[N] = set()

    def visit(node: N) -> int:
        """Number a node and all that it leads to; the lowest number that it leads back to."""
        number = lowest = numbers[node] = len(numbers)
        start = len(waiting)
        waiting.append(node)
        for other in graph[node]:
            if other not in numbers:
                lowest = min(lowest, visit(other))
            elif other not in settled:
                lowest = min(lowest, numbers[other])
        if lowest == number:
            found.append(waiting[start:])
            settled.update(waiting[start:])
            del waiting[start:]
        return lowest

    for node in graph:
        if node not in numbers:
            visit(node)
    return found
