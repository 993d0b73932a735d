"""The guards that a compiled region does without, by what its filter drops."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dynamo_lint import knowledge
from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.models.frameworks import DECORATORS
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.entries import calls_at
from dynamo_lint.regions.model import Entry
from dynamo_lint.rules.base import subject
from dynamo_lint.state.provenance import Tables

DROPPERS = frozenset(name.rpartition(".")[2] for name in DECORATORS)
"""The decorators of frameworks by their last names: they compile once and keep no guard."""


ALL = frozenset({"modules", "globals", "others"})
FILTERS = {name: frozenset(dropped.split()) for name, dropped in knowledge.pairs("guard_filters").items()}
"""The guards that the filters of torch.compiler drop, by what holds the state."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """The state that compiled code reads without a guard."""

    entries: Mapping[tuple[str, int], frozenset[str]]
    """The kinds of state, by path and line of the entry."""
    roots: Mapping[str, str]
    """The kind of a finding's subject, where it is not state of a module."""

    def covers(self, found: Finding) -> bool:
        """Whether nothing guards the state that a finding is about."""
        kinds = self.entries.get(found.region, frozenset()) if found.region else frozenset()
        return self.roots.get(found.subject, "modules") in kinds


def dropped_guards(tables: Tables) -> Dropped:
    """Return the state that no guard watches, by the entries that filter or skip guards."""
    found = {(entry.path, entry.line): _drops(tables, entry) for entry in tables.regions.entries}
    kinds = {"global": "globals", "closure": "others", "argument": "others", "bound": "others"}
    states = (*tables.attributes, *tables.globals)
    roots = {subject(state): kinds[state.root] for state in states if state.root in kinds}
    return Dropped({place: kinds for place, kinds in found.items() if kinds}, roots)


def _drops(tables: Tables, entry: Entry) -> frozenset[str]:
    if entry.path not in tables.project.files:
        return frozenset()
    if any(terminal_name(decorator) in DROPPERS for decorator in _decorators(tables, entry)):
        return ALL
    calls = calls_at(tables.project, entry.path, entry.line)
    options = [value for call in calls for name, value in call.keywords if name == "options"]
    return frozenset[str]().union(*(_filtered(tables, entry, value) for value in options))


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


def _filtered(tables: Tables, entry: Entry, options: ir.Expr) -> frozenset[str]:
    """The kinds that `options={"guard_filter_fn": …}` drops, also through a name."""
    match options:
        case ir.Display("dict", values, keys):
            found = [value for key, value in zip(keys, values, strict=False) if key == "guard_filter_fn"]
            return frozenset[str]().union(*(_dropped_by(tables, entry.path, value) for value in found))
        case ir.Name(name):
            bound = [
                binding.value
                for function in tables.project.files[entry.path].functions.values()
                for binding in function.bindings
                if binding.name == name and isinstance(binding.value, ir.Display)
            ]
            return frozenset[str]().union(*(_filtered(tables, entry, value) for value in bound))
    return frozenset()


def _dropped_by(tables: Tables, path: str, function: ir.Expr) -> frozenset[str]:
    """The kinds that a filter drops; of one of the project, what its text tells without doubt."""
    if (known := FILTERS.get(terminal_name(function) or "")) is not None:
        return known
    symbols = tables.project.symbols(function, path)
    refs = [symbol for symbol in symbols if isinstance(symbol, FunctionRef)]
    nodes = [node for ref in refs for tree in _trees(tables, ref) for node in ast.walk(tree)]
    asked = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    constants = {node.value for node in nodes if isinstance(node, ast.Constant)}
    if asked == {"is_global"}:
        return frozenset({"globals"})
    tensors = asked == {"guard_type"} and "TENSOR_MATCH" in constants
    return ALL if tensors or (not asked and False in constants and True not in constants) else frozenset()


def _trees(tables: Tables, ref: FunctionRef) -> Iterable[ast.AST]:
    """The statements of a function, or the lambda that it is."""
    body = tables.bodies.of(ref)
    if body is not None:
        return body
    line = tables.project.function(ref).line
    module = tables.bodies.of(FunctionRef(ref.path, MODULE_KEY)) or []
    nodes = [node for statement in module for node in ast.walk(statement)]
    return [node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == line]
