"""Which calls may make a parameter of a compiled function change, by what the index keeps of them.

It errs on the safe side: it is yes wherever `Varying` finds a change, a literal, or a kind that is not that
of a default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dynamo_lint.index import facts
from dynamo_lint.index.facts import CallSite, Expr
from dynamo_lint.program.literal_arguments import Shape
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.model import CompiledFunction


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a compiled function, as a call fills them."""

    positional: tuple[str, ...]
    starred: bool
    open: bool
    """It takes any keyword."""
    names: frozenset[str]
    needed: frozenset[str]
    """Those without a default."""
    defaults: frozenset[str]
    """Those with a literal default: a call that leaves them out hands that over."""

    @staticmethod
    def of(project: Project, hot: CompiledFunction) -> Signature:
        """Of a compiled function, without its instance."""
        function = project.function(hot.function)
        parameters = function.parameters
        bound = int(hot.receiver is not None and function.owner is not None)
        taken = [p for p in parameters[bound:] if p.kind in ("positional", "keyword")]
        return Signature(
            tuple(p.name for p in taken if p.kind == "positional"),
            any(p.kind == "vararg" for p in parameters),
            any(p.kind == "kwarg" for p in parameters),
            frozenset(p.name for p in parameters),
            frozenset(p.name for p in taken if p.default is None),
            frozenset(p.name for p in parameters if isinstance(p.default, facts.Constant)),
        )

    def fits(self, call: facts.Call) -> bool:
        """Whether a call can be one of the function: it fills what has no default, and nothing else."""
        words = {name for name, _ in call.keywords}
        if any(isinstance(argument, facts.Element) for argument in call.arguments) or None in words:
            return True
        filled = self.positional[: len(call.arguments)]
        return (
            (self.starred or len(filled) == len(call.arguments))
            and (self.open or words <= self.names)
            and self.needed <= words.union(filled)
        )

    def tells(self, shape: Shape) -> bool:
        """Whether a call of this shape may be one of those that make a parameter change."""
        by_position, starred, by_keyword = shape
        if starred is not None and self.starred and len(by_position) >= len(self.positional) and any(starred):
            return True
        filled = (*zip(self.positional, by_position, strict=False), *by_keyword)
        return any(
            name in self.names and (changes or (known and name in self.defaults))
            for name, (changes, known) in filled
        )


class Telling:
    """Answers for the calls of all functions."""

    def __init__(self, project: Project, signatures: Iterable[Signature]) -> None:
        self._project = project
        self._signatures = frozenset(signatures)
        self._shapes: dict[Shape, bool] = {}

    def calls(
        self, ref: FunctionRef, may_be_called: Callable[[Expr, str], bool]
    ) -> Iterator[tuple[CallSite, Shape]]:
        """The calls in a function that may tell something, with what they hand over."""
        for site in self._project.calls_in(ref, may_be_called):
            if not (site.call.arguments or site.call.keywords):
                continue
            shape = self._project.told_of(ref, site).shape
            if shape not in self._shapes:
                self._shapes[shape] = any(one.tells(shape) for one in self._signatures)
            if self._shapes[shape]:
                yield site, shape
