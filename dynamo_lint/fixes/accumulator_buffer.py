"""A sum that starts as None or as a number becomes a buffer that starts at zero and is rebound."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.attribute_uses import Family, Mention, Unclear, family_of
from dynamo_lint.fixes.construction import declaration_of, init_of, torch_name
from dynamo_lint.fixes.edit_session import OpenFile, Workbench
from dynamo_lint.fixes.hazards import trains_on_ranks
from dynamo_lint.fixes.scalar_buffer import module_attribute
from dynamo_lint.fixes.tensors import Judge

COUNTING = frozenset(
    {"long", "int", "argmax", "argmin", "argsort", "bool", "count_nonzero", "numel", "eq", "ne"}
)
"""A sum of these is an integer, and its buffer would have to be one."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A statement that adds to what is there."""

    file: OpenFile
    statement: ast.stmt
    target: ast.Attribute
    term: ast.expr


def fix(finding: Finding, bench: Workbench) -> Fix:
    """Declaration, sums and resets; raises Unclear where the attribute is no such sum."""
    declared_in, name = module_attribute(bench, finding)
    init = init_of(bench, declared_in)
    family = family_of(bench, declared_in, name)
    declaration = declaration_of(init, family)
    if not _is_start(declaration.value) or declaration.statement.lineno < init.parent_call.lineno:
        raise Unclear("`__init__` starts it with something else")
    sums = {one.statement: one for one in _sums(bench, family)}
    grows = _keeps_gradient(family, declaration.statement, sums)
    if grows and trains_on_ranks(bench):
        raise Unclear("DistributedDataParallel would overwrite the sum, and its gradient, with rank 0's")
    torch, imports = torch_name(init.file)
    start = f"{torch}.zeros((), requires_grad=True)" if grows else f"{torch}.zeros(())"
    self_name = init.node.args.args[0].arg
    text = f'{self_name}.register_buffer("{name}", {start}, persistent=False)'
    edits = [*imports, init.file.replace(declaration.statement, text)]
    edits += [edit for one in sums.values() for edit in _added(one, grows)]
    edits += _resets(family, declaration.statement, sums, grows)
    first = "zero instead of None" if _is_none(declaration.value) else "a tensor"
    why = f"`{name}` is {first} before the first call, and " + (
        "a model that was moved to a device can be deep-copied only after a reset"
        if grows
        else "has no gradient"
    )
    message = f"start with a zero buffer (`{text}`), rebind it and reset it to zeros (unsafe: {why})"
    return Fix("unsafe", message, tuple(dict.fromkeys(edits)))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_start(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value in (None, 0, 0.0) and value.value is not False


# --- what compiled code does with it -------------------------------------------------------------------


def _sums(bench: Workbench, family: Family) -> Iterator[Sum]:
    """Every statement of compiled code that mentions the attribute has to be a sum of scalars."""
    for mention in family.mentions:
        if not mention.hot:
            continue
        one = _sum(mention, family.name)
        judge = Judge(bench, mention.file)
        if not judge.is_scalar(one.term) or _counts(one.term):
            raise Unclear(f"line {one.statement.lineno} adds a value that may not be a scalar")
        yield one


def _sum(mention: Mention, name: str) -> Sum:
    file = mention.file
    statement = file.statement(mention.node)
    for above in file.above(mention.node):
        if isinstance(above, ast.If) and (found := _branches(file, above, name)):
            return found
    found = _plain(file, statement, name)
    if found is None:
        raise Unclear(f"line {statement.lineno} does something other than adding to it")
    return found


def _plain(file: OpenFile, statement: ast.AST, name: str) -> Sum | None:
    """`a = a + t`, `a += t`, and `a = t if a is None else a + t`."""
    match statement:
        case ast.AugAssign(ast.Attribute(attr=attr) as target, ast.Add(), term) if attr == name:
            return None if _uses_of(term, target) else Sum(file, statement, target, term)
        case ast.Assign(targets=[ast.Attribute(attr=attr) as target], value=value) if attr == name:
            added = _chosen(value, target) if isinstance(value, ast.IfExp) else _term(value, target)
            return Sum(file, statement, target, added) if added is not None else None
    return None


def _chosen(value: ast.IfExp, target: ast.Attribute) -> ast.expr | None:
    """The addend of `t if a is None else a + t`."""
    none_first = _asks_for_none(value.test, target)
    first, second = (value.body, value.orelse) if none_first else (value.orelse, value.body)
    term = _term(second, target)
    same = term is not None and ast.dump(first) == ast.dump(term)
    return term if same and none_first is not None else None


def _branches(file: OpenFile, node: ast.If, name: str) -> Sum | None:
    """`if a is None: a = t`, `else: a = a + t`."""
    if len(node.body) != 1 or len(node.orelse) != 1:
        return None
    match node.test:
        case ast.Compare(left=ast.Attribute(attr=attr) as target) if attr == name:
            none_first = _asks_for_none(node.test, target)
        case _:
            return None
    first, second = (node.body[0], node.orelse[0]) if none_first else (node.orelse[0], node.body[0])
    added = _plain(file, second, name)
    match first:
        case ast.Assign(targets=[ast.Attribute(attr=attr)], value=value) if attr == name:
            if added is not None and none_first is not None and ast.dump(value) == ast.dump(added.term):
                return Sum(file, node, added.target, added.term)
    return None


def _term(value: ast.expr, target: ast.Attribute) -> ast.expr | None:
    """The addend of an update of the attribute itself."""
    match value:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for own, other in ((left, right), (right, left)):
                if _same(own, target) and not _uses_of(other, target):
                    return other
    return None


def _asks_for_none(test: ast.expr, target: ast.Attribute) -> bool | None:
    """True for `is None`, False for `is not None`, None for any other test."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=None)]) if _same(left, target):
            return True if isinstance(op, ast.Is) else False if isinstance(op, ast.IsNot) else None
    return None


def _same(node: ast.expr, target: ast.Attribute) -> bool:
    match node:
        case ast.Attribute(value=value, attr=attr):
            return attr == target.attr and ast.dump(value) == ast.dump(target.value)
    return False


def _uses_of(node: ast.expr, target: ast.Attribute) -> bool:
    return any(isinstance(inner, ast.Attribute) and _same(inner, target) for inner in ast.walk(node))


def _counts(node: ast.expr) -> bool:
    return any(
        isinstance(inner, ast.Compare) or (isinstance(inner, ast.Attribute) and inner.attr in COUNTING)
        for inner in ast.walk(node)
    )


# --- what eager code does with it ----------------------------------------------------------------------


def _keeps_gradient(family: Family, declaration: ast.stmt, sums: dict[ast.stmt, Sum]) -> bool:
    """Somebody may call backward on the sum: it is reset now and then, and read as a tensor."""
    if all(_detached(one.term) for one in sums.values()):
        return False
    eager = [m for m in family.mentions if not m.hot and m.file.statement(m.node) is not declaration]
    reset = any(isinstance(mention.node.ctx, ast.Store) for mention in eager)
    reads = [m for m in eager if isinstance(m.node.ctx, ast.Load)]
    shown = all(_only_displayed(mention) for mention in reads)
    if reads and not shown and not reset:
        raise Unclear("it is never reset, and the uses of its value are unknown")
    return reset and not (reads and shown)


def _detached(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="detach"), args=[]):
            return True
    return False


def _only_displayed(mention: Mention) -> bool:
    """It is turned into a number, formatted or printed: nothing that needs a gradient."""
    match mention.file.parents[mention.node]:
        case ast.FormattedValue() | ast.Compare(comparators=[ast.Constant(value=None)]):
            return True
        case ast.Call(func=ast.Name(id="float" | "int" | "print")):
            return True
        case ast.Attribute(attr="item" | "detach" | "tolist"):
            return True
    return False


# --- the edits ------------------------------------------------------------------------------------------


def _added(one: Sum, grows: bool) -> Iterator[Edit]:
    file, target, term = one.file, one.file.text(one.target), one.file.one_line(one.term)
    atom = isinstance(one.term, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    if not grows and not _detached(one.term):
        term = f"{term if atom else f'({term})'}.detach()"
    elif not atom and not isinstance(one.term, ast.BinOp):
        term = f"({term})"
    text = f"{target} = {target} + {term}"
    if file.text(one.statement) != text:
        yield file.replace(one.statement, text)


def _resets(family: Family, declaration: ast.stmt, sums: dict[ast.stmt, Sum], grows: bool) -> Iterator[Edit]:
    for mention in family.mentions:
        file = mention.file
        statement = file.statement(mention.node)
        if mention.hot or statement is declaration or statement in sums:
            continue
        if isinstance(mention.node.ctx, ast.Del):
            raise Unclear("it is deleted")
        if isinstance(mention.node.ctx, ast.Load):
            continue
        match statement:
            case ast.Assign(targets=[ast.Attribute() as target], value=value) if _is_start(value):
                if not isinstance(target.value, ast.Name | ast.Attribute):
                    raise Unclear("the object that is reset is computed")
                owner = file.text(target)
                yield file.replace(
                    statement, f"{owner} = {owner}.new_zeros((){', requires_grad=True' if grows else ''})"
                )
            case _:
                raise Unclear(f"line {statement.lineno} sets it to something else")
