"""Suggests the setting of Dynamo under which a line is compiled as it stands."""

from __future__ import annotations

import ast

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding, Fix
from dynamo_lint.fixes.attribute_uses import torch_name
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, suggestion
from dynamo_lint.fixes.tensor_values import key_of
from dynamo_lint.state.model import Kind


@dataclass(frozen=True, slots=True)
class Setting:
    """An option of `torch._dynamo.config` that is off unless a project turns it on."""

    name: str
    does: str
    costs: str

    def suggest(self, finding: Finding, bench: Workbench) -> Fix:
        """A line that turns it on in the file that compiles; raises Unclear where it has no place."""
        if bench.files("word", self.name):
            raise Unclear(f"the project sets `{self.name}` itself")
        path = finding.region[0] if finding.region is not None else finding.span.path
        file = bench.open(path)
        torch, imports = torch_name(file)
        if imports:
            raise Unclear(f"{path} does not import torch")
        line = f"{torch}._dynamo.config.{self.name} = True"
        edit = file.add_lines(_last_import(file), "", line)
        return suggestion(f"{self.does}: `{line}`", [edit], self.costs)


def _last_import(file: OpenFile) -> ast.stmt:
    """The last of the imports with which a file begins."""
    imports: list[ast.stmt] = []
    for statement in file.tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imports.append(statement)
        elif not isinstance(statement, ast.Expr):
            break
    if not imports or not file.alone(imports[-1]):
        raise Unclear("the file does not begin with imports")
    return imports[-1]


NUMBERS = Setting(
    "capture_scalar_outputs",
    "compile numbers that are taken out of tensors",
    "it holds for the whole process, and a branch on such a number ends the graph as before",
)
SHAPES = Setting(
    "capture_dynamic_output_shape_ops",
    "compile operators whose result has as many rows as the data says",
    "it holds for the whole process, and code behind it must work for any number of rows",
)
GRADIENTS = Setting(
    "trace_autograd_ops",
    "compile calls of autograd",
    "it holds for the whole process, and is new in torch 2.11",
)
MODULE_NUMBERS = Setting(
    "allow_unspec_int_on_nn_module",
    "compile for any int that a module holds",
    "it holds for the whole process, and each branch that the int decides is compiled once",
)


def any_int(finding: Finding, bench: Workbench) -> Fix:
    """The setting under which an int of a module is a symbol; raises Unclear for any other number."""
    key = key_of(finding, bench)
    project = bench.tables.project
    if key.owner.key not in project.files[key.owner.path].classes or not project.is_module(key.owner):
        raise Unclear("no module holds it")
    states = [state for state in bench.tables.attributes if state.key == key]
    kinds = {kind for state in states for site in state.writes for kind in site.write.value.kinds}
    if kinds | bench.tables.initial.kinds(key) != {Kind.INT}:
        raise Unclear("it is no int")
    return MODULE_NUMBERS.suggest(finding, bench)


def trace_gradients(finding: Finding, bench: Workbench) -> Fix:
    """The setting under which calls of autograd are compiled; raises Unclear for hooks."""
    _, call = bench.call_at(finding.span)
    if not ast.unparse(call.func).endswith(("backward", "grad")):
        raise Unclear("hooks are not compiled under it")
    return GRADIENTS.suggest(finding, bench)


def capture_number(finding: Finding, bench: Workbench) -> Fix:
    """The setting under which a number is a symbol; raises Unclear where code decides or picks by it."""
    file = bench.open(finding.span.path)
    for node in file.by_line.get(finding.span.line, ()):
        if isinstance(node, ast.Subscript) and file.span(node) == finding.span and _is_slice(node.slice):
            return NUMBERS.suggest(finding, bench)
    file, call = bench.call_at(finding.span)
    match call:
        case ast.Call(ast.Attribute(attr="item" | "tolist")) | ast.Call(ast.Name("int" | "float")):
            pass
        case _:
            raise Unclear("it takes no number out of a tensor")
    if "numpy" in ast.unparse(call):
        raise Unclear("it takes the number out of an array")
    uses: list[ast.AST] = [call]
    statement = file.statement(call)
    scope = file.scope(call)
    if scope is not None and isinstance(statement, ast.Assign) and statement.value is call:
        names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
        uses += [one for one in ast.walk(scope) if isinstance(one, ast.Name) and one.id in names]
    if any(_decides(file, use) for use in uses):
        raise Unclear("code decides or picks by it")
    return NUMBERS.suggest(finding, bench)


def _is_slice(index: ast.expr) -> bool:
    return any(isinstance(one, ast.Slice) for one in getattr(index, "elts", [index]))


def _decides(file: OpenFile, node: ast.AST) -> bool:
    """Whether a value is part of a test, or picks an item of a list."""
    inner = node
    for outer in file.above(node):
        match outer:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                if test is inner:
                    return True
            case ast.Subscript(slice=index) if index is inner and not isinstance(
                index, ast.Slice | ast.Tuple
            ):
                return True
            case ast.stmt():
                return False
        inner = outer
    return False


def capture_shape(finding: Finding, bench: Workbench) -> Fix:
    """The setting under which a number of rows is a symbol; raises Unclear for `one_hot`."""
    if "one_hot" in finding.subject:
        raise Unclear("the number of classes has to be said")
    return SHAPES.suggest(finding, bench)
