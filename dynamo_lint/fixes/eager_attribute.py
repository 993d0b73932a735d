"""An attribute that the first call creates is created by `__init__`, where nothing it needs comes later."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.attribute_uses import Family, Init, Mention, declaration_of, family_of, init_of
from dynamo_lint.fixes.buffers import module_attribute
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, fix_of
from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.index.ir import Definition
from dynamo_lint.index.lower import as_fact
from dynamo_lint.program.refs import ClassRef, ExternalSymbol
from dynamo_lint.state.model import SCALARS, Key

_DEPTH = 3
"""Methods that call methods; a table is not built deeper than that."""


def fix(finding: Finding, bench: Workbench) -> Fix:
    """The value moves to the end of `__init__`; raises Unclear where it depends on more than numbers."""
    declared_in, name = module_attribute(bench, finding)
    init = init_of(bench, declared_in)
    family = family_of(bench, declared_in, name)
    if family.members != {declared_in}:
        raise Unclear("a subclass may still set what the value needs")
    declaration = declaration_of(init, family)
    if not declaration.alone:
        raise Unclear("`__init__` sets it together with something else")
    if not isinstance(declaration.value, ast.Constant) or declaration.value.value is not None:
        raise Unclear("it does not start as None")
    guard, value = _lazy(family, init)
    _Needs(bench, declared_in, init, name).check(value)
    own = init.node.args.args[0].arg
    if _self_name(init.file, guard) != own:
        raise Unclear("the instance has another name there")
    last = init.node.body[-1]
    if not init.file.alone(last):
        raise Unclear("`__init__` ends on a shared line")
    line = f"{own}.{name} = {init.file.one_line(value)}"
    why = "it is built when the module is created, on the default device and dtype of that time"
    return fix_of(
        f"build it in `__init__` (`{line}`)", _edits(init, declaration.statement, guard, last, line), why
    )


def _edits(init: Init, first: ast.stmt, guard: ast.If, last: ast.stmt, line: str) -> Iterator[Edit]:
    file = init.file
    if last is first:
        yield file.replace(first, line)
    else:
        if not file.alone(first):
            raise Unclear("it is declared on a shared line")
        yield file.remove(first)
        yield file.insert_after(last, line)
    if not file.alone(guard):
        raise Unclear("the test stands on a shared line")
    body = next(
        block
        for above in file.above(guard)
        for block in (getattr(above, "body", []), getattr(above, "orelse", []))
        if guard in block
    )
    yield file.remove(guard) if len(body) > 1 else file.replace(guard, "pass")


def _lazy(family: Family, init: Init) -> tuple[ast.If, ast.expr]:
    """The one `if self.a is None: self.a = value`; every other mention only reads."""
    found: list[tuple[ast.If, ast.expr]] = []
    for mention in family.mentions:
        statement = mention.file.statement(mention.node)
        if isinstance(mention.node.ctx, ast.Load) or statement in init.node.body:
            continue
        found.append(_fill(mention, statement))
    if len(found) != 1 or family.mentions[0].file is not init.file:
        raise Unclear("it is set in several places")
    return found[0]


def _fill(mention: Mention, statement: ast.stmt) -> tuple[ast.If, ast.expr]:
    holder = mention.file.parents[statement]
    match holder, statement:
        case ast.If(test=test, body=[_], orelse=[]), ast.Assign(targets=[ast.Attribute()], value=value):
            match test:
                case ast.Compare(ast.Attribute(attr=asked), [ast.Is()], [ast.Constant(value=None)]):
                    if asked == mention.node.attr:
                        return holder, value
    raise Unclear(f"line {statement.lineno} does more than fill it once")


@dataclass(frozen=True, slots=True)
class _Needs:
    """Checks what a value is computed from."""

    bench: Workbench
    owner: ClassRef
    init: Init
    name: str

    def check(self, value: ast.AST, depth: int = 0) -> None:
        """Refuse anything but constants of the file and numbers that only `__init__` sets."""
        if depth > _DEPTH:
            raise Unclear("the values it is computed from could not be traced")
        scope = next(
            (n for n in (value, *self.init.file.above(value)) if isinstance(n, ast.FunctionDef)), None
        )
        own, *parameters = [a.arg for a in scope.args.args] if scope is not None else [""]
        inner = {n.id for n in ast.walk(value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        parents = {child: node for node in ast.walk(value) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(value):
            match node:
                case ast.Attribute(attr=attr) if "rand" in attr or attr in {"normal_", "uniform_"}:
                    raise Unclear("it is random, and would be drawn earlier")
                case ast.Call(func=func) if self._makes_objects(func):
                    raise Unclear("it makes a module, or some other object")
                case ast.Attribute(value=ast.Name(id=first)) if first == own:
                    self._attribute(node, parents.get(node), depth)
                case ast.Name(id=used, ctx=ast.Load()) if used == own:
                    if not isinstance(parents.get(node), ast.Attribute):
                        raise Unclear("it needs the whole object")
                case ast.Name(id=used, ctx=ast.Load()):
                    if used in parameters or (used not in inner and _is_local(scope, used)):
                        raise Unclear(f"it depends on `{used}`")

    def _makes_objects(self, func: ast.expr) -> bool:
        where = self.init.file.reference(func)
        return any(
            isinstance(symbol, ClassRef)
            or (isinstance(symbol, ExternalSymbol) and symbol.dotted.startswith("torch.nn."))
            for symbol in self.bench.tables.project.symbols(as_fact(func), where.path, where.key)
        )

    def _attribute(self, node: ast.Attribute, parent: ast.AST | None, depth: int) -> None:
        if node.attr == self.name:
            raise Unclear("it depends on itself")
        if isinstance(parent, ast.Call) and parent.func is node and not parent.args and not parent.keywords:
            method = self._method(node.attr)
            if method is not None and len(method.args.args) == 1 and not method.decorator_list:
                self.check(method, depth + 1)
                return
        tables = self.bench.tables
        key = Key(self.owner, node.attr)
        outside = tables.initial.outside(key)
        changes = any(state.key == key and state.writes for state in tables.attributes)
        number = Judge(self.bench, self.init.file).kinds(node)
        set_here = outside and all(o.initial and o.path == self.init.file.path for o in outside)
        if changes or not set_here or not number or not number <= SCALARS:
            raise Unclear(f"it depends on `{node.attr}`, which may change")

    def _method(self, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        for binding in self.bench.tables.project.class_bindings(self.owner).get(name, ()):
            if isinstance(binding.value, Definition):
                file = self.bench.tables.project.files[self.owner.path]
                return self.init.file.definition(file.functions[binding.value.key])
        return None


def _is_local(scope: ast.FunctionDef | None, name: str) -> bool:
    return scope is not None and any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(scope)
    )


def _self_name(file: OpenFile, node: ast.AST) -> str:
    scope = file.scope(node)
    return scope.args.args[0].arg if scope is not None and scope.args.args else ""
