"""Findings about the compiles that interpreted programs ask for: on which state, and who changed it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Finding, Related
from dynamo_lint.interpreter.find import Run, runs
from dynamo_lint.interpreter.guards import LENGTH, Recompile, Stale, Write
from dynamo_lint.interpreter.model import (
    MISSING,
    PLAIN,
    ClassObject,
    External,
    Member,
    Met,
    Object,
    Site,
    Source,
    Tensor,
)
from dynamo_lint.interpreter.tracing import GIVEN
from dynamo_lint.program.item_path import ANY_ITEM
from dynamo_lint.program.project import Project
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.rules.advice import on_changes
from dynamo_lint.rules.base import ONCE, Claim, Context, Rule, costs, finding
from dynamo_lint.rules.base import region as region_of
from dynamo_lint.rules.guard_filters import OF_LIBRARIES, as_stale
from dynamo_lint.rules.interpreted import position_of, stated, unit_name
from dynamo_lint.rules.pure_caches import is_pure_cache
from dynamo_lint.state.model import Key
from dynamo_lint.state.provenance import Tables


@dataclass(frozen=True, slots=True)
class _Cause:
    """The compiles that one piece of state asks for in one program."""

    code: str
    recompiles: tuple[Recompile, ...]
    calls: int
    """Calls of the compiled function in all."""
    tried: bool
    weakened: bool
    """The program may do more than its run shows."""
    presumed: bool
    """No program makes these calls."""

    @property
    def last(self) -> Recompile:
        return self.recompiles[-1]

    @property
    def site(self) -> Site:
        """The line to change: the assignment, the call, or the use of what an instance brings along."""
        if self.code == "DYN109" and self._is_passed:
            return self.last.called
        write = _last_write(self.last)
        return self.last.guard.site if write is None or self.code in _AT_THE_USE else write.site

    @property
    def _is_passed(self) -> bool:
        """Whether the call shows the value: not that of an attribute, nor of what is compiled apart."""
        steps = self.last.guard.source.steps
        return self.last.resumed is None and all(step != "attribute" for step, _ in steps)


def by_runs(rule: Rule, tables: Tables, context: Context) -> Iterable[Finding]:
    """No findings: `recompiles` yields those of these rules, run by run."""
    return ()


STATE = tuple(
    Rule(code, name, by_runs)
    for code, name in {
        "DYN101": "mutated-scalar-attribute",
        "DYN102": "external-scalar-attribute",
        "DYN103": "none-or-tensor-attribute",
        "DYN104": "lazy-attribute",
        "DYN105": "growing-container",
        "DYN106": "global-counter",
        "DYN109": "changing-scalar-argument",
    }.items()
)
"""The rules about state for which compiled code is compiled again, as runs show it."""
_Hot = Mapping[tuple[str, str], CompiledFunction]
_OF_TENSORS = {"sizes": ".shape", "dtype": ".dtype", "gradient": ""}
"""By a guard on a tensor, the attribute that it is about, where the rule's words do not name it."""
_DTYPE = re.compile(r"torch\.(b?float\d*|half|double|u?int\d+|long|short|bool|complex\d+)")
_ITEM = re.compile(r"\[[^\]]*\]")
_ITEMS = re.compile(r"(\[[^\]]*\])+$")
_PLAIN_WAY = re.compile(r"\w+(\['\w+'\]|\[\d+\])*")
_TELLING = 3
"""Calls that each compile: more than that tell a storm, fewer may be where a run was given up."""
_AT_THE_USE = frozenset({"DYN107", "DYN108", "DYN109", "DYN203"})


