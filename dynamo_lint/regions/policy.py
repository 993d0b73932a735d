"""The compile options and the settings of Dynamo that are in force in each region."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index.ir import MODULE_KEY, Call, Constant, Expr
from dynamo_lint.models.graph_breaks import NESTED, SWITCHES
from dynamo_lint.models.settings import DYNAMO, Span, settings_made
from dynamo_lint.program.files import imports_by_text, in_tests, is_for_tests, one_program
from dynamo_lint.program.names import last_name
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.regions.entries import entry_keywords
from dynamo_lint.regions.model import CompiledFunction, Regions
from dynamo_lint.values.model import Context
from dynamo_lint.values.points_to import evaluate, points_to_of

LIMITS = ("recompile_limit", "cache_size_limit")
"""`torch._dynamo.config.cache_size_limit` is the older name (torch/_dynamo/config.py)."""
_AUTOMATIC, _UNSPEC = "automatic_dynamic_shapes", "allow_unspec_int_on_nn_module"
_SETTINGS = frozenset(
    {*LIMITS, _AUTOMATIC, _UNSPEC, NESTED, *(one for row in SWITCHES.values() for one in row)}
)
_NOWHERE: frozenset[Span] = frozenset()


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings of one region; Dynamo's defaults unless the code says otherwise."""

    dynamic: bool | None = None
    """`torch.compile(dynamic=...)`."""
    automatic: bool = True
    """`automatic_dynamic_shapes`: a number that changes becomes an input of the graph."""
    unspec_int: bool = False
    """`allow_unspec_int_on_nn_module`."""
    recompile_limit: int = 0
    """The highest that the code sets; 0 if it sets none."""
    switches: frozenset[str] = frozenset()
    """The keys in `SWITCHES` that are on, so that Dynamo captures what else would break."""
    nested: bool = False
    """`nested_graph_breaks`."""

    @property
    def static(self) -> bool:
        """Every number stays a constant, however often it changes."""
        return self.dynamic is False or not self.automatic


@dataclass(frozen=True, slots=True)
class Change:
    """A value that the code gives a setting of Dynamo."""

    name: str
    value: Expr
    path: str
    """The file that it stands in: what a test sets holds in what tests compile, and what a script sets not in
    other scripts."""
    span: Span | None = None
    """Where the calls stand that see it: a `with` block, a decorated function; None if all do."""


@dataclass(slots=True)
class Policies:
    """Remembers the settings of each entry."""

    project: Project
    regions: Regions
    calls: Callable[[], Iterable[tuple[FunctionRef, Call, CompiledFunction]]]
    """Asks for the calls, in eager code, of what is compiled itself, each with the function around it."""
    changes: tuple[Change, ...] = field(init=False)
    """Those outside compiled code."""
    usual: frozenset[int] = field(init=False)
    """Those in force where nothing is known of the entry, by index."""
    seen: tuple[frozenset[int], ...] = field(init=False)
    """Those in force for each entry."""
    own: dict[FunctionRef, frozenset[int]] = field(init=False)
    """Those in the decorators of each compiled function."""
    known: dict[CompiledFunction, Policy] = field(default_factory=dict)
    made: dict[frozenset[int], Policy] = field(default_factory=dict)
    """The policies by the changes in force."""

    def __post_init__(self) -> None:
        self.changes = tuple(
            dict.fromkeys(_changes(self.project, {hot.function for hot in self.regions.hot}))
        )
        passing: dict[Span, set[int]] = defaultdict(set)
        for number, change in enumerate(self.changes):
            if change.span is not None:
                passing[change.span].add(number)
        tested = frozenset(number for number, change in enumerate(self.changes) if in_tests(change.path))
        lasting = {path: self._lasting(path) for path in {"", *(one.path for one in self.regions.entries)}}
        self.usual = lasting[""]
        around = _around(self, passing) if passing else {}
        self.seen = tuple(
            lasting[entry.path].union(*(passing[span] for span in around.get(number, ())))
            - (frozenset() if in_tests(entry.path) else tested)
            for number, entry in enumerate(self.regions.entries)
        )
        spans = {hot.function: self.span_of(hot.function) for hot in self.regions.hot}
        self.own = {where: frozenset(passing[span]) for where, span in spans.items() if span in passing}

    def span_of(self, where: FunctionRef) -> Span:
        """The lines of a function, for which its decorators count."""
        function = self.project.function(where)
        return where.path, range(function.line, function.end_line + 1)

    def _lasting(self, path: str) -> frozenset[int]:
        """The changes that stay in force, where what the entries of a file compile may see them."""
        file = self.project.files.get(path)
        known = file is not None and (file.is_script or not imports_by_text(self.project))
        alone = known and not in_tests(path)
        return frozenset(
            number
            for number, change in enumerate(self.changes)
            if change.span is None
            and not is_for_tests(change.path, path)
            and (not alone or one_program(self.project, change.path, path))
        )

    def of(self, hot: CompiledFunction) -> Policy:
        """The option of a hot function's first entry, and the settings in force for all of its entries."""
        if hot not in self.known:
            first = self.regions.entries[hot.entries[0]] if hot.entries else None
            dynamic = entry_keywords(self.project, first).get("dynamic") if first is not None else None
            seen = [self.seen[number] for number in hot.entries] or [self.usual]
            policy = self._policy(frozenset.intersection(*seen) | self.own.get(hot.function, frozenset()))
            self.known[hot] = replace(policy, dynamic=dynamic if isinstance(dynamic, bool) else None)
        return self.known[hot]

    def of_entry(self, number: int | None) -> Policy:
        """The settings in force for what an entry compiles, or for what belongs to none."""
        return self._policy(self.usual if number is None else self.seen[number])

    def _policy(self, numbers: frozenset[int]) -> Policy:
        if numbers not in self.made:
            self.made[numbers] = self._made_by(numbers)
        return self.made[numbers]

    def _made_by(self, numbers: frozenset[int]) -> Policy:
        values: dict[str, list[object]] = defaultdict(list)
        for change in (self.changes[number] for number in numbers):
            values[change.name].append(change.value.value if isinstance(change.value, Constant) else None)
        given = {name for name, found in values.items() if any(value is not False for value in found)}
        limits = [value for name in LIMITS for value in values[name] if isinstance(value, int)]
        return Policy(
            automatic=False not in values[_AUTOMATIC],
            unspec_int=True in values[_UNSPEC],
            recompile_limit=max(limits, default=0),
            switches=frozenset(key for key, names in SWITCHES.items() if not given.isdisjoint(names)),
            nested=NESTED in given,
        )


