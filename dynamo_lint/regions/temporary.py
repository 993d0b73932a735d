"""Stores that say less than they seem to: what is undone again, and what is stored to run eagerly."""

from __future__ import annotations

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Call, Expr, Store
from dynamo_lint.index.walking import walk
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import DISABLERS, ClassRef, ExternalSymbol, FunctionRef
from dynamo_lint.values.model import Context, Instance
from dynamo_lint.values.points_to import PointsTo


def is_undone(project: Project, where: FunctionRef, store: Store) -> bool:
    """Whether a function, or its class, stores back what an attribute held before: `m.forward = original`."""
    around = [where]
    owner = project.owner(where)
    if owner is not None:
        functions = project.files[owner.path].functions.items()
        around += [FunctionRef(owner.path, key) for key, one in functions if one.owner == owner.key]
    kept = project.kept_under(where.path)
    saved = {name for ref in around for name in kept.get(f"{ref.key} {store.name}", ())}
    if not saved or _name_of(store.value) in saved:
        return False
    return any(
        other.name == store.name and _name_of(other.value) in saved
        for ref in around
        for other in project.function(ref).stores
    )


def is_stored_later(
    project: Project, where: FunctionRef, compiled: Expr, line: int, closure: FunctionRef
) -> bool:
    """Whether a function puts a closure of its own in place only after compiling what stood there before.

    `fast = torch.compile(m.forward)` compiles the forward that `m.forward = steps` then replaces, and
    `m.forward = around(torch.compile(m.forward))` what `around` puts a closure around.
    """
    if not isinstance(compiled, ir.Attribute) or not closure.stands_in(where):
        return False
    name = ir.Name(closure.key.rpartition(".")[2])
    here = [
        store
        for store in project.function(where).stores
        if store.name == compiled.name and store.owner == compiled.value
    ]
    put_there = any(store.value == name and store.line < line for store in here)
    if not put_there and any(compiled in walk(store.value) for store in here):
        return True
    stores = [store for store in project.function(where).stores if name in walk(store.value)]
    return bool(stores) and all(store.name == compiled.name and store.line > line for store in stores)


def _name_of(value: Expr) -> str:
    return getattr(value, "id", getattr(value, "name", "")) if isinstance(value, _NAMES) else ""


_NAMES = (ir.Name, ir.Attribute)


def kept_eager(ev: PointsTo) -> frozenset[ClassRef]:
    """The classes of modules that get a `forward` which is disabled: `m.forward = disable(m.forward)`."""
    key = "kept eager"
    if key not in ev.project.memo:
        ev.project.memo[key] = frozenset(
            value.ref
            for where, store in ev.project.stores_of("forward")
            if _disables(ev.project, store.value, where)
            for value in ev.value(store.owner, Context(where, ev.project.owner(where)))
            if isinstance(value, Instance)
        )
    return ev.project.memo[key]  # type: ignore[return-value]


def _disables(project: Project, value: Expr, where: FunctionRef) -> bool:
    """Whether a value is what a disabling call gives, with its callees: not `disable(f, recursive=False)`."""
    if not isinstance(value, Call) or ("recursive", ir.Constant(False)) in value.keywords:
        return False
    symbols = project.symbols(value.function, where.path, where.key)
    if isinstance(value.function, Call):  # `disable(recursive=True)(m.forward)`
        symbols = project.symbols(value.function.function, where.path, where.key)
    return any(isinstance(symbol, ExternalSymbol) and symbol.dotted in DISABLERS for symbol in symbols)