def recompiles(rules: Mapping[str, Rule], tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each piece of state that makes a program compile again, or use what is gone."""
    table = _by_unit(tables)
    presumed = set[tuple[str, object, str]]()
    for run in runs(tables):
        behind = _behind_limit(run, context.recompile_limit)
        for cause in _causes(run.recompiles, run, tables):
            found = _found(rules[cause.code], tables, context, cause, table)
            state = found.code, found.span, found.subject
            if run.presumed and state in presumed:
                continue  # other code that nobody calls reads the same
            presumed |= {state} if run.presumed else set()
            masked = all((id(one.cache), one.time) in behind for one in cause.recompiles)
            yield replace(found, severity="note") if cause.last.in_doubt or masked else found
        for cause in _causes(run.skipped, run, tables):
            found = _found(rules[cause.code], tables, context, cause, table)
            if is_pure_cache(tables, found):
                continue
            skipping = not cause.last.guard.dropped
            why = "a stance skips the guards of these calls" if skipping else "a filter drops that guard"
            late = as_stale(rules["DYN303"], found, why)
            yield replace(late, severity="note") if run.tried or cause.last.in_doubt else late
        for stale in {
            (one.what, one.target): one for one in run.stale if not one.doubt and one.hook is None
        }.values():
            yield _stale(rules["DYN305"], tables, context, stale, run)


def _behind_limit(run: Run, limit: int) -> frozenset[tuple[int, int]]:
    """The compiles that Dynamo no longer makes, by cache and time: others have used up the limit before."""
    times: dict[int, set[int]] = {}
    for one in run.recompiles:
        times.setdefault(id(one.cache), set()).add(one.time)
    return frozenset((cache, time) for cache, made in times.items() for time in sorted(made)[limit - 1 :])


def unchecked(tables: Tables) -> frozenset[tuple[str, int]]:
    """The compile sites of which some call runs under a stance that skips a guard which does not hold."""
    skipped = (one for run in runs(tables) for one in run.skipped if not one.guard.dropped)
    return frozenset(one.compile.site.place for one in skipped)


def _causes(recompiles: Iterable[Recompile], run: Run, tables: Tables) -> Iterator[_Cause]:
    """The compiles by the state: that of several objects of a class is one."""
    groups: dict[tuple[object, ...], dict[int, Recompile]] = {}
    for one in recompiles:
        if one.guard.source.steps or one.guard.source.name != "self":
            key = (one.target, _state(one, tables), one.guard.what == "gradient", one.instance)
            groups.setdefault(key, {})[one.time] = one
    for group in groups.values():
        sure = [one for one in group.values() if not one.in_doubt]
        found = tuple(sure or group.values())
        yield _Cause(
            _code(found, tables.project),
            found,
            run.calls[found[-1].target],
            run.tried,
            run.weakened,
            run.presumed,
        )


def _state(one: Recompile, tables: Tables) -> object:
    """The state as one thing: an attribute of the class that declares it, or all that one line replaces."""
    if isinstance(getattr(one.holder, "kind", None), str) or not one.keys:
        return one.guard.source
    write, attribute = _last_write(one), one.keys[0].attribute
    if write is not None and isinstance(write.value, list | tuple | dict):
        attribute = _ITEMS.sub("", attribute)
    return tables.initial.declared_in(one.keys[0]), attribute


def _code(group: Sequence[Recompile], project: Project) -> str:
    """The rule that a piece of state belongs to."""
    last = group[-1]
    source, what = last.guard.source, last.guard.what
    hot = any(write.traced for one in group for write in one.writes)
    if (what == "gradient" and isinstance(last.now, Tensor)) or last.key == "training":
        return "DYN110"
    if last.instance:
        return "DYN108" if _kind(last.now) != _kind(last.guard.expected) else "DYN107"
    if source.root in GIVEN and source.name != "self" and not source.static and not hot:
        return "DYN109"
    if what == "presence" and source.steps[-1][0] == "own" and not hot:
        return "DYN102"
    if (
        what in {"length", "keys"}
        or (what == "sizes" and hot and group[0].guard.expected is not None)
        or (what == "presence" and source.steps[-1][0] == "item")
    ):
        return "DYN105"
    if source.root == "closure" and not hot:
        if _kind(last.now) != _kind(last.guard.expected):
            return "DYN108"  # a function that each class or program hands to a decorator
        return "DYN111" if all(one.fresh for one in group) else "DYN102"
    of_module = isinstance(last.holder, ClassObject) and project.is_module(last.holder.ref)
    if source.root in {"global", "closure"} and hot and not of_module:
        return "DYN106"
    if not hot:
        return "DYN203" if what == "presence" else "DYN102"
    first = group[0].guard.expected
    began = what == "presence" or first is None or first is False
    if isinstance(last.now, Tensor) and what not in {"dtype", "presence"} and last.written > 1:
        return "DYN103"
    moved = isinstance(last.holder, list) and not last.written  # by what changes the length of the list
    if began and (last.written <= 1 or what == "presence") and not moved:
        return "DYN104"
    return "DYN101"


def _kind(value: object) -> str:
    """The kind of a guarded value, as far as it makes another variant of a module."""
    if isinstance(value, tuple) and value and value[0] in {"type", "code", "class"}:
        return str(value[1:])
    return str(value.kind) if isinstance(value, Object) else ""


def _effect(cause: _Cause, context: Context) -> tuple[str, int | None]:
    entries = len(cause.recompiles) + 1
    if cause.last.requires_gradient is not None and cause.last.guard.source.name != "self":
        return "once", 2  # with or without: more compiles are those of what else changes
    shared = cause.last.instance or cause.code == "DYN108"
    if shared and (cause.code != "DYN110" or cause.last.guard.source.name == "self"):
        return "per-instance", entries
    if cause.presumed and context.unspec_int and type(cause.last.now) is int:
        return "once", 2  # the setting may be one that no run has met
    each = cause.presumed and entries == cause.calls > _TELLING
    if entries > context.recompile_limit or each:
        return "storm", None
    expected = cause.recompiles[0].guard.expected
    dtype = isinstance(expected, External) and _DTYPE.fullmatch(expected.dotted) is not None
    chosen = (dtype or isinstance(expected, str | Member)) and cause.last.guard.what not in _OF_TENSORS
    open_ended = cause.last.decides("size") or (cause.weakened and cause.last.decides("test"))
    if entries == 2 and not (open_ended or chosen):
        return "once", 2
    return "per-value", entries if not open_ended else None


def _found(rule: Rule, tables: Tables, context: Context, cause: _Cause, table: _Hot) -> Finding:
    effect, entries = _effect(cause, context)
    last = cause.last
    hot = _hot(table, cause) if cause.presumed else None
    name = title(tables, last)
    region = region_of(tables, hot) if hot is not None else unit_name(last.target)
    most = last.guard.source not in last.cache.unknown and not cause.weakened
    often = len(cause.recompiles) >= context.recompile_limit or (
        most and cause.calls > context.recompile_limit
    )
    exact = often or (cause.presumed and len(cause.recompiles) + 1 < cause.calls)
    library = isinstance(last.holder, Object) and isinstance(last.holder.kind, str)
    limit, each = context.recompile_limit, "instance" if effect == "per-instance" else "value"
    cost = costs(effect, entries, limit, ONCE, each)
    cost += f"; the limit is {limit}" if entries is not None and entries > limit else ""
    words = knowledge.table("recompiles")[rule.code]
    before, now = last.guard.expected, last.now
    gradient = last.requires_gradient
    now = now if gradient is None else gradient
    turned = rule.code == "DYN110" and isinstance(before, bool) and isinstance(now, bool)
    change = f", from `{before}` to `{now}`" if turned else ""
    advice = words["advice"] if gradient is None else words["gradient_advice"]
    name = name if gradient is None else f"{name}.requires_grad"
    says = words["says"].format(name=name, region=region, kind=_kind_name(now))
    keys = tuple(_named(last, tables))
    once = effect == "once"
    own = on_changes(tables, keys, name, now, once=once) if rule.code in {"DYN101", "DYN104"} else None
    claim = Claim(
        message=f"{says}{change}, and Dynamo guards on it{_behind(last)}",
        cost=cost,
        effect=effect,
        entries=entries if exact else None,
        subject=subject(tables, last),
        also=tuple(_held(last, tables)),
        keys=keys,
        advice=OF_LIBRARIES if library else own or advice.format(name=name),
        step=f"changes `{name}`",
        related=tuple(_related(cause)),
    )
    if hot is not None:
        return finding(rule, tables, context, hot, position_of(tables, cause.site), claim, cause.site.where)
    met = Met("guard", cause.site, last.called, last.target, last.in_doubt, last.compile, tried=cause.tried)
    return stated(rule, tables, context, cause.site, claim, met)


def _by_unit(tables: Tables) -> _Hot:
    """The functions of regions, by what is compiled with them, or by themselves, and their own identity."""
    found: dict[tuple[str, str], CompiledFunction] = {}
    for hot in tables.regions.hot:
        found.setdefault((hot.unit, hot.function.id), hot)
        found.setdefault((hot.function.id, hot.function.id), hot)
    return found


def _hot(table: _Hot, cause: _Cause) -> CompiledFunction | None:
    """The compiled function that a line stands in, or else the one that is compiled with it."""
    target = cause.last.target
    return table.get((target, cause.site.where.id), table.get((target, target)))


def _kind_name(value: object) -> str:
    """The kind of a Python value, as a message names it."""
    if isinstance(value, PLAIN):
        return type(value).__name__
    return "enum member" if isinstance(value, Member) else "value"


def _behind(one: Recompile) -> str:
    """The part of a graph break in what is compiled; empty for what is compiled from its start."""
    if one.resumed is not None:
        return f" in what it compiles apart behind line {one.resumed}"
    return "; a graph break lets Dynamo compile each call of it by itself" if one.apart else ""


def _named(one: Recompile, tables: Tables) -> Iterator[Key]:
    """The keys under which a rule may know the state: of any class that its holder inherits from."""
    inside = one.guard.what == "presence" and one.guard.source.steps[-1][0] == "item"
    for key in one.keys:
        attribute = _ITEMS.sub("", key.attribute) if inside else key.attribute
        scope = tables.initial.names.is_scope(key.owner)
        for part in (key.owner,) if scope else tables.project.mro(key.owner):
            yield Key(part, attribute)
            yield Key(part, _ITEM.sub(ANY_ITEM, attribute))


def _held(one: Recompile, tables: Tables) -> Iterator[str]:
    """Items of a container by the classes that hold it, as guards know them: `SGD.param_groups[0]['lr']`."""
    for key in one.keys:
        inside = _ITEMS.search(key.attribute)
        if inside is not None and not tables.initial.names.is_scope(key.owner):
            known = _PLAIN_WAY.match(key.attribute)
            way = known[0] if known is not None else key.attribute
            yield f"{key.owner.name}.{way}" + ("" if way == key.attribute else ANY_ITEM)


def _stale(rule: Rule, tables: Tables, context: Context, stale: Stale, run: Run) -> Finding:
    region = unit_name(stale.target)
    claim = Claim(
        message=f"`{stale.what}` is replaced behind the compiled `{region}`, which has no guard for it",
        cost="later calls use what was there when the code was compiled: wrong results, and nothing says so",
        effect="stale",
        subject=stale.what,
        advice="replace it before the first compiled call, or call `torch._dynamo.reset()` behind it",
        step=f"uses `{stale.what}`",
        related=(Related(stale.called.where.path, stale.called.node.lineno, 1, "called here"),),
    )
    met = Met("stale", stale.site, stale.called, stale.target, False, stale.compile, tried=run.tried)
    return stated(rule, tables, context, stale.site, claim, met)


def _last_write(one: Recompile) -> Write | None:
    """The assignment to change: the last, or the first of those that make a container longer."""
    traced = [write for write in one.writes if write.traced]
    writes = traced or one.writes
    if not writes:
        return None
    return writes[0] if one.guard.what in {"length", "keys"} else writes[-1]


def _related(cause: _Cause) -> Iterable[Related]:
    here = cause.site.place
    found = [(cause.last.guard.site, "used here")]
    found += [] if cause.presumed else [(cause.last.called, "called here")]
    write = _last_write(cause.last)
    first = next(iter(cause.last.history), None)
    if first is not None and not first.traced and first is not write:
        found.insert(0, (first.site, "initialised here"))
    if write is not None:
        found.insert(0, (write.site, "changed here"))
    elif cause.last.history:
        found.insert(0, (cause.last.history[-1].site, "set here"))
    before = cause.last.guard.expected
    if cause.code == "DYN110" and isinstance(before, bool):
        other = next((one for one in reversed(cause.last.history) if one.value is before), None)
        if other is not None:
            found.insert(0, (other.site, f"set to `{before}` here"))
    told = {here}
    for site, message in found:
        if site.place not in told:
            told.add(site.place)
            yield Related(*site.place, site.node.col_offset + 1, message)


def spelled(source: Source) -> str:
    """A source as the code would spell it: `self.cfg.step`, `batch['n']`."""
    text = source.name.rpartition("::")[2]
    for step, key in source.steps:
        match step:
            case "attribute" | "own":
                text += f".{key}"
            case "item" | "keyword" | "positional":
                text += f"[{_spelled_key(key)}]"
            case "cell":
                text = str(key)
            case "hook":
                text += f"'s hook {key}"
    return text


def _spelled_key(key: object) -> str:
    """A key as the code may spell it: `'n'`, `Mode.FAST`; an ellipsis for a tensor or another object."""
    match key:
        case Member(kind, name):
            return f"{kind.name}.{name}"
        case tuple() if all(isinstance(part, PLAIN) for part in key):
            return repr(key)
    return repr(key) if isinstance(key, PLAIN) else "…"


def title(tables: Tables, one: Recompile) -> str:
    """The state as a person would name it: by its class if a module of a library holds it."""
    of_library = isinstance(getattr(one.holder, "kind", None), str)
    part = _OF_TENSORS.get(one.guard.what, "") if isinstance(one.now, Tensor) else ""
    return (subject(tables, one) if of_library else spelled(one.guard.source)) + part


def subject(tables: Tables, one: Recompile) -> str:
    """The state by the class that declares it, or by the function whose argument it is."""
    source, region = one.guard.source, unit_name(one.target)
    if one.holder is None or one.holder is MISSING:
        return f"{region}({source.name})" if source.root in GIVEN else source.name.rpartition("::")[2]
    if source.root in GIVEN and source.name != "self" and all(step == "item" for step, _ in source.steps):
        return f"{region}({source.name})"
    holder = one.holder
    if isinstance(kind := getattr(holder, "kind", None), str) and one.key != LENGTH:
        return f"{kind.rpartition('.')[2]}.{one.key}"
    for key in one.keys[:1]:
        if not tables.initial.names.is_scope(key.owner):
            owner = tables.initial.declared_in(key)
            return f"{owner.name}.{_ITEM.sub(ANY_ITEM, key.attribute)}"
    if isinstance(holder, ClassObject) and one.key != LENGTH:
        return f"{holder.ref.name}.{one.key}"
    names = [key for step, key in source.steps if step in {"attribute", "own"}]
    return f"{region}: {names[-1] if names else spelled(source)}"
