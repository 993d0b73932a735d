"""Lines that end a graph: a value stays a tensor, a branch becomes a choice, a message is guarded."""

from __future__ import annotations

import ast

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Edit, Finding, Fix, Span
from dynamo_lint.fixes.attribute_uses import torch_or_import
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, fix_of, suggestion
from dynamo_lint.fixes.tensors import Judge, lineage
from dynamo_lint.fixes.uses import ATOMS, ORDER, Flow, clamped, flow
from dynamo_lint.index.ir import MODULE_KEY, Call, Name
from dynamo_lint.index.lower import as_fact
from dynamo_lint.models import tensor_results as results
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef

_EXACT = (ast.Add, ast.Sub, ast.Mult)
"""Arithmetic that is the same to the last bit for a number and for a tensor of its type."""
_PLAIN = (ast.Name, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.Call)
_SILENT = frozenset(
    {"bool", "float", "int", "len", "max", "min", "repr", "round", "str", "sum", "tuple", "type"}
)
"""Builtins that do nothing but return a value."""
_TENSOR_METHODS = frozenset(
    name
    for name in results.TENSOR_METHODS | results.SHARED_METHODS | results.WHOLE
    if not name.endswith("_") and name not in {"backward", "data_ptr"}
)
_RANDOM = ("bernoulli", "dropout", "gumbel", "multinomial", "normal", "poisson", "rand", "rrelu")
"""Parts of the names of functions that draw random numbers."""
_ASKED = "is_compiling"
SILENCED = "compiled calls are silent then"
_MOVING = frozenset({"numpy", "cpu", "cuda", "to"})


# --- messages ---------------------------------------------------------------------------------------------


def guard_message(finding: Finding, bench: Workbench) -> Fix:
    """Put a statement that writes a message behind `is_compiling()`; raises Unclear for anything else."""
    file, call = bench.call_at(finding.span)
    return _guarded(finding, bench, _torch(bench, file, call), ())


def guard_and_import(finding: Finding, bench: Workbench) -> Fix:
    """The same with `import torch`, for a person to judge: it can close a circle of imports."""
    file = bench.open(finding.span.path)
    torch, imports = torch_or_import(file)
    guard = _guarded(finding, bench, torch, imports)
    return suggestion("import torch, and put it behind `is_compiling()`", guard.edits, guard.reason)


def _guarded(finding: Finding, bench: Workbench, torch: str, imports: tuple[Edit, ...]) -> Fix:
    """The fix, with a name of torch and the edits that give it."""
    file, call = bench.call_at(finding.span)
    statement = file.parents[call]
    rows = bench.breaks.get((file.path, finding.span.line, finding.span.column), ())
    if not any(one.row.code == finding.code and one.row.switch == "messages" for one in rows):
        raise Unclear("it writes no message")
    if not isinstance(statement, ast.Expr) or not file.alone(statement):
        raise Unclear("its value is used, or something stands beside it")
    if not all(_is_silent(one) for one in (*call.args, *(word.value for word in call.keywords))):
        raise Unclear("what it is given may do something")
    message = "put it behind `if not torch.compiler.is_compiling():`"
    around = file.parents[statement]
    if isinstance(around, ast.If) and not is_silenced(around) and only_writes(file, bench, around):
        return fix_of(message, [*imports, silenced(file, around, torch)], SILENCED)
    indent = file.indent(statement)
    edits = [*imports, file.insert_before(statement, f"if not {torch}.compiler.is_compiling():")]
    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    if len(lines) > 1 and any(mark in file.text(statement) for mark in ('"""', "'''", "\\\n")):
        raise Unclear("a text in it may go over several lines")
    step = "\t" if indent.endswith("\t") else "    "
    edits += [Edit(Span(file.path, line, 1, line, 1), step) for line in lines if file.lines[line - 1].strip()]
    return fix_of(message, _merged(edits), SILENCED)


def only_writes(file: OpenFile, bench: Workbench, node: ast.If) -> bool:
    """Whether all that a decision does is to write messages, or not to."""
    plain = isinstance(node.test, ast.Compare | ast.BoolOp | ast.Name | ast.UnaryOp) and not node.orelse
    if not plain or not file.text(node).startswith("if ") or not _is_silent(node.test, frozenset({_ASKED})):
        return False
    return all(_writes(file, bench, one) for one in node.body)


def _writes(file: OpenFile, bench: Workbench, statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Call(args=args, keywords=words) as call):
            span = file.span(call)
            rows = bench.breaks.get((file.path, span.line, span.column), ())
            message = any(one.row.switch == "messages" for one in rows)
            return message and all(map(_is_silent, (*args, *(word.value for word in words))))
    return False


