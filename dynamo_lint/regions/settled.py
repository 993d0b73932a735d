"""What names mean where imports and definitions alone bind them, so that flow has no say."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.program.refs import External, File, FunctionRef, Symbol
from dynamo_lint.regions.project import Project


def told(project: Project, expr: Expr, where: FunctionRef) -> tuple[Symbol, ...] | None:
    """What a dotted name means, if only imports and definitions bind it; None where flow decides."""
    match expr:
        case facts.Name(name) if _is_bound_by_import(project, name, where):
            pass
        case facts.Attribute(owner, name):
            owners = told(project, owner, where)
            if owners is None or not all(isinstance(one, File | External) for one in owners):
                return None
            if any(isinstance(one, File) and not is_settled(project, name, one.path) for one in owners):
                return None
        case _:
            return None
    return project.symbols(expr, where.path, where.key) or None


def is_settled(project: Project, name: str, path: str) -> bool:
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
        return is_settled(project, name, home.path)
    local = project.locals_of(home)[name]
    return local.parameter is None and all(_is_fixed(project, value, home.path) for value in local.bound)


def _is_fixed(project: Project, value: Expr, path: str) -> bool:
    if not isinstance(value, facts.Import) or value.name is None:
        return isinstance(value, facts.Import | facts.Definition)
    return all(
        is_settled(project, value.name, source.path)
        for source in project.imported_modules(value, path)
        if isinstance(source, File) and source.path != path
    )
