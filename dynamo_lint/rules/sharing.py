"""Compiled classes whose calls run through one code object, by which Dynamo keeps compiled versions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from dynamo_lint.breaks.frames import SeparateFrame, certain_together
from dynamo_lint.calls.decorators import outermost
from dynamo_lint.findings import Related
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.entries import entry_keywords
from dynamo_lint.regions.model import CompiledFunction, Entry
from dynamo_lint.rules.base import Claim, Context
from dynamo_lint.rules.instances import broken_apart
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.points_to import points_to_of

_BY_CALL = frozenset({"call", "method", "with", "library"})
"""The idioms of entries that compile where they stand; the others declare."""
_NAMED = 3
"""So many classes are named; of more, the number says enough."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A function that is the compiled code of several classes."""

    code: FunctionRef
    classes: tuple[ClassRef, ...]
    hot: CompiledFunction
    """The forward of the first of them."""
    together: bool
    """The code itself compiles all of them, so that they meet in one process."""


def shared_code(tables: Tables, context: Context) -> Iterator[Shared]:
    """Every function that is the compiled code of more than one of the classes that are compiled together."""
    found: dict[FunctionRef, dict[str, dict[ClassRef, CompiledFunction]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    by_target: dict[str, list[int]] = defaultdict(list)
    choices: dict[tuple[str, int], set[str]] = defaultdict(set)
    """The targets that each line may compile."""
    for number, entry in enumerate(tables.regions.entries):
        by_target[entry.target].append(number)
        choices[entry.path, entry.line].add(entry.target)
    for hot in tables.regions.hot:
        if not hot.compiled or hot.receiver is None or not tables.project.is_module(hot.receiver):
            continue
        entries = [
            entry
            for entry in _own(tables, hot, by_target)
            if _counts(tables, context, entry)
            and (len(choices[entry.path, entry.line]) == 1 or _runs_again(tables.project, entry))
        ]
        name = hot.function.key.rpartition(".")[2]
        code = outermost(tables.project, hot.receiver, name) if entries else None
        if code is not None:
            for entry in entries:
                found[code][_where(tables, entry)].setdefault(hot.receiver, hot)
    for place, ref, hot in _by_break(tables):
        code = outermost(tables.project, ref, hot.function.key.rpartition(".")[2])
        if code is not None:
            found[code][place].setdefault(ref, hot)
    for code, groups in found.items():
        where, classes = max(groups.items(), key=lambda group: len(group[1]))
        classes = {ref: hot for ref, hot in classes.items() if not _is_base(tables.project, ref, classes)}
        if len(classes) > 1:
            yield Shared(code, tuple(classes), next(iter(classes.values())), bool(where))


def _is_base(project: Project, ref: ClassRef, classes: Collection[ClassRef]) -> bool:
    """Whether a class is only there for others of these to inherit from: nothing constructs it."""
    inherited = any(ref in project.mro(one)[1:] for one in classes)
    return inherited and not points_to_of(project).constructions(ref)


def are_shown(project: Project, shared: Shared) -> bool:
    """Whether the project itself makes objects of two of the classes: else they may be alternatives."""
    made = [ref for ref in shared.classes if points_to_of(project).constructions(ref)]
    return len(made) > 1


def _by_break(tables: Tables) -> Iterator[tuple[str, ClassRef, CompiledFunction]]:
    """The classes that a graph break lets Dynamo compile by themselves, by the entry that they meet in."""
    groups: dict[int, list[tuple[SeparateFrame, CompiledFunction]]] = defaultdict(list)
    for ref, alone in tables.units.alone.items():
        own = next((hot for hot in alone.inside if hot.receiver == ref), None)
        if own is not None:
            groups[own.entries[0]].append((alone, own))
    for number, group in groups.items():
        kept = certain_together(tables.regions, [alone for alone, _ in group])
        yield from ((f"entry {number}", alone.unit, own) for alone, own in group if alone in kept)


def _where(tables: Tables, entry: Entry) -> str:
    """The function that compiles; empty for what is declared, wherever it is compiled."""
    if entry.idiom not in _BY_CALL:
        return ""
    return f"{entry.path}::{_around(tables.project, entry.path).get(entry.line, (0, MODULE_KEY))[1]}"


def _runs_again(project: Project, entry: Entry) -> bool:
    """Whether one program may run the line for more than one of the classes that it may compile."""
    if entry.regional or entry.idiom not in _BY_CALL:
        return True
    _, key = _around(project, entry.path).get(entry.line, (0, MODULE_KEY))
    if key == MODULE_KEY or key.endswith("__init__"):
        return key != MODULE_KEY  # objects are made in many places
    sites = points_to_of(project).call_sites(FunctionRef(entry.path, key))
    callers = Counter(scope.function for scope, _ in sites)
    return any(site.repeated for _, site in sites) or any(number > 1 for number in callers.values())


def _around(project: Project, path: str) -> dict[int, tuple[int, str]]:
    """The innermost function around each line, with the line that it begins on."""
    key = ("functions by line", path)
    if key not in project.memo:
        lines: dict[int, tuple[int, str]] = {}
        for name, function in project.files[path].functions.items():
            if name != MODULE_KEY:
                for line in range(function.first_line, function.end_line + 1):
                    lines[line] = max((function.line, name), lines.get(line, (0, "")))
        project.memo[key] = lines
    return project.memo[key]  # type: ignore[return-value]


def _own(tables: Tables, hot: CompiledFunction, by_target: Mapping[str, list[int]]) -> list[Entry]:
    """The entries that compile this function itself, not one that calls it."""
    targets = {hot.function.id, hot.receiver.id if hot.receiver is not None else ""}
    own = [index for target in targets for index in by_target.get(target, ()) if index in hot.entries]
    return [tables.regions.entries[index] for index in sorted(own, key=hot.entries.index)]


def _counts(tables: Tables, context: Context, entry: Entry) -> bool:
    if entry.idiom == "assumed" and not entry.regional:
        return False  # every module is assumed to be compiled then, though hardly two of them are
    isolated = entry_keywords(tables.project, entry).get("isolate_recompiles") is True
    return not (isolated and context.has("isolated-recompiles"))


def claim(tables: Tables, context: Context, shared: Shared) -> Claim:
    """The claim about code that is shared."""
    names = sorted({f"`{ref.name}`" for ref in shared.classes})
    some = f"{len(names)} compiled classes ({', '.join(names[:_NAMED])}, …)"
    who = some if len(names) > _NAMED else f"{', '.join(names[:-1])} and {names[-1]}"
    function = tables.project.function(shared.code)
    own = function.parameters[0].name if function.parameters else "self"
    count = len(shared.classes)
    isolate = ", or compile with `isolate_recompiles=True`" if context.has("isolated-recompiles") else ""
    return Claim(
        message=f"`{function.qualname}` is the code that runs first in every call of {who}, and Dynamo, "
        f"which stores compiled versions per code object, guards on the class of `{own}`"
        f"{broken_apart(tables, shared.classes[0])}",
        cost=f"one compiled version per class{'' if shared.together else ' that a process compiles'}, all of "
        f"them counted against one recompile limit ({context.recompile_limit})",
        effect="per-instance",
        entries=count if shared.together else None,
        severity=None if are_shown(tables.project, shared) else "note",
        subject=f"{shared.code.key.split('#')[0]}({own})",
        advice=f"give each class its own `forward`, without a wrapper around it{isolate}",
        step="is the code of several compiled classes",
        related=tuple(_definition(tables, ref) for ref in shared.classes[:_NAMED]),
    )


def _definition(tables: Tables, ref: ClassRef) -> Related:
    return Related(ref.path, tables.project.class_(ref).line, 1, f"`{ref.name}` is compiled")
