"""Stores that put back compiled what they read: `m.forward = logged(torch.compile(m.forward))`."""

from __future__ import annotations

from dynamo_lint.index.facts import Attribute, Call, Expr, Name, Store
from dynamo_lint.program.refs import COMPILE, External, FunctionRef
from dynamo_lint.regions.project import Project


def is_put_back(project: Project, where: FunctionRef, store: Store) -> bool:
    """Whether an attribute gets what it held, compiled: whatever stands around that runs eagerly."""
    value, compiles = store.value, False
    while isinstance(value, Call) and value.arguments:
        compiles = compiles or _compiles(project, value.function, where)
        value = value.arguments[0]
    return compiles and value == Attribute(store.owner, store.name)


def _compiles(project: Project, callee: Expr, where: FunctionRef) -> bool:
    """Whether a call compiles what it is given first: torch.compile, or a function of ours around it."""
    for symbol in project.symbols(callee, where.path, where.key):
        if symbol == External(COMPILE):
            return True
        if isinstance(symbol, FunctionRef) and (function := project.function(symbol)).parameters:
            first = Name(function.parameters[0].name)
            if any(
                site.call.arguments[:1] == (first,)
                and External(COMPILE) in project.symbols(site.call.function, symbol.path, symbol.key)
                for site in function.calls
            ):
                return True
    return False
