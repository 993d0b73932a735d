"""The linked program: what each name means by binding alone, and the class hierarchy that follows from it.

Nothing here depends on flow: the values that a variable may hold are the business of the points-to analysis.
"""

from __future__ import annotations

import builtins
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Class, Expr, FileFacts, Function
from dynamo_lint.program.dependencies import Files, Recorder
from dynamo_lint.program.graph import c3_merge
from dynamo_lint.program.imports import ModuleFinder, OwnFolder
from dynamo_lint.program.refs import COMPILE, ClassRef, ExternalSymbol, File, FunctionRef, Symbol
from dynamo_lint.program.scopes import Scopes, method_kind
from dynamo_lint.program.tables import FILES, NO_TABLES, FilledTables, NameTables

_PARTIAL = "functools.partial"
_TORCH_MODULE = ("torch.nn.modules.module", "Module")
_HOMES = knowledge.in_order("modules") + knowledge.in_order("zoo")
_ENDINGS = knowledge.in_order("module_endings")
_PACKAGES = knowledge.in_order("module_packages")
_CONTAINERS = tuple(knowledge.last_names("containers"))
_NO_MODULES = knowledge.in_order("no_modules")
_PART = re.compile(r"_?forward_\w+")
_ASKED = "__getattr__"
_MODULES = ir.Attribute(ir.Name("sys"), "modules")
_OWN_NAME = ir.Name("__name__")
_OPTIMIZE = frozenset(map(ExternalSymbol, knowledge.in_order("compiles_with")))
_TORCH = COMPILE.partition(".")[0]
_LIBRARIES = knowledge.packages()
HIDING = "files that hide a library"
"""The key of those, as far as names that they lack were asked for, in `Project.memo`."""
_DEEPEST = 100
"""How many names an alias may go through."""
Ref = TypeVar("Ref", ClassRef, FunctionRef)


