"""The guard surface: the Python values that compiled code reads, and that Dynamo compares in every call."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.guards import Guarded
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Attribute, Constant, Display, Expr, Name
from dynamo_lint.index.lower import as_fact
from dynamo_lint.index.spelling import spelled
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, File, FunctionRef
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.state.initial import SETUP, Initial
from dynamo_lint.state.model import Key, Kind, Outside
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.model import Context, Instance
from dynamo_lint.values.points_to import evaluate

_KINDS = {
    Kind.INT: "int",
    Kind.BOOL: "bool",
    Kind.FLOAT: "float",
    Kind.STR: "str",
    Kind.TUPLE: "tuple",
    Kind.ENUM: "enum member",
    Kind.NONE: "None",
    Kind.CONTAINER: "list or dict",
}
_NUMBERS = frozenset(
    {"int", "float", "bool", "str", "len", "max", "min", "round", "list", "dict", "tuple", "set"}
)
_READS = frozenset({"get", "getenv"})


@dataclass(frozen=True, slots=True)
class GuardedRead:
    """A guarded value, and the first line of compiled code that reads it."""

    guarded: Guarded
    hot: CompiledFunction
    line: int
    keys: frozenset[Key] = frozenset()
    """Its keys in the tables: by the class that was asked, and by the one that declares it."""


def guard_surface(tables: Tables) -> tuple[GuardedRead, ...]:
    """The surface of all regions, in file order, each value once for each region."""
    found: dict[tuple[str, str, str, str], GuardedRead] = {}
    written = _written(tables)
    for hot in tables.regions.hot:
        targets = list(dict.fromkeys(tables.regions.entries[number].target for number in hot.entries))
        for line, (kind, name, type_, places, writers, keys) in _of_function(tables, hot, written):
            for target in targets:
                one = Guarded(target, kind, name, type_, places, writers)
                known = found.setdefault(one.identity, GuardedRead(one, hot, line))
                if not keys <= known.keys:
                    found[one.identity] = replace(known, keys=known.keys | keys)
    return tuple(found[identity] for identity in sorted(found))


def guarded_reads(tables: Tables) -> dict[FunctionRef, int]:
    """How many values of the surface each compiled function reads."""
    written = _written(tables)
    found: dict[FunctionRef, set[tuple[str, str]]] = defaultdict(set)
    for hot in tables.regions.hot:
        found[hot.function].update(row[:2] for _, row in _of_function(tables, hot, written))
    return {function: len(values) for function, values in found.items() if values}


def _written(tables: Tables) -> set[Key]:
    """The state that compiled code writes."""
    return {state.key for state in (*tables.attributes, *tables.globals) if state.writes or state.mutations}


_Row = tuple[str, str, str, tuple[str, ...], str, frozenset[Key]]
"""What it is, its name, its type, where it is set, who writes it, and its keys."""


def _of_function(tables: Tables, hot: CompiledFunction, written: set[Key]) -> Iterator[tuple[int, _Row]]:
    body = tables.bodies.of(hot.function) or ()
    nodes = [node for statement in body for node in ast.walk(statement)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    eager = tables.project.function(hot.function).runs_eagerly
    for node in nodes:
        line = getattr(node, "lineno", 0)
        if not line or eager(line):
            continue
        match node:
            case ast.Attribute(ctx=ast.Load()) if id(node) not in called:
                yield from ((line, row) for row in _attribute(tables, hot, node, written))
            case ast.Name(name, ast.Load()) if id(node) not in called:
                yield from ((line, row) for row in _global(tables, hot, name, written))
            case ast.AugAssign(target=ast.Attribute() as target):
                yield from ((line, row) for row in _attribute(tables, hot, target, written))
            case ast.AugAssign(target=ast.Name(name)):
                yield from ((line, row) for row in _global(tables, hot, name, written))
            case ast.Call(func=ast.Name("getattr"), args=[base, ast.Constant(str(name)), *_]):
                asked = ast.Attribute(base, name, ast.Load())
                yield from ((line, row) for row in _attribute(tables, hot, asked, written))
            case ast.Call() | ast.Subscript() | ast.Compare():
                if variable := _variable(node):
                    yield line, ("environment", variable, "str", (), "outside", frozenset())


def _attribute(
    tables: Tables, hot: CompiledFunction, node: ast.Attribute, written: set[Key]
) -> Iterator[_Row]:
    project, initial = tables.project, tables.initial
    for owner in _owners(tables, hot, node.value):
        key = Key(owner, node.attr)
        if project.method(owner, node.attr) is not None:
            continue
        outside = initial.outside(key)
        kind = _kind(project, outside)
        if not kind:
            continue
        home = initial.declared_in(key)
        first = [one for one in outside if one.initial] or list(outside)
        places = tuple(dict.fromkeys(f"{one.path}:{one.line}" for one in first))
        writers = _writers(initial, key, outside, written)
        keys = frozenset({key, Key(home, node.attr)})
        yield "attribute", f"{home.name}.{node.attr}", kind, places, writers, keys


def _owners(tables: Tables, hot: CompiledFunction, base: ast.expr) -> list[ClassRef]:
    """The classes of the project that hold an attribute."""
    own = tables.project.self_name(hot.function)
    if isinstance(base, ast.Name) and base.id == own:
        return [hot.receiver] if hot.receiver is not None else []
    if not isinstance(base, ast.Name | ast.Attribute):
        return []
    values = evaluate(tables.project, as_fact(base), Context(hot.function, hot.receiver))
    return [value.ref for value in values if isinstance(value, Instance)]


def _kind(project: Project, outside: Iterable[Outside]) -> str:
    """The types of the values that an attribute is given, as words; empty for tensors and modules."""
    words: dict[str, None] = {}
    for one in outside:
        if one.kinds & {Kind.TENSOR, Kind.OBJECT, Kind.COUNT}:
            return ""
        for kind in sorted(one.kinds, key=lambda kind: kind.value):
            words[_KINDS[kind]] = None
        if not one.kinds:
            if not _is_plain(project, one.value, one.where):
                return ""
            words["unknown"] = None
    return " or ".join(words)


def _is_plain(project: Project, value: Expr, where: FunctionRef | None) -> bool:
    """Whether a value whose type is not known is probably a number, a flag or a text: an argument, a sum."""
    match value:
        case ir.Call(function):
            return isinstance(function, Name) and function.id in _NUMBERS
        case Name() | Attribute() if where is not None:
            found = evaluate(project, value, Context(where, project.owner(where)))
            return not found
        case ir.Choice(options):
            return all(_is_plain(project, one, where) for one in options)
    return isinstance(value, Constant | Display)


def _writers(initial: Initial, key: Key, outside: Iterable[Outside], written: set[Key]) -> str:
    """Who gives the attribute its values: compiled code, code outside, the constructor alone, or nobody."""
    project = initial.project
    line = set(project.mro(key.owner))
    hot = [
        where
        for base in line
        for where, _ in project.own_stores(base).get(key.attribute, ())
        if where in initial.hot and where.key.rpartition(".")[2] not in SETUP
    ]
    if hot or any(one.attribute == key.attribute and one.owner in line for one in written):
        return "compiled"
    later = [one for one in outside if not one.initial or _is_set_later(project, one.where)]
    return "outside" if later else "constructor" if any(True for _ in outside) else "nobody"


def _is_set_later(project: Project, where: FunctionRef | None) -> bool:
    """Whether a function is the setter of a property that other code than constructors sets."""
    if where is None or not where.key.endswith("@setter"):
        return False
    name = where.key.removesuffix("@setter").rpartition(".")[2]
    return any(one.key.rpartition(".")[2] not in SETUP for one, _ in project.stores_of(name))


def _global(tables: Tables, hot: CompiledFunction, name: str, written: set[Key]) -> Iterator[_Row]:
    """A variable of a file, if it holds a plain value."""
    project, function = tables.project, tables.project.function(hot.function)
    local = {one.name for one in function.parameters} | {one.name for one in function.bindings}
    if name in local and name not in function.globals:
        return
    home = FunctionRef(hot.function.path, MODULE_KEY)
    bindings = project.bindings_of(home).get(name, ())
    for binding in bindings:
        if isinstance(binding.value, ir.Import) and binding.value.name is not None:
            paths = [
                one.path
                for one in project.imported_modules(binding.value, home.path)
                if isinstance(one, File)
            ]
            if len(paths) == 1:
                home, name = FunctionRef(paths[0], MODULE_KEY), binding.value.name
                bindings = project.bindings_of(home).get(name, ())
            break
    kinds = {_of_value(one.value) for one in bindings}
    if not kinds or "" in kinds:
        return
    places = tuple(dict.fromkeys(f"{home.path}:{one.line}" for one in bindings))
    module = project.files[home.path].module
    here = (FunctionRef(home.path, key) for key in project.files[home.path].functions)
    inside = [ref for ref in here if name in project.function(ref).globals]
    hot_functions = tables.initial.hot
    writers = "compiled" if any(one in hot_functions for one in inside) else "outside" if inside else "import"
    keys = frozenset({Key(ClassRef(home.path, MODULE_KEY), name)})
    yield "global", f"{module}:{name}", " or ".join(sorted(kinds)), places, writers, keys


def _of_value(value: Expr) -> str:
    match value:
        case Constant(None):
            return "None"
        case Constant(bool() | int() | float() | str() as plain):
            return type(plain).__name__
        case Display("list" | "dict" | "tuple" | "set" as kind):
            return kind
    return ""


def _variable(node: ast.expr) -> str:
    """The variable of the environment that an expression reads; empty if it reads none."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[ast.Constant(str(key)), *_]):
            asked = name in _READS and spelled(owner) in {"os.environ", "environ", "os"}
            return key if asked else ""
        case ast.Call(func=ast.Name("getenv"), args=[ast.Constant(str(key)), *_]):
            return key
        case ast.Subscript(value=owner, slice=ast.Constant(str(key))):
            return key if spelled(owner) in {"os.environ", "environ"} else ""
        case ast.Compare(left=ast.Constant(str(key)), ops=[ast.In() | ast.NotIn()], comparators=[owner]):
            return key if spelled(owner) in {"os.environ", "environ"} else ""
    return ""
