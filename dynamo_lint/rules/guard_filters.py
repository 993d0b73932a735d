"""DYN303: a region whose guards are dropped reads state that changes; what its filter drops."""

from __future__ import annotations

import ast
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dynamo_lint import knowledge
from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.models.frameworks import DECORATORS
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.entries import calls_at
from dynamo_lint.regions.model import Entry
from dynamo_lint.rules.attributes import (
    external_scalar_attribute,
    global_counter,
    mutated_scalar_attribute,
    none_or_tensor_attribute,
)
from dynamo_lint.rules.base import Context, Rule, named, nodes_of, subject
from dynamo_lint.rules.containers import growing_container
from dynamo_lint.rules.instances import per_instance_constant
from dynamo_lint.state.provenance import Tables

GUARDED = (
    mutated_scalar_attribute,
    external_scalar_attribute,
    none_or_tensor_attribute,
    growing_container,
    global_counter,
    per_instance_constant,
)
"""Rules about what a guard would notice."""


@named("DYN303", "dropped-guards")
def dropped_guards(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Yield the findings of other rules on such a region, as the stale values that they are there."""
    dropped = unguarded_state(tables)
    if not dropped.entries:
        return
    for other in GUARDED:
        for found in other.check(other, tables, context):
            if dropped.covers(found) and found.effect != "stale":
                yield as_stale(rule, found, "the guards of this region are dropped")


DROPPERS = frozenset(name.rpartition(".")[2] for name in DECORATORS)
"""The decorators of frameworks by their last names: they compile once and keep no guard."""
ALL = frozenset({"modules", "globals", "others"})
FILTERS = {name: frozenset(dropped.split()) for name, dropped in knowledge.pairs("guard_filters").items()}
"""The guards that the filters of torch.compiler drop, by what holds the state."""
LENGTHS = ("SEQUENCE_LENGTH", "DICT_KEYS_MATCH")
CONSTANTS = ("EQUALS_MATCH", "CONSTANT_MATCH")
"""The guards on a number: both are there, and each alone makes Dynamo compile again."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The state that a finding is about."""

    kind: str
    """What holds it: `modules`, `globals` or `others`."""
    name: str | None
    """Of its guard; None where that is not known."""
    types: tuple[str, ...]
    """Of its guards."""


Filter = Callable[[Asked], bool]
"""Whether a filter drops the guards on some state."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """The state that compiled code reads without a guard."""

    entries: Mapping[tuple[str, int], tuple[Filter, ...]]
    """The filters by path and line of the entry."""
    targets: Mapping[tuple[str, int], str]
    """The class whose `forward` an entry compiles."""
    roots: Mapping[str, str]
    """The kind of a finding's subject, where it is not state of a module."""

    def covers(self, found: Finding) -> bool:
        """Whether nothing guards the state that a finding is about."""
        filters = self.entries.get(found.region, ()) if found.region else ()
        return bool(filters) and any(drops(self._asked(found)) for drops in filters)

    def _asked(self, found: Finding) -> Asked:
        subject = found.subject
        owner, _, path = subject.partition(".")
        types = LENGTHS if found.code == "DYN105" else CONSTANTS
        if subject.endswith(")"):
            return Asked("others", subject[:-1].rpartition("(")[2], types)
        kind = self.roots.get(subject, "modules" if path else "others")
        name = None
        if kind == "modules" and found.region is not None and owner == self.targets.get(found.region):
            name = f"self.{path}"
        elif not path:
            name = f"G[{subject!r}]" if kind == "globals" else subject
        return Asked(kind, name, types)


def as_stale(rule: Rule, found: Finding, why: str) -> Finding:
    """The finding of another rule about what a guard would notice, where there is none: a stale value."""
    return replace(
        found,
        code=rule.code,
        name=rule.name,
        message=f"{found.message.rpartition(', and Dynamo')[0] or found.message}, but {why}",
        cost="compiled code keeps the value of the first run; no error is raised",
        effect="stale",
        entries=None,
        severity="error",
    )


def unguarded_state(tables: Tables) -> Dropped:
    """Return the state that no guard watches, by the entries that filter or skip guards."""
    found = {(entry.path, entry.line): _filters(tables, entry) for entry in tables.regions.entries}
    kinds = {"global": "globals", "closure": "others", "argument": "others", "bound": "others"}
    states = (*tables.attributes, *tables.globals)
    roots = {subject(state): kinds[state.root] for state in states if state.root in kinds}
    targets = {
        (entry.path, entry.line): entry.target.rpartition("::")[2].removesuffix(".forward")
        for entry in tables.regions.entries
    }
    return Dropped({place: filters for place, filters in found.items() if filters}, targets, roots)


def _filters(tables: Tables, entry: Entry) -> tuple[Filter, ...]:
    if entry.path not in tables.project.files:
        return ()
    if any(terminal_name(decorator) in DROPPERS for decorator in _decorators(tables, entry)):
        return (_of_torch(ALL),)
    calls = calls_at(tables.project, entry.path, entry.line)
    options = [value for call in calls for name, value in call.keywords if name == "options"]
    return tuple(one for value in options for one in _given(tables, entry, value))


def _of_torch(kinds: frozenset[str]) -> Filter:
    return lambda asked: asked.kind in kinds


def _decorators(tables: Tables, entry: Entry) -> list[ir.Expr]:
    """Those of the definitions whose decorators or `def` an entry points at."""
    memo, key = tables.project.memo, ("decorators by line", entry.path)
    if key not in memo:
        table: dict[int, list[ir.Expr]] = defaultdict(list)
        file = tables.project.files[entry.path]
        definitions: list[ir.Function | ir.Class] = [*file.functions.values(), *file.classes.values()]
        for one in definitions:
            for line in range(one.first_line, one.line + 1) if one.decorators else ():
                table[line] += one.decorators
        memo[key] = dict(table)
    return memo[key].get(entry.line, [])  # type: ignore[attr-defined, no-any-return]


def _given(tables: Tables, entry: Entry, options: ir.Expr) -> Iterator[Filter]:
    """The filters in `options={"guard_filter_fn": …}`, also through a name."""
    match options:
        case ir.Display("dict", values, keys):
            for key, value in zip(keys, values, strict=False):
                if key == "guard_filter_fn":
                    yield from _meant(tables, entry.path, value)
        case ir.Name(name):
            for function in tables.project.files[entry.path].functions.values():
                for binding in function.bindings:
                    if binding.name == name and isinstance(binding.value, ir.Display):
                        yield from _given(tables, entry, binding.value)


def _meant(tables: Tables, path: str, function: ir.Expr) -> Iterator[Filter]:
    """The filters that an expression stands for: one of torch, or functions of the project."""
    if (known := FILTERS.get(terminal_name(function) or "")) is not None:
        yield _of_torch(known)
        return
    for ref in tables.project.symbols(function, path):
        if isinstance(ref, FunctionRef):
            parameters = tables.project.function(ref).parameters
            body = _body(tables, ref)
            if body is not None and parameters:
                yield partial(_drops, body, parameters[0].name, partial(_constant, tables, ref))


def _drops(body: Sequence[ast.stmt] | ast.Lambda, entries: str, known: Definitions, asked: Asked) -> bool:
    """Whether a filter of the project drops all guards on some state."""
    guards = [Guard(one, asked.kind == "globals", asked.name) for one in asked.types]
    return all(drops(body, entries, guard, known) for guard in guards)


def _body(tables: Tables, ref: FunctionRef) -> Sequence[ast.stmt] | ast.Lambda | None:
    """The statements of a function, or the lambda that it is."""
    body = tables.bodies.of(ref)
    if body is not None:
        return body
    line = tables.project.function(ref).line
    nodes = nodes_of(tables, FunctionRef(ref.path, MODULE_KEY))
    return next((node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == line), None)


def _constant(tables: Tables, ref: FunctionRef, name: str) -> ast.expr | None:
    """The one value of a name in the functions around a filter, or in its file."""
    outer = tables.project.function(ref).outer
    for key in (outer, MODULE_KEY) if outer else (MODULE_KEY,):
        found = [
            node.value
            for node in nodes_of(tables, FunctionRef(ref.path, key))
            if isinstance(node, ast.Assign)
            and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
        ]
        if found:
            return found[0] if len(found) == 1 else None
    return None


_COMPARE: Mapping[type[ast.cmpop], Callable[[object, object], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
}
_OF_TEXTS = frozenset({"startswith", "endswith", "lower", "upper", "strip", "lstrip", "rstrip"})
Definitions = Callable[[str], ast.expr | None]
"""The one value of a name around the filter."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard as a filter sees it (`GuardFilterEntry` in torch/_dynamo/types.py)."""

    guard_type: str
    is_global: bool
    name: str | None
    """None where it is not known."""


class _Unknown(Exception):
    """The text does not tell."""


def drops(function: Sequence[ast.stmt] | ast.Lambda, entries: str, asked: Guard, known: Definitions) -> bool:
    """Whether a filter, which calls its parameter `entries`, surely drops a guard."""
    try:
        return not _Filter(entries, asked, known).kept(function)
    except (_Unknown, TypeError, ValueError):
        return False


@dataclass(slots=True)
class _Filter:
    entries: str
    asked: Guard
    known: Definitions

    def kept(self, function: Sequence[ast.stmt] | ast.Lambda) -> object:
        if isinstance(function, ast.Lambda):
            return self._list(function.body, {})
        match function:
            case [*before, ast.Assign([ast.Name(made)], value), ast.Return(ast.Name(given))] if made == given:
                found = self._list(value, {})
            case [*before, ast.For(target, iterable, body, []), ast.Return(ast.Name(given))]:
                found = self._added(body, self._item(target, iterable), given)
            case [*before, ast.Return(ast.expr() as value)]:
                found = self._list(value, {})
            case _:
                raise _Unknown
        if not all(_is_idle(one) for one in before):
            raise _Unknown
        return found

    def _list(self, node: ast.expr, names: Mapping[str, object]) -> object:
        """The element for the guard in the list that an expression makes."""
        match node:
            case ast.ListComp(element, [ast.comprehension(target, iterable, [])]):
                return self.value(element, {**names, **self._item(target, iterable)})
            case ast.Call(
                ast.Name("list"), [ast.GeneratorExp(element, [ast.comprehension(target, over, [])])]
            ):
                return self.value(element, {**names, **self._item(target, over)})
            case ast.BinOp(ast.List([element]), ast.Mult()) | ast.BinOp(_, ast.Mult(), ast.List([element])):
                return self.value(element, names)
        raise _Unknown

    def _item(self, target: ast.expr, iterable: ast.expr) -> dict[str, object]:
        """The names that a loop over the guards gives the one that is asked about."""
        match target, iterable:
            case ast.Name(name), ast.Name(over) if over == self.entries:
                return {name: self.asked}
            case ast.Tuple([_, ast.Name(name)]), ast.Call(ast.Name("enumerate"), [ast.Name(over), *_]) if (
                over == self.entries
            ):
                return {name: self.asked}
        return {}

    def _added(self, statements: Iterable[ast.stmt], names: dict[str, object], result: str) -> object:
        """The value that a round of a loop appends to a list for the guard."""
        for statement in statements:
            match statement:
                case ast.If(test, body, orelse):
                    found = self._added(body if self.value(test, names) else orelse, names, result)
                    if found is not None:
                        return found
                case ast.Expr(ast.Call(ast.Attribute(_, "append"), [value])) | ast.Return(
                    ast.expr() as value
                ):
                    return bool(self.value(value, names))
                case ast.Assign([ast.Name(name)], value):
                    names[name] = self.value(value, names)
                case ast.Expr(ast.Constant()) | ast.Pass():
                    pass
                case _:
                    raise _Unknown
        return None

    def value(self, node: ast.expr, names: Mapping[str, object]) -> object:
        """The value of an expression; raises where the text does not tell."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                if name in names:
                    return names[name]
                found = self.known(name)
                if found is not None:
                    return self.value(found, {})
            case ast.Attribute(ast.Name(name), "name" | "guard_type" | "is_global" as asked) if isinstance(
                entry := names.get(name), Guard
            ):
                held: object = getattr(entry, asked)
                if held is not None:
                    return held
            case ast.Tuple(items) | ast.List(items) | ast.Set(items):
                return tuple(self.value(one, names) for one in items)
            case ast.UnaryOp(ast.Not(), inner):
                return not self.value(inner, names)
            case ast.BoolOp(how, parts):
                return self._together(parts, isinstance(how, ast.Or), names)
            case ast.IfExp(test, body, orelse):
                return self.value(body if self.value(test, names) else orelse, names)
            case ast.Compare(left, [how], [right]):
                return self._compared(how, self.value(left, names), self.value(right, names))
            case ast.Call():
                return self._called(node, names)
        raise _Unknown

    def _together(self, parts: Sequence[ast.expr], ends: bool, names: Mapping[str, object]) -> bool:
        """The outcome of `and` and `or`: one part may decide, whatever the others are."""
        told = [self._told(part, names) for part in parts]
        if ends in told:
            return ends
        if None in told:
            raise _Unknown
        return not ends

    def _told(self, part: ast.expr, names: Mapping[str, object]) -> bool | None:
        try:
            return bool(self.value(part, names))
        except _Unknown:
            return None

    def _compared(self, how: ast.cmpop, left: object, right: object) -> object:
        if isinstance(how, ast.In | ast.NotIn) and isinstance(right, str | tuple):
            return (left in right) is isinstance(how, ast.In)
        if type(how) in _COMPARE:
            return _COMPARE[type(how)](left, right)
        raise _Unknown

    def _called(self, node: ast.Call, names: Mapping[str, object]) -> object:
        match node:
            case ast.Call(
                ast.Name("any" | "all" as how),
                [ast.GeneratorExp(element, [one]) | ast.ListComp(element, [one])],
            ) if isinstance(one.target, ast.Name) and not one.ifs:
                over = self.value(one.iter, names)
                outcomes = [
                    self.value(element, {**names, one.target.id: held})
                    for held in (over if isinstance(over, tuple) else ())
                ]
                if isinstance(over, tuple):
                    return any(outcomes) if how == "any" else all(outcomes)
            case ast.Call(ast.Name("bool"), [inner]):
                return bool(self.value(inner, names))
            case ast.Call(ast.Attribute(value, method), arguments, []) if method in _OF_TEXTS:
                text = self.value(value, names)
                if isinstance(text, str):
                    return getattr(text, method)(*(self.value(one, names) for one in arguments))
        raise _Unknown


def _is_idle(statement: ast.stmt) -> bool:
    """Whether a statement decides nothing: a docstring, or an empty list."""
    match statement:
        case ast.Expr(ast.Constant()) | ast.Assign([_], ast.List([])) | ast.AnnAssign(_, _, ast.List([])):
            return True
    return False
