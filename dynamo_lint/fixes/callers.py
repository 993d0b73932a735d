"""All calls of a function of the project, where no other code can reach it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench
from dynamo_lint.index.lower import as_fact
from dynamo_lint.index.walking import nodes
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.values.model import Context, FunctionValue
from dynamo_lint.values.points_to import evaluate

_PROPERTY, _PLAIN = "property", frozenset({"staticmethod", "classmethod"})
_Scope = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Use:
    """A place that runs a function, and gets what it returns."""

    file: OpenFile
    node: ast.Call | ast.Attribute
    """A call; of a property its name."""
    hot: bool
    """Dynamo traces this line."""


def uses_of(bench: Workbench, file: OpenFile, scope: _Scope) -> Iterator[Use]:
    """Each place that runs a function; raises Unclear where one may be out of sight."""
    name, where = scope.name, file.reference(scope.body[0])
    decorators = [ast.unparse(one) for one in scope.decorator_list]
    is_property = decorators == [_PROPERTY]
    if not (is_property or _PLAIN.issuperset(decorators)) or file.keys.get(scope.lineno) != where.key:
        raise Unclear(f"`{name}` is decorated")
    if name == "forward" or name.startswith("__"):
        raise Unclear(f"`{name}` is called by others")
    if isinstance(scope, ast.AsyncFunctionDef) or _yields(scope):
        raise Unclear(f"`{name}` is a generator")
    if any(one.compiled for one in bench.tables.regions.hot if one.function == where):
        raise Unclear(f"`{name}` is compiled by itself")
    if may_be_replaced(bench, where, name):
        raise Unclear(f"`{name}` may be called by other projects")
    for path in bench.few_files("word", name):
        other = bench.open(path)
        if any(text.rpartition(".")[2] == name for text in other.texts):
            raise Unclear(f"{path} has `{name}` as a text or a keyword")
        for node in other.nodes:
            if isinstance(node, ast.Attribute | ast.Name) and _is_named(node, name):
                yield from _use(bench, other, node, where, is_property)


def may_be_replaced(bench: Workbench, where: FunctionRef, name: str) -> bool:
    """Whether other projects may call a function, or have one of their own in its place."""
    return not name.startswith("_") and any(home.ships(where.path) for home in bench.shipped)


def _yields(scope: _Scope) -> bool:
    return any(isinstance(one, ast.Yield | ast.YieldFrom) for one in nodes(scope))


def _is_named(node: ast.Attribute | ast.Name, name: str) -> bool:
    return (node.attr if isinstance(node, ast.Attribute) else node.id) == name


def _use(
    bench: Workbench, file: OpenFile, node: ast.Attribute | ast.Name, where: FunctionRef, is_property: bool
) -> Iterator[Use]:
    """The use that a place which says the name is; none where it means something else."""
    project = bench.tables.project
    around = file.reference(node)
    of_class = project.owner(where) is not None
    if (
        isinstance(node, ast.Name)
        and of_class
        and not isinstance(_statement_around(file, node), ast.ClassDef)
    ):
        return  # a method is reached by way of an object
    outer = file.parents[node]
    called = isinstance(outer, ast.Call) and outer.func is node
    if not isinstance(node.ctx, ast.Load) or not (called or is_property):
        raise Unclear(f"{file.path}:{node.lineno} hands `{where.key}` on, or replaces it")
    hot = around in bench.hot and not project.function(around).runs_eagerly(node.lineno)
    if is_property:
        if isinstance(node, ast.Attribute) and not called:
            yield Use(file, node, hot)  # whosever it is
        return
    fact = as_fact(node)
    found = evaluate(project, fact, Context(around, project.owner(around)))
    if not found:
        symbols = project.symbols(fact, around.path, around.key)
        if not symbols or not all(isinstance(one, ExternalSymbol) for one in symbols):
            raise Unclear(f"{file.path}:{node.lineno} may call `{where.key}`")
    if isinstance(outer, ast.Call) and any(isinstance(v, FunctionValue) and v.ref == where for v in found):
        yield Use(file, outer, hot)


def _statement_around(file: OpenFile, node: ast.AST) -> ast.AST:
    """The statement, or the file, whose body has the one that a node is in."""
    return file.parents.get(file.statement(node), file.tree)


def passed(use: Use, scope: _Scope, name: str, bound: bool) -> ast.expr | None:
    """The expression that a call hands over for a parameter; None where it does not show one.

    `bound` if the first parameter is the object that the function is called on.
    """
    if not isinstance(use.node, ast.Call):
        return None
    plain = [one.arg for one in (*scope.args.posonlyargs, *scope.args.args)][bound:]
    given = use.node.args
    if any(isinstance(one, ast.Starred) for one in given):
        return None
    by_name = {one.arg: one.value for one in use.node.keywords}
    at = plain.index(name) if name in plain else len(given)
    return given[at] if at < len(given) else by_name.get(name)