def is_silenced(node: ast.If) -> bool:
    """Whether a decision is kept out of compiled code."""
    match node.test:
        case ast.BoolOp(ast.And(), [first, *_]) | (ast.UnaryOp() as first):
            pass
        case _:
            return False
    match first:
        case ast.UnaryOp(ast.Not(), ast.Call(ast.Attribute(attr=name), [], [])):
            return name == _ASKED
    return False


def silenced(file: OpenFile, node: ast.If, torch: str) -> Edit:
    """The edit that keeps a decision out of compiled code."""
    if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or):
        raise Unclear("one of several conditions decides")
    span = file.span(node)
    start = Span(file.path, span.line, span.column, span.line, span.column + len("if "))
    return Edit(start, f"if not {torch}.compiler.is_compiling() and ")


def _merged(edits: list[Edit]) -> tuple[Edit, ...]:
    """Insertions at one place as one."""
    texts: dict[Span, str] = {}
    for edit in edits:
        texts[edit.span] = texts.get(edit.span, "") + edit.replacement
    return tuple(Edit(span, text) for span, text in texts.items())


def _is_silent(node: ast.expr, more: frozenset[str] = frozenset()) -> bool:
    """Whether an expression does nothing but give a value, as methods of some `more` names do."""
    for one in ast.walk(node):
        match one:
            case ast.Call(ast.Name(name)):
                if name not in _SILENT:
                    return False
            case ast.Call(ast.Attribute(attr=name)):
                known = _TENSOR_METHODS | {"item", "tolist", "size", "numel", "dim", "format", "join", "keys"}
                if name not in known | more:
                    return False
            case ast.Call() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return False
    return True


# --- values -----------------------------------------------------------------------------------------------


def keep_tensor(finding: Finding, bench: Workbench) -> Fix:
    """`t.item()` as `t.detach()`, if only arithmetic with tensors uses it; raises Unclear otherwise."""
    file, call = bench.call_at(finding.span)
    judge = Judge(bench, file, by_use=True)
    tensor, conversion = _asked(call)
    if not _on_one_device(judge, tensor):
        raise Unclear("it may be no tensor, or one that is moved")
    used = flow(judge, call, "", boolean=False)
    if not used.meets or any(not isinstance(one, ast.Call) for one in used.builtins):
        raise Unclear("it meets no tensor")
    text = file.one_line(tensor)
    kept = f"{text if isinstance(tensor, ATOMS) else f'({text})'}.detach()"
    if conversion == "int":
        kept += ".trunc()"
    if not _is_whole(judge, tensor):
        kept += ".reshape(())"
    around = [node for node in used.builtins if node in file.above(call)]
    if len(around) > 1:
        raise Unclear("several builtins take it in turn")
    limits = [clamped(file, node) for node in used.builtins if isinstance(node, ast.Call)]
    if around:
        # The call stands in what becomes `clamp`.
        whole, old = file.span(around[0]), file.one_line(call)
        edits = [
            replace(one, replacement=one.replacement.replace(old, kept, 1)) if one.span == whole else one
            for one in limits
        ]
    else:
        edits = [file.replace(call, kept), *limits]
    why = _changed(judge, tensor, conversion, used)
    return fix_of(f"keep the tensor: `{kept}`", edits, why)


def _asked(call: ast.Call) -> tuple[ast.expr, str]:
    """The tensor that a call takes a number out of, and the type that it makes of it."""
    match call:
        case ast.Call(ast.Attribute(tensor, "item"), [], []):
            return tensor, ""
        case ast.Call(ast.Name("float" | "int" as kind), [tensor], []):
            return tensor, kind
    raise Unclear("it takes more than one number out of it")


def _on_one_device(judge: Judge, tensor: ast.expr) -> bool:
    for node in ast.walk(tensor):
        match node:
            case ast.Attribute(attr=name) if name in _MOVING:
                return False
            case ast.Name(name):
                where = judge.file.reference(node)
                for symbol in judge.bench.tables.project.symbols(Name(name), where.path, where.key):
                    if isinstance(symbol, ExternalSymbol) and symbol.dotted.startswith("numpy"):
                        return False
    return not isinstance(tensor, ast.Name) or judge.is_tensor(tensor)


def _is_whole(judge: Judge, tensor: ast.expr) -> bool:
    """Whether a tensor certainly has no dimensions."""
    match tensor:
        case ast.Call(ast.Attribute(attr=name), [], []) if name in results.REDUCTIONS:
            return True
        case ast.Name(name) if values := judge.bound(tensor, name):
            return all(value is not None and _is_whole(judge, value) for value in values)
    return judge.is_scalar(tensor)


