"""A Python number that compiled code changes becomes a buffer: declaration, every write, every read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.attribute_uses import Family, Mention, Unclear, family_of
from dynamo_lint.fixes.construction import (
    Declaration,
    Init,
    calls_parent,
    declaration_of,
    init_of,
    torch_name,
)
from dynamo_lint.fixes.edit_session import OpenFile, Workbench
from dynamo_lint.fixes.hazards import reason
from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.fixes.uses import ARITHMETIC, ATOMS, clamped, flow
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.state.model import AttributeState, Kind, Kinds, Outside

DTYPES = {Kind.INT: "long", Kind.BOOL: "bool", Kind.FLOAT: "float32"}
SIGNS = dict(zip(ARITHMETIC, ("+", "-", "*", "/", "//", "%", "**"), strict=True))
PYTHON = {Kind.INT: "int", Kind.BOOL: "bool", Kind.FLOAT: "float"}


@dataclass(frozen=True, slots=True)
class Plan:
    """Facts that the rewrite of one attribute needs at every mention."""

    bench: Workbench
    family: Family
    kind: Kind
    init: Init
    declaration: Declaration
    torch: str
    """The name of torch in the file of the declaration."""
    imports: tuple[Edit, ...]
    rebind: bool
    """The value enters math whose backward may still need it, so it must never change in place."""

    @property
    def start(self) -> str:
        """The statement that declares the buffer."""
        value = self.init.file.one_line(self.declaration.value)
        dtype = f"{self.torch}.{DTYPES[self.kind]}"
        start = f"{self.torch}.tensor({value}, dtype={dtype})"
        if value in {"0", "0.0"} and self.kind != Kind.BOOL:
            start = f"{self.torch}.zeros((), dtype={dtype})"
        self_name = self.init.node.args.args[0].arg
        return f'{self_name}.register_buffer("{self.family.name}", {start}, persistent=False)'


def fix(finding: Finding, bench: Workbench) -> Fix:
    """The rewrite of the attribute that a finding is about; raises Unclear if it cannot become a tensor."""
    plan = _plan(bench, finding)
    edits = tuple(dict.fromkeys(_edits(plan)))
    why = reason(bench, plan.family, plan.kind == Kind.FLOAT, plan.rebind)
    update = (
        "rebind it, since a backward may still need the old value" if plan.rebind else "update it in place"
    )
    message = (
        f"keep it in a buffer (`{plan.start}`) and {update}; "
        "`persistent=False`, so that old checkpoints still load"
    )
    return Fix("safe", message, edits) if why is None else Fix("unsafe", f"{message} (unsafe: {why})", edits)


def states_at(bench: Workbench, finding: Finding) -> list[AttributeState]:
    """The attributes that a finding's line writes, hot or not: one for each class of `self`."""
    span = finding.span
    hot = bench.states.get((span.path, span.line, span.column))
    return hot or bench.states_outside.get((span.path, span.line), [])


def module_attribute(bench: Workbench, finding: Finding) -> tuple[ClassRef, str]:
    """The one attribute of a module that a finding's line writes, and the class that declares it."""
    states = states_at(bench, finding)
    owners = {(state.declared_in, state.key.attribute) for state in states}
    if len(owners) != 1:
        raise Unclear("several attributes are written there")
    ((declared_in, name),) = owners
    plain = name.isidentifier() and declared_in.key != MODULE_KEY
    if not plain or not bench.tables.project.is_module(declared_in):
        raise Unclear("only a module has buffers")
    if any(state.argument for state in states):
        raise Unclear("the object is an argument")
    return declared_in, name


def _plan(bench: Workbench, finding: Finding) -> Plan:
    declared_in, name = module_attribute(bench, finding)
    states = states_at(bench, finding)
    init = init_of(bench, declared_in)
    family = family_of(bench, declared_in, name)
    kind = _kind(bench, states, family)
    declaration = declaration_of(init, family)
    rebind = _enters_math(bench, family, kind)
    return Plan(bench, family, kind, init, declaration, *torch_name(init.file), rebind)


