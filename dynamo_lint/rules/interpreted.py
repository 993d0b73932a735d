"""Rules about calls of compiled code as the interpreter meets them: eager ones, and those that recompile."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator

from dynamo_lint.calls.model import Step
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.spelling import spelled
from dynamo_lint.interpreter.ended import Break, graph_breaks
from dynamo_lint.interpreter.find import runs
from dynamo_lint.interpreter.guards import SIZES
from dynamo_lint.interpreter.model import Met, Site
from dynamo_lint.models.drivers import AUTOCAST, GRADIENTS, NAMED
from dynamo_lint.program.refs import FunctionRef, Position
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, bounded, is_quiet, named, placed, storm
from dynamo_lint.rules.off_switches import (
    FORBID,
    OFF_CODE,
    hatches,
    is_allowed,
    objection,
    off_switches,
    reading,
)
from dynamo_lint.state.by_default import ByDefault
from dynamo_lint.state.provenance import Tables

_BYPASSES = {
    "forward": (
        "calls the method of the module, not the module, which alone is compiled",
        "call the module itself",
    ),
    "unwrapped": (
        "calls the module below the compiled one",
        "call what `torch.compile` returned",
    ),
    "copy": (
        "copies a module that is compiled in place, and the copy is not compiled",
        "compile the copy as well",
    ),
    "disabled": (
        "compiles what a decorator keeps Dynamo from",
        "take the decorator away, or do not compile it",
    ),
}
"""By how a line goes around compiled code: what it does, and the way out."""
_STATES = {"grad": "with gradients", "off": "without autocast", "None": "in another state"}
"""The values of modes that no context manager is called like."""
_HIDES = {
    "suppressed": (
        "`suppress_errors` hides that `{}` cannot be compiled",
        "all calls of it run eagerly, for good",
    ),
    "swallowed": (
        "this `except` hides that `{}` cannot be compiled",
        "every call fails, and runs eagerly instead",
    ),
    "suppressing": (
        "`suppress_errors` would hide it if `{}` could not be compiled",
        "nothing yet; from the first failure on, its calls would run eagerly",
    ),
    "hiding": (
        "this `except` would hide it if `{}` could not be compiled",
        "nothing yet; calls that fail would run eagerly",
    ),
}
"""By how a failure to compile is hidden: what is said, and what it costs."""
EAGER = frozenset({"builtin", "off", *_BYPASSES, *_HIDES})
"""What a line does that makes calls run eagerly."""


@dataclass(frozen=True, slots=True)
class LineReport:
    """All that one line does to the compiled calls of one program."""

    site: Site
    met: tuple[Met, ...]
    partly: bool
    """Other calls of the same code do run compiled."""

    @property
    def doubt(self) -> bool:
        """Whether it is not known that any of it happens."""
        return all(one.doubt for one in self.met)

    @property
    def guarded(self) -> bool:
        """Whether it is a switch under a test that is unknown."""
        return all(one.guarded for one in self.met)

    @property
    def likeliest(self) -> Met:
        """One that is sure to happen, if there is one."""
        return min(self.met, key=lambda met: met.doubt)

    @property
    def source(self) -> str:
        """The line as it is written, without what is below it."""
        node = self.site.node
        return spelled(node) if isinstance(node, ast.expr) else ""


def told(tables: Tables, *wanted: str) -> Iterator[LineReport]:
    """All that is met of some kinds, by the line to change, once for each line."""
    seen: set[Site] = set()
    for met in (run.met for run in runs(tables)):
        compiled = {one.unit for one in met if one.what not in EAGER}
        sites: dict[Site, list[Met]] = {}
        for one in met:
            if one.what in wanted:
                sites.setdefault(one.site, []).append(one)
        for site, ones in sites.items():
            if site not in seen:
                seen.add(site)
                yield LineReport(site, tuple(ones), any(one.unit in compiled for one in ones))


def caught(tables: Tables) -> list[LineReport]:
    """The handlers that catch a compiled call which fails, and after which nothing of it runs compiled."""
    return [one for one in told(tables, "swallowed") if not one.partly]


def failures(tables: Tables, handler: LineReport) -> list[Break]:
    """The graph breaks for which the calls fail that a handler catches."""
    sites = {met.compile.site.place for met in handler.met if met.compile is not None}
    entries = tables.regions.entries
    return [
        one
        for one in graph_breaks(tables)
        if one.raises and {(entries[n].path, entries[n].line) for n in one.hot.entries} <= sites
    ]


@dataclass(frozen=True, slots=True)
class Turning:
    """Compiles that one thing makes in one program: how many, and the last line that does."""

    site: Site
    met: tuple[Met, ...]

    def price(self, context: Context, what: str) -> tuple[str, int | None, str]:
        """The effect, the number of versions unless they run into the limit, and the cost as a sentence."""
        entries = len(self.met) + 1
        if entries > context.recompile_limit:
            return "storm", None, storm(context.recompile_limit, what)
        return "once" if entries == 2 else "per-value", entries, bounded(entries)

    @property
    def last(self) -> Met:
        """The last of the compiles."""
        return self.met[-1]


def turning(tables: Tables, wanted: Callable[[Met], str]) -> Iterator[Turning]:
    """The compiles of each program, by the compiled code and by what `wanted` says of each; empty: none."""
    seen: set[Site] = set()
    for met in (run.met for run in runs(tables)):
        groups: dict[tuple[str, str], list[Met]] = {}
        for one in met:
            if key := wanted(one):
                groups.setdefault((one.unit, key), []).append(one)
        for ones in groups.values():
            if ones[-1].site not in seen:
                seen.add(ones[-1].site)
                yield Turning(ones[-1].site, tuple(ones))


def position_of(tables: Tables, site: Site) -> Position:
    """The position of a site; of a statement with a body its first line, not all that it does."""
    node, line = site.node, tables.bodies.line(site.where, site.node.lineno)
    if isinstance(node, ast.excepthandler):
        start = node.col_offset + 1
        return Position(node.lineno, start, node.lineno, start + len("except"))
    if hasattr(node, "body"):
        return Position(node.lineno, node.col_offset + 1, node.lineno, len(line.rstrip()) + 1)
    return tables.bodies.position(site.where.path, node)


def stated(rule: Rule, tables: Tables, context: Context, site: Site, claim: Claim, met: Met) -> Finding:
    """A finding at a line of eager code, about a call of what some entry compiles."""
    word = "likely" if met.doubt else "certain"
    if met.tried:
        claim = replace(claim, severity="note")  # what a test does says nothing of how users will run it
    found = placed(rule, tables, context, site.where, position_of(tables, site), claim, confidence=word)
    entries = {(entry.path, entry.line) for entry in tables.regions.entries}
    if met.compile is None:
        return replace(found, unit=met.unit)
    compiled = met.compile.site
    steps = (
        [Step(*compiled.place, compiled.where.id, "compiled here")] if compiled.place != site.place else []
    )
    steps += [
        Step(*called.place, called.where.id, f"called {_state(value)}")
        for value, called in reversed(met.states)
    ]
    return replace(
        found,
        region=compiled.place if compiled.place in entries else None,
        unit=met.unit,
        chain=(*steps, *found.chain),
    )


def _state(value: object) -> str:
    """A value of a mode, as something that a call is made in."""
    return _STATES.get(str(value), f"under `{value}`")


def unit_name(unit: str) -> str:
    """A compiled module or function, as a person would name it."""
    return unit.rpartition("::")[2] or unit


@named("DYN110", "mode-flip")
def mode_flip(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each mode that some calls of a program have and others have not."""
    for one in turning(tables, lambda met: met.what if met.what in (GRADIENTS, AUTOCAST) else ""):
        what, (effect, entries, cost) = one.last.what, one.price(context, "it")
        states = " and ".join(
            f"{_state(value)} at {'line ' if path == one.site.where.path else f'{path}:'}{line}"
            for value, (path, line) in ((value, called.place) for value, called in reversed(one.last.states))
        )
        claim = Claim(
            message=f"{what} differs between calls of the compiled `{unit_name(one.last.unit)}`, "
            f"which is called {states}, and Dynamo guards on it",
            cost=cost,
            effect=effect,
            entries=entries,
            subject=f"{one.site.where.id}: {what}",
            advice="accept the extra compile, or keep the mode the same for all compiled calls",
            step=f"changes {what}",
        )
        yield stated(rule, tables, context, one.site, claim, one.last)