def _changed(judge: Judge, tensor: ast.expr, conversion: str, used: Flow) -> str | None:
    """The difference that a tensor in place of a number can make; None if it makes none."""
    if used.numbers or used.builtins:
        return "it has the precision of the tensor, not that of a Python number"
    judge = replace(judge, by_use=False)
    found = lineage(judge, tensor)
    plain = conversion == "" or (conversion == "float" and found is not None and found.floating)
    if plain and found is not None and found.reduced and not found.itself:
        partners = [_partner(judge, one) for one in used.meets]
        if all(one is not None and (other := lineage(judge, one)) and found.alike(other) for one in partners):
            return None
    return "a number leaves type and device of the result as they are, a tensor can change them"


def _partner(judge: Judge, node: ast.AST) -> ast.expr | None:
    """The tensor that a number meets in arithmetic that is exact."""
    match node:
        case ast.BinOp(left, op, right) if isinstance(op, _EXACT):
            return left if judge.is_tensor(left) else right
    return None


# --- branches ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Choice:
    """A branch that picks one of two values."""

    nodes: tuple[ast.expr | ast.stmt, ...]
    """It is written as these; the choice stands in place of the first."""
    start: str
    """The text before the choice: `y = `, `return `."""
    yes: ast.expr
    no: ast.expr


def choose_by_where(finding: Finding, bench: Workbench) -> Fix:
    """A branch on a tensor that picks one of two tensors as `torch.where`; raises Unclear for any other."""
    file = bench.open(finding.span.path)
    nodes = file.by_line.get(finding.span.line, ())
    test = next((one for one in nodes if file.span(one) == finding.span), None)
    if not isinstance(test, ast.expr):
        raise Unclear("it is no test")
    judge = Judge(bench, file, by_use=True)
    choice = _choice(file, test)
    if not _gives_bool(judge, test):
        raise Unclear("the test is no tensor of bools")
    for compared in (node for node in ast.walk(test) if isinstance(node, ast.Compare)):
        if not any(map(judge.is_tensor, (compared.left, *compared.comparators))):
            raise Unclear("the test is about a number, and no tensor is in it")
    for side in (test, choice.yes, choice.no):
        if not judge.is_tensor(side) and side is not test:
            raise Unclear("a side is no tensor")
        if not _is_pure(judge, side):
            raise Unclear("a side does something")
    parts = ", ".join(file.one_line(one) for one in (test, choice.yes))
    other = choice.no.id if isinstance(choice.no, ast.Name) else file.one_line(choice.no)
    text = f"{_torch(bench, file, test)}.where({parts}, {other})"
    first, *rest = choice.nodes
    edits = [file.replace(first, f"{choice.start}{text}{_comment(file, first)}")]
    edits += [file.remove(one) for one in rest if isinstance(one, ast.stmt)]
    why = (
        None
        if _same_either_way(judge, test, choice)
        else "both are computed, and shapes and types must agree"
    )
    return fix_of(f"compute both and pick: `{text}`", edits, why)


def _choice(file: OpenFile, test: ast.expr) -> _Choice:
    """The branch that a test decides."""
    above = file.parents[test]
    match above:
        case ast.IfExp(condition, yes, no) if condition is test:
            return _Choice((above,), "", yes, no)
        case ast.If(condition, [ast.Assign([ast.Name(name)], yes)], orelse) if condition is test:
            match orelse:
                case [ast.Assign([ast.Name(other)], no)] if other == name:
                    return _statement(file, (above,), f"{name} = ", yes, no)
                case []:
                    kept = next(one for one in ast.walk(above.body[0]) if isinstance(one, ast.Name))
                    return _statement(file, (above,), f"{name} = ", yes, kept)
        case ast.If(condition, [ast.Return(ast.expr() as yes)], orelse) if condition is test:
            match orelse or _next(file, above):
                case [ast.Return(ast.expr() as no) as last]:
                    return _statement(file, (above,) if orelse else (above, last), "return ", yes, no)
    raise Unclear("it does more than to pick a value")


def _statement(
    file: OpenFile, nodes: tuple[ast.stmt, ...], start: str, yes: ast.expr, no: ast.expr
) -> _Choice:
    """A choice that is written as statements, which stand on lines of their own."""
    for node in nodes:
        if not file.alone(node) or not file.text(node).startswith(("if", "return")):
            raise Unclear("something stands beside it")
        last = (node.end_lineno or node.lineno) + (node is not nodes[0])
        if any(
            "#" in line for line in file.lines[node.lineno if node is nodes[0] else node.lineno - 1 : last]
        ):
            raise Unclear("a comment in it would be lost")
    return _Choice(nodes, start, yes, no)


