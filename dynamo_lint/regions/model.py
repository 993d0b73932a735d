"""Types of the region stage: entries, compiled functions with their evidence, and what stayed unresolved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from dynamo_lint.calls.model import Step
from dynamo_lint.conditions.constructor import KnownAttributes
from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.files import in_tests, is_kept, is_trial
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef, Node
from dynamo_lint.regions.options import CHOICE, ENTRY, Idle, RegionOptions
from dynamo_lint.regions.targets import Target
from dynamo_lint.values.points_to import points_to_of


@dataclass(frozen=True, slots=True)
class Entry:
    """A place that hands a callable to the compiler."""

    path: str
    line: int
    idiom: str
    """`decorator`, `call`, `method`, `with`, `library`, `comment`, `declared` or `assumed`."""
    target: str
    """Identity of the compiled class or function."""
    confidence: Confidence
    regional: bool = False
    """Compiled once per instance, so all instances share one code object and one recompile limit."""
    condition: str | None = None
    """Source of the `if` test the entry stands under."""
    instances: int | None = None
    """How many instances a regional entry compiles, where the code says so."""
    tested: bool = False
    """It compiles what callers hand it, and this is handed over by tests alone."""
    choices: int = 1
    """How many unrelated classes a table, a factory or a registry gives the site; nothing says which."""


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A function that Dynamo traces, with the class of its `self`, and why."""

    function: FunctionRef
    receiver: ClassRef | None
    confidence: Confidence
    entries: tuple[int, ...]
    """Indices into `Regions.entries`, the one of `chain` first."""
    chain: tuple[Step, ...]
    """From the compile entry to the call of this function."""
    compiled: bool = False
    """The function is itself what was handed to the compiler: its arguments come from eager code."""
    guessed: bool = False
    """The chain is one of very many that calls allow, or begins where a site picks one of several classes."""

    @property
    def unit(self) -> str:
        """Identity of the function that the compile entry of `chain` compiles."""
        return self.chain[1].symbol if len(self.chain) > 1 else self.function.id

    def __hash__(self) -> int:
        # The key of many tables, with one for each pair: a chain and a thousand entries take long to hash.
        return hash((self.function, self.receiver))


class CallEdge(NamedTuple):
    """One call out of a hot function."""

    target: Node
    """The function that it reaches."""
    confidence: Confidence
    line: int
    callee: str | None
    """How the call spells the last part of what it calls, empty for `layers[0](x)`; None for a property, an
    operator, a constructor or a decorator, which run without being called themselves."""
    disabled: bool
    """`torch.compiler.disable` keeps the target out of the graph."""
    choices: int = 1
    """How many functions the call may run, of which the target is one."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A place where the analysis ended: a compile site whose target could not be named, or another gap."""

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
    kind: str = ENTRY
    """`entry`, `choice`; `call`, `class` or `closure` in compiled code that was not followed; or another."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A compile site that is understood, but compiles nothing of the linted code."""

    path: str
    line: int
    expression: str
    why: str


@dataclass(frozen=True, slots=True)
class Regions:
    """Everything that is compiled, as far as can be known without running."""

    entries: tuple[Entry, ...]
    hot: tuple[CompiledFunction, ...]
    unresolved: tuple[Unresolved, ...]
    calls: Mapping[Node, tuple[CallEdge, ...]] = field(default_factory=dict)
    """The calls of each hot function."""
    skipped: tuple[Skipped, ...] = ()
    idle: tuple[Idle, ...] = ()
    """Declarations that match nothing."""
    options: RegionOptions = field(default_factory=RegionOptions)
    """The declarations that it was made with."""

    def callers(self, weakest: Confidence = Confidence.POSSIBLE) -> dict[Node, list[Node]]:
        """The callers of each hot function, by calls of no weaker confidence."""
        found: dict[Node, dict[Node, None]] = defaultdict(dict)
        for caller, calls in self.calls.items():
            for call in calls:
                if call.confidence <= weakest:
                    found[call.target][caller] = None
        return {target: list(callers) for target, callers in found.items()}


