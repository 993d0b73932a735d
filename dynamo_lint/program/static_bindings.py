"""Names that imports and definitions alone bind, and the library call that a value comes from."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Expr
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, File, FunctionRef, Symbol


def bound_symbols(project: Project, expr: Expr, where: FunctionRef) -> tuple[Symbol, ...] | None:
    """The symbols that a dotted name means; None unless imports and definitions alone bind it."""
    match expr:
        case ir.Name(name) if _is_bound_by_import(project, name, where):
            pass
        case ir.Attribute(owner, name):
            owners = bound_symbols(project, owner, where)
            if owners is None or not all(isinstance(one, File | ExternalSymbol) for one in owners):
                return None
            if any(
                isinstance(one, File) and not is_statically_bound(project, name, one.path) for one in owners
            ):
                return None
        case _:
            return None
    return project.symbols(expr, where.path, where.key) or None


def is_statically_bound(project: Project, name: str, path: str) -> bool:
    """Whether every binding of a name of a module, and of wherever it is imported from, is one of these."""
    settled: dict[tuple[str, str], bool] = project.memo.setdefault("settled", {})  # type: ignore[assignment]
    if (name, path) not in settled:
        settled[name, path] = True  # imports may be circular
        bound = project.global_bindings(path).get(name, ())
        settled[name, path] = all(_is_fixed(project, value, path) for value in bound)
    return settled[name, path]


def _is_bound_by_import(project: Project, name: str, where: FunctionRef) -> bool:
    """A name whose every binding, in the scope that it belongs to, is an import or a definition."""
    home = project.home_of(name, where)
    if home.key == MODULE_KEY:
        return is_statically_bound(project, name, home.path)
    local = project.locals_of(home)[name]
    return local.parameter is None and all(_is_fixed(project, value, home.path) for value in local.bound)


def _is_fixed(project: Project, value: Expr, path: str) -> bool:
    if not isinstance(value, ir.Import) or value.name is None:
        return isinstance(value, ir.Import | ir.Definition)
    return all(
        is_statically_bound(project, value.name, source.path)
        for source in project.imported_modules(value, path)
        if isinstance(source, File) and source.path != path
    )


_NO_MAKERS = knowledge.in_order("makes_nothing")


def maker_of(project: Project, where: FunctionRef, target: Expr) -> str | None:
    """The library function that gives what an expression names, or what it is an attribute of."""
    while isinstance(target, ir.Attribute):
        owner = project.owner(where)
        if owner is not None and project.is_self(target.value, where):
            made = [store.value for _, store in project.own_stores(owner).get(target.name, ())]
            return _library_call_in(project, where, made)
        target = target.value
    if isinstance(target, ir.Call):
        return _library_call_in(project, where, [target])
    if not isinstance(target, ir.Name):
        return None
    local = project.locals_of(where).get(target.id)
    bound = local.bound if local is not None else project.global_bindings(where.path).get(target.id, [])
    return None if local is not None and local.parameter else _library_call_in(project, where, bound)


def _library_call_in(project: Project, where: FunctionRef, values: Sequence[Expr]) -> str | None:
    for value in values:
        while isinstance(value, ir.Call):
            symbols = project.symbols(value.function, where.path, where.key)
            for symbol in symbols:
                if isinstance(symbol, ExternalSymbol) and not symbol.dotted.startswith(_NO_MAKERS):
                    return symbol.dotted
            # `make(…).cuda()` is what `make` gives.
            value = value.function.value if isinstance(value.function, ir.Attribute) else value.function
    return None
