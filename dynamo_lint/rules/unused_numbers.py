"""Numbers that are counted on and used for nothing: newer versions of torch do not guard on those."""

from __future__ import annotations

import ast

from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Context
from dynamo_lint.state.model import AttributeState, Use
from dynamo_lint.state.provenance import Tables

_SUMS = frozenset({Use.ARITHMETIC, Use.STORED})
Lines = set[tuple[FunctionRef, int]]


def unused(tables: Tables, state: AttributeState, context: Context) -> bool:
    """Whether this torch lets a number pass that no line does more with than to add to it.

    It is a name of a module or function, or an entry of a `__dict__`: an attribute that is read as one
    (`self.n += 1`) is guarded all the same, and so is a number that starts over at some value.
    """
    writes: Lines = {(site.hot.function, site.position.line) for site in state.writes}
    reads = {(site.hot.function, site.position.line) for site in state.reads}
    places = {len(site.write.place) for site in state.writes}
    return (
        reads <= writes
        and {site.use for site in state.reads} <= _SUMS
        and places == {1 if state.scoped else 2}
        and all(site.write.value.bound is None for site in state.writes)
        and all(_adds_only(tables, state, ref, writes) for ref, _ in writes)
        and context.has("unused-numbers-are-not-guarded")
    )


def _adds_only(tables: Tables, state: AttributeState, ref: FunctionRef, writes: Lines) -> bool:
    name = state.key.attribute
    namespaces = set()
    for statement in tables.bodies.of(ref) or ():
        for node in ast.walk(statement):
            match node:
                case ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name("vars")):
                    namespaces.add((ref, node.lineno))
                case ast.Attribute(attr=attribute) if attribute == name:
                    return False
                case ast.Name(identifier, ast.Load()) if (
                    identifier == name and (ref, node.lineno) not in writes
                ):
                    return False
    return state.scoped or {one for one in writes if one[0] == ref} <= namespaces
