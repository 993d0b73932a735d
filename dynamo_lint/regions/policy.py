"""The compile options of each region: limits, dynamic shapes, guards that are dropped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dynamo_lint.index.ir import Call, Constant, Expr
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.files import is_for_tests
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol
from dynamo_lint.regions.model import CompiledFunction, Entry, Regions

CONFIGURATION = "torch._dynamo.config"


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings of one region; Dynamo's defaults unless the code says otherwise."""

    dynamic: bool | None = None
    """`torch.compile(dynamic=...)`."""
    automatic: bool = True
    """`automatic_dynamic_shapes`: a number that changes becomes an input of the graph."""
    unspec_int: bool = False
    """`allow_unspec_int_on_nn_module`."""

    @property
    def static(self) -> bool:
        """Every number stays a constant, however often it changes."""
        return self.dynamic is False or not self.automatic


@dataclass(slots=True)
class Policies:
    """Remembers the settings of each entry."""

    project: Project
    regions: Regions
    compiling: dict[str, dict[int, list[Call]]] = field(default_factory=dict)
    """For each file with entries, the calls and decorators that compile something, by line."""

    def of(self, hot: CompiledFunction) -> Policy:
        """The settings that hold in a hot function: of its first entry, its decorators, and the project."""
        entry = self.regions.entries[hot.entries[0]] if hot.entries else None
        options = dict(self._options(entry)) if entry is not None else {}
        own = dict(self._decorated(hot))
        dynamic = options.get("dynamic")
        return Policy(
            dynamic=dynamic if isinstance(dynamic, bool) else None,
            automatic=self._setting("automatic_dynamic_shapes", own, entry) is not False,
            unspec_int=self._setting("allow_unspec_int_on_nn_module", own, entry) is True,
        )

    def _setting(self, name: str, own: dict[str, object], entry: Entry | None) -> object:
        if name in own:
            return own[name]
        for where, store in self.project.stores_of(name):
            if entry is not None and is_for_tests(where.path, entry.path):
                continue
            symbols = self.project.symbols(store.owner, where.path, where.key)
            if ExternalSymbol(CONFIGURATION) in symbols and isinstance(store.value, Constant):
                return store.value.value
        return None

    def _options(self, entry: Entry) -> Iterator[tuple[str, object]]:
        """Literal keywords of the compile call or decorator on the entry's line."""
        if entry.path not in self.compiling:
            self.compiling[entry.path] = self._compiling(entry.path)
        for call in self.compiling[entry.path].get(entry.line, ()):
            yield from _literals(call)

    def _compiling(self, path: str) -> dict[int, list[Call]]:
        found: dict[int, list[Call]] = defaultdict(list)
        for function in self.project.files[path].functions.values():
            places: list[tuple[Call, Iterable[int]]] = [
                (site.call, (site.call.line,)) for site in function.calls
            ]
            header = range(function.first_line, function.line + 1)
            places += [(one, header) for one in function.decorators if isinstance(one, Call)]
            for call, lines in places:
                if "compile" in (terminal_name(call) or ""):
                    for line in lines:
                        found[line].append(call)
        return found

    def _decorated(self, hot: CompiledFunction) -> Iterator[tuple[str, object]]:
        """`@torch._dynamo.patch_dynamo_config(name=value)` on the function itself."""
        for decorator in self.project.function(hot.function).decorators:
            if isinstance(decorator, Call) and terminal_name(decorator) in {"patch_dynamo_config", "patch"}:
                yield from _literals(decorator)


def _literals(call: Call) -> Iterator[tuple[str, object]]:
    keywords: tuple[tuple[str | None, Expr], ...] = call.keywords
    for name, value in keywords:
        if name is not None and isinstance(value, Constant):
            yield name, value.value