@named("DYN302", "late-hook")
def late_hook(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per registration that compiled code will not see."""
    said: set[Site] = set()
    for run in runs(tables):
        for stale in run.stale:
            if stale.hook is None or stale.doubt or stale.hook.site in said:
                continue
            site, region = stale.hook.site, unit_name(stale.target)
            said.add(site)
            text = spelled(site.node.func) if isinstance(site.node, ast.Call) else stale.what
            claim = Claim(
                message=f"`{text}(...)` gives a part of the compiled `{region}` a hook that it had not when "
                "it was compiled",
                cost="the hook is never called: Dynamo does not guard on hooks of inner modules",
                effect="stale",
                subject=text,
                advice="register hooks before the first compiled call, and the same for all that share its "
                "code, or call `torch.compiler.reset()` after",
                step="registers a hook",
            )
            met = Met("hook", site, stale.called, stale.target, False, stale.compile, tried=run.tried)
            yield stated(rule, tables, context, site, claim, met)


@named("DYN502", "uncompiled-builtin")
def uncompiled_builtin(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each `.compile()` whose module runs no code but that of torch."""
    for one in told(tables, "builtin"):
        if context.has("torch-modules-compile-in-place"):
            return
        name = unit_name(one.met[0].unit)
        claim = Claim(
            message=f"`{one.source}` compiles nothing: `{name}` has no `forward` but that of torch, which "
            "Dynamo skips when it is compiled in place",
            cost="it runs eagerly, as if the call were not there",
            effect="eager",
            severity="warning" if one.doubt else None,
            subject=f"{name}.compile",
            advice="keep and call what `torch.compile(module)` returns, or compile the module around it",
            step="compiles a module of torch in place",
        )
        yield stated(rule, tables, context, one.site, claim, one.likeliest)


@named("DYN503", "bypassed-compile")
def bypassed_compile(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each line by which compiled code is not reached."""
    for one in told(tables, *_BYPASSES):
        does, advice = _BYPASSES[one.met[0].what]
        name = unit_name(one.met[0].unit)
        claim = Claim(
            message=f"`{one.source}` {does}: `{name}` runs eagerly",
            cost="these calls run eagerly, without a warning",
            effect="eager",
            severity=_severity(one),
            subject=f"{name}: {one.source}",
            advice=advice,
            step="goes around the compiled code",
        )
        yield stated(rule, tables, context, one.site, claim, one.likeliest)


def _severity(one: LineReport) -> str | None:
    """Who unwraps a model beside calling it compiled means to; what may not happen is a note."""
    meant = one.partly and one.met[0].what == "unwrapped"
    return "note" if one.doubt or meant else None


@named("DYN504", "compile-switched-off")
def compile_switched_off(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each switch under which compiled code is called, or to which the contract objects."""
    objected = yield from _objected(rule, tables, context)
    for one in told(tables, "off"):
        runs = _by_default(tables, context, one, rule.code)
        if one.site.place in objected or runs is False:
            continue
        name = unit_name(one.met[0].unit)
        partly = one.partly and not one.guarded  # behind a guard, the calls are looked at as if it were off
        claim = Claim(
            message=f"`{one.source}` switches compiling off, and `{name}` is called under it",
            cost="these calls run eagerly, without a warning",
            effect="eager",
            severity="note" if one.doubt or partly or runs is None else "warning",
            subject=one.source,
            advice="take it away, or leave it off unless a user asks for it, and log that it is on",
            step="switches compiling off",
        )
        yield stated(rule, tables, context, one.site, claim, one.likeliest)
    yield from _forbidden(rule, tables, context)
    yield from _opted_in(rule, tables, context)


def _objected(rule: Rule, tables: Tables, context: Context) -> Generator[Finding, None, set[tuple[str, int]]]:
    """The findings of the contract about off-switches of a rule; returns their lines."""
    does = "compiling is switched off" if rule.code == OFF_CODE else "errors of the compiler are hidden"
    lines = set()
    for one in off_switches(tables):
        against = objection(tables, context, one) if one.code == rule.code else None
        if against is None:
            continue
        lines.add((one.where.path, one.line))
        claim = Claim(
            message=f"{does} by `{one.text}`, {against.why}",
            cost="calls run eagerly, without a warning",
            effect="eager",
            severity=against.severity,
            subject=one.text,
            advice="take it away, or do it in a function that the contract names in `off-sites`",
            step="switches compiling off" if rule.code == OFF_CODE else "hides a failure to compile",
        )
        yield at_line(rule, tables, context, one.where, one.line, claim)
    return lines


def _by_default(tables: Tables, context: Context, one: LineReport, code: str) -> bool | None:
    """Whether a switch is on where nobody asks for it; also not where the contract allows it."""
    if is_allowed(tables, context, one.site.where, code):
        return False
    return reading(tables).runs(one.site.where, one.site.node.lineno) if one.guarded else True


def _compile_sites(tables: Tables) -> list[tuple[FunctionRef, int]]:
    """Where something is compiled, outside of tests."""
    entries = {(entry.path, entry.line) for entry in tables.regions.entries}
    sites = {(one.where, one.line) for one in tables.practice.compiles if one.sure}
    for where, site in tables.project.calls_of("compile"):
        if (where.path, site.call.line) in entries:
            sites.add((where, site.call.line))
    return sorted(one for one in sites if not is_quiet(tables.project, one[0]))


def _forbidden(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """The findings about compiles that a variable or an option decides on, where that is forbidden."""
    for where, line in _compile_sites(tables):
        forbidden = context.contract_of(where.path).off_switches == FORBID
        if not forbidden or is_allowed(tables, context, where, rule.code):
            continue
        if asked := hatches(tables, where, line):
            claim = Claim(
                message=f"`{asked[0]}` decides whether this compiles, and the contract forbids off-switches",
                cost="a job that comes with the other value runs eagerly, without a warning",
                effect="eager",
                severity="warning",
                subject=asked[0],
                advice="compile in any case, or name the function in `off-sites`",
                step="compiles on request",
            )
            yield at_line(rule, tables, context, where, line, claim)


def _opted_in(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """A note for each call that compiles only where somebody sets a variable."""
    environment = ByDefault(tables.project, tables.bodies)
    for where, line in _compile_sites(tables):
        forbidden = context.contract_of(where.path).off_switches == FORBID
        variable = None if forbidden else environment.variable_for(where, line)
        if variable is not None:
            claim = Claim(
                message=f"nothing is compiled here unless `{variable}` is set in the environment",
                cost="a job whose launcher forgets the variable runs eagerly, without a warning",
                severity="note",
                subject=variable,
                advice="compile by default, and let a variable switch it off; or log which of the two it is",
                step="compiles on request",
            )
            yield at_line(rule, tables, context, where, line, claim)


@named("DYN505", "hidden-compile-failure")
def hidden_compile_failure(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each setting or handler; a note where nothing is known to fail."""
    objected = yield from _objected(rule, tables, context)
    failing = {one.site for one in (*told(tables, "suppressed"), *caught(tables))}
    for one in told(tables, *_HIDES):
        if one.met[0].what == "swallowed" and one.site not in failing:
            continue  # it is compiled in another way then
        runs = _by_default(tables, context, one, rule.code)
        if one.site.place in objected or runs is False:
            continue
        what = next((met.what for met in one.met if met.what in {"suppressed", "swallowed"}), one.met[0].what)
        message, cost = _HIDES[what]
        name = unit_name(one.met[0].unit)
        claim = Claim(
            message=message.format(name),
            cost=cost,
            effect="eager",
            severity="warning" if one.site in failing and not one.doubt and runs else "note",
            subject=f"{name}: {what}",
            advice="let it fail, or catch only what is expected, and log and count it",
            step="hides a failure to compile",
            related=tuple(_reason(failure) for failure in failures(tables, one))
            if what == "swallowed"
            else (),
        )
        yield stated(rule, tables, context, one.site, claim, one.likeliest)


def _reason(failure: Break) -> Related:
    place = failure.position
    return Related(failure.hot.function.path, place.line, place.column, f"{failure.row.does}: fails here")


@named("DYN506", "static-sizes")
def static_sizes(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each call that hands static code another size than before."""
    for one in turning(tables, lambda met: SIZES if met.what == SIZES and met.static else ""):
        last, (effect, entries, cost) = one.last, one.price(context, "a size")
        option = last.compile is not None and last.compile.keyword("dynamic") is False
        why = "`dynamic=False`" if option else "`automatic_dynamic_shapes = False`"
        name = unit_name(last.unit)
        claim = Claim(
            message=f"`{name}` is called with other sizes here, and {why} makes each size a constant",
            cost=cost,
            effect=effect,
            entries=entries,
            severity="note" if last.doubt else None,
            subject=f"{name}: sizes",
            advice="mark the axis: `torch._dynamo.maybe_mark_dynamic(batch, axis)`; or pad to few sizes",
            step="passes another size",
        )
        yield stated(rule, tables, context, one.site, claim, one.last)


@named("DYN507", "unmarked-size")
def unmarked_size(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One note for each call that makes a size dynamic by its second value."""
    for one in turning(tables, lambda met: SIZES if met.what == SIZES and not met.static else ""):
        name = unit_name(one.last.unit)
        claim = Claim(
            message=f"`{name}` is called with other sizes here, and nothing marks the axis that varies",
            cost="one extra compile, after which the size is dynamic",
            effect="once",
            entries=len(one.met) + 1,
            severity="note",
            subject=f"{name}: sizes",
            advice="mark the axis on the first batch: `torch._dynamo.maybe_mark_dynamic(batch, axis)`",
            step="passes another size",
        )
        yield stated(rule, tables, context, one.site, claim, one.last)


@named("DYN509", "global-state-flip")
def global_state_flip(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each state and compiled function."""
    states = NAMED.keys() - {GRADIENTS, AUTOCAST}  # DYN110 is about those
    for one in turning(tables, lambda met: met.what if met.what in states else ""):
        what, (effect, entries, cost) = NAMED[one.last.what], one.price(context, "it")
        claim = Claim(
            message=f"{what} changes between calls of compiled code, and Dynamo guards on it",
            cost=cost,
            effect=effect,
            entries=entries,
            severity="note" if one.last.doubt else None,
            subject=what,
            advice="set it once, before the first compiled call",
            step=f"changes {what}",
        )
        yield stated(rule, tables, context, one.site, claim, one.last)
