"""What the region stage hands on: entries, hot functions with their evidence, and what stayed unresolved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dynamo_lint.program.refs import ClassRef, FunctionRef, Node, Tier
from dynamo_lint.regions.chain import Step


@dataclass(frozen=True, slots=True)
class Entry:
    """A place that hands a callable to the compiler."""

    path: str
    line: int
    idiom: str
    """`decorator`, `call`, `method`, `with`, `library`, `comment`, `declared` or `assumed`."""
    target: str
    """Identity of the compiled class or function."""
    tier: Tier
    regional: bool = False
    """Compiled once per instance, so all instances share one code object and one recompile limit."""
    condition: str | None = None
    """Source of the `if` test the entry stands under."""
    instances: int | None = None
    """How many instances a regional entry compiles, where the code says so in plain numbers."""


@dataclass(frozen=True, slots=True)
class HotFunction:
    """A function that Dynamo traces, with the class of its `self`, and why."""

    function: FunctionRef
    receiver: ClassRef | None
    tier: Tier
    entries: tuple[int, ...]
    """Indices into `Regions.entries`, the one of `chain` first."""
    chain: tuple[Step, ...]
    """From the compile entry to the call of this function."""
    compiled: bool = False
    """The function is itself what was handed to the compiler: its arguments come from eager code."""

    def __hash__(self) -> int:
        # The key of many tables, with one for each pair: a chain and a thousand entries take long to hash.
        return hash((self.function, self.receiver))


class Call(NamedTuple):
    """One call out of a hot function."""

    target: Node
    """The function that it reaches."""
    tier: Tier
    line: int
    callee: str | None
    """How the call spells the last part of what it calls, empty for `layers[0](x)`; None for a property, an
    operator, a constructor or a decorator, which run without being called themselves."""
    disabled: bool
    """`torch.compiler.disable` keeps the target out of the graph."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A compile site whose target could not be named."""

    path: str
    line: int
    expression: str
    why: str
    candidates: tuple[str, ...] = ()
    """Classes and functions, as `module:name`, that by their names may be meant."""
    examples: tuple[str, ...] = ()
    """A module near the site, where no name says anything: what a declaration looks like here."""
    lacks: str = ""
    """Why no declaration is called for: `forward` if the module has none, `code` if it is a library's."""


@dataclass(frozen=True, slots=True)
class Regions:
    """Everything that is compiled, as far as can be known without running."""

    entries: tuple[Entry, ...]
    hot: tuple[HotFunction, ...]
    unresolved: tuple[Unresolved, ...]
    calls: Mapping[Node, tuple[Call, ...]] = field(default_factory=dict)
    """What each hot function calls."""

    def callers(self, weakest: Tier = Tier.ASSUMED) -> dict[Node, list[Node]]:
        """What calls each hot function, by calls of no weaker tier."""
        found: dict[Node, dict[Node, None]] = defaultdict(dict)
        for caller, calls in self.calls.items():
            for call in calls:
                if call.tier <= weakest:
                    found[call.target][caller] = None
        return {target: list(callers) for target, callers in found.items()}
