"""The state tables: the hot code that matters, its effects on state, and other writes to that."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index import ir
from dynamo_lint.index.ir import ITEM, Function
from dynamo_lint.instances.find import find_units
from dynamo_lint.models.releases import holds
from dynamo_lint.program.function_bodies import Bodies, ReadSource
from dynamo_lint.program.item_path import item_path
from dynamo_lint.program.names import MUTATORS
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef, Node
from dynamo_lint.regions.model import CompiledFunction, Regions
from dynamo_lint.regions.policy import Policies
from dynamo_lint.state.arguments import Passed, calls_of, passed
from dynamo_lint.state.entry_facts import Facts, entry_facts
from dynamo_lint.state.free_variables import REGISTRARS, Names
from dynamo_lint.state.initial import Initial
from dynamo_lint.state.interpret import interpret
from dynamo_lint.state.model import (
    AttributeState,
    Callee,
    FunctionState,
    Key,
    Kinds,
    MutationSite,
    Place,
    ReadSite,
    WriteSite,
)
from dynamo_lint.state.operators import fakeless_calls
from dynamo_lint.state.places import Linker
from dynamo_lint.state.provenance import Origins, Tables
from dynamo_lint.state.writers import ExternalWrites

_MAX_CALL_DEPTH = 10
_WORD = re.compile(r"\w+")
_STEPS = 2_000_000
"""Steps for the hot functions of one file, some ten seconds: hundreds of times what real code takes."""
ROOTS = ("state", "global", "bound", "argument", "choice", "closure")
"""How hot code gets at an object that outlives the call; where there are two ways, the first decides."""


def build(
    project: Project,
    regions: Regions,
    read_source: ReadSource,
    torch_version: tuple[int, int] = (2, 13),
) -> Tables:
    """The tables of all attributes, lookups and environment reads in hot code."""
    bodies = Bodies(project, read_source)
    scopes = Names(project)
    between = ExternalWrites(project, regions, scopes)
    given = passed(project, regions, between.drivers, bodies)
    compiled = [hot for hot in regions.hot if hot.compiled]
    policies = Policies(project, regions, lambda: calls_of(project, regions, between.drivers, compiled))
    units = find_units(project, regions, bodies)
    names = _stored_names(project, regions)
    mentioning = _mentioning(project, regions, scopes, read_source)
    mentioning |= _fed(project, regions, given)
    watched = names | units.names | between.names
    wanted = _wanted(project, regions, watched, mentioning)
    initial = Initial(project, frozenset(h.function for h in regions.hot), names, scopes)
    callers = regions.callers()
    names_are_free = holds("names-are-unguarded", torch_version)
    interpretation = _Interpretation(
        project, wanted, regions, callers, watched, initial, bodies, not names_are_free
    )
    states = interpretation.run()
    entered = entry_facts(states, callers)
    origins = Origins(project, states, scopes, regions.calls)
    found = _attributes(initial, origins, states, entered, between)
    owned = tuple(state for state in found if state.root in {"state", "bound", "argument"})
    shared = tuple(state for state in found if state.root in {"global", "closure"})
    return Tables(
        project,
        regions,
        owned,
        shared,
        tuple(states.items()),
        initial,
        origins,
        units,
        bodies,
        given,
        policies,
        between.drivers,
        tuple(interpretation.skipped.items()),
        frozenset(state.key for state in owned if state.chosen),
        fakeless_calls(project, regions),
        torch_version,
    )


# --- what to open ---------------------------------------------------------------------------------------


def _constructs(function: FunctionRef) -> bool:
    return function.key.rpartition(".")[2].split("#")[0] in {"__init__", "__new__", "__post_init__"}


def _stored_names(project: Project, regions: Regions) -> frozenset[str]:
    """Names of attributes (or of containers) that hot code stores into."""
    names: set[str] = set()
    for hot in regions.hot:
        if _constructs(hot.function):
            continue
        function = project.function(hot.function)
        names.update(binding.name for binding in function.bindings if binding.name in function.globals)
        for store in function.stores:
            if store.name != ITEM:
                names.add(store.name)
            elif (path := item_path(store.owner, function)) is not None:
                names.add(path.name)
        for site in function.calls:
            match site.call.function, site.call.arguments:
                case ir.Attribute(ir.Attribute(name=name) | ir.Name(name), method), _ if method in MUTATORS:
                    names.add(name)
                case ir.Attribute(_, method), (ir.Constant(str() as name), *_) if method in REGISTRARS:
                    names.add(name)
    return frozenset(names)


def _mentioning(
    project: Project, regions: Regions, scopes: Names, read_source: ReadSource
) -> frozenset[FunctionRef]:
    """Hot functions whose text mentions a global or closure cell that changes; the index keeps no names."""
    found: set[FunctionRef] = set()
    lines: dict[str, list[str]] = {}
    for hot in regions.hot:
        path = hot.function.path
        changed = scopes.changed_in(path)
        if changed:
            function = project.function(hot.function)
            text = read_source(path, function)
            if path not in lines:
                lines[path] = text.split("\n")
            text = "\n".join(lines[path][function.first_line - 1 : function.end_line])
            # Elsewhere in the file a loop may rebind `x`: what is called so here is mostly a local.
            if any(scopes.owner(name, hot.function) for name in changed & set(_WORD.findall(text))):
                found.add(hot.function)
    return frozenset(found)


def _fed(project: Project, regions: Regions, given: tuple[Passed, ...]) -> frozenset[FunctionRef]:
    """The compiled functions that get changing arguments, and what they hand them on to."""
    entries = {entry for one in given for entry in one.hot.entries}
    names = {one.name for one in given}
    found = {one.hot.function for one in given}
    for hot in regions.hot:
        parameters = project.function(hot.function).parameters
        if any(one.name in names for one in parameters) and not entries.isdisjoint(hot.entries):
            found.add(hot.function)
    return frozenset(found)


def _wanted(
    project: Project, regions: Regions, names: frozenset[str], mentioning: frozenset[FunctionRef]
) -> dict[Node, CompiledFunction]:
    """Hot functions that can matter, with the functions on the way to them."""
    found: dict[Node, CompiledFunction] = {}
    on_the_way: set[str] = set()
    for hot in regions.hot:
        if hot.function in mentioning or _matters(project.function(hot.function), names):
            found[Node(hot.function, hot.receiver)] = hot
            on_the_way.update(step.symbol for step in hot.chain)
    for hot in regions.hot:
        if hot.function.id in on_the_way:
            found.setdefault(Node(hot.function, hot.receiver), hot)
    return found


def _matters(function: Function, names: frozenset[str]) -> bool:
    if function.lookups or function.environment or function.stores:
        return True
    if any(load.name in names for load in function.loads):
        return True
    return any(
        site.call.function == ir.Name("next")
        or (isinstance(site.call.function, ir.Attribute) and site.call.function.name in MUTATORS | REGISTRARS)
        for site in function.calls
    )


# --- interpreting ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Interpretation:
    """Interprets hot functions, callees before callers where calls do not form a cycle."""

    project: Project
    wanted: dict[Node, CompiledFunction]
    regions: Regions
    callers: Mapping[Node, Sequence[Node]]
    watched: frozenset[str]
    """Names of attributes whose reads matter: every function that is handed one is opened as well."""
    initial: Initial
    bodies: Bodies
    guards_names: bool
    states: dict[Node, FunctionState | None] = field(default_factory=dict)
    hot: dict[Node, CompiledFunction] = field(init=False)
    created: dict[Key, Kinds] = field(default_factory=dict)
    """The kinds of attributes and items that only hot code gives a first value."""
    skipped: dict[FunctionRef, str] = field(default_factory=dict)
    spent: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """The steps that went into each file so far."""
    depth: int = 0

    def __post_init__(self) -> None:
        self.hot = {Node(hot.function, hot.receiver): hot for hot in self.regions.hot}

    def run(self) -> dict[CompiledFunction, FunctionState]:
        for node in tuple(self.wanted):
            self.state_of(Callee(*node))
        while others := self._other_callers():
            for node in others:
                self.wanted[node] = self.hot[node]
                self.state_of(Callee(*node))
        self._again()
        return {
            hot: state for pair, hot in self.wanted.items() if (state := self.states.get(pair)) is not None
        }

    def _other_callers(self) -> list[Node]:
        """Who else calls what is called under a condition, somewhere: there it need not hold."""
        calls = {pair: state.calls for pair, state in self.states.items() if state is not None}
        under = [event.callee for one in calls.values() for event in one if event.written or event.guards]
        reached: dict[Node, None] = {}
        while under:
            callee = under.pop()
            pair = Node(callee.function, callee.receiver)
            if pair in self.hot and pair not in reached:
                reached[pair] = None
                under += (event.callee for event in calls.get(pair, ()))
        callers = (caller for pair in reached for caller in self.callers.get(pair, ()))
        return list(dict.fromkeys(one for one in callers if one in self.hot and one not in self.wanted))

    def _again(self) -> None:
        """Look again at functions that compute what only other hot code gives a first value, a literal."""
        written = [w for state in self.states.values() if state is not None for w in state.writes]
        for write in written:
            for key in write.keys if write.value.constants else ():
                if not self.initial.outside(key):
                    self.created[key] = self.created.get(key, frozenset()) | write.value.kinds
        for node, state in tuple(self.states.items()):
            computed = [w for w in state.writes if not w.value.kinds and w.value.derived] if state else []
            if any(write.keys & self.created.keys() for write in computed):
                self.states[node] = self._interpret(Callee(*node))

    def _kinds(self, key: Key) -> Kinds:
        return self.initial.kinds(key) or self.created.get(key, frozenset())

    def state_of(self, callee: Callee, given: frozenset[Place] = frozenset()) -> FunctionState | None:
        """The summary of a hot function; None while it is being made, and for one that cannot matter.

        `given` is what the call hands on; in a parameter of the caller may be whatever that was given.
        """
        pair = Node(callee.function, callee.receiver)
        matters = any(len(place) == 1 or place[-1] in self.watched for place in given)
        if matters and pair not in self.wanted and pair in self.hot:
            self.wanted[pair] = self.hot[pair]
        if pair in self.states or pair not in self.wanted or self.depth >= _MAX_CALL_DEPTH:
            return self.states.get(pair)
        self.states[pair] = None
        self.depth += 1
        self.states[pair] = self._interpret(callee)
        self.depth -= 1
        return self.states[pair]

    def _interpret(self, callee: Callee) -> FunctionState | None:
        path = callee.function.path
        if self.spent[path] > _STEPS:
            why = f"the compiled functions before it took more than {_STEPS:,} steps"
            self.skipped[callee.function] = why
            return None
        return self._opened(callee)

    def _opened(self, callee: Callee) -> FunctionState | None:
        function = self.project.function(callee.function)
        opened = self.bodies.open(callee.function)
        if opened is None:
            return None
        linker = Linker(
            self.project,
            callee.function,
            callee.receiver,
            function,
            self._kinds,
            self.initial.constant,
            self.initial.is_enum,
            self.initial.names,
            self.state_of,
            self.guards_names,
        )
        try:
            state, steps = interpret(opened, linker)
        except RecursionError:
            self.skipped[callee.function] = "an expression in it is nested too deeply"
            return None
        self.spent[callee.function.path] += steps
        return state


# --- joining --------------------------------------------------------------------------------------------


def _attributes(
    initial: Initial,
    origins: Origins,
    states: dict[CompiledFunction, FunctionState],
    entered: dict[CompiledFunction, Facts],
    between: ExternalWrites,
) -> tuple[AttributeState, ...]:
    """One table per attribute that hot code writes, or reads while other code rebinds it between calls."""
    reads: dict[Key, list[ReadSite]] = defaultdict(list)
    writes: dict[Key, list[WriteSite]] = defaultdict(list)
    mutations: dict[Key, list[MutationSite]] = defaultdict(list)
    roots: dict[Key, str] = {}
    for hot, state in states.items():
        if _constructs(hot.function):
            continue
        written, guards = entered[hot]
        for write in state.writes:
            for key in write.keys:
                root = origins.root(hot, write.place, key)
                if root in ROOTS:
                    value = replace(write.value, kinds=origins.kinds(hot, write.value))
                    whole = replace(write, value=value, guards=write.guards | guards)
                    writes[key].append(WriteSite(hot, whole))
                    roots[key] = min(root, roots.get(key, root), key=ROOTS.index)
        for mutation in state.mutations:
            for key in mutation.keys - written:
                root = origins.root(hot, mutation.place, key)
                if root in ROOTS:
                    whole_one = replace(mutation, guards=mutation.guards | guards)
                    mutations[key].append(MutationSite(hot, whole_one))
                    roots[key] = min(root, roots.get(key, root), key=ROOTS.index)
        for read in state.reads:
            for key in read.keys - written:
                root = origins.root(hot, read.load.place, key)
                if root in ROOTS:
                    reads[key].append(ReadSite(hot, read.load.position, read.use))
                    if between.changes(key, initial):
                        roots[key] = min(root, roots.get(key, root), key=ROOTS.index)
    return tuple(
        AttributeState(
            key,
            initial.declared_in(key),
            tuple(sorted(reads[key], key=_order)),
            tuple(sorted(writes[key], key=_order)),
            initial.outside(key),
            tuple(sorted(mutations[key], key=_order)),
            initial.external(key),
            "argument" if root == "choice" else root,
            initial.names.is_scope(key.owner),
            root == "choice",
        )
        for key, root in sorted(roots.items())
    )


def _order(site: ReadSite | WriteSite | MutationSite) -> tuple[str, int, int]:
    return site.hot.function.path, site.position.line, site.position.column
