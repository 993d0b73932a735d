"""Gives findings their edits: which fixer answers for which rule is data, and a rule knows none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from dynamo_lint.distribution import Home
from dynamo_lint.findings import Finding, Fix
from dynamo_lint.fixes import (
    attribute_presence,
    buffers,
    built_once,
    call_arguments,
    compile_call,
    compile_result,
    constant_calls,
    direct_access,
    eager_attribute,
    eager_island,
    entries,
    environment_constant,
    graph_breaks,
    held_numbers,
    policy_lines,
    resets,
    settings_line,
    tensor_values,
)
from dynamo_lint.fixes.edit_session import Elsewhere, Unclear, Workbench
from dynamo_lint.sources import Sources
from dynamo_lint.state.provenance import Tables

Fixer = Callable[[Finding, Workbench], Fix]

FIXERS: Mapping[str, tuple[Fixer, ...]] = {
    "DYN101": (buffers.number_fix, held_numbers.object_fix, held_numbers.class_fix, entries.fix),
    "DYN102": (buffers.number_fix, held_numbers.object_fix, held_numbers.class_fix, tensor_values.global_fix),
    "DYN103": (buffers.sum_fix,),
    "DYN104": (eager_attribute.fix,),
    "DYN106": (tensor_values.global_fix,),
    "DYN107": (buffers.constant_fix,),
    "DYN109": (call_arguments.tensor_fix,),
    "DYN201": (environment_constant.fix,),
    "DYN203": (direct_access.fix,),
    "DYN301": (environment_constant.fix,),
    "DYN401": (graph_breaks.guard_message,),
    "DYN402": (graph_breaks.keep_tensor,),
    "DYN403": (graph_breaks.choose_by_where,),
    "DYN406": (graph_breaks.ask_for_reason,),
    "DYN501": (compile_result.fix,),
}
"""By rule, the first that has an answer; where none has one the rule's advice stands."""


SUGGESTERS: Mapping[str, tuple[Fixer, ...]] = {
    "DYN101": (tensor_values.number_as_tensor, settings_line.any_int, eager_island.move_out),
    "DYN102": (tensor_values.number_as_tensor, settings_line.any_int),
    "DYN105": (eager_island.move_out,),
    "DYN106": (tensor_values.number_as_tensor, eager_island.move_out),
    "DYN107": (tensor_values.number_as_tensor, compile_call.isolate),
    "DYN108": (compile_call.isolate,),
    "DYN109": (call_arguments.as_tensor, compile_call.symbols_first),
    "DYN111": (resets.leave_out,),
    "DYN302": (resets.reset_behind,),
    "DYN303": (compile_call.keep_guards,),
    "DYN305": (attribute_presence.ask_guarded,),
    "DYN401": (graph_breaks.guard_and_import, constant_calls.hoist),
    "DYN402": (settings_line.capture_number,),
    "DYN404": (settings_line.capture_shape,),
    "DYN407": (built_once.build_in_init,),
    "DYN411": (constant_calls.hoist,),
    "DYN412": (settings_line.trace_gradients,),
    "DYN501": (policy_lines.compile_method,),
    "DYN502": (policy_lines.keep_compiled,),
    "DYN503": (policy_lines.call_compiled,),
    "DYN504": (policy_lines.switch_on,),
    "DYN505": (policy_lines.show_errors,),
    "DYN506": (policy_lines.any_size,),
    "DYN507": (compile_call.symbols_first,),
}
"""By rule, the first that has an answer, where no command fixes a finding."""


REASONS: Mapping[str, str] = {
    "DYN105": "where the collected values belong is a decision of yours",
    "DYN108": "one class for each variant is another design",
    "DYN109": "which decisions move in front of the call is yours to say",
    "DYN110": "the mode is wanted, and the second version with it",
    "DYN111": "where the compiled function is kept is a decision of yours",
    "DYN202": "which objects the names stand for is known at run time",
    "DYN302": "when a hook is registered is part of what the program does",
    "DYN304": "which of the two worlds keeps the value is a decision of yours",
    "DYN306": "other random numbers are other results",
    "DYN405": "the fake of a kernel needs knowledge of its result",
    "DYN407": "a module built once shares its weights between calls",
    "DYN408": "what needs a gradient is part of what the program does",
    "DYN414": "other random numbers are other results",
    "DYN417": "padding changes every operation behind it",
    "DYN509": "the setting is part of what the program computes",
    "DYN516": "a fake needs knowledge of the result's shape",
}
"""By rule, why no edit can be right, where there is no other reason."""
_DECISION = "the code does not show which rewrite is right"


def attach(
    findings: Iterable[Finding], tables: Tables, sources: Sources, shipped: tuple[Home, ...] = ()
) -> list[Finding]:
    """The findings, with edits instead of advice where the edit is known to be right, and else the reason.

    What `shipped` hands out may be used by code that is not of the project.
    """
    bench = Workbench(tables, sources, shipped)
    found: list[Finding] = []
    for finding in findings:
        found.append(finding)
        if finding.code in FIXERS:
            found[-1] = _fixed(finding, bench)
        if not found[-1].is_fixable:
            found[-1] = _with_reason(_suggested(found[-1], bench))
        bench.tidy()
    return found


def _fixed(finding: Finding, bench: Workbench) -> Finding:
    """The finding with a fix; with advice that says what is against the first where there is none."""
    against: list[Unclear] = []
    for fixer in FIXERS[finding.code]:
        made = _tried(fixer, finding, bench)
        if isinstance(made, Fix):
            return replace(finding, fix=made)
        against.append(made)
    best = next((why for why in against if not isinstance(why, Elsewhere)), against[0])
    return replace(finding, fix=finding.fix and finding.fix.left(str(best)))


def _tried(fixer: Fixer, finding: Finding, bench: Workbench) -> Fix | Unclear:
    """The fix that a fixer makes of a finding, or why it makes none of it."""
    try:
        return fixer(finding, bench)
    except Unclear as why:
        return why


def _suggested(finding: Finding, bench: Workbench) -> Finding:
    """The finding with edits for a person to judge beside its advice, where there are some."""
    for suggester in SUGGESTERS.get(finding.code, ()):
        try:
            offer = suggester(finding, bench)
        except Unclear:
            continue
        if _overlaps(offer):
            continue
        advice = "" if finding.fix is None else f"{finding.fix.message}; or "
        return replace(finding, fix=replace(offer, message=f"{advice}{offer.message}"))
    return finding


def _with_reason(finding: Finding) -> Finding:
    """The finding, whose advice says why there are no edits."""
    if finding.fix is None or finding.fix.edits or finding.fix.reason:
        return finding
    return replace(finding, fix=replace(finding.fix, reason=REASONS.get(finding.code, _DECISION)))


def _overlaps(fix: Fix) -> bool:
    """Whether one edit of a fix stands inside another."""
    spans = sorted((edit.span for edit in fix.edits), key=lambda one: (one.path, one.line, one.column))
    return any(
        one.path == other.path and (other.line, other.column) < (one.end_line, one.end_column)
        for one, other in pairwise(spans)
    )
