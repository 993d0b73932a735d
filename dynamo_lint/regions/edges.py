"""One step of the walk from function to function: a call, and what has to be hot for it to count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dynamo_lint.program.refs import FunctionRef, Node, Tier
from dynamo_lint.regions.chain import Step
from dynamo_lint.regions.values import Given


@dataclass(frozen=True, slots=True)
class Edge:
    """One call out of a node."""

    target: Node
    tier: Tier
    line: int
    note: str
    callee: str | None = None
    """How a plain call spells the last part of what it calls."""
    needs: FunctionRef | None = None
    """The only caller that passes the function on: the edge counts if that is hot too."""
    given: Given = ()
    """What the call passes for parameters that the target calls."""
    off: frozenset[str] = frozenset()
    """Switches of the target that the call leaves off."""


@dataclass(slots=True)
class Visit:
    """How the walk came to a node."""

    tier: Tier
    chain: tuple[Step, ...]
    entries: int
    """Bit set of entry indices."""
    first: int
    compiled: bool
    given: Given = ()
    """What this one call passes, where that alone is followed."""
    off: frozenset[str] = frozenset()
    """What this one call leaves off."""


def met(edge: Edge, hot: Mapping[FunctionRef, Tier]) -> Edge:
    """An edge is no surer than the caller that it needs."""
    weakest = Tier.CERTAIN if edge.needs is None else hot[edge.needs]
    return edge if edge.tier >= weakest else replace(edge, tier=weakest)