def _kind(bench: Workbench, states: list[AttributeState], family: Family) -> Kind:
    """One kind for everything that is ever stored."""
    stored: set[Kinds] = set()
    for state in states:
        stored |= {site.write.value.kinds for site in state.writes}
        for outside in state.outside:
            stored.add(outside.kinds or _kind_at(bench, family, outside))
    if not all(stored):
        raise Unclear("the stored value is unknown")
    kinds = frozenset[Kind]().union(*stored)
    if kinds == {Kind.INT, Kind.FLOAT}:
        return Kind.FLOAT
    if len(kinds) != 1 or not kinds <= DTYPES.keys():
        raise Unclear("it holds more than numbers")
    return next(iter(kinds))


def _kind_at(bench: Workbench, family: Family, outside: Outside) -> Kinds:
    """The kind that a line outside compiled code stores, as far as its own function shows."""
    found: set[Kind | None] = set()
    for mention in family.mentions:
        statement = mention.file.statement(mention.node)
        if (mention.file.path, statement.lineno) == (outside.path, outside.line):
            match statement:
                case ast.Assign(value=value) | ast.AugAssign(value=ast.expr() as value):
                    found.add(Judge(bench, mention.file).number(value))
    return frozenset(kind for kind in found if kind is not None) if None not in found else frozenset()


def _enters_math(bench: Workbench, family: Family, kind: Kind) -> bool:
    """Compiled code uses the value for more than the next value."""
    math = False
    for mention in family.mentions:
        if mention.hot and isinstance(mention.node.ctx, ast.Load):
            judge = Judge(bench, mention.file)
            math = flow(judge, mention.node, family.name, kind == Kind.BOOL).math or math
    return math


# --- the edits ------------------------------------------------------------------------------------------


def _edits(plan: Plan) -> Iterator[Edit]:
    yield from _declare(plan)
    for mention in plan.family.mentions:
        statement = mention.file.statement(mention.node)
        if statement is plan.declaration.statement:
            continue
        match mention.node.ctx:
            case ast.Store():
                yield from _write(plan, mention, statement)
            case ast.Del():
                raise Unclear("it is deleted")
            case _ if mention.hot:
                yield from _builtins(plan, mention)
            case _:
                yield from _read(plan, mention)


def _declare(plan: Plan) -> Iterator[Edit]:
    file, statement = plan.init.file, plan.declaration.statement
    yield from plan.imports
    if statement.lineno > plan.init.parent_call.lineno:
        yield file.replace(statement, plan.start)
        return
    # A module takes buffers only after `super().__init__()`.
    if not file.alone(statement) or not isinstance(plan.declaration.value, ast.Constant):
        raise Unclear("it is set before `super().__init__()`")
    yield file.remove(statement)
    yield file.insert_after(plan.init.parent_call, plan.start)


def _write(plan: Plan, mention: Mention, statement: ast.stmt) -> Iterator[Edit]:
    file, name = mention.file, mention.node.attr
    target = file.text(mention.node)
    _check_order(plan, mention)
    if "\n" in target or not _repeatable(mention.node.value):
        raise Unclear("the object it is written on is computed")
    match statement:
        case ast.AugAssign(op=op, value=value) if isinstance(op, ARITHMETIC):
            if plan.rebind:
                yield _rebound(file, statement, target, value)
            elif plan.kind == Kind.BOOL or isinstance(op, ast.Div | ast.Pow):
                raise Unclear("it cannot be updated in place")
        case ast.Assign(targets=[ast.Attribute()], value=value) | ast.AnnAssign(value=ast.expr() as value):
            if not _speaks_of(value, name):
                yield file.replace(statement, _stored(plan, target, file.one_line(value)))
            elif not plan.rebind and (step := _step(file, mention.node, value)):
                yield file.replace(statement, f"{target} {step}")
            elif not mention.hot:
                flow(Judge(plan.bench, file), _own(value, name), name, plan.kind == Kind.BOOL)
        case _:
            raise Unclear(f"line {statement.lineno} sets it together with something else")


