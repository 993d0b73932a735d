"""Regions that are declared rather than found, by comment, configuration or assumption."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from dynamo_lint.index import ir
from dynamo_lint.index.ir import FileFacts, Store
from dynamo_lint.models.frameworks import block_names
from dynamo_lint.models.marks import marks_made, names_mark
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef, Symbol
from dynamo_lint.regions.counting import constructed
from dynamo_lint.regions.model import Entry, Root, Unresolved
from dynamo_lint.regions.options import Idle, RegionOptions, matches, wrapper
from dynamo_lint.regions.targets import Target, targets_of
from dynamo_lint.selectors import closest
from dynamo_lint.values.containers import MODULE_CONTAINERS
from dynamo_lint.values.model import ClassValue, Container, Instance, union
from dynamo_lint.values.points_to import points_to_of

_BLOCK_LISTS = ("_repeated_blocks", "_no_split_modules")
_NO_DEFINITION = "no class or function has this name"
_NO_USE = "nothing that is defined or used has this name"
_WILD = frozenset("*?[")
_NO_CODE = "to call it runs no code that is read here; name the method that is compiled"


def declared_entries(
    project: Project, options: RegionOptions
) -> tuple[list[Root], list[Unresolved], list[str]]:
    """Entries that comments and configuration declare, and the comments and patterns that declare none."""
    roots: list[Root] = []
    unresolved: list[Unresolved] = []
    unknown: list[str] = []
    for path, markers in project.named("marked").items():
        for marker in markers:
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
            for ref in definitions(project, pattern)
            for r in _root(project, ref.path, ref.key, "declared", None)
        ]
        unknown += [] if found else [pattern]
        roots += found
    return roots, unresolved, unknown


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


def idle_declarations(
    project: Project, options: RegionOptions, unknown: Iterable[str], comments: Iterable[Unresolved]
) -> tuple[Idle, ...]:
    """The declarations that match nothing, among them `unknown` regions, and `comments` that mark none."""
    found = [("regions", pattern) for pattern in unknown]
    found += [("not-regions", one) for one in options.cut if not _is_defined(project, one)]
    found += [(f"contract.{key}", one) for key, one in options.in_contract if not _is_defined(project, one)]
    made = [*marks_made(project)] if options.marks else []
    found += [
        ("contract.dynamic-axes", one)
        for one in options.marks
        if not any(names_mark(project, mark, one) for mark in made)
    ]
    used: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("compile-wrappers", options.compile_wrappers),
        ("compile-decorators", options.compile_decorators),
        ("disable-decorators", options.disable_decorators),
    )
    for key, declared in used:
        for value in declared:
            pattern, place = wrapper(value)
            refs = [*definitions(project, pattern)]
            fits = key != "compile-wrappers" or any(_takes(project, ref, place) for ref in refs)
            if not (fits if refs else _is_used(project, pattern)):
                found.append((key, value))
    idle = [Idle("", f"{one.path}:{one.line}: `{one.expression}`", one.why) for one in comments]
    idle += [Idle(*one, _why(project, *one)) for one in found if not _is_unread(project, one[1])]
    return tuple(idle)


def definitions(project: Project, pattern: str) -> Iterator[ClassRef | FunctionRef]:
    """Every class and function that a pattern names."""
    if _WILD.isdisjoint(pattern):
        for path, file in project.files.items():
            key = pattern[len(file.module) + 1 :]
            if pattern in (f"{file.module}:{key}", f"{file.module}.{key}") and key != ir.MODULE_KEY:
                yield from [ClassRef(path, key)] if key in file.classes else []
                yield from [FunctionRef(path, key)] if key in file.functions else []
        return
    yield from (ref for ref in project.classes() if matches(project, ref, (pattern,)))
    functions = (ref for ref in project.functions() if ref.key != ir.MODULE_KEY)
    yield from (ref for ref in functions if matches(project, ref, (pattern,)))


def _takes(project: Project, ref: ClassRef | FunctionRef, place: int) -> bool:
    """Whether a function may be given so many arguments; what a class takes is left open."""
    if isinstance(ref, ClassRef):
        return True
    parameters = project.function(ref).parameters
    return any(one.kind == "vararg" for one in parameters) or place < len(parameters)


def _is_defined(project: Project, pattern: str) -> bool:
    return any(definitions(project, pattern))


def _is_used(project: Project, pattern: str) -> bool:
    """Whether code calls, decorates with or imports something that a pattern names: it may be a library's."""
    name = _last(pattern)
    for ref, decorator in project.decorated_with(name):
        callee = decorator.function if isinstance(decorator, ir.Call) else decorator
        file = project.files[ref.path]
        fact = file.classes[ref.key] if isinstance(ref, ClassRef) else file.functions[ref.key]
        if _means(project, project.symbols(callee, ref.path, fact.outer or ir.MODULE_KEY), pattern):
            return True
    for where, site in project.calls_of(name):
        if _means(project, project.symbols(site.call.function, where.path, where.key), pattern):
            return True
    return _means(project, _imported(project), pattern)


def _imported(project: Project) -> Iterator[Symbol]:
    """Everything that the files import by name."""
    for where in project.functions():
        for binding in project.function(where).bindings:
            if isinstance(binding.value, ir.Import) and binding.value.name is not None:
                yield from project.symbols(binding.value, where.path, where.key)


def _means(project: Project, symbols: Iterable[Symbol], pattern: str) -> bool:
    return any(matches(project, symbol, (pattern,)) for symbol in symbols)


def _is_unread(project: Project, pattern: str) -> bool:
    """Whether a file that could not be read may define what a pattern names."""
    broken = (file.module for file in project.files.values() if file.error is not None)
    home = pattern.partition(":")[0]
    return any(fnmatchcase(module, home) or home.startswith(f"{module}.") for module in broken)


def _why(project: Project, key: str, value: str) -> str:
    if key == "contract.dynamic-axes":
        return "no code marks this axis"
    pattern, place = wrapper(value)
    if _is_defined(project, pattern):
        return _NO_CODE if key == "regions" else f"it takes no argument {place}, as counted from 0"
    names = [f"{project.files[ref.path].module}:{ref.key}" for ref in definitions(project, "*")]
    ours = key in {"regions", "not-regions"} or key.startswith("contract.")
    if not ours:
        outside = (symbol.dotted for symbol in _imported(project) if isinstance(symbol, ExternalSymbol))
        names += (":".join(dotted.rsplit(".", 1)) for dotted in outside)
    alike = [name for name in names if _last(name) == _last(pattern)]
    guess = closest(pattern, alike or names) or next(iter(alike), None)
    why = _NO_DEFINITION if ours else _NO_USE
    return why + (f"; did you mean {guess!r}?" if guess else "")


def _last(name: str) -> str:
    return name.rpartition(":")[2].rpartition(".")[2]
