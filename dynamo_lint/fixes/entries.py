"""A count in a dict, list or namespace of a module becomes a tensor there, which moves with the module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
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
from dynamo_lint.fixes.edit_session import Elsewhere, OpenFile, Unclear, Workbench, fix_of
from dynamo_lint.fixes.safety import reason
from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.fixes.uses import ATOMS, Flow, flow
from dynamo_lint.index.lower import as_fact
from dynamo_lint.program.refs import ClassRef, ExternalSymbol
from dynamo_lint.state.model import Kind

_ENTRY = re.compile(r"^(\w+)(?:\['(\w+)'\]|\[(\d+)\]|\.(\w+))$")
"""The entry of a dict, the item of a list or the attribute of a namespace, as keys have them."""
_Node = ast.Subscript | ast.Attribute


@dataclass(frozen=True, slots=True)
class _Entry:
    """A part of what an attribute of a module holds."""

    owner: ClassRef
    name: str
    """The attribute."""
    word: str | int
    """What the part is found by."""
    tail: str
    """The same as source: `["calls"]`, `[1]`, `.calls`."""


def fix(finding: Finding, bench: Workbench) -> Fix:
    """The entry as a tensor; raises Unclear where the dict is used as a whole, or something is no integer."""
    entry = _entry_of(finding, bench)
    init = init_of(bench, entry.owner)
    family = family_of(bench, entry.owner, entry.name)
    declaration = declaration_of(init, family)
    torch, imports = torch_name(init.file)
    entries = [
        (mention, _entry_at(mention, entry))
        for mention in family.mentions
        if mention.file.statement(mention.node) is not declaration.statement
    ]
    asked = tuple(dict.fromkeys(_word(node) for _, node in entries))
    places = [(mention, node) for mention, node in entries if _word(node) == entry.word]
    flows = tuple(_flows(bench, entry.name, places))
    rebind = any(one.math for one in flows)
    if rebind and entry.tail.startswith("."):
        raise Unclear("giving a namespace something ends the graph, with a tensor as with a number")
    edits = [*imports, _declared(bench, init.file, declaration.value, entry, asked, torch)]
    for mention, node in places:
        edits += _edits(bench, mention, node, rebind)
    edits += moves(init, f"{entry.name}{entry.tail}")
    why = reason(bench, family, floating=False, flows=flows)
    message = f"keep `{entry.name}{entry.tail}` in a tensor, which moves with the module"
    return fix_of(message, dict.fromkeys(edits), why)


def _entry_of(finding: Finding, bench: Workbench) -> _Entry:
    """The part of a module's attribute that a finding is about; raises Unclear for anything else."""
    project = bench.tables.project
    for identity in finding.keys:
        path, _, rest = identity.partition("::")
        for key in project.files[path].classes if path in project.files else ():
            found = _ENTRY.match(rest.removeprefix(f"{key}.")) if rest.startswith(f"{key}.") else None
            if found is not None and project.is_module(owner := ClassRef(path, key)):
                name, word, index, attribute = found.groups()
                if index is not None:
                    return _Entry(owner, name, int(index), f"[{index}]")
                if attribute is not None:
                    return _Entry(owner, name, attribute, f".{attribute}")
                return _Entry(owner, name, word, f'["{word}"]')
    raise Elsewhere("it is no entry of a module's dict")


def _entry_at(mention: Mention, entry: _Entry) -> _Node:
    """The part that a mention of the attribute is about."""
    node = mention.file.parents[mention.node]
    match node:
        case ast.Subscript(slice=ast.Constant(value=str() | int() as word)) if node.value is mention.node:
            if type(word) is type(entry.word) and not entry.tail.startswith("."):
                return node
        case ast.Attribute() if entry.tail.startswith(".") and node.attr != "__dict__":
            return node
    raise Unclear(f"line {mention.node.lineno} uses all that `{entry.name}` holds")


def _word(node: _Node) -> object:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.slice.value if isinstance(node.slice, ast.Constant) else None


def _declared(
    bench: Workbench, file: OpenFile, value: ast.expr, entry: _Entry, asked: tuple[object, ...], torch: str
) -> Edit:
    """The edit that makes the dict with a tensor in the entry, one of all that are `asked` for."""
    zero = f"{torch}.zeros((), dtype={torch}.long)"
    match _first(bench, file, value, entry):
        case [ast.Constant(value=int() as first) as start] if not isinstance(first, bool):
            return file.replace(start, zero if not first else f"{torch}.tensor({first})")
        case [] if _counts_from_zero(bench, file, value):
            pairs = (f'"{one}": {zero if one == entry.word else 0}' for one in asked)
            return file.replace(value, f"{{{', '.join(pairs)}}}")
    raise Unclear("`__init__` does not give it an integer")


_COUNTER = "collections.Counter"
_BY_KEYWORDS = frozenset({"dict", "builtins.dict", "collections.OrderedDict", _COUNTER})


def _first(bench: Workbench, file: OpenFile, value: ast.expr, entry: _Entry) -> list[ast.expr]:
    """The values that an expression gives to an entry."""
    match value, entry.word:
        case ast.Dict(keys, values), str():
            words = [key.value if isinstance(key, ast.Constant) else None for key in keys]
            return [one for key, one in zip(words, values, strict=True) if key == entry.word]
        case ast.List(elts), int() as index if not any(isinstance(one, ast.Starred) for one in elts):
            return elts[index : index + 1]
        case ast.Call(func, [], keywords), str():
            wanted = {"types.SimpleNamespace"} if entry.tail.startswith(".") else _BY_KEYWORDS
            if _named(bench, file, func) in wanted:
                return [one.value for one in keywords if one.arg == entry.word]
    return []


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


def _flows(bench: Workbench, name: str, places: list[tuple[Mention, _Node]]) -> Iterator[Flow]:
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
        case ast.Assign(
            [ast.Subscript() | ast.Attribute() as target], ast.BinOp(left, ast.Add() | ast.Sub(), right)
        ):
            return right if file.text(left) == file.text(target) else None
    return None


def _edits(bench: Workbench, mention: Mention, node: _Node, rebind: bool) -> Iterator[Edit]:
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
            more = file.one_line(value)
            if rebind:
                sign = "+" if isinstance(op, ast.Add) else "-"
                more = more if isinstance(value, ATOMS) else f"({more})"
                yield file.replace(statement, f"{text} = {text} {sign} {more}")
            elif isinstance(node, ast.Attribute):  # that a namespace is given something ends the graph
                yield file.replace(
                    statement, f"{text}.{'add' if isinstance(op, ast.Add) else 'sub'}_({more})"
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
