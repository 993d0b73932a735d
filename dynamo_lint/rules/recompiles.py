"""Findings about the compiles that interpreted programs ask for: on which state, and who changed it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from dynamo_lint.findings import Finding, Related
from dynamo_lint.interpreter.find import Run, runs
from dynamo_lint.interpreter.guards import LENGTH, Recompile, Stale, Write
from dynamo_lint.interpreter.model import (
    MISSING,
    ClassObject,
    External,
    Member,
    Met,
    Object,
    Site,
    Source,
    Tensor,
)
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import name_of, stated
from dynamo_lint.rules.messages import bounded, storm
from dynamo_lint.state.provenance import Tables

STATE = frozenset({f"DYN{number}" for number in (*range(101, 111), 203, 305)})
"""The codes of findings about state that Dynamo guards on."""


@dataclass(frozen=True, slots=True)
class _Cause:
    """The compiles that one piece of state asks for in one program."""

    code: str
    recompiles: tuple[Recompile, ...]
    calls: int
    """Calls of the compiled function in all."""
    tried: bool

    @property
    def last(self) -> Recompile:
        return self.recompiles[-1]

    @property
    def site(self) -> Site:
        """The line to change: the assignment, or the use of what an instance or a call brings along."""
        write = _last_write(self.last)
        return self.last.guard.site if write is None or self.code in _AT_THE_USE else write.site


_DTYPE = re.compile(r"torch\.(b?float\d*|half|double|u?int\d+|long|short|bool|complex\d+)")
_AT_THE_USE = frozenset({"DYN107", "DYN108", "DYN109", "DYN203"})


def recompiles(rules: Mapping[str, Rule], tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each piece of state that makes a program compile again, or use what is gone."""
    for run in runs(tables):
        for cause in _causes(run):
            yield _found(rules[cause.code], tables, context, cause)
        for stale in {(one.what, one.target): one for one in run.stale if not one.doubt}.values():
            yield _stale(rules["DYN305"], tables, context, stale, run)


def _causes(run: Run) -> Iterator[_Cause]:
    groups: dict[tuple[object, ...], list[Recompile]] = {}
    for one in run.recompiles:
        if not one.doubt and (one.guard.source.steps or one.guard.source.name != "self"):
            key = (one.target, one.guard.source, one.guard.what == "gradient", one.instance)
            groups.setdefault(key, []).append(one)
    for group in groups.values():
        yield _Cause(_code(group), tuple(group), run.calls[group[-1].target], run.tried)


def _code(group: list[Recompile]) -> str:
    """The rule that a piece of state belongs to."""
    last = group[-1]
    source, what = last.guard.source, last.guard.what
    hot = any(write.traced for one in group for write in one.writes)
    if (what == "gradient" and isinstance(last.now, Tensor)) or last.key == "training":
        return "DYN110"
    if last.instance:
        return "DYN108" if _kind(last.now) != _kind(last.guard.expected) else "DYN107"
    if source.root == "argument" and source.name != "self" and not source.static and not hot:
        return "DYN109"
    if what == "presence" and source.steps[-1][0] == "own" and not hot:
        return "DYN102"
    if (
        what in {"length", "keys"}
        or (what == "sizes" and hot)
        or (what == "presence" and source.steps[-1][0] == "item")
    ):
        return "DYN105"
    if source.root == "closure" and not hot:
        return "DYN106" if last.fresh else "DYN102"
    if source.root in {"global", "closure"} and hot:
        return "DYN106"
    if not hot:
        return "DYN203" if what == "presence" else "DYN102"
    first = group[0].guard.expected
    if what != "dtype" and isinstance(last.now, Tensor) and last.written > 1:
        return "DYN103"
    if (what == "presence" or first in (None, False)) and last.written <= 1:
        return "DYN104"
    return "DYN101"


def _kind(value: object) -> str:
    """The kind of a guarded value, as far as it makes another variant of a module."""
    if isinstance(value, tuple) and value and value[0] in {"type", "code", "class"}:
        return str(value[1:])
    return str(value.kind) if isinstance(value, Object) else ""


def _effect(cause: _Cause, context: Context) -> tuple[str, int | None]:
    entries = len(cause.recompiles) + 1
    if not context.has("int-attributes-are-constants") and _is_number_of_a_module(cause.last):
        return "once", 2  # it becomes a symbol, as the integers of other objects do
    if cause.last.instance and (cause.code != "DYN110" or cause.last.guard.source.name == "self"):
        return "per-instance", entries
    if entries > context.recompile_limit:
        return "storm", None
    expected = cause.recompiles[0].guard.expected
    dtype = isinstance(expected, External) and _DTYPE.fullmatch(expected.dotted) is not None
    chosen = (dtype or isinstance(expected, str | Member)) and not isinstance(cause.last.now, Tensor)
    if entries == 2 and not (cause.last.tested or chosen):
        return "once", 2
    return "per-value", entries if not cause.last.tested else None