def _check_order(plan: Plan, mention: Mention) -> None:
    """Refuse a write that may run before the buffer is registered."""
    scope = mention.file.scope(mention.node)
    if scope is None or scope is plan.init.node:
        return
    if scope.name == "__init__":
        line = next((s.lineno for s in scope.body if calls_parent(s)), None)
        if line is None or mention.node.lineno < line:
            raise Unclear("a subclass sets it before the base class does")
        return
    declared = plan.declaration.statement.lineno
    if plan.bench.first_said(plan.init.node).get(scope.name, declared) < declared:
        raise Unclear(f"`__init__` calls `{scope.name}` before it sets it")


def _rebound(file: OpenFile, statement: ast.AugAssign, target: str, value: ast.expr) -> Edit:
    """`n += k` as `n = n + k`."""
    text = file.one_line(value)
    sign = SIGNS[type(statement.op)]
    whole = text if isinstance(value, ATOMS) else f"({text})"
    return file.replace(statement, f"{target} = {target} {sign} {whole}")


def _step(file: OpenFile, target: ast.Attribute, value: ast.expr) -> str | None:
    """`+= k` for `n + k`: in place, so that the buffer stays where it is."""
    match value:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            if ast.dump(left) == ast.dump(ast.Attribute(target.value, target.attr, ast.Load())):
                return (
                    None if _speaks_of(right, target.attr) else f"{SIGNS[type(op)]}= {file.one_line(right)}"
                )
    return None


def _stored(plan: Plan, target: str, text: str) -> str:
    """The statement that gives the buffer a value that is not computed from its own."""
    if plan.rebind:
        zero = text in {"0", "0.0"} and plan.kind != Kind.BOOL
        return f"{target} = {target}.new_zeros(())" if zero else f"{target} = {target}.new_full((), {text})"
    return f"{target}.zero_()" if text in {"0", "0.0", "False"} else f"{target}.fill_({text})"


def _builtins(plan: Plan, mention: Mention) -> Iterator[Edit]:
    """`min(n + 1, 3)` becomes `(n + 1).clamp(max=3)`, and `not flag` becomes `~flag`."""
    file = mention.file
    judge = Judge(plan.bench, file)
    for node in flow(judge, mention.node, plan.family.name, plan.kind == Kind.BOOL).builtins:
        match node:
            case ast.Call():
                yield clamped(file, node)
            case ast.UnaryOp(operand=operand) if plan.kind == Kind.BOOL:
                yield file.replace(node, f"~{file.text(operand)}")
            case _:
                raise Unclear("it is used as a condition")


def _read(plan: Plan, mention: Mention) -> Iterator[Edit]:
    """Eager code gets the number back; formatting a tensor without dimensions shows the number anyway."""
    file, node = mention.file, mention.node
    python = PYTHON[plan.kind]
    match file.parents[node]:
        case ast.FormattedValue(conversion=-1):
            return
        case ast.Call(func=ast.Name(id="int" | "float" | "bool"), args=[_]):
            return
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            raise Unclear("eager code asks for its identity")
    if any(isinstance(above, ast.JoinedStr) for above in file.above(node)):
        raise Unclear("a formatted string computes with it")  # before Python 3.12 its position is not known
    statement = file.statement(node)
    if isinstance(statement, ast.Assign) and _is_own(statement.targets[0], node):
        return  # `n = n + 1`: rewritten as a write
    yield file.replace(node, f"{python}({file.text(node)})")


def _repeatable(node: ast.expr) -> bool:
    """A chain of names: saying it twice runs nothing."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _speaks_of(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == name for n in ast.walk(node))


def _own(node: ast.expr, name: str) -> ast.Attribute:
    return next(n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == name)


def _is_own(target: ast.expr, node: ast.Attribute) -> bool:
    match target:
        case ast.Attribute(value=value, attr=attr):
            return attr == node.attr and ast.dump(value) == ast.dump(node.value)
    return False
