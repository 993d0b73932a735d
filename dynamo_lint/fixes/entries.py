"""A count in an entry of a module's dict becomes a tensor in that entry, which moves with the module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.attribute_uses import (
    Mention,
    declaration_of,
    family_of,
    init_of,
    speaks_of,
    torch_name,
)
from dynamo_lint.fixes.buffers import as_number, moves
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, fix_of
from dynamo_lint.fixes.safety import reason
from dynamo_lint.fixes.tensor_values import key_of
from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.fixes.uses import ATOMS, Flow, flow
from dynamo_lint.index.lower import as_fact
from dynamo_lint.program.refs import ExternalSymbol
from dynamo_lint.state.model import Kind

_ENTRY = re.compile(r"^(\w+)\['(\w+)'\]$")
"""The entry of a dict, as keys have it."""


def fix(finding: Finding, bench: Workbench) -> Fix:
    """The entry as a tensor; raises Unclear where the dict is used as a whole, or something is no integer."""
    key = key_of(finding, bench)
    entry = _ENTRY.match(key.attribute)
    project = bench.tables.project
    of_class = key.owner.key in project.files[key.owner.path].classes
    if entry is None or not of_class or not project.is_module(key.owner):
        raise Unclear("it is no entry of a module's dict")
    name, word = entry.groups()
    init = init_of(bench, key.owner)
    family = family_of(bench, key.owner, name)
    declaration = declaration_of(init, family)
    torch, imports = torch_name(init.file)
    entries = [
        (mention, _entry_at(mention))
        for mention in family.mentions
        if mention.file.statement(mention.node) is not declaration.statement
    ]
    words = tuple(dict.fromkeys(str(_word(node)) for _, node in entries))
    places = [(mention, node) for mention, node in entries if _word(node) == word]
    flows = tuple(_flows(bench, name, places))
    rebind = any(one.math for one in flows)
    edits = [*imports, _declared(bench, init.file, declaration.value, word, words, torch)]
    for mention, node in places:
        edits += _edits(bench, mention, node, rebind)
    edits += moves(init, f'{name}["{word}"]')
    why = reason(bench, family, floating=False, flows=flows)
    message = f'keep `{name}["{word}"]` in a tensor, which moves with the module'
    return fix_of(message, dict.fromkeys(edits), why)


def _entry_at(mention: Mention) -> ast.Subscript:
    """The entry that a mention of the dict is part of."""
    match node := mention.file.parents[mention.node]:
        case ast.Subscript(slice=ast.Constant(value=str())) if node.value is mention.node:
            return node
    raise Unclear(f"line {mention.node.lineno} uses the whole dict")


def _word(node: ast.Subscript) -> object:
    return node.slice.value if isinstance(node.slice, ast.Constant) else None


def _declared(
    bench: Workbench, file: OpenFile, value: ast.expr, word: str, words: tuple[str, ...], torch: str
) -> Edit:
    """The edit that makes the dict with a tensor in the entry, one of all `words` that are asked for."""
    zero = f"{torch}.zeros((), dtype={torch}.long)"
    match value:
        case ast.Dict(keys, values):
            words = [key.value if isinstance(key, ast.Constant) else None for key in keys]
            found = [one for key, one in zip(words, values, strict=True) if key == word]
        case ast.Call(func, [], keywords) if _named(bench, file, func) in _BY_KEYWORDS:
            found = [one.value for one in keywords if one.arg == word]
        case _:
            found = []
    match found:
        case [ast.Constant(value=int() as first) as start] if not isinstance(first, bool):
            return file.replace(start, zero if not first else f"{torch}.tensor({first})")
    if found or not _counts_from_zero(bench, file, value):
        raise Unclear("`__init__` does not give it an integer")
    pairs = (f'"{one}": {zero if one == word else 0}' for one in words)
    return file.replace(value, f"{{{', '.join(pairs)}}}")


_COUNTER = "collections.Counter"
_BY_KEYWORDS = frozenset({"dict", "builtins.dict", "collections.OrderedDict", _COUNTER})


def _counts_from_zero(bench: Workbench, file: OpenFile, value: ast.expr) -> bool:
    """Whether a dict begins empty, and what is missing counts as zero."""
    match value:
        case ast.Call(func, [], []):
            return _named(bench, file, func) == _COUNTER
        case ast.Call(func, [ast.Name("int")], []):
            return _named(bench, file, func) == "collections.defaultdict"
    return False


def _named(bench: Workbench, file: OpenFile, func: ast.expr) -> str:
    """The dotted name of what a call runs, as far as it is no code of the project."""
    where = file.reference(func)
    for symbol in bench.tables.project.symbols(as_fact(func), where.path, where.key):
        return symbol.dotted if isinstance(symbol, ExternalSymbol) else ""
    return ast.unparse(func)


def _flows(bench: Workbench, name: str, places: list[tuple[Mention, ast.Subscript]]) -> Iterator[Flow]:
    """The ways of the value through compiled code; raises Unclear where it has to be spelled otherwise."""
    for mention, node in places:
        file = mention.file
        if mention.hot and isinstance(node.ctx, ast.Load) and _added(file, file.statement(node)) is None:
            found = flow(Judge(bench, file), node, name, boolean=False)
            if found.builtins:
                raise Unclear(f"line {node.lineno} compares it")
            yield found


def _added(file: OpenFile, statement: ast.stmt) -> ast.expr | None:
    """The addend of `d["n"] = d["n"] + k`."""
    match statement:
        case ast.Assign([ast.Subscript() as target], ast.BinOp(left, ast.Add() | ast.Sub(), right)):
            return right if file.text(left) == file.text(target) else None
    return None


def _edits(bench: Workbench, mention: Mention, node: ast.Subscript, rebind: bool) -> Iterator[Edit]:
    """The edits of one place that speaks of the entry."""
    file, statement, judge = mention.file, mention.file.statement(node), Judge(bench, mention.file)
    added = _added(file, statement)
    if isinstance(node.ctx, ast.Load):
        if added is None and not mention.hot:
            yield from as_number(file, node, "int")
        return
    text = file.text(node)
    match statement:
        case ast.AugAssign(target, ast.Add() | ast.Sub() as op, value) if target is node:
            if judge.number(value) != Kind.INT or speaks_of(value, mention.node.attr):
                raise Unclear(f"line {statement.lineno} may add something else than an integer")
            if rebind:
                sign = "+" if isinstance(op, ast.Add) else "-"
                more = file.one_line(value)
                yield file.replace(
                    statement, f"{text} = {text} {sign} {more if isinstance(value, ATOMS) else f'({more})'}"
                )
        case ast.Assign([target], value) if target is node and judge.number(value) == Kind.INT:
            first = file.one_line(value)
            if rebind:
                yield file.replace(statement, f"{text} = {text}.new_full((), {first})")
            else:
                yield file.replace(statement, f"{text}.zero_()" if first == "0" else f"{text}.fill_({first})")
        case ast.Assign([target]) if target is node and added is not None:
            if judge.number(added) != Kind.INT:
                raise Unclear(f"line {statement.lineno} may add something else than an integer")
        case _:
            raise Unclear(f"line {statement.lineno} sets it to something else")
