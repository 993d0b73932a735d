"""Gives findings their edits: which fixer answers for which rule is data, and a rule knows none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from dynamo_lint.distribution import Home
from dynamo_lint.findings import Finding, Fix
from dynamo_lint.fixes import (
    buffers,
    compile_result,
    direct_access,
    eager_attribute,
    environment_constant,
    graph_breaks,
)
from dynamo_lint.fixes.edit_session import Unclear, Workbench
from dynamo_lint.sources import Sources
from dynamo_lint.state.provenance import Tables

Fixer = Callable[[Finding, Workbench], Fix]

FIXERS: Mapping[str, Fixer] = {
    "DYN101": buffers.number_fix,
    "DYN102": buffers.number_fix,
    "DYN103": buffers.sum_fix,
    "DYN104": eager_attribute.fix,
    "DYN201": environment_constant.fix,
    "DYN203": direct_access.fix,
    "DYN301": environment_constant.fix,
    "DYN401": graph_breaks.guard_message,
    "DYN402": graph_breaks.keep_tensor,
    "DYN403": graph_breaks.choose_by_where,
    "DYN406": graph_breaks.ask_for_reason,
    "DYN501": compile_result.fix,
}
"""By rule; where it has no answer the rule's advice stands."""


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
        if fixer := FIXERS.get(finding.code):
            try:
                found[-1] = replace(finding, fix=fixer(finding, bench))
            except Unclear as why:
                found[-1] = replace(finding, fix=finding.fix and finding.fix.left(str(why)))
        bench.tidy()
    return found
