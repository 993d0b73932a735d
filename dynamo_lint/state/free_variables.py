"""The owner of a free variable: which module, function or class holds a name."""

from __future__ import annotations

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, File, FunctionRef

REGISTRARS = knowledge.names("registers_module") | knowledge.names("registers_tensor")
"""Methods that give a module one more entry."""


@dataclass(slots=True)
class Names:
    """Remembers which names of each file some code rebinds or changes after it was bound."""

    project: Project
    changing: dict[str, frozenset[str]] = field(default_factory=dict)
    foreign: dict[str, set[str]] | None = None

    def changed_in(self, path: str) -> frozenset[str]:
        """Names of a file's module or functions that a `global`, a `nonlocal` or a mutation changes."""
        if path not in self.changing:
            self.changing[path] = frozenset(self.project.changed_in(path)) | self._changed_elsewhere(path)
        return self.changing[path]

    def _changed_elsewhere(self, path: str) -> frozenset[str]:
        """Names that other files set on this module: `settings.VERBOSE = True`."""
        if self.foreign is None:
            self.foreign = {}
            for ref, store in self.project.named("foreign").get("", ()):
                for symbol in self.project.symbols(store.owner, ref.path, ref.key):
                    if isinstance(symbol, File):
                        self.foreign.setdefault(symbol.path, set()).add(store.name)
        return frozenset(self.foreign.get(path, ()))

    def owner(self, name: str, where: FunctionRef) -> ClassRef | None:
        """The scope that holds a changing name seen from a function; None if it is local or never changes.

        A scope is written as a `ClassRef` with the key of the function, or of the module's top level.
        """
        file = self.project.files[where.path]
        key = where.key
        while key != MODULE_KEY:
            function = file.functions[key]
            bound = any(b.name == name for b in function.bindings)
            if name not in function.globals and (bound or any(p.name == name for p in function.parameters)):
                if key == where.key or name not in self.changed_in(where.path):
                    return None
                return ClassRef(where.path, key)
            key = function.outer or MODULE_KEY
        bound_here = self.project.global_bindings(where.path).get(name)
        if not bound_here:
            return None
        imports = [value for value in bound_here if isinstance(value, ir.Import)]
        if len(imports) == len(bound_here):
            return self._imported(imports[0], where.path)
        return ClassRef(where.path, MODULE_KEY) if name in self.changed_in(where.path) else None

    def _imported(self, value: ir.Import, path: str) -> ClassRef | None:
        """The module that owns an imported container: the name is a copy, what it holds is not."""
        if value.name is None:
            return None
        for source in self.project.symbols(ir.Import(value.module, None, value.level), path):
            if isinstance(source, File) and value.name in self.changed_in(source.path):
                return ClassRef(source.path, MODULE_KEY)
        return None

    def is_scope(self, owner: ClassRef) -> bool:
        """Whether a key's owner is a module or function and not a class."""
        return owner.key not in self.project.files[owner.path].classes
