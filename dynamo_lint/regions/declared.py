"""Regions that are declared rather than found: by comment, by configuration, or by assumption."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import ir
from dynamo_lint.index.ir import FileFacts, Store
from dynamo_lint.models.frameworks import block_names
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.regions.counting import constructed
from dynamo_lint.regions.model import Entry, Root, Unresolved
from dynamo_lint.regions.options import RegionOptions, matches
from dynamo_lint.regions.targets import Target, targets_of
from dynamo_lint.values.containers import MODULE_CONTAINERS
from dynamo_lint.values.model import ClassValue, Container, Instance, union
from dynamo_lint.values.points_to import points_to_of

_BLOCK_LISTS = ("_repeated_blocks", "_no_split_modules")


def declared_entries(project: Project, options: RegionOptions) -> tuple[list[Root], list[Unresolved]]:
    """Entries that comments and configuration declare, and declarations that name nothing."""
    roots: list[Root] = []
    unresolved: list[Unresolved] = []
    for path, file in project.files.items():
        for marker in file.markers:
            if marker.kind.startswith("region-"):
                missing = "end" if marker.kind == "region-begin" else "begin"
                why = f"the comment has no `# dynamo-lint: region-{missing}`"
                unresolved.append(Unresolved(path, marker.line, f"# {marker.kind}", why))
            elif marker.kind != "region":
                continue
            elif marker.key is None:
                why = "no class or function follows the comment"
                unresolved.append(Unresolved(path, marker.line, "# region", why))
            else:
                roots += _root(project, path, marker.key, "comment", marker.line)
    for pattern in options.declared:
        found = [
            r
            for ref in _definitions(project)
            if matches(project, ref, (pattern,))
            for r in _root(project, ref.path, ref.key, "declared", None)
        ]
        if not found:
            unresolved.append(
                Unresolved("", 0, f'regions = ["{pattern}"]', "no class or function has this name")
            )
        roots += found
    return roots, unresolved


def assumed_entries(project: Project, mode: str) -> list[Root]:
    """Entries that the user asked to assume: every module, or every module that is a repeated block."""
    if mode == "none":
        return []
    modules = [ref for ref in project.classes() if project.is_module(ref)]
    if mode == "blocks":
        blocks = _blocks(project, modules)
        modules = [ref for ref in modules if ref in blocks]
    roots = []
    for ref in modules:
        targets = targets_of(project, {Instance(ref): Confidence.LIKELY})
        if targets:
            line = project.class_(ref).line
            regional = mode == "blocks"
            roots.append(
                Root(Entry(ref.path, line, "assumed", ref.id, Confidence.LIKELY, regional), targets, ref.id)
            )
    return roots


def _blocks(project: Project, modules: list[ClassRef]) -> set[ClassRef]:
    """Classes whose instances are elements of a ModuleList, ModuleDict or Sequential, or named as blocks."""
    found: set[ClassRef] = set()
    named: set[str] = set()
    evaluation = points_to_of(project)
    for ref in modules:
        held = [name for name, stores in project.own_stores(ref).items() if _may_hold_blocks(project, stores)]
        for value in union(evaluation.attributes({Instance(ref): Confidence.CERTAIN}, name) for name in held):
            if isinstance(value, Container):
                found |= {v.ref for item in value.items for v, _ in item if isinstance(v, Instance)}
        for name in _BLOCK_LISTS:
            named.update(block_names(project, ref, name))
    return found | {ref for ref in modules if ref.name in named}


def _may_hold_blocks(project: Project, stores: list[tuple[FunctionRef, Store]]) -> bool:
    """`self.x = nn.ModuleList(…)`, or whatever a method like `self._make_layer(…)` returns."""
    for where, store in stores:
        if isinstance(store.value, ir.Call):
            match store.value.function:
                case ir.Name(name) | ir.Attribute(_, name) if name in MODULE_CONTAINERS:
                    return True
                case ir.Attribute(owner) if project.is_self(owner, where):
                    return True
    return False


def _root(project: Project, path: str, key: str, idiom: str, line: int | None) -> list[Root]:
    file: FileFacts = project.files[path]
    if key in file.classes:
        ref = ClassRef(path, key)
        targets = targets_of(project, {ClassValue(ref): Confidence.CERTAIN})
        where = file.classes[key].line
    else:
        function = FunctionRef(path, key)
        targets = (Target(function, project.owner(function), Confidence.CERTAIN),)
        where = file.functions[key].line
    if not targets:
        return []
    target = f"{path}::{key}"
    count = constructed(points_to_of(project), ClassRef(path, key)) if key in file.classes else None
    regional = key in file.classes
    entry = Entry(path, line or where, idiom, target, Confidence.CERTAIN, regional=regional, instances=count)
    return [Root(entry, targets, target)]


def _definitions(project: Project) -> Iterator[ClassRef | FunctionRef]:
    yield from project.classes()
    for ref in project.functions():
        if ref.key != ir.MODULE_KEY:
            yield ref
