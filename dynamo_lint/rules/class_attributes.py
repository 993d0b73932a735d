"""Attributes that compiled code sets on a class: older versions of torch break the graph there."""

from __future__ import annotations

import ast

from dynamo_lint.index import ir
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.rules.base import Context
from dynamo_lint.state.model import AttributeState, WriteSite
from dynamo_lint.state.provenance import Tables


def on_class(tables: Tables, state: AttributeState, context: Context) -> str | None:
    """The effect of setting an attribute on a class where this torch does not trace that; None elsewhere.

    Behind the break Dynamo still takes what `self.__class__` or `cls` holds for a constant.
    """
    if state.scoped or context.has("class-attributes-are-guarded"):
        return None
    found = {_setting(tables, site) for site in state.writes}
    return None if None in found or not found else "stale" if "stale" in found else "break"


def _setting(tables: Tables, site: WriteSite) -> str | None:
    ref = site.hot.function
    for statement in tables.bodies.of(ref) or ():
        for node in ast.walk(statement):
            match node:
                case ast.Attribute(owner, attribute, ast.Store()) if (
                    node.lineno == site.position.line and attribute == site.write.place[-1]
                ):
                    return _of_owner(tables, site, owner)
    return None


def _of_owner(tables: Tables, site: WriteSite, owner: ast.expr) -> str | None:
    match owner:
        case ast.Attribute(attr="__class__") | ast.Call(func=ast.Name("type")) | ast.Name("cls"):
            return "stale"
        case ast.Name(name):
            path, key = site.hot.function.path, site.hot.function.key
            found = tables.project.symbols(ir.Name(name), path, key)
            return "break" if any(isinstance(one, ClassRef) for one in found) else None
    return None
