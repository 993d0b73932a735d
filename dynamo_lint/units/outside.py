"""What names outside a function stand for in it: classes, functions, literals, and tables of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.regions.model import FunctionRef
from dynamo_lint.units.terms import LONGEST_TABLE, Term

if TYPE_CHECKING:
    from dynamo_lint.units.construct import Construction


def of_global(run: Construction, name: str, where: FunctionRef) -> Term:
    """The term of a name that the function itself does not bind."""
    found = run.outer.get((where, name))
    if found is None:
        found = run.outer[where, name] = _bound_outside(run, name, where)
    return found


def _definition(run: Construction, expr: Expr, where: FunctionRef) -> Term | None:
    """The class or function that an entry of a table names."""
    found = [term for term in map(run.symbol, run.project.symbols(expr, where.path, where.key)) if term]
    return found[0] if len(found) == 1 else None


def _bound_outside(run: Construction, name: str, where: FunctionRef) -> Term:
    symbols = run.project.symbols(facts.Name(name), where.path, where.key)
    found = [term for term in map(run.symbol, symbols) if term is not None]
    if len(found) == 1:
        return found[0]
    bound = run.project.global_bindings(where.path).get(name, [])
    match bound:
        case [facts.Constant(value)]:
            return run.terms.const(value)
        case [facts.Display("dict", items, keys)] if 2 <= len(items) <= LONGEST_TABLE:
            values = [_definition(run, item, where) for item in items]
            names = [key for key in keys if key is not None]
            if len(names) == len(values) and all(values):
                return run.terms.make("seq", "dict", tuple(v for v in values if v is not None), tuple(names))
    return run.terms.make("symbol", f"{where.path}: {name}")
