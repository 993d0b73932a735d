"""The rules: each reads the state tables and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from dynamo_lint.findings import SEVERITIES, Finding
from dynamo_lint.interpreter.find import runs
from dynamo_lint.program.refs import Confidence
from dynamo_lint.regions.policy import Policy
from dynamo_lint.rules import (
    breaking,
    captured,
    compiling,
    eager_state,
    environment,
    gradients,
    guard_filters,
    guard_surfaces,
    instances,
    interpreted,
    islands,
    lookups,
    marks,
    operators,
    practices,
    settings,
)
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.compiling import discarded_compile_result
from dynamo_lint.rules.guard_filters import GUARDED, unguarded_state
from dynamo_lint.rules.interpreted import unmarked_size
from dynamo_lint.rules.joined import joined, seen
from dynamo_lint.rules.recompiles import STATE, recompiles, unchecked
from dynamo_lint.rules.settings import with_hidden
from dynamo_lint.state.provenance import Tables

_MODULES = (
    *(breaking, captured, compiling, eager_state, environment, gradients),
    *(guard_filters, guard_surfaces, instances, interpreted, islands, lookups, marks, operators),
    *(practices, settings),
)
_DEFINED = (one for module in _MODULES for one in vars(module).values() if isinstance(one, Rule))
_BY_CODE = {one.code: one for one in (*breaking.BREAKS, *STATE, *_DEFINED)}
RULES: tuple[Rule, ...] = (
    discarded_compile_result,  # first: what nobody calls is no reason for other findings
    *(rule for code, rule in sorted(_BY_CODE.items()) if rule != discarded_compile_result),
)
_MOST_CONTEXTS = 8
"""Settings under which all rules are asked; entries with others are judged under those of the program."""

__all__ = ["RULES", "Context", "Rule", "judge"]


def judge(tables: Tables, context: Context) -> list[Finding]:
    """All findings in file order; one line seen with several classes of `self` is one finding."""
    contexts = _contexts(tables, context)
    best: dict[tuple[str, str, int, int], Finding] = {}
    unguarded, skipping = unguarded_state(tables), unchecked(tables)
    eager = frozenset[str]().union(*(run.lost for run in runs(tables)))
    discarded: set[tuple[str, int]] = set()
    for rule in RULES:
        for found in _found(partial(rule.check, rule), tables, contexts):
            if rule in GUARDED and (
                unguarded.covers(found) or found.symbol in eager or found.region in skipping
            ):
                continue  # no guard, no recompile: what is left is a stale value
            if rule is discarded_compile_result:
                discarded.add((found.span.path, found.span.line))
            elif found.region in discarded:
                continue  # nobody calls what is compiled there
            place = (found.code, found.span.path, found.span.line, found.span.column)
            best[place] = _one_of(best[place], found) if place in best else found
    shown: dict[tuple[object, ...], Finding] = {}
    for found in _found(partial(recompiles, _BY_CODE), tables, contexts):
        unseen = found.effect != "stale" and unguarded.covers(found)
        if not unseen and found.region not in discarded:
            spot = (found.code, found.span, found.effect, found.unit)
            shown[spot] = _one_of(shown[spot], found) if spot in shown else found
    whole = joined(best.values(), shown.values(), seen(tables))
    told = with_hidden(_weighed(whole), tables)
    return sorted(told, key=lambda f: (f.span.path, f.span.line, f.span.column, f.code))


_BY_NAME = ("DYN202", "break")


def _weighed(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without one compile for a size, where the same code compiles for each of many values.

    Nor is a graph break told twice, as a number out of a tensor and as the name that is made of it.
    """
    named = {(one.span.path, one.span.line) for one in findings if (one.code, one.effect) == _BY_NAME}
    kept = [one for one in findings if one.code != "DYN402" or (one.span.path, one.span.line) not in named]
    turning = {one.unit for one in kept if one.effect in {"storm", "per-value", "per-instance"}} - {""}
    return [one for one in kept if one.code != unmarked_size.code or one.unit not in turning]


_Contexts = dict[tuple[str, int] | str | None, Context]
"""The context for each function that sets something for itself, by its identity, for each entry, by path and
line, and for all else."""


def _contexts(tables: Tables, context: Context) -> _Contexts:
    """The contexts with the settings that the code makes."""
    policies = tables.policies
    given: dict[tuple[str, int] | str | None, Policy] = {None: policies.of_entry(None)}
    for number, entry in enumerate(tables.regions.entries):
        given[entry.path, entry.line] = policies.of_entry(number)
    given |= {hot.function.id: policies.of(hot) for hot in tables.regions.hot if hot.function in policies.own}
    found = {
        place: replace(
            context,
            recompile_limit=max(context.recompile_limit, policy.recompile_limit),
            unspec_int=context.unspec_int or policy.unspec_int,
        )
        for place, policy in given.items()
    }
    kept = [*dict.fromkeys(found.values())][:_MOST_CONTEXTS]
    return {place: one if one in kept else found[None] for place, one in found.items()}


def _found(
    check: Callable[[Tables, Context], Iterable[Finding]], tables: Tables, contexts: _Contexts
) -> Iterator[Finding]:
    """The findings of a rule, each under its own context."""
    for context in dict.fromkeys(contexts.values()):
        for found in check(tables, context):
            places = (place for place in (found.symbol, found.region) if place in contexts)
            if contexts[next(places, None)] == context:
                yield found


def _one_of(first: Finding, second: Finding) -> Finding:
    """The better founded of two about one place; it names the subjects of both."""
    best, other = (second, first) if _rank(second) > _rank(first) else (first, second)
    spoken = dict.fromkeys((*best.also, other.subject, *other.also))
    return replace(
        best,
        also=tuple(subject for subject in spoken if subject != best.subject),
        keys=tuple(dict.fromkeys((*best.keys, *other.keys))),
    )


def _rank(found: Finding) -> tuple[int, int]:
    tiers = [confidence.word for confidence in Confidence]
    return -tiers.index(found.confidence), SEVERITIES.index(found.severity)