def _comment(file: OpenFile, node: ast.expr | ast.stmt) -> str:
    """The comment behind the first line of a statement that goes over several."""
    if not isinstance(node, ast.If):
        return ""
    _, mark, text = file.lines[node.lineno - 1].partition("  #")
    return mark + text


def _next(file: OpenFile, node: ast.stmt) -> list[ast.stmt]:
    """The statement behind another one in its block."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(file.parents[node], name, [])
        if isinstance(block, list) and node in block:
            return block[block.index(node) + 1 :][:1]
    return []


def _gives_bool(judge: Judge, test: ast.expr) -> bool:
    """Whether a test that is a tensor is one of bools."""
    match test:
        case ast.Compare(ops=[op]):
            return isinstance(op, ORDER)
        case ast.Call(ast.Attribute(attr=name)):
            return name in results.BOOLEAN
        case ast.Name(name):
            values = judge.bound(test, name)
            return bool(values) and all(one is not None and _gives_bool(judge, one) for one in values)
    return False


def _is_pure(judge: Judge, node: ast.expr) -> bool:
    """Whether an expression draws no random numbers, changes nothing and fails for no value in a tensor."""
    project = judge.bench.tables.project
    for one in ast.walk(node):
        match one:
            case ast.Call(ast.Attribute(attr=name) as function):
                where = judge.file.reference(one)
                symbols = project.symbols(as_fact(function), where.path, where.key)
                dotted = [symbol.dotted for symbol in symbols if isinstance(symbol, ExternalSymbol)]
                known = any(map(results.gives_tensor, dotted)) if dotted else name in _TENSOR_METHODS
                if not known or name.endswith("_") or any(word in name for word in _RANDOM):
                    return False
            case ast.expr() if not isinstance(one, _PLAIN):
                return False
    return True


def _same_either_way(judge: Judge, test: ast.expr, choice: _Choice) -> bool:
    """Whether nobody can tell the choice from the branch: values, shapes, types and gradients agree."""
    judge = replace(judge, by_use=False)
    match test:
        case ast.Compare(left, [_], [right]) if judge.number(right) is not None:
            asked = lineage(judge, left)
        case _:
            return False
    yes, no = lineage(judge, choice.yes), lineage(judge, choice.no)
    if asked is None or yes is None or no is None or not asked.reduced or asked.name != yes.name:
        return False
    floating = replace(yes, floating=yes.floating or asked.floating)
    plain = all(one.linear and not one.itself and not one.reduced for one in (yes, no))
    return plain and floating.alike(no)


# --- islands ----------------------------------------------------------------------------------------------


def ask_for_reason(finding: Finding, bench: Workbench) -> Fix:
    """A comment above an eager island that asks for its reason; raises Unclear where none is defined."""
    project, span = bench.tables.project, finding.span
    targets = {
        call.target.function
        for node, calls in bench.tables.regions.calls.items()
        for call in calls
        if node.function.path == span.path and call.line == span.line
    }
    islands = [
        one for one in sorted(targets) if project.function(one).decorators and _is_disabled(bench, one)
    ]
    if len(islands) != 1:
        raise Unclear("it is no function with a decorator")
    (island,) = islands
    file = bench.open(island.path)
    definition = file.definition(project.function(island))
    if definition is None:
        raise Unclear("its definition cannot be read")
    comment = file.insert_before(definition, "# TODO: say why this stays out of the graph.")
    message = f"ask for the reason above `{definition.name}`"
    return fix_of(message, [comment], "the comment is a stub that you complete")


def _is_disabled(bench: Workbench, where: FunctionRef) -> bool:
    """Whether a decorator keeps a function out of the graph."""
    project = bench.tables.project
    function = project.function(where)
    for decorator in function.decorators:
        callee = decorator.function if isinstance(decorator, Call) else decorator
        for symbol in project.symbols(callee, where.path, function.outer or MODULE_KEY):
            if isinstance(symbol, ExternalSymbol) and symbol.dotted in knowledge.names("disable"):
                return True
    return False


def _torch(bench: Workbench, file: OpenFile, node: ast.AST) -> str:
    """The name of torch where a node stands."""
    where = file.reference(node)
    match bench.tables.project.symbols(Name("torch"), where.path, where.key):
        case (ExternalSymbol("torch"),):
            return "torch"
    raise Unclear("torch is not imported there by its own name")
