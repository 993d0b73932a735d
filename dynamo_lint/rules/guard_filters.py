"""The guards that a compiled region does without, by what its filter drops."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from dynamo_lint.rules.base import Rule, subject
from dynamo_lint.rules.own_filters import Definitions, drops
from dynamo_lint.rules.own_filters import Entry as Guard
from dynamo_lint.state.provenance import Tables

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


def stale(rule: Rule, found: Finding, why: str) -> Finding:
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


def dropped_guards(tables: Tables) -> Dropped:
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
    module = tables.bodies.of(FunctionRef(ref.path, MODULE_KEY)) or []
    nodes = [node for statement in module for node in ast.walk(statement)]
    return next((node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == line), None)


def _constant(tables: Tables, ref: FunctionRef, name: str) -> ast.expr | None:
    """The one value of a name in the functions around a filter, or in its file."""
    outer = tables.project.function(ref).outer
    for key in (outer, MODULE_KEY) if outer else (MODULE_KEY,):
        found = [
            node.value
            for statement in tables.bodies.of(FunctionRef(ref.path, key)) or ()
            for node in ast.walk(statement)
            if isinstance(node, ast.Assign)
            and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
        ]
        if found:
            return found[0] if len(found) == 1 else None
    return None