def _changes(project: Project, compiled: Collection[FunctionRef]) -> Iterator[Change]:
    """All that the code outside of compiled functions sets."""
    for one in settings_made(project):
        if one.module == DYNAMO and one.name in _SETTINGS and one.where not in compiled:
            yield Change(one.name, one.value, one.where.path, one.span)
    for name in sorted(_SETTINGS):
        for where, store in project.stores_of(name):
            if where not in compiled and _may_be_configuration(project, store.owner, where):
                yield Change(name, store.value, where.path)


def _may_be_configuration(project: Project, owner: Expr, where: FunctionRef) -> bool:
    """Whether an expression that no import binds is the configuration of Dynamo, or called like one."""
    if project.symbols(owner, where.path, where.key) or "config" not in last_name(owner):
        return False
    values = evaluate(project, owner, Context(where, project.owner(where)))
    return not values or ExternalSymbol(DYNAMO) in values


def _around(policies: Policies, spans: Collection[Span]) -> Mapping[int, frozenset[Span]]:
    """For each entry, by index, the spans that hold all calls of what it compiles, or that itself.

    Where no call is known, those in which the entry stands.
    """
    lines: dict[tuple[str, int], list[Span]] = defaultdict(list)
    for span in spans:
        for line in span[1]:
            lines[span[0], line].append(span)
    at = {place: frozenset(around) for place, around in lines.items()}
    calls: dict[CompiledFunction, list[tuple[FunctionRef, frozenset[Span]]]] = defaultdict(list)
    for where, call, hot in policies.calls():
        if not is_for_tests(where.path, hot.function.path):
            calls[hot].append((where, at.get((where.path, call.line), _NOWHERE)))
    within = _within(_ways(policies.project, [where for made in calls.values() for where, _ in made], at))
    found: dict[int, frozenset[Span]] = {}
    for number, functions in _compiled(policies.regions).items():
        entry = policies.regions.entries[number]
        held = []
        for hot in functions:
            made = [here | within[where] for where, here in calls[hot]]
            around = frozenset.intersection(*made) if made else at.get((entry.path, entry.line), _NOWHERE)
            held.append(around.union({policies.span_of(hot.function)}.intersection(spans)))
        found[number] = frozenset.intersection(*held)
    return found


def _compiled(regions: Regions) -> Mapping[int, list[CompiledFunction]]:
    """The functions that each entry itself compiles; what else it reaches may be the target of others."""
    found: dict[int, list[CompiledFunction]] = defaultdict(list)
    for hot in regions.hot:
        for number in hot.entries if hot.compiled else ():
            found[number].append(hot)
    for number, functions in found.items():
        target = regions.entries[number].target
        own = [one for one in functions if target in {one.function.id, one.receiver and one.receiver.id}]
        found[number] = own or functions
    return found


_Ways = dict[FunctionRef, list[tuple[FunctionRef, frozenset[Span]]]]
"""The callers of each function, each with the spans that hold the call."""


def _ways(
    project: Project, functions: list[FunctionRef], at: Mapping[tuple[str, int], frozenset[Span]]
) -> _Ways:
    """All ways to functions, from what nothing calls."""
    pts = points_to_of(project)
    found: _Ways = {}
    pending = functions
    while pending:
        function = pending.pop()
        if function in found:
            continue
        calls = pts.call_sites(function) if function.key != MODULE_KEY else ()
        found[function] = [
            (caller.function, at.get((caller.function.path, site.call.line), _NOWHERE))
            for caller, site in calls
            if caller.function != function and not is_for_tests(caller.function.path, function.path)
        ]
        pending += (caller for caller, _ in found[function])
    return found


def _within(ways: _Ways) -> Mapping[FunctionRef, frozenset[Span]]:
    """The spans that every way to each function leads through."""
    known: dict[FunctionRef, frozenset[Span] | None] = dict.fromkeys(ways)
    asked = True
    while asked:
        asked = False
        for function, callers in reversed(ways.items()):
            met = [here | above for caller, here in callers if (above := known[caller]) is not None]
            told = frozenset.intersection(*met) if met else (None if callers else _NOWHERE)
            if told != known[function]:
                known[function], asked = told, True
    return {function: told or _NOWHERE for function, told in known.items()}