def _is_number_of_a_module(one: Recompile) -> bool:
    """Whether an integer is reached through a module."""
    source, value = one.guard.source, one.guard.expected
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and source.static and source.root != "global" and not one.instance


def _found(rule: Rule, tables: Tables, context: Context, cause: _Cause) -> Finding:
    effect, entries = _effect(cause, context)
    last = cause.last
    region, name = name_of(last.target), title(last)
    exact = last.guard.source not in last.cache.unknown and cause.calls > context.recompile_limit
    library = isinstance(last.holder, Object) and isinstance(last.holder.kind, str)
    cost = (
        storm(context.recompile_limit)
        if effect == "storm"
        else "one extra compile, at the first change"
        if effect == "once"
        else bounded(entries, "instance" if effect == "per-instance" else "value")
        + ("" if entries <= context.recompile_limit else f"; the limit is {context.recompile_limit}")
        if entries is not None
        else f"one compiled version per value; beyond the recompile limit ({context.recompile_limit}) "
        "it runs eagerly"
    )
    claim = Claim(
        message=_MESSAGES[rule.code].format(name=name, region=region),
        cost=cost,
        effect=effect,
        entries=entries if exact else None,
        subject=subject(last),
        advice=_OF_LIBRARIES if library else _ADVICE[rule.code].format(name=name),
        step=f"changes `{name}`",
        related=tuple(_related(cause)),
    )
    met = Met("guard", cause.site, last.called, last.target, False, last.compile, tried=cause.tried)
    return stated(rule, tables, context, cause.site, claim, met)


def _stale(rule: Rule, tables: Tables, context: Context, stale: Stale, run: Run) -> Finding:
    region = name_of(stale.target)
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


_GUARDED = "and Dynamo guards on it"
_MESSAGES = {
    "DYN101": f"the compiled `{{region}}` changes `{{name}}`, {_GUARDED}",
    "DYN102": f"`{{name}}` is rebound between calls of the compiled `{{region}}`, {_GUARDED}",
    "DYN103": f"`{{name}}` is None at first and a tensor later in the compiled `{{region}}`, {_GUARDED}",
    "DYN104": f"the compiled `{{region}}` sets `{{name}}` on its first call, {_GUARDED}",
    "DYN105": f"`{{name}}` changes its length or keys between calls of the compiled `{{region}}`, {_GUARDED}",
    "DYN106": f"`{{name}}` around the compiled `{{region}}` changes between its calls, {_GUARDED}",
    "DYN107": f"`{{name}}` differs between instances that share the compiled `{{region}}`, {_GUARDED}",
    "DYN108": f"instances that share the compiled `{{region}}` hold something else in `{{name}}`, {_GUARDED}",
    "DYN109": f"`{{name}}` differs between calls of the compiled `{{region}}`, {_GUARDED}",
    "DYN110": f"`{{name}}` changes between calls of the compiled `{{region}}`, {_GUARDED}",
    "DYN203": f"`{{name}}` appears or goes between calls of the compiled `{{region}}`, {_GUARDED}",
}
_OF_LIBRARIES = "use few distinct values, or write the operation out with the value in a tensor"
_ADVICE = {
    "DYN101": "keep `{name}` in a buffer and change it in place, or count outside the compiled code",
    "DYN102": "keep `{name}` in a buffer and fill it in place (`.fill_(value)`), or pass a tensor",
    "DYN103": "let `{name}` start as a tensor of zeros",
    "DYN104": "set `{name}` before the first compiled call",
    "DYN105": "return what is collected in `{name}`, or keep it in a tensor of fixed size",
    "DYN106": "pass `{name}` as a tensor, or compile the function once, outside of the loop",
    "DYN107": "decide by `{name}` outside of the compiled code, or keep it in a buffer",
    "DYN108": "make one class per variant, compiled separately",
    "DYN109": "pass `{name}` as a tensor",
    "DYN110": "keep `{name}` the same for all compiled calls, or accept the extra compile",
    "DYN203": "set `{name}` before the first compiled call",
}


def _last_write(one: Recompile) -> Write | None:
    traced = [write for write in one.writes if write.traced]
    found = traced or one.writes
    return found[-1] if found else None


def _related(cause: _Cause) -> Iterable[Related]:
    here = cause.site.place
    found = [(cause.last.guard.site, "used here"), (cause.last.called, "called here")]
    write = _last_write(cause.last)
    if write is not None:
        found.insert(0, (write.site, "changed here"))
    elif cause.last.history:
        found.insert(0, (cause.last.history[-1].site, "set here"))
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
                text += f"[{key!r}]"
            case "cell":
                text = str(key)
            case "hook":
                text += f"'s hook {key}"
    return text


