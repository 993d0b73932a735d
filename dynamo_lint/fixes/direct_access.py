"""A lookup by a constant name becomes an access: `getattr(self, "scale")` is `self.scale`."""

from __future__ import annotations

import ast
import keyword

from dynamo_lint.findings import Finding, Fix
from dynamo_lint.fixes.attribute_uses import family_of, init_of
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, fix_of
from dynamo_lint.state.model import Key

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def fix(finding: Finding, bench: Workbench) -> Fix:
    """The access that means the same; raises Unclear where the attribute may be missing."""
    file, call = bench.call_at(finding.span)
    match call:
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str() as name), *rest]):
            pass
        case _:
            raise Unclear("the result depends on whether the attribute exists")
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        raise Unclear("the name cannot be written as an attribute")
    text = file.text(owner)
    access = f"{text}.{name}" if isinstance(owner, ATOMS) else f"({text}).{name}"
    direct = (file.replace(call, access),)
    if not rest:
        return fix_of(f"write `{access}`", direct, None)
    if _always_there(bench, file, call, name):
        return fix_of(f"write `{access}`: `__init__` always sets it", direct, None)
    # With the default moved to `__init__` the value would still change once, and compile a second time.
    raise Unclear("the attribute may be missing")


def _keys(bench: Workbench, file: OpenFile, call: ast.Call) -> set[Key]:
    """The attributes that the lookup may mean, one for each class of its owner."""
    span = file.span(call)
    found = bench.lookups.get((span.path, span.line, span.column), [])
    if not found or not all(lookup.keys for lookup in found):
        raise Unclear("the owner of the attribute is unknown")
    if any(bench.tables.initial.names.is_scope(key.owner) for lookup in found for key in lookup.keys):
        raise Unclear("it is an attribute of a function or a module, which any code can set")
    return {key for lookup in found for key in lookup.keys}


def _always_there(bench: Workbench, file: OpenFile, call: ast.Call, name: str) -> bool:
    """Every class that it may be about sets the attribute in `__init__`, whatever happens, and keeps it."""
    for key in _keys(bench, file, call):
        declared_in = bench.tables.initial.declared_in(key)
        init = init_of(bench, declared_in)
        if not any(_stores(node, name) for statement in init.node.body for node in ast.walk(statement)):
            return False  # known without reading all that the project says of the name
        family = family_of(bench, declared_in, name, except_for=call).mentions
        near = [mention for mention in family if mention.file is init.file]
        kept = [mention for mention in near if init.file.statement(mention.node) in init.node.body]
        if not any(isinstance(mention.node.ctx, ast.Store) for mention in kept):
            return False
        if any(isinstance(mention.node.ctx, ast.Del) for mention in family):
            return False
    return True


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
