"""What holds at one point of a function: local names, and the places certainly written in this call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dynamo_lint.state.model import Guard, Key, Place, Value
from dynamo_lint.state.values import limited


@dataclass(slots=True)
class Flow:
    """A point of control flow; forked at branches and merged behind them."""

    locals: dict[str, Value] = field(default_factory=dict)
    stored: dict[Place, Value] = field(default_factory=dict)
    """Places certainly written in this call, with their value."""
    written: frozenset[Key] = frozenset()
    """Attributes certainly written in this call by this function or one it called."""
    conditional: dict[str, dict[Place, Value]] = field(default_factory=dict)
    """Places written wherever a test was true, by the source of the test."""
    guards: frozenset[Guard] = frozenset()
    ended: bool = False
    """Control does not get here: the branch returned, raised, broke or continued."""

    def fork(self) -> Flow:
        """An independent copy for one branch."""
        return replace(
            self, locals=dict(self.locals), stored=dict(self.stored), conditional=dict(self.conditional)
        )


def merge(first: Flow, second: Flow) -> Flow:
    """What holds when either branch was taken."""
    if first.ended:
        return second
    if second.ended:
        return first
    return Flow(
        {
            name: join(value, second.locals[name])
            for name, value in first.locals.items()
            if name in second.locals
        }
        | {
            # Bound on one side only: then that is its value wherever it is used.
            name: first.locals.get(name) or second.locals[name]
            for name in first.locals.keys() ^ second.locals.keys()
        },
        {
            place: join(value, second.stored[place])
            for place, value in first.stored.items()
            if place in second.stored
        },
        first.written & second.written,
        first.conditional | second.conditional,
        first.guards & second.guards,
    )


def join(first: Value, second: Value) -> Value:
    """A value that is one of two."""
    if first is second or first == second:
        return first
    both = first.constants is not None and second.constants is not None
    bounds = [v.bound if v.constants is None else len(v.constants) for v in (first, second)]
    known = [b for b in bounds if b is not None]
    joined = Value(
        kinds=first.kinds | second.kinds if first.kinds and second.kinds else frozenset(),
        constants=(first.constants or frozenset()) | (second.constants or frozenset()) if both else None,
        pending=first.pending | second.pending,
        derived=first.derived | second.derived,
        origins=first.origins | second.origins,
        place=first.place if first.place == second.place else None,
        bound=sum(known) if len(known) == 2 and all(known) else (0 if len(known) == 2 else None),
        largest=first.largest or second.largest,
    )
    return limited(joined)