@dataclass(frozen=True, slots=True)
class Root:
    """An entry with the functions it compiles."""

    entry: Entry
    targets: tuple[Target, ...]
    symbol: str
    """Identity of the function that the entry stands in, or of what it decorates or declares."""
    module: ClassRef | None = None
    """The class of the module that is compiled as a whole, so that its forward hooks are too."""
    rehearsal: bool = False
    """The entry stands in a probe or a test: evidence, but not what a user runs."""
    site: FunctionRef | None = None
    """The function around the call that compiles, if it is one."""
    shown: KnownAttributes = ()
    """The attributes of the module that tests around that call show to be on or off."""
    off: frozenset[str] = frozenset()
    """Switches of the function that are off wherever it is compiled."""


def merged_roots(roots: Iterable[Root]) -> dict[str, Root]:
    """One entry for each thing that a site compiles, the first, with what it is for every `self`."""
    found: dict[str, Root] = {}
    for root in roots:
        known = found.setdefault(root.entry.target, root)
        if known.entry.tested and not root.entry.tested:
            known = found[root.entry.target] = replace(known, entry=root.entry, rehearsal=root.rehearsal)
        if root.entry.choices < known.entry.choices:
            known = found[root.entry.target] = replace(known, entry=root.entry)
        had = {(target.function, target.receiver) for target in known.targets}
        more = tuple(one for one in root.targets if (one.function, one.receiver) not in had)
        if more:
            found[root.entry.target] = replace(known, targets=known.targets + more)
    return found


def weakened(root: Root, weakest: Confidence) -> Root:
    """An entry that is no better proof of what it compiles than `weakest`."""
    confidence = max(root.entry.confidence, weakest)
    targets = tuple(replace(target, confidence=max(target.confidence, confidence)) for target in root.targets)
    return replace(root, entry=replace(root.entry, confidence=confidence), targets=targets)


def handed_over(root: Root, by_test: bool) -> Root:
    """An entry of what a call hands to a function that compiles it."""
    return replace(root, entry=replace(root.entry, tested=True), rehearsal=True) if by_test else root


def is_tried(project: Project, root: Root) -> bool:
    """Whether a test or a trial compiles something, or a method that nobody calls: it is for users to do."""
    trial = root.site is not None and is_trial(project, root.site, root.entry.line)
    return trial or in_tests(root.entry.path) or (root.site is not None and _is_offered(project, root.site))


def _is_offered(project: Project, where: FunctionRef) -> bool:
    """Whether a method is there for others to have something compiled: `compile_layers`, called nowhere."""
    function, name = project.function(where), where.key.rpartition(".")[2]
    if function.owner is None or "compile" not in name:
        return False
    decorators = [one for one in function.decorators if terminal_name(one) != "override"]
    return not is_kept(project, name, decorators) and not points_to_of(project).call_sites(where)


def joined(parts: Sequence[Regions]) -> Regions:
    """The compiled code of several parts of a repository, of which some may know of the same entries."""
    entries = tuple(dict.fromkeys(entry for one in parts for entry in one.entries))
    numbers = {entry: number for number, entry in enumerate(entries)}
    hot = (
        replace(way, entries=tuple(numbers[one.entries[old]] for old in way.entries))
        for one in parts
        for way in one.hot
    )
    return Regions(
        entries=entries,
        hot=tuple(hot),
        unresolved=tuple(dict.fromkeys(site for one in parts for site in one.unresolved)),
        skipped=tuple(dict.fromkeys(site for one in parts for site in one.skipped)),
    )


def part(regions: Regions, paths: Collection[str]) -> Regions:
    """The compiled code that the entries of these files compile, and the compiled functions in them.

    A function keeps its entries in these files, or else the one that its chain starts at.
    """
    here = {number for number, entry in enumerate(regions.entries) if entry.path in paths}
    hot = [
        (one, [number for number in one.entries if number in here] or list(one.entries[:1]))
        for one in regions.hot
        if one.function.path in paths or not here.isdisjoint(one.entries)
    ]
    concerned = {one.function.path for one, _ in hot}.union(paths)
    kept = sorted(here.union(*(entries for _, entries in hot)))
    numbers = {old: new for new, old in enumerate(kept)}
    return replace(
        regions,
        entries=tuple(regions.entries[number] for number in kept),
        hot=tuple(replace(one, entries=tuple(numbers[old] for old in entries)) for one, entries in hot),
        unresolved=tuple(
            site
            for site in regions.unresolved
            if site.path in (paths if site.kind in {ENTRY, CHOICE} else concerned)
        ),
        skipped=tuple(site for site in regions.skipped if site.path in paths),
    )
