"""Where graph breaks cut the frames of compiled code: learned in one run of a program, used in the next."""

from __future__ import annotations

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.interpreter.model import Edge, Frame
from dynamo_lint.program.refs import FunctionRef

Version = tuple[str, int]
"""One of the versions of a compiled function, by the key of its cache and its number in there."""


@dataclass(slots=True)
class Splits:
    """The calls that Dynamo compiles apart and the frames that it leaves.

    A break splits the frame that is compiled: what comes behind it is compiled as a function of its own. If
    it stands in a function that this frame calls, the call is what is split off, and the function is compiled
    by itself. Where Dynamo can't go on (in a loop, behind a handler) it leaves the frame, and compiles what
    that calls (torch/_dynamo/symbolic_convert.py, `break_graph_if_unsupported`; checked with torch 2.13).
    """

    lost: dict[FunctionRef | str, int] = field(default_factory=dict)
    """The functions whose frames Dynamo leaves for good, with the number of versions that it had compiled.

    Those of a library by the identity of their code.
    """
    apart: set[tuple[Version, Edge]] = field(default_factory=set)
    """The calls that are compiled apart, each with the version of the frame around it that makes it."""

    @property
    def size(self) -> int:
        """How much is known."""
        return len(self.lost) + len(self.apart)

    def learn(self, version: Version, frames: list[Frame]) -> None:
        """Note that the graph of a version ends in the last of its frames, each called by the one before.

        Only of the first is it known what it is a version of: the others are compiled apart from here on.
        """
        for frame in frames[:1]:
            if frame.held:
                self.lost.setdefault(frame.where, version[1])
        self.apart.update((version, frame.edge) for frame in frames[1:2] if frame.edge is not None)

    def loses(self, code: FunctionRef | str, versions: int) -> bool:
        """Whether Dynamo leaves the frame of a function once it has so many versions, and needs another."""
        return code in self.lost and versions >= self.lost[code]
