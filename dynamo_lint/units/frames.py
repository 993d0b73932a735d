"""One run of a function of construction code: what its names and its instance hold so far."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.units.terms import Term

if TYPE_CHECKING:
    from dynamo_lint.units.construct import Construction

Arguments = list[tuple[str | None, Term]]
"""What a call gives, with the keyword; `*` and `**` for what is spread."""


@dataclass(slots=True)
class Frame:
    """One run of a function."""

    function: FunctionRef
    receiver: ClassRef | None
    names: dict[str, Term]
    own: str | None
    """What the function calls its instance."""
    attributes: dict[str, Term] = field(default_factory=dict)
    """What `self` has so far; shared by the methods that one constructor calls."""
    returned: list[tuple[tuple[Term, ...], Term]] = field(default_factory=list)
    """What it returns, and the tests that lead there; the first one that holds counts."""
    tests: tuple[Term, ...] = ()
    """The tests around the statement that runs."""
    ended: bool = False
    loops: list[Term] = field(default_factory=list)
    """What the loops of unknown length around the statement run over: it says how long a container gets."""

    def closure(self, run: Construction, ref: FunctionRef) -> Term:
        """A nested function with the values of the local names that it mentions."""
        body = run.bodies.of(ref)
        nodes = body if body is not None else []
        return self.capture(run, ref, nodes)

    def capture(self, run: Construction, ref: FunctionRef, nodes: list[ast.stmt] | ast.expr) -> Term:
        """A function over the values it closes over."""
        own = {p.name for p in run.project.function(ref).parameters}
        trees = nodes if isinstance(nodes, list) else [nodes]
        used = {n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name)} - own
        held = {name: self.names[name] for name in sorted(used & self.names.keys())}
        held = {n: v for n, v in held.items() if v.kind not in {"class", "external"}}
        return run.terms.make("function", ref, tuple(held.values()), tuple(held))
