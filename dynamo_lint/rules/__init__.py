"""The rules, one file each: every rule reads the state tables and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from dynamo_lint.findings import SEVERITIES, Finding
from dynamo_lint.program.refs import Confidence
from dynamo_lint.regions.policy import Policy
from dynamo_lint.rules.attribute_lookup import ATTRIBUTE_LOOKUP
from dynamo_lint.rules.autograd_in_region import AUTOGRAD_IN_REGION
from dynamo_lint.rules.autotune_keys import AUTOTUNE_KEYS
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.bypassed_compile import BYPASSED_COMPILE
from dynamo_lint.rules.cache_directory import CACHE_DIRECTORY
from dynamo_lint.rules.cached_property_in_region import CACHED_PROPERTY_IN_REGION
from dynamo_lint.rules.changing_scalar_argument import CHANGING_SCALAR_ARGUMENT
from dynamo_lint.rules.class_built_in_region import CLASS_BUILT_IN_REGION
from dynamo_lint.rules.compile_switched_off import COMPILE_SWITCHED_OFF
from dynamo_lint.rules.data_dependent_branch import DATA_DEPENDENT_BRANCH
from dynamo_lint.rules.data_dependent_value import DATA_DEPENDENT_VALUE
from dynamo_lint.rules.discarded_compile_result import DISCARDED_COMPILE_RESULT
from dynamo_lint.rules.divergent_ranks import DIVERGENT_RANKS
from dynamo_lint.rules.dropped_guards import DROPPED_GUARDS, GUARDED
from dynamo_lint.rules.dynamic_attribute_lookup import DYNAMIC_ATTRIBUTE_LOOKUP
from dynamo_lint.rules.dynamic_shape_operator import DYNAMIC_SHAPE_OPERATOR
from dynamo_lint.rules.eager_only_mutation import EAGER_ONLY_MUTATION
from dynamo_lint.rules.environment_read import ENVIRONMENT_READ
from dynamo_lint.rules.external_scalar_attribute import EXTERNAL_SCALAR_ATTRIBUTE
from dynamo_lint.rules.failing_import import FAILING_IMPORT
from dynamo_lint.rules.formatted_dynamic_value import FORMATTED_DYNAMIC_VALUE
from dynamo_lint.rules.frozen_random_source import FROZEN_RANDOM_SOURCE
from dynamo_lint.rules.global_counter import GLOBAL_COUNTER
from dynamo_lint.rules.global_state_flip import GLOBAL_STATE_FLIP
from dynamo_lint.rules.growing_container import GROWING_CONTAINER
from dynamo_lint.rules.guard_filters import dropped_guards
from dynamo_lint.rules.heterogeneous_unit import HETEROGENEOUS_UNIT
from dynamo_lint.rules.hidden_compile_failure import HIDDEN_COMPILE_FAILURE
from dynamo_lint.rules.late_environment import LATE_ENVIRONMENT
from dynamo_lint.rules.late_hook import LATE_HOOK
from dynamo_lint.rules.lazy_attribute import LAZY_ATTRIBUTE
from dynamo_lint.rules.misread_environment import MISREAD_ENVIRONMENT
from dynamo_lint.rules.missing_fake import MISSING_FAKE
from dynamo_lint.rules.mode_flip import MODE_FLIP
from dynamo_lint.rules.module_built_in_forward import MODULE_BUILT_IN_FORWARD
from dynamo_lint.rules.mutable_state import MUTABLE_STATE
from dynamo_lint.rules.mutated_scalar_attribute import MUTATED_SCALAR_ATTRIBUTE
from dynamo_lint.rules.none_or_tensor_attribute import NONE_OR_TENSOR_ATTRIBUTE
from dynamo_lint.rules.opaque_kernel import OPAQUE_KERNEL
from dynamo_lint.rules.per_instance_constant import PER_INSTANCE_CONSTANT
from dynamo_lint.rules.raised_limit import RAISED_LIMIT, with_hidden
from dynamo_lint.rules.recompiled_region import RECOMPILED_REGION
from dynamo_lint.rules.recompiles import joined, recompiles, seen, unchecked
from dynamo_lint.rules.requires_grad_change import REQUIRES_GRAD_CHANGE
from dynamo_lint.rules.reset_site import RESET_SITE
from dynamo_lint.rules.rng_state_in_region import RNG_STATE_IN_REGION
from dynamo_lint.rules.scattered_settings import SCATTERED_SETTINGS
from dynamo_lint.rules.setting_in_region import SETTING_IN_REGION
from dynamo_lint.rules.side_effect_call import SIDE_EFFECT_CALL
from dynamo_lint.rules.static_sizes import STATIC_SIZES
from dynamo_lint.rules.storage_mutation import STORAGE_MUTATION
from dynamo_lint.rules.uncompiled_builtin import UNCOMPILED_BUILTIN
from dynamo_lint.rules.undocumented_disable import UNDOCUMENTED_DISABLE
from dynamo_lint.rules.unguarded_absence import UNGUARDED_ABSENCE
from dynamo_lint.rules.unguarded_environment_read import UNGUARDED_ENVIRONMENT_READ
from dynamo_lint.rules.unknown_setting import UNKNOWN_SETTING
from dynamo_lint.rules.unmarked_size import UNMARKED_SIZE
from dynamo_lint.rules.unsupported_tensor_kind import UNSUPPORTED_TENSOR_KIND
from dynamo_lint.rules.untraceable_context_manager import UNTRACEABLE_CONTEXT_MANAGER
from dynamo_lint.rules.untraceable_python import UNTRACEABLE_PYTHON
from dynamo_lint.rules.wrapped_checkpoint import WRAPPED_CHECKPOINT
from dynamo_lint.state.provenance import Tables

RULES: tuple[Rule, ...] = (
    DISCARDED_COMPILE_RESULT,  # first: what nobody calls is no reason for other findings
    MUTATED_SCALAR_ATTRIBUTE,
    EXTERNAL_SCALAR_ATTRIBUTE,
    NONE_OR_TENSOR_ATTRIBUTE,
    LAZY_ATTRIBUTE,
    GROWING_CONTAINER,
    GLOBAL_COUNTER,
    PER_INSTANCE_CONSTANT,
    HETEROGENEOUS_UNIT,
    CHANGING_SCALAR_ARGUMENT,
    MODE_FLIP,
    RECOMPILED_REGION,
    ENVIRONMENT_READ,
    DYNAMIC_ATTRIBUTE_LOOKUP,
    ATTRIBUTE_LOOKUP,
    UNGUARDED_ENVIRONMENT_READ,
    LATE_HOOK,
    DROPPED_GUARDS,
    EAGER_ONLY_MUTATION,
    UNGUARDED_ABSENCE,
    FROZEN_RANDOM_SOURCE,
    SIDE_EFFECT_CALL,
    DATA_DEPENDENT_VALUE,
    DATA_DEPENDENT_BRANCH,
    DYNAMIC_SHAPE_OPERATOR,
    OPAQUE_KERNEL,
    UNDOCUMENTED_DISABLE,
    MODULE_BUILT_IN_FORWARD,
    REQUIRES_GRAD_CHANGE,
    FORMATTED_DYNAMIC_VALUE,
    CACHED_PROPERTY_IN_REGION,
    UNTRACEABLE_PYTHON,
    AUTOGRAD_IN_REGION,
    UNTRACEABLE_CONTEXT_MANAGER,
    RNG_STATE_IN_REGION,
    STORAGE_MUTATION,
    CLASS_BUILT_IN_REGION,
    UNSUPPORTED_TENSOR_KIND,
    FAILING_IMPORT,
    UNCOMPILED_BUILTIN,
    BYPASSED_COMPILE,
    COMPILE_SWITCHED_OFF,
    HIDDEN_COMPILE_FAILURE,
    STATIC_SIZES,
    UNMARKED_SIZE,
    SETTING_IN_REGION,
    GLOBAL_STATE_FLIP,
    RESET_SITE,
    RAISED_LIMIT,
    SCATTERED_SETTINGS,
    LATE_ENVIRONMENT,
    MISREAD_ENVIRONMENT,
    UNKNOWN_SETTING,
    MISSING_FAKE,
    WRAPPED_CHECKPOINT,
    CACHE_DIRECTORY,
    AUTOTUNE_KEYS,
    MUTABLE_STATE,
    DIVERGENT_RANKS,
)

_BY_CODE = {rule.code: rule for rule in RULES}
_MOST_CONTEXTS = 8
"""Settings under which all rules are asked; entries with others are judged under those of the program."""

__all__ = ["RULES", "Context", "Rule", "judge"]


def judge(tables: Tables, context: Context) -> list[Finding]:
    """All findings in file order; one line seen with several classes of `self` is one finding."""
    contexts = _contexts(tables, context)
    best: dict[tuple[str, str, int, int], Finding] = {}
    unguarded, skipping = dropped_guards(tables), unchecked(tables)
    eager = {function.id for function in tables.eager}
    discarded: set[tuple[str, int]] = set()
    for rule in RULES:
        for found in _found(partial(rule.check, rule), tables, contexts):
            if rule in GUARDED and (
                unguarded.covers(found) or found.symbol in eager or found.region in skipping
            ):
                continue  # no guard, no recompile: what is left is a stale value
            if rule is DISCARDED_COMPILE_RESULT:
                discarded.add((found.span.path, found.span.line))
            elif found.region in discarded:
                continue  # nobody calls what is compiled there
            place = (found.code, found.span.path, found.span.line, found.span.column)
            best[place] = _one_of(best[place], found) if place in best else found
    shown = [
        found
        for found in _found(partial(recompiles, _BY_CODE), tables, contexts)
        if not unguarded.covers(found) and found.symbol not in eager and found.region not in discarded
    ]
    whole = joined(best.values(), shown, seen(tables, context))
    told = with_hidden(_weighed(whole), tables)
    return sorted(told, key=lambda f: (f.span.path, f.span.line, f.span.column, f.code))


def _weighed(findings: Iterable[Finding]) -> list[Finding]:
    """The findings without one compile for a size, where the same code compiles for each of many values."""
    kept = [*findings]
    turning = {one.unit for one in kept if one.effect in {"storm", "per-value", "per-instance"}} - {""}
    return [one for one in kept if one.code != UNMARKED_SIZE.code or one.unit not in turning]


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
