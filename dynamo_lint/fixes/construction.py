"""Where a class makes its state: the `__init__` to change, and the place in it for something new."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dynamo_lint.findings import Edit, Span
from dynamo_lint.fixes.attribute_uses import Family, Unclear
from dynamo_lint.fixes.edit_session import OpenFile, Workbench
from dynamo_lint.index.ir import Definition
from dynamo_lint.program.refs import ClassRef


@dataclass(frozen=True, slots=True)
class Init:
    """A class's own `__init__`."""

    file: OpenFile
    node: ast.FunctionDef
    parent_call: ast.stmt
    """The call of the base class's `__init__`: before it a module cannot hold buffers."""


def init_of(bench: Workbench, ref: ClassRef) -> Init:
    """The `__init__` that a class defines; raises Unclear where it has none of a known shape."""
    project = bench.tables.project
    file = bench.file(ref.path)
    if file is None:
        raise Unclear(f"{ref.path} cannot be read")
    for binding in project.class_bindings(ref).get("__init__", ()):
        if not isinstance(binding.value, Definition):
            continue
        node = file.definition(project.files[ref.path].functions[binding.value.key])
        for statement in node.body if isinstance(node, ast.FunctionDef) else ():
            if calls_parent(statement) and file.alone(statement):
                return Init(file, node, statement)  # type: ignore[arg-type]
    raise Unclear(f"`{ref.name}` has no `__init__` that calls `super().__init__()`")


@dataclass(frozen=True, slots=True)
class Declaration:
    """The statement that gives an attribute its first value."""

    statement: ast.stmt
    value: ast.expr


def declaration_of(init: Init, family: Family) -> Declaration:
    """The one statement of `__init__` that gives the attribute its first value."""
    stores = [
        statement
        for mention in family.mentions
        if mention.file is init.file and isinstance(mention.node.ctx, ast.Store)
        if mention.file.parents[statement := mention.file.statement(mention.node)] is init.node
    ]
    if len(stores) != 1:
        raise Unclear("`__init__` does not set it exactly once")
    match stores[0]:
        case ast.Assign(targets=[ast.Attribute()], value=value) | ast.AnnAssign(value=ast.expr() as value):
            return Declaration(stores[0], value)
    raise Unclear("`__init__` sets it together with something else")


def calls_parent(statement: ast.stmt) -> bool:
    """`super().__init__(...)`, or `Base.__init__(self, ...)`."""
    node = statement.value if isinstance(statement, ast.Expr) else None
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="__init__"), args=[ast.Name(), *_]):
            return True  # Base.__init__(self)
    return False


def _unshadowed(file: OpenFile, name: str) -> str:
    """A name that nothing but the import binds anywhere in the file; raises Unclear for any other."""
    if name in file.bound:
        raise Unclear(f"{file.path} gives the name `{name}` to something else")
    return name


def torch_name(file: OpenFile) -> tuple[str, tuple[Edit, ...]]:
    """Return the name of torch in the file, and the edit that imports it where nothing does."""
    first = None
    for statement in file.tree.body:
        match statement:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name == "torch" or (alias.name.startswith("torch.") and not alias.asname):
                        return _unshadowed(file, alias.asname or "torch"), ()
            case ast.ImportFrom(module=str() as module, level=0) if module.split(".")[0] == "torch":
                first = first or statement
    if first is None or not file.alone(first):
        raise Unclear(f"{file.path} does not import torch")
    return _unshadowed(file, "torch"), (
        Edit(Span(file.path, first.lineno, 1, first.lineno, 1), "import torch\n"),
    )
