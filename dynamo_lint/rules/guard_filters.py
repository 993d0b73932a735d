"""DYN303: a region whose guards are dropped reads state that changes; what its filter drops."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.interpreter.compiled import UNGUARDED
from dynamo_lint.interpreter.filters import FILTERS, OF_CONSTANTS, OPTION, entry
from dynamo_lint.interpreter.guards import SIZES, Cache
from dynamo_lint.interpreter.model import UNKNOWN, Closure, Exhausted, External, Failed, Frame
from dynamo_lint.interpreter.stage import NOWHERE, Failing
from dynamo_lint.interpreter.statements import Runner
from dynamo_lint.models.drivers import NAMED
from dynamo_lint.models.frameworks import DROPPERS
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.entries import calls_at
from dynamo_lint.regions.model import Entry
from dynamo_lint.rules.base import Claim, Context, Rule, named, nodes_of, subject
from dynamo_lint.rules.instances import per_instance_constant
from dynamo_lint.rules.interpreted import stated, turning, unit_name
from dynamo_lint.state.provenance import Tables

GUARDED = (per_instance_constant,)
"""Rules about what a guard would notice."""


@named("DYN303", "dropped-guards")
def dropped_guards(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Yield the findings of other rules on such a region, as the stale values that they are there."""
    dropped = unguarded_state(tables)
    if not dropped.entries:
        return
    for other in GUARDED:
        for found in other.check(other, tables, context):
            if found.effect != "stale" and dropped.covers(found):
                yield as_stale(rule, found, "the guards of this region are dropped")
    yield from _of_calls(rule, tables, context)


def _of_calls(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """A note for each call with sizes or in a mode that its graph was not made for, and nothing guards on."""
    for one in turning(tables, lambda met: met.what if met.what.startswith(UNGUARDED) else ""):
        what, name = one.last.what.removeprefix(UNGUARDED), unit_name(one.last.unit)
        mode = f"{NAMED.get(what, what)} is not as it was when `{name}` was compiled"
        differs = f"`{name}` is called with other sizes here than it was compiled for"
        claim = Claim(
            message=f"{differs if what == SIZES else mode}, and a filter drops the guard on that",
            cost="the graph of the first call serves this one: what it took from there stays",
            effect="stale",
            severity="note",
            subject=f"{name}: {what}",
            advice="keep the guards on tensors and on modes",
            step="differs from the first call",
        )
        yield stated(rule, tables, context, one.site, claim, one.last)


OF_LIBRARIES = "use few distinct values, or write the operation out with the value in a tensor"
_KEEP = "keep the guard on it, or pass a tensor instead: here even a second value is one too many"
_ALL = "skip_all_guards_unsafe"
LENGTHS = ("SEQUENCE_LENGTH", "DICT_KEYS_MATCH")


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
        types = LENGTHS if found.code == "DYN105" else OF_CONSTANTS
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
    fix = found.fix
    if fix is not None and (found.code == "DYN109" or fix.message == OF_LIBRARIES):
        fix = replace(fix, message=_KEEP)
    return replace(
        found,
        fix=fix,
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
        return (_filter(tables, External(_ALL)),)
    calls = calls_at(tables.project, entry.path, entry.line)
    options = [value for call in calls for name, value in call.keywords if name == "options"]
    return tuple(one for value in options for one in _given(tables, entry, value))


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
                if key == OPTION:
                    yield from _meant(tables, entry.path, value)
        case ir.Name(name):
            for function in tables.project.files[entry.path].functions.values():
                for binding in function.bindings:
                    if binding.name == name and isinstance(binding.value, ir.Display):
                        yield from _given(tables, entry, binding.value)


def _meant(tables: Tables, path: str, function: ir.Expr) -> Iterator[Filter]:
    """The filters that an expression stands for: one of torch, or functions of the project."""
    if (name := terminal_name(function) or "") in FILTERS:
        yield _filter(tables, External(name))
        return
    for ref in tables.project.symbols(function, path):
        if isinstance(ref, FunctionRef):
            yield _filter(tables, ref)


def _filter(tables: Tables, chosen: External | FunctionRef) -> Filter:
    """Whether a filter surely drops all guards on some state, as the interpreter runs it."""
    memo, key = tables.project.memo, ("filter", chosen)
    if key not in memo:
        stage = Runner(tables.project, tables.bodies, Failing(), {}, tables.torch_version)
        function = chosen if isinstance(chosen, External) else _closure(tables, stage, chosen)
        memo[key] = partial(_drops, stage, function, Cache())
    return memo[key]  # type: ignore[return-value]


def _drops(stage: Runner, function: object, cache: Cache, asked: Asked) -> bool:
    name = UNKNOWN if asked.name is None else asked.name
    guards = [entry(one, (OF_CONSTANTS[-1],), name, UNKNOWN, asked.kind) for one in asked.types]
    with suppress(Exhausted, Failed, RecursionError):
        return all(stage.keeps(function, one, cache, NOWHERE) is False for one in guards)
    return False


def _closure(tables: Tables, stage: Runner, ref: FunctionRef) -> Closure:
    """A function or a lambda, with the values of names that the function around it gives once."""
    body = tables.bodies.of(ref)
    line = tables.project.function(ref).line
    home = FunctionRef(ref.path, tables.project.function(ref).outer or MODULE_KEY)
    around = Frame(home)
    nodes = nodes_of(tables, FunctionRef(ref.path, MODULE_KEY)) if body is None else ()
    made = next((node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == line), None)
    wanted: list[ast.AST] = [made.body] if made is not None else [*(body or ())]
    names = {node.id for part in wanted for node in ast.walk(part) if isinstance(node, ast.Name)}
    values: dict[str, list[ast.expr]] = defaultdict(list)
    for node in nodes_of(tables, home):
        match node:
            case ast.Assign([ast.Name(name)], value) if name in names:
                values[name].append(value)
    with suppress(Exhausted, Failed, RecursionError):
        around.outer = stage.file(ref.path)
        around.names |= {name: stage.value(one, around) for name, (one, *more) in values.items() if not more}
    return Closure(ref, around, body=made)
