"""Where values may be kept under a name, project-wide: class bodies, modules, literal dictionaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import ITEM, MODULE_KEY, Binding, Expr, Function
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.project import Project


@dataclass(frozen=True, slots=True)
class Slots:
    """Tables by name, for whoever does not know which object a name is looked up on."""

    bodies: dict[str, list[tuple[ClassRef, Expr]]] = field(default_factory=lambda: defaultdict(list))
    """What class bodies bind."""
    annotations: dict[str, list[tuple[ClassRef, Expr]]] = field(default_factory=lambda: defaultdict(list))
    """What class bodies declare."""
    globals: dict[str, list[tuple[FunctionRef, Expr]]] = field(default_factory=lambda: defaultdict(list))
    """What modules bind, but for definitions and imports under the name they have."""
    items: dict[str, list[tuple[FunctionRef, Expr]]] = field(default_factory=lambda: defaultdict(list))
    """What is put into a container that is called so, and what stands under a literal key."""
    nested: set[str] = field(default_factory=set)
    """Classes in the bodies of classes."""
    definitions: set[str] = field(default_factory=set)
    """Functions and classes that are no part of another."""
    settled: dict[tuple[str, str], bool] = field(default_factory=dict)
    """For whoever asks: whether imports and definitions alone bind a name of a file."""
    _own: dict[str, set[str]] = field(default_factory=dict)

    @staticmethod
    def of(project: Project) -> Slots:
        """Those of a project, made once."""
        known = project.memo.get(Slots)
        if not isinstance(known, Slots):
            known = project.memo[Slots] = Slots()
            known._fill(project)
        return known

    def own_names(self, project: Project, path: str) -> set[str]:
        """Names that some function of a file has to itself."""
        if path not in self._own:
            found = self._own[path] = set()
            for function in project.files[path].functions.values():
                if function.key != MODULE_KEY:
                    found.update([binding.name for binding in function.bindings])
                    found.update([parameter.name for parameter in function.parameters])
        return self._own[path]

    def _fill(self, project: Project) -> None:
        for file in project.files.values():
            self.definitions.update(key for key in file.functions if "." not in key)
            self.definitions.update(key for key in file.classes if "." not in key)
        for ref in project.classes():
            class_ = project.class_(ref)
            for binding in class_.bindings:
                self.bodies[binding.name].append((ref, binding.value))
            for name, annotation in class_.annotations:
                self.annotations[name].append((ref, annotation))
            if "." in ref.key:
                self.nested.add(ref.name)
        for where in project.functions():
            function = project.function(where)
            if where.key == MODULE_KEY or function.globals:
                for binding in function.bindings:
                    if not _is_plain(binding):
                        module = FunctionRef(where.path, MODULE_KEY)
                        self.globals[binding.name].append((module, binding.value))
            for name, value in _kept(function):
                self.items[name].append((where, value))


def _is_plain(binding: Binding) -> bool:
    """It binds a definition, or an import, to the name that it has there."""
    match binding.value:
        case facts.Import(name=name):
            return name is None or name == binding.name
    return isinstance(binding.value, facts.Definition)


def _kept(function: Function) -> Iterator[tuple[str, Expr]]:
    for store in function.stores:
        if store.name == ITEM and isinstance(store.owner, facts.Attribute):
            yield store.owner.name, store.value
        yield from _keyed(store.value)
    for binding in function.bindings:
        yield from _keyed(binding.value)
    for value in function.returns:
        yield from _keyed(value)
    for site in function.calls:
        for argument in site.call.arguments:
            yield from _keyed(argument)
        for name, argument in site.call.keywords:
            yield from _keyed(argument)
            if name and terminal_name(site.call.function) in ("dict", "OrderedDict", "SimpleNamespace"):
                yield name, argument


def _keyed(value: Expr) -> Iterator[tuple[str, Expr]]:
    """The entries of literal dictionaries."""
    if isinstance(value, facts.Display):
        for key, item in zip(value.keys, value.items, strict=False):
            if key:
                yield key, item
        for item in value.items:
            yield from _keyed(item)
