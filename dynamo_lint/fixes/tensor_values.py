"""A tensor for a number that anything may hold: a global, a cell, a plain object, an instance of a module.

The number becomes a tensor at every place that sets it, and eager code takes the number out of it again.
Every use is known of a global that one file speaks of, and of a cell: that is a fix. Everything else is known
by its name alone, so a person has to read the edits.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.attribute_uses import calls_parent, torch_or_import
from dynamo_lint.fixes.edit_session import FUNCTIONS, OpenFile, Unclear, Workbench, fix_of, suggestion
from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.fixes.uses import ATOMS, Seen, clamped, flow
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.state.model import Key, Kind

_SIGNS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_ENTRY = re.compile(r"^(\w+)\['(\w+)'\]$")
"""The entry of a dict, as keys have it."""
_WHY = "the uses are known by their name alone, and whoever else reads it gets a tensor"


@dataclass(frozen=True, slots=True)
class _Mention:
    """A place that sets or reads the number."""

    file: OpenFile
    node: ast.Name | ast.Attribute | ast.Subscript
    hot: bool


_OF_ONE_FILE = "what runs or imports the file otherwise gets a tensor, which stays on the CPU"


def number_as_tensor(finding: Finding, bench: Workbench) -> Fix:
    """Tensors where a number is set; raises Unclear where compiled code needs the number itself."""
    key = key_of(finding, bench)
    return suggestion(_message(key), _all_edits(bench, key, assume=True), _WHY)


def global_fix(finding: Finding, bench: Workbench) -> Fix:
    """The same for a number that one file alone speaks of; raises Unclear for any other."""
    key = key_of(finding, bench)
    path = key.owner.path
    of_module = key.owner.key == MODULE_KEY
    if not of_module and key.owner.key not in bench.tables.project.files[path].functions:
        raise Unclear("an object holds it")
    name = key.attribute.partition("[")[0]
    if of_module and any(other != path for other in bench.files("word", name)):
        raise Unclear("several files speak of it")
    if bench.open(path).texts.get(name) or not _kinds(bench, key) <= {Kind.INT, Kind.FLOAT}:
        raise Unclear("it is named as a text, or is no number")
    return fix_of(_message(key), _all_edits(bench, key, assume=False), _OF_ONE_FILE)


def _message(key: Key) -> str:
    return f"keep `{key.attribute}` in a tensor wherever it is set"


def _all_edits(bench: Workbench, key: Key, assume: bool) -> dict[Edit, None]:
    """The edits at all places that speak of it; `assume` as for `Judge`."""
    mentions = list(_mentions(bench, key))
    if not any(isinstance(one.node.ctx, ast.Store) for one in mentions):
        raise Unclear("nothing in the project sets it under that name")
    dtype = _dtype(bench, key)
    edits: dict[Edit, None] = {}
    walked: Seen = set()
    for mention in mentions:
        edits |= dict.fromkeys(_edits(bench, mention, dtype, walked, assume))
    if entry := _ENTRY.match(key.attribute):
        paths = dict.fromkeys(mention.file.path for mention in mentions)
        first = [edit for path in paths for edit in _literals(bench.open(path), entry[1], entry[2], dtype)]
        if not first:
            raise Unclear("no literal gives the entry its first value")
        edits |= dict.fromkeys(first)
    return edits


def _literals(file: OpenFile, name: str, item: str, dtype: str) -> Iterator[Edit]:
    """The edits of the literals that give an entry of a dict its first value."""
    for value in _first_values(file, name, item):
        torch, imports = torch_or_import(file)
        yield from imports
        yield file.replace(value, _made(torch, file.text(value), dtype))


def _made(torch: str, value: str, dtype: str) -> str:
    """The text that makes a tensor of a value."""
    return f"{torch}.tensor({value}{f', dtype={torch}.{dtype}' if dtype else ''})"


def key_of(finding: Finding, bench: Workbench) -> Key:
    """The state that a finding is about, which has a name of its own."""
    files = bench.tables.project.files
    for identity in finding.keys:
        path, _, rest = identity.partition("::")
        owner, _, name = rest.rpartition(".")
        if not (name.isidentifier() or _ENTRY.match(name)) or path not in files:
            continue
        if owner == MODULE_KEY or owner in files[path].classes or owner in files[path].functions:
            return Key(ClassRef(path, owner), name)
    raise Unclear("it has no name of its own")


def _mentions(bench: Workbench, key: Key) -> Iterator[_Mention]:
    """The places that speak of it, as far as the name shows."""
    if entry := _ENTRY.match(key.attribute):
        yield from _entries(bench, entry[1], entry[2])
        return
    file = bench.open(key.owner.path)
    scoped = key.owner.key == MODULE_KEY or key.owner.key in bench.tables.project.files[file.path].functions
    for node in file.nodes:
        if not isinstance(node, ast.Name) or node.id != key.attribute:
            continue
        if _is_of(file, node, key) if scoped else _is_default(file, node, key):
            yield _Mention(file, node, file.reference(node) in bench.hot)
    if scoped and key.owner.key != MODULE_KEY:
        return
    for path in bench.few_files("word", key.attribute):
        other = bench.open(path)
        for attribute in other.speaking.get(key.attribute, ()):
            if isinstance(attribute, ast.Call):
                raise Unclear(f"{path}:{attribute.lineno} has the name as a text")
            if isinstance(attribute, ast.Attribute):
                yield _Mention(other, attribute, other.reference(attribute) in bench.hot)


def _entries(bench: Workbench, name: str, item: str) -> Iterator[_Mention]:
    """The places that speak of an entry of a dict, and the dict that has its first value."""
    for path in bench.few_files("word", name):
        file = bench.open(path)
        for node in file.nodes:
            match node:
                case ast.Subscript(ast.Name() | ast.Attribute() as owner, ast.Constant(word)) if word == item:
                    if _name(owner) == name:
                        yield _Mention(file, node, file.reference(node) in bench.hot)
                case ast.Name() | ast.Attribute() as whole if _name(whole) == name:
                    outer = file.parents[whole]
                    if not isinstance(outer, ast.Subscript | ast.Assign | ast.AnnAssign | ast.Global):
                        raise Unclear(f"{path}:{whole.lineno} uses the whole dict")


def _first_values(file: OpenFile, name: str, item: str) -> Iterator[ast.expr]:
    """The values that literals give to an entry of a dict."""
    for node in file.nodes:
        match node:
            case ast.Assign([ast.Name() | ast.Attribute() as target], ast.Dict(keys, values)) if (
                _name(target) == name
            ):
                for word, value in zip(keys, values, strict=True):
                    if isinstance(word, ast.Constant) and word.value == item:
                        yield value


def _is_of(file: OpenFile, node: ast.Name, key: Key) -> bool:
    """Whether a name is that of a global, or of a cell of the function that holds it."""
    for outer in file.above(node):
        if isinstance(outer, ast.ClassDef) and key.owner.key == MODULE_KEY:
            continue
        if isinstance(outer, FUNCTIONS):
            if file.keys.get(outer.lineno) == key.owner.key:
                return True
            if _binds(outer, node.id):
                return False
    return key.owner.key == MODULE_KEY


def _binds(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether a name is a local one of a function."""
    arguments = function.args
    if any(one.arg == name for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)):
        return True
    nodes = list(ast.walk(function))
    if any(isinstance(one, ast.Global | ast.Nonlocal) and name in one.names for one in nodes):
        return False
    return any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store) for one in nodes
    )