def title(one: Recompile) -> str:
    """The state as a person would name it: by its class if a module of a library holds it."""
    of_library = isinstance(getattr(one.holder, "kind", None), str)
    part = {"sizes": ".shape", "dtype": ".dtype"}.get(one.guard.what, "")
    return (subject(one) if of_library else spelled(one.guard.source)) + part


def subject(one: Recompile) -> str:
    """The state by the class that holds it, or by the function whose argument it is."""
    source = one.guard.source
    if one.holder is None or one.holder is MISSING:
        region = name_of(one.target)
        return f"{region}({source.name})" if source.root == "argument" else source.name.rpartition("::")[2]
    if (
        source.root == "argument"
        and source.name != "self"
        and all(step == "item" for step, _ in source.steps)
    ):
        return f"{name_of(one.target)}({source.name})"
    names = [key for step, key in source.steps if step in {"attribute", "own"}]
    holder = one.holder
    owner = holder.ref if isinstance(holder, ClassObject) else getattr(holder, "kind", None)
    if one.key != LENGTH and isinstance(owner, ClassRef | str):
        name = owner.name if isinstance(owner, ClassRef) else owner.rpartition(".")[2]
        return f"{name}.{one.key}"
    return f"{name_of(one.target)}: {names[-1] if names else spelled(source)}"


def alike_attributes(tables: Tables) -> frozenset[tuple[str, str]]:
    """By compiled function, the attributes that all instances share in every program that calls several."""
    found = runs(tables)
    failed = {(one.target, str(one.key)) for run in found for one in run.recompiles}
    return frozenset().union(*(run.alike for run in found)) - failed


def idle_lines(tables: Tables) -> frozenset[tuple[str, int]]:
    """The lines of compiled code whose assignments never make a run compile again, in any program."""
    found = runs(tables)
    failed = {write.site.place for run in found for one in run.recompiles for write in one.writes}
    failed |= {one.called.place for run in found for one in run.recompiles}
    return frozenset().union(*(run.idle for run in found)) - failed


def joined(
    findings: Iterable[Finding],
    shown: Iterable[Finding],
    idle: frozenset[tuple[str, int]],
    alike: frozenset[tuple[str, str]],
) -> list[Finding]:
    """The findings of the rules, without those that a run refutes, and what only a run has shown.

    Where both speak of the same state, the rule knows the line and the edit, and the run what it costs.
    """
    known = [one for one in findings if not _is_refuted(one, idle, alike)]
    found: list[Finding] = []
    for one in shown:
        same = [n for n, other in enumerate(known) if _is_same(other, one)]
        for n in same:
            if one.entries is None and one.effect != "storm":
                continue  # what it was later is not known
            if known[n].code in _COSTED and known[n].effect in _COUNTED and one.effect in _COUNTED:
                known[n] = _with_cost(known[n], one)
        if not same and not any(_explains(other, one) for other in known):
            found.append(one)
    return [*known, *found]


_COSTED = frozenset({"DYN101", "DYN102", "DYN106", "DYN109"})
_COUNTED = frozenset({"storm", "per-value", "once"})


def _with_cost(known: Finding, shown: Finding) -> Finding:
    if known.effect == shown.effect:
        return known
    if known.effect == "per-value" and known.code not in {"DYN102", "DYN106"}:
        return known  # a flag or a text: a rule knows how many values it has
    severity = "note" if "note" in (known.severity, shown.severity) else shown.severity
    return replace(known, effect=shown.effect, entries=shown.entries, cost=shown.cost, severity=severity)


def _is_refuted(known: Finding, idle: frozenset[tuple[str, int]], alike: frozenset[tuple[str, str]]) -> bool:
    """Whether a run shows that what a rule expects does not happen."""
    if known.code in {"DYN101", "DYN109"}:
        return (known.span.path, known.span.line) in idle
    return known.code == "DYN107" and (known.unit, _name(known.subject)) in alike and not known.also


def _is_same(known: Finding, shown: Finding) -> bool:
    """Whether two findings are about the same state."""
    if known.code not in STATE or known.span.path != shown.span.path:
        return False
    if known.subject == shown.subject or shown.subject.endswith(")"):
        return known.subject == shown.subject
    return _name(known.subject) == _name(shown.subject) and not known.subject.endswith(")")


def _explains(known: Finding, shown: Finding) -> bool:
    """Whether a finding leaves nothing to say: of the same line, of the mode, of one compile beside many."""
    if known.span.path == shown.span.path and known.span.line == shown.span.line:
        return True
    if known.unit != shown.unit and known.span.path != shown.span.path:
        return False
    if shown.code == "DYN106" and known.code == "DYN111":
        return True
    if shown.effect == "once":
        near = known.unit == shown.unit or (known.region is not None and known.region == shown.region)
        return known.code in STATE - {"DYN110"} and near
    return shown.effect == "per-instance" == known.effect and known.unit == shown.unit


def _name(subject: str) -> str:
    """The last name in the subject of a finding."""
    return re.split(r"[.:( ]+", subject.rstrip(")"))[-1]
