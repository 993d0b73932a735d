"""Where the walk begins: an entry, and what it compiles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.program.refs import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.model import Entry
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.rehearsals import in_tests, is_kept, is_trial
from dynamo_lint.regions.shown import Shown
from dynamo_lint.regions.targets import Target
from dynamo_lint.values.points_to import evaluation_of


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
    shown: Shown = ()
    """What tests around that call show of the attributes of the module."""
    off: frozenset[str] = frozenset()
    """Switches of the function that are off wherever it is compiled."""


def merged(roots: Iterable[Root]) -> dict[str, Root]:
    """One entry for each thing that a site compiles, the first, with what it is for every `self`."""
    found: dict[str, Root] = {}
    for root in roots:
        known = found.setdefault(root.entry.target, root)
        had = {(target.function, target.receiver) for target in known.targets}
        more = tuple(one for one in root.targets if (one.function, one.receiver) not in had)
        if more:
            found[root.entry.target] = replace(known, targets=known.targets + more)
    return found


def at_best_likely(root: Root) -> Root:
    """An entry that is no proof of what it compiles."""
    tier = max(root.entry.tier, Tier.LIKELY)
    targets = tuple(replace(target, tier=max(target.tier, tier)) for target in root.targets)
    return replace(root, entry=replace(root.entry, tier=tier), targets=targets)


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
    return not is_kept(project, name, decorators) and not evaluation_of(project).call_sites(where)