def _is_default(file: OpenFile, node: ast.Name, key: Key) -> bool:
    """Whether a name is that of a default in the body of the class."""
    above = file.parents.get(file.statement(node))
    return (
        isinstance(node.ctx, ast.Store)
        and isinstance(above, ast.ClassDef)
        and above.name == key.owner.key.rpartition(".")[2]
    )


def _kinds(bench: Workbench, key: Key) -> set[Kind]:
    """The kinds of what is known to be stored."""
    kinds = set(bench.tables.initial.kinds(key))
    for state in (*bench.tables.attributes, *bench.tables.globals):
        if state.key == key:
            kinds |= {kind for site in state.writes for kind in site.write.value.kinds}
            kinds |= {kind for outside in state.outside for kind in outside.kinds}
    return kinds


def _dtype(bench: Workbench, key: Key) -> str:
    """The keyword for the type of the tensors, where ints and floats take turns."""
    kinds = _kinds(bench, key)
    if kinds & {Kind.INT, Kind.BOOL} == kinds:
        return ""
    if kinds <= {Kind.INT, Kind.FLOAT, Kind.BOOL}:
        return "float32"
    raise Unclear("it holds more than numbers")


def _edits(bench: Workbench, mention: _Mention, dtype: str, walked: Seen, assume: bool) -> Iterator[Edit]:
    file, node = mention.file, mention.node
    match node.ctx:
        case ast.Store():
            yield from _set(bench, mention, dtype)
        case ast.Del():
            raise Unclear(f"line {node.lineno} deletes it")
        case _ if mention.hot:
            judge = Judge(bench, file, by_use=True, assume=assume)
            used = flow(judge, node, _name(node), boolean=False, walked=walked)
            for builtin in used.builtins:
                if not isinstance(builtin, ast.Call):
                    raise Unclear(f"line {builtin.lineno} needs it as a Python value")
                yield clamped(file, builtin)
        case _ if not _is_of_itself(file, node):
            yield file.replace(node, f"{file.text(node)}.item()")