class Project:
    """The linked facts of all files. Answers are remembered: the facts never change.

    Whatever anybody reads of a file's definitions is noted, so that a later run knows what the outcome rests
    on: by name where it is looked up in a table, and by field where a function or class is read itself.
    """

    def __init__(
        self,
        files: Mapping[str, FileFacts],
        notes: Recorder | None = None,
        gathered: FilledTables = NO_TABLES,
        go_on: Callable[[], None] = lambda: None,
    ) -> None:
        self.go_on = go_on
        """Is called again and again by whoever asks, and raises what ends the analysis."""
        notes = notes or Recorder(wanted=False)
        self.files = _noted_files(files, notes) if notes.wanted else files
        self.memo: dict[object, object] = {}
        self.code = tuple(path for path, file in files.items() if file.is_code)
        """All files of code; who searches them notes for what."""
        self.launchers = {path: file.launcher for path, file in files.items() if file.launcher is not None}
        """All launchers: whatever changes in one of them is judged again."""
        self._order = {path: number for number, path in enumerate(files)}
        tables = NameTables(files, notes, gathered)
        self.named = tables.named
        self.screened, self.screened_if_known = tables.screened, tables.screened_if_known
        self.calls_of, self.stores_of = tables.calls_of, tables.stores_of
        self.items_stored = tables.items_stored
        self.aliases_of = tables.aliases_of
        self.other_names = tables.other_names
        self.passed_on = tables.passed_on
        self.decorated_with = tables.decorated_with
        self.strings_passed_as = tables.strings_passed_as
        self.derived_from = tables.derived_from
        self.is_known = tables.is_known
        self.times_defined = tables.times_defined
        scopes = Scopes(files, self.files, notes)
        self.global_bindings, self.class_bindings = scopes.global_bindings, scopes.class_bindings
        self.locals_of, self.bindings_of = scopes.locals_of, scopes.bindings_of
        self.home_of, self.items_of = scopes.home_of, scopes.items_of
        self.filled_in, self.set_in = scopes.filled_in, scopes.set_in
        self.own_names, self.inside = scopes.own_names, scopes.inside
        self.imports_of, self.changed_in = scopes.imports_of, scopes.changed_in
        self.calls_in, self.arguments_in = scopes.calls_in, scopes.arguments_in
        self.kept_under, self.mentioned_in = scopes.kept_under, scopes.mentioned_in
        self.owner, self.self_name, self.is_self = scopes.owner, scopes.self_name, scopes.is_self
        self.own_stores = scopes.own_stores
        finder = ModuleFinder(
            files, OwnFolder(files, tables.named, scopes.global_bindings, notes.ask), notes.ask
        )
        self.find_module = finder.find
        self._imported_module, self._in_namespace = finder.imported, finder.in_namespace
        self._resolving: set[object] = set()
        self._in_stars: set[tuple[str, str]] = set()
        """Names that are looked for in the files that a star import names, and those files."""
        self._stars: dict[str, list[tuple[Symbol, Mapping[str, object] | None]]] = {}
        self._cuts = 0
        """How often an answer was left out because the question is still open, or too deep."""
        self._mros: dict[ClassRef, tuple[ClassRef, ...]] = {}
        self._functions: list[FunctionRef] = []
        self._begun_at: dict[str, dict[int, tuple[FunctionRef, ...]]] = {}
        self._classes_begun_at: dict[str, dict[int, tuple[ClassRef, ...]]] = {}
        """By file and line: functions are looked for as often as there are some."""
        self._seen: dict[tuple[str, ...], tuple[Symbol, ...]] = {}
        """The symbols of names, by file or by function, as far as that is settled."""
        self._inits: dict[FunctionRef, list[ClassRef]] | None = None

    # --- facts by reference -----------------------------------------------------------------------------

    def function(self, ref: FunctionRef) -> Function:
        """The facts of a function."""
        self.go_on()
        return self.files[ref.path].functions[ref.key]

    def class_(self, ref: ClassRef) -> Class:
        """The facts of a class."""
        return self.files[ref.path].classes[ref.key]

    def functions(self) -> Iterator[FunctionRef]:
        """Every function, in file order."""
        if not self._functions:
            self._functions = [
                FunctionRef(p, key) for p, file in self.files.items() for key in file.functions
            ]
        return iter(self._functions)

    def classes(self) -> Iterator[ClassRef]:
        """Every class, in file order."""
        for path, keys in self.named("classes").items():
            for key in keys:
                yield ClassRef(path, key)

    def functions_at(self, path: str, line: int) -> tuple[FunctionRef, ...]:
        """The functions that begin on a line, in file order."""
        table = self._begun_at.get(path)
        if table is None:
            table = self._begun_at[path] = {}
            for key, function in self.files[path].functions.items():
                table[function.line] = (*table.get(function.line, ()), FunctionRef(path, key))
        return table.get(line, ())

    def classes_at(self, path: str, line: int) -> tuple[ClassRef, ...]:
        """The classes that begin on a line, in file order."""
        table = self._classes_begun_at.get(path)
        if table is None:
            table = self._classes_begun_at[path] = {}
            for key, class_ in self.files[path].classes.items():
                table[class_.line] = (*table.get(class_.line, ()), ClassRef(path, key))
        return table.get(line, ())

    def in_order(self, refs: Iterable[Ref]) -> list[Ref]:
        """Functions or classes in file order: who finds some by name need not go through all of them."""

        def place(ref: Ref) -> tuple[int, int, Ref]:
            file = self.files[ref.path]
            found = file.classes[ref.key] if isinstance(ref, ClassRef) else file.functions[ref.key]
            return self._order[ref.path], found.line, ref

        return sorted(set(refs), key=place)

    # --- names ------------------------------------------------------------------------------------------

    def symbols(self, expr: Expr, path: str, function: str = MODULE_KEY) -> tuple[Symbol, ...]:
        """The symbols that an expression means by binding alone, seen from a function of a file; () if that
        can't say."""
        match expr:
            case ir.Name(name):
                return self._lookup(name, path, function)
            case ir.Attribute(value, name):
                owners = self.symbols(value, path, function)
                return _unique(found for owner in owners for found in self.members(owner, name))
            case ir.Definition(key):
                file = self.files[path]
                return (ClassRef(path, key),) if key in file.classes else (FunctionRef(path, key),)
            case ir.Import():
                return self._imported(expr, path)
            case ir.Choice(options):
                return _unique(s for option in options for s in self.symbols(option, path, function))
            case ir.Subscript(value) | ir.Narrowed(value):  # Base[T]; a test binds nothing
                return self.symbols(value, path, function)
            case ir.Call(callee, arguments):
                return self._called(callee, arguments, path, function)
        return ()

    def _called(
        self, callee: Expr, arguments: tuple[Expr, ...], path: str, function: str
    ) -> tuple[Symbol, ...]:
        """`partial(torch.compile, …)` and `torch.compile(fullgraph=True)` still mean torch.compile."""
        found = self.symbols(callee, path, function)
        if ExternalSymbol(_PARTIAL) in found and arguments:
            return self.symbols(arguments[0], path, function)
        if (ExternalSymbol(COMPILE) in found and not arguments) or not _OPTIMIZE.isdisjoint(found):
            return (ExternalSymbol(COMPILE),)
        return ()

    def _lookup(self, name: str, path: str, key: str) -> tuple[Symbol, ...]:
        functions = self.files[path].functions
        while key != MODULE_KEY:
            local = self.locals_of(FunctionRef(path, key)).get(name)
            if local is not None:
                if local.parameter is not None:
                    return ()
                return self._guarded((path, key, name), local.bound, path, key)
            key = functions[key].outer or MODULE_KEY
        return self._global(name, path)

    def _global(self, name: str, path: str) -> tuple[Symbol, ...]:
        key = (path, name)
        found = self._seen.get(key)
        if found is None:
            before = self._cuts
            found = self._looked_up(name, path)
            if before == self._cuts or not (self._resolving or self._in_stars):
                self._seen[key] = found
        return found

    def _looked_up(self, name: str, path: str) -> tuple[Symbol, ...]:
        bound = self.global_bindings(path).get(name)
        if bound:
            return self._guarded((path, name), bound, path, MODULE_KEY)
        outside: tuple[Symbol, ...] = ()
        for source, bindings in self._star_sources(path):
            if isinstance(source, ExternalSymbol):
                outside = outside or (ExternalSymbol(f"{source.dotted}.{name}"),)
            elif isinstance(source, File) and (bindings is None or name in bindings):
                key = (source.path, name)
                if key in self._in_stars:
                    self._cuts += 1
                    continue
                self._in_stars.add(key)
                found = self._global(name, source.path)
                self._in_stars.discard(key)
                if any(
                    not isinstance(s, ExternalSymbol) or not s.dotted.startswith("builtins.") for s in found
                ):
                    return found
        if hasattr(builtins, name):
            return (ExternalSymbol(f"builtins.{name}"),)
        return outside

    def _star_sources(self, path: str) -> list[tuple[Symbol, Mapping[str, object] | None]]:
        """The modules that a file imports everything from, with what they bind if they import nothing so."""
        sources = self._stars.get(path)
        if sources is None:
            found = [s for star in self.files[path].stars for s in self.imported_modules(star, path)]
            hidden = (one.path for one in found if isinstance(one, File) and self._hides_library(one.path))
            found += (ExternalSymbol(self.files[one].module) for one in hidden)
            sources = self._stars[path] = [(source, self._bound_in(source)) for source in found]
        return sources

    def _bound_in(self, source: Symbol) -> Mapping[str, object] | None:
        if not isinstance(source, File) or self.files[source.path].stars:
            return None
        return self.global_bindings(source.path)

    def _guarded(
        self, key: tuple[str, ...], values: Sequence[Expr], path: str, function: str
    ) -> tuple[Symbol, ...]:
        """The union over `values`, unless we are already asking: aliases and imports can be circular."""
        known = self._seen.get(key)
        if known is not None:
            return known
        if key in self._resolving or len(self._resolving) > _DEEPEST:
            self._cuts += 1
            return ()
        before = self._cuts
        self._resolving.add(key)
        found = _unique(symbol for value in values for symbol in self.symbols(value, path, function))
        self._resolving.discard(key)
        if before == self._cuts or not self._resolving:
            self._seen[key] = found
        return found

    def members(self, owner: Symbol, name: str) -> tuple[Symbol, ...]:
        """The symbols that `owner.name` means by binding alone."""
        match owner:
            case File(path):
                found = self._global(name, path)
                if name in self.global_bindings(path):
                    return found
                if self._hides_library(path):
                    inner = self.find_module(f"{self.files[path].module}.{name}", path)
                    return (File(inner),) if inner else self._of_hidden(path, name)
                if not self.files[path].is_package:
                    return found
                if any(not isinstance(symbol, ExternalSymbol) for symbol in found):
                    return found  # `from .name import *` rebinds what importing the submodule had bound
                inner = self.find_module(f"{self.files[path].module}.{name}", path)
                return (File(inner),) if inner else found or self._defined_below(path, name)
            case ExternalSymbol(dotted):
                module = self._in_namespace(dotted, name)
                return (ExternalSymbol(f"{dotted}.{name}") if module is None else File(module),)
            case ClassRef():
                where, values = self.member(owner, name)
                if where is None:
                    return ()
                return _unique(s for value in values for s in self.symbols(value, where.path))
        return ()

    def _defined_below(self, path: str, name: str) -> tuple[Symbol, ...]:
        """The symbols that just one module of a lazy package defines where the package binds none."""
        if name.startswith("__") or not self._is_lazy(path):
            return ()
        key = ("defined below", path, name)
        if key not in self.memo:
            found = []
            folder = path.rpartition("/")[0] + "/"
            for other, file in self.files.items():
                if other != path and other.startswith(folder) and file.is_code:
                    bound = self.global_bindings(other).get(name, ())
                    if any(isinstance(value, ir.Definition) for value in bound):
                        found.append(other)
            found = found if len(found) == 1 else []
            self.memo[key] = tuple(s for one in found for s in self.symbols(ir.Name(name), one))
        return self.memo[key]  # type: ignore[return-value]

    def _hides_library(self, path: str) -> bool:
        """Whether a file is called like a library of which something is known, and does not stand in for it.

        A package of many modules does, and a file that may have any name; nobody has a torch of their own.
        """
        file = self.files[path]
        if file.module not in _LIBRARIES or file.stars or (file.error is None and self._is_lazy(path)):
            return False
        below = path.removesuffix("__init__.py")
        alone = not file.is_package or not any(p.startswith(below) for p in self.files if p != path)
        return alone or file.module == _TORCH

    def _of_hidden(self, path: str, name: str) -> tuple[Symbol, ...]:
        """The symbol of a library that a file of the same name lacks."""
        hidden = self.memo.setdefault(HIDING, set())
        assert isinstance(hidden, set)
        hidden.add(path)
        return (ExternalSymbol(f"{self.files[path].module}.{name}"),)

    def _is_lazy(self, path: str) -> bool:
        if not self.files[path].is_package:
            return False
        if self.global_bindings(path).get(_ASKED):
            return True
        stores = self.files[path].functions[MODULE_KEY].stores
        return any(store.owner == _MODULES and store.index == _OWN_NAME for store in stores)

    def _imported(self, target: ir.Import, path: str) -> tuple[Symbol, ...]:
        sources = self.imported_modules(target, path)
        if target.name is None:
            return sources
        if target.level and not any(isinstance(source, File) for source in sources):
            beside = self._imported_module(f"{target.module}.{target.name}".strip("."), target.level, path)[0]
            if beside is not None:  # `from . import x` in a folder that is no package
                return (File(beside),)
        found: list[Symbol] = []
        for source in sources:
            match source:
                case ExternalSymbol(dotted):
                    name = f"{dotted}.{target.name}" if dotted else target.name
                    # A namespace package has no file of its own, but its modules have.
                    module = self.find_module(name, path) if dotted else None
                    found.append(ExternalSymbol(name) if module is None or module == path else File(module))
                case File(inner) if inner == path:
                    # `from . import x` in a package's own __init__ names the submodule.
                    module = self.find_module(f"{self.files[path].module}.{target.name}", path)
                    found += [File(module)] if module and module != path else []
                case _:
                    found += self.members(source, target.name)
        return tuple(found)

    def imported_modules(self, target: ir.Import, path: str) -> tuple[Symbol, ...]:
        """The module that an import statement names, inside the project or outside."""
        found, dotted = self._imported_module(target.module, target.level, path)
        if found is not None:
            return (File(found),)
        return (ExternalSymbol(dotted),) if dotted else ()

    # --- classes ----------------------------------------------------------------------------------------

    def mro(self, ref: ClassRef) -> tuple[ClassRef, ...]:
        """The class and its bases inside the project, in method resolution order (C3, or depth first)."""
        if ref not in self._mros:
            self._mros[ref] = (ref,)  # a class that inherits from itself stops here
            parents = [s for s in self.bases(ref) if isinstance(s, ClassRef) and s != ref]
            if len(parents) == 1:  # the usual case, and a thousand levels of it must not take a minute
                self._mros[ref] = (ref, *(part for part in self.mro(parents[0]) if part != ref))
                return self._mros[ref]
            self._mros[ref] = (ref, *c3_merge([list(self.mro(p)) for p in parents] + [parents], ref))
        return self._mros[ref]

    def external_bases(self, ref: ClassRef) -> tuple[str, ...]:
        """Dotted names of the bases outside the project, of the class and of its project bases."""
        key = ("external bases", ref)
        if key not in self.memo:
            outside: list[str] = []
            for part in self.mro(ref):
                outside += [s.dotted for s in self.bases(part) if isinstance(s, ExternalSymbol)]
                if (self.files[part.path].module, part.key) == _TORCH_MODULE:
                    outside.append("torch.nn.Module")
            self.memo[key] = tuple(dict.fromkeys(outside))
        return self.memo[key]  # type: ignore[return-value]

    def is_module(self, ref: ClassRef) -> bool:
        """Whether instances are `nn.Module`s; an outside base is believed by its name."""
        key = ("is module", ref)
        if key not in self.memo:
            bases = self._module_bases(ref)
            named = any(base.startswith(_HOMES) or base.endswith(_ENDINGS) for base in bases)
            self.memo[key] = named or (
                (any("." in base for base in bases) or self._derives_from_parameter(ref))
                and self._runs_forward(ref)
            )
        return bool(self.memo[key])

    def is_surely_module(self, ref: ClassRef) -> bool:
        """Whether a class is known to be a module, and not only called like one."""
        return any(base.startswith(_PACKAGES) for base in self._module_bases(ref))

    def _module_bases(self, ref: ClassRef) -> tuple[str, ...]:
        return tuple(base for base in self.external_bases(ref) if not base.startswith(_NO_MODULES))

    def _derives_from_parameter(self, ref: ClassRef) -> bool:
        """Whether a function makes a class of a base that it is given: `def make(base): class A(base): …`."""
        class_ = self.class_(ref)
        if class_.outer in (None, MODULE_KEY):
            return False
        where = FunctionRef(ref.path, class_.outer or MODULE_KEY)
        names = (base.id for base in class_.bases if isinstance(base, ir.Name))
        local = (self.locals_of(self.home_of(name, where)).get(name) for name in names)
        return any(one is not None and one.parameter is not None for one in local)

    def _runs_forward(self, ref: ClassRef) -> bool:
        """A class with a base of some library whose instances have a `forward`: what else would call it?"""
        method = self.method(ref, "forward")
        if method is None:  # that of the base may call parts of it
            return self.is_surely_module(ref) and bool(self.parts_of_forward(ref))
        return self.method_kind(method) == "method"

    def parts_of_forward(self, ref: ClassRef) -> list[FunctionRef]:
        """Methods that a forward of a library calls on a subclass: `forward_features`, `_forward_impl`."""
        names = {name for part in self.mro(ref) for name in self.class_bindings(part)}
        methods = [self.method(ref, name) for name in sorted(names) if _PART.fullmatch(name)]
        return [method for method in methods if method is not None]

    def is_container(self, ref: ClassRef) -> bool:
        """Whether instances hold modules by position or key, as their own contents."""
        return any(
            base.startswith("torch.nn.") and base.endswith(_CONTAINERS) for base in self.external_bases(ref)
        )

    def bases(self, ref: ClassRef) -> tuple[Symbol, ...]:
        """The bases that the class statement lists."""
        class_ = self.class_(ref)
        where = class_.outer or MODULE_KEY
        return _unique(s for base in class_.bases for s in self.symbols(base, ref.path, where))

    def member(self, ref: ClassRef, name: str) -> tuple[ClassRef | None, list[Expr]]:
        """Return the first class of the MRO whose body binds `name`, and its values."""
        for part in self.mro(ref):
            values = [binding.value for binding in self.class_bindings(part).get(name, ())]
            if values:
                return part, values
        return None, []

    def method(self, ref: ClassRef, name: str) -> FunctionRef | None:
        """The function that `instance.name` would call, found along the MRO."""
        where, values = self.member(ref, name)
        for value in reversed(values):
            if where is not None and isinstance(value, ir.Definition):
                found = self.symbols(value, where.path)
                if found and isinstance(found[0], FunctionRef):
                    return found[0]
        return None

    def method_kind(self, ref: FunctionRef) -> str:
        """`property`, `staticmethod`, `classmethod` or `method`, by the function's decorators."""
        return method_kind(self.function(ref))

    def classes_with_init(self, init: FunctionRef) -> list[ClassRef]:
        """The classes whose construction runs this `__init__`: its own and subclasses without one."""
        if self._inits is None:
            self._inits = defaultdict(list)
            for ref in self.classes():
                found = self.method(ref, "__init__")
                if found is not None:
                    self._inits[found].append(ref)
        return self._inits.get(init, [])


def _noted_files(files: Mapping[str, FileFacts], notes: Recorder) -> Mapping[str, FileFacts]:
    """The same files, which note what is asked of them, and of their number."""
    return Files({path: _noted(file, notes) for path, file in files.items()}, partial(notes.ask, FILES))


def _noted(file: FileFacts, notes: Recorder) -> FileFacts:
    """The same facts, with definitions that note what is read of them."""
    functions: Any = notes.definitions(file.functions, file.path, "functions", "function")
    classes: Any = notes.definitions(file.classes, file.path, "classes", "class")
    return replace(file, functions=functions, classes=classes)


def _unique(symbols: Iterator[Symbol]) -> tuple[Symbol, ...]:
    return tuple(dict.fromkeys(symbols))
