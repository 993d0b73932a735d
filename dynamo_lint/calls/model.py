"""Call edges: one call out of a function, under which condition it counts, and the chain that led there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.program.refs import Confidence, FunctionRef, Node

if TYPE_CHECKING:
    from dynamo_lint.values.model import Arguments


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a chain: the line that leads on, the function it stands in, and what it does."""

    path: str
    line: int
    symbol: str
    note: str


@dataclass(frozen=True, slots=True)
class Edge:
    """One call out of a node."""

    target: Node
    confidence: Confidence
    line: int
    note: str
    callee: str | None = None
    """How a plain call spells the last part of what it calls."""
    needs: FunctionRef | None = None
    """The only caller that passes the function on: the edge counts if that is hot too."""
    given: Arguments = ()
    """The arguments of the call for parameters that the target calls."""
    off: frozenset[str] = frozenset()
    """Switches of the target that the call leaves off."""
    after: frozenset[FunctionRef] = frozenset()
    """Functions of which one has to have run: those that register a hook."""
    among: int = 1
    """Among how many things a run picks the one that it leads to, as an argument or a registry says."""


@dataclass(slots=True)
class Visit:
    """How the walk came to a node."""

    confidence: Confidence
    chain: tuple[Step, ...]
    entries: int
    """Bit set of entry indices."""
    first: int
    compiled: bool
    given: Arguments = ()
    """The arguments of this one call, where that alone is followed."""
    off: frozenset[str] = frozenset()
    """The switches that this one call leaves off."""
    choices: int = 1
    """How many ways the calls of the chain may go: each runs one function of so many."""

    def on(self, edge: Edge, confidence: Confidence, step: Step, choices: int) -> Visit:
        """The visit of the target of an edge, which is one of so many that the same call may run."""
        chain, choices = (*self.chain, step), self.choices * choices
        return Visit(confidence, chain, self.entries, self.first, False, off=edge.off, choices=choices)

    @property
    def is_guess(self) -> bool:
        """Whether the chain is one of very many that those calls allow."""
        return self.choices > MANY


MANY = 16
"""Ways of a chain beyond which it says little of any: what wraps wrappers may run whatever a library has."""


def met(edge: Edge, hot: Mapping[FunctionRef, Confidence]) -> Edge:
    """An edge is no surer than the caller that it needs."""
    weakest = Confidence.CERTAIN if edge.needs is None else hot[edge.needs]
    return edge if edge.confidence >= weakest else replace(edge, confidence=weakest)