def _name(node: ast.Name | ast.Attribute | ast.Subscript) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _is_of_itself(file: OpenFile, node: ast.expr) -> bool:
    """Whether a read is part of the next value of the same, which is a tensor then."""
    statement = file.statement(node)
    if not isinstance(statement, ast.Assign):
        return False
    target = file.text(statement.targets[0])
    return len(statement.targets) == 1 and target == file.text(node)


def _set(bench: Workbench, mention: _Mention, dtype: str) -> Iterator[Edit]:
    """The edits of a statement that sets it."""
    file, node = mention.file, mention.node
    torch, imports = torch_or_import(file)
    statement = file.statement(node)
    match statement:
        case ast.AugAssign(target=target, op=op, value=value) if target is node and type(op) in _SIGNS:
            text = file.text(value) if isinstance(value, ATOMS) else f"({file.text(value)})"
            same = file.text(node)
            yield file.replace(statement, f"{same} = {same} {_SIGNS[type(op)]} {text}")
            return
        case ast.Assign(targets=[target], value=value) if target is node:
            pass
        case ast.AnnAssign(target=target, value=ast.expr() as value) if target is node:
            pass
        case _:
            raise Unclear(f"line {statement.lineno} sets it together with something else")
    yield from imports
    if any(
        isinstance(one, ast.Name | ast.Attribute) and file.text(one) == file.text(node)
        for one in ast.walk(value)
    ):
        return  # computed of a tensor
    judge = Judge(bench, file, kept=_name(node))
    if mention.hot and any(judge.may_hold(one, _name(node)) for one in ast.walk(value)):
        if not judge.is_tensor(value):
            raise Unclear(f"line {statement.lineno} may set it to a number by way of a local name")
        return
    if mention.hot and Judge(bench, file).number(value) is None:
        raise Unclear(f"line {statement.lineno} sets it in compiled code")
    made = _made(torch, file.text(value), dtype)
    if _declares_for_module(bench, mention, statement):
        self_name = file.text(node).partition(".")[0]
        buffer = f'{self_name}.register_buffer("{_name(node)}", {made}, persistent=False)'
        yield file.replace(statement, buffer)
    else:
        yield file.replace(value, made)


def _declares_for_module(bench: Workbench, mention: _Mention, statement: ast.stmt) -> bool:
    """Whether a statement of `__init__` gives a module its first value, where it may have buffers."""
    scope = mention.file.scope(statement)
    if scope is None or scope.name != "__init__" or not isinstance(statement, ast.Assign):
        return False
    owner = bench.tables.project.owner(mention.file.reference(statement))
    if owner is None or not bench.tables.project.is_module(owner) or statement not in scope.body:
        return False
    before = scope.body[: scope.body.index(statement)]
    return mention.file.text(statement).startswith(f"{scope.args.args[0].arg}.") and any(
        calls_parent(one) for one in before
    )
