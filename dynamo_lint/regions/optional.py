"""Calls that a function only makes where a parameter is given, or on, and what calls of it leave out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from dynamo_lint.program.refs import FunctionRef, Node, Tier
from dynamo_lint.regions.edges import Edge
from dynamo_lint.regions.leftoff import NOTHING, is_off
from dynamo_lint.regions.origins import givers
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.switches import starts_off
from dynamo_lint.values.points_to import evaluation_of


def if_given(
    project: Project,
    edges: Iterator[Edge],
    names: tuple[str, ...],
    where: FunctionRef,
    entered: Collection[FunctionRef],
) -> Iterator[Edge]:
    """The edges of a call that is only made if what may be None or off, as the names say, is not."""
    ev = evaluation_of(project)
    optional = [p for p in project.function(where).parameters if p.name in names]
    if not optional and not any(starts_off(project, name, where) for name in names):
        yield from edges
        return
    for edge in edges:
        likely = replace(edge, tier=max(edge.tier, Tier.LIKELY))
        asked = [] if edge.needs else [givers(ev, where, one, entered) for one in optional]
        known = next((one for one in asked if one is not None), None)
        yield from (likely,) if known is None else (replace(likely, needs=one) for one in known)


class Switches:
    """What all calls of a node seen so far leave off, and the edges that wait for one that does not.

    Dynamo traces a function with what compiled code passes: eager calls of it count for nothing.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._off: dict[Node, frozenset[str]] = {}
        self._waiting: dict[Node, list[Edge]] = {}

    def opens(self, edge: Edge) -> bool:
        """Whether an edge to a node that was visited leaves less off than those before it."""
        return not self._off.get(edge.target, NOTHING) <= edge.off

    def enter(self, node: Node, off: frozenset[str]) -> list[Edge]:
        """A visit of a node: what has waited for it, to be looked at again."""
        before = self._off.get(node)
        self._off[node] = off if before is None else before & off
        return self._waiting.pop(node, []) if before != self._off[node] else []

    def holds_back(self, node: Node, edge: Edge) -> bool:
        """Whether an edge has to wait: it stands where some switch is on that all calls leave off."""
        held = is_off(self._project, node.function, self._off.get(node, NOTHING), edge.line)
        if held:
            self._waiting.setdefault(node, []).append(edge)
        return held
