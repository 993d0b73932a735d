"""The syntax tree of a function around the regions, walked once for all of its calls."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import lru_cache

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index import ir
from dynamo_lint.index.walking import nodes
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.refs import FunctionRef

Loop = ast.For | ast.While


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """One function, or the top level of a file."""

    calls: dict[int, list[ast.Call]] = field(default_factory=lambda: defaultdict(list))
    """By the line that they begin on."""
    loops: dict[ast.AST, list[Loop]] = field(default_factory=lambda: defaultdict(list))
    """The loops that hold a call, outer before inner."""
    bound: dict[str, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    """The expressions assigned to a name, anywhere in the function."""
    growing: list[tuple[str, ast.expr]] = field(default_factory=list)
    """The expressions added to a name by `+=`."""
    outer: set[str] = field(default_factory=set)
    """Names that belong to the code around."""

    def call(self, wanted: ir.Call) -> ast.Call | None:
        """The node of a call."""
        return next((node for node in self.calls.get(wanted.line, ()) if _same(node, wanted)), None)


def body_of(bodies: Bodies, ref: FunctionRef) -> Body | None:
    """The function, with all that is around it on its lines; None if that cannot be parsed."""
    tree = bodies.tree(ref)
    return _body(tree) if tree is not None else None


@lru_cache(maxsize=64)
def _body(tree: ast.Module) -> Body:
    """Kept, because the calls of one function are asked for one after the other."""
    body = Body()
    for node in nodes(tree):
        match node:
            case ast.Call():
                body.calls[node.lineno].append(node)
            case ast.For() | ast.While():
                for inner in nodes(node):
                    if isinstance(inner, ast.Call):
                        body.loops[inner].append(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                body.bound[name].append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                body.growing.append((name, value))
            case ast.Nonlocal(names=names) | ast.Global(names=names):
                body.outer.update(names)
    return body


def _same(node: ast.Call, call: ir.Call) -> bool:
    """The call of the tree is the one of the index: it passes as much, to a callee of the same name."""
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
    known = getattr(call.function, "id", getattr(call.function, "name", None))
    return (
        name == known
        and len(node.args) == len(call.arguments)
        and [keyword.arg for keyword in node.keywords] == [keyword for keyword, _ in call.keywords]
    )
