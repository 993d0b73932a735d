"""DYN528 and DYN529: regions that Dynamo does not make, CUDA graphs and lazy XLA loops, and their caches."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.interpreter.captured import CUDA, waits
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, is_quiet, named
from dynamo_lint.state.late_caches import late_caches
from dynamo_lint.state.provenance import Tables


@named("DYN528", "captured-wait")
def captured_wait(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each line at which the host waits for a value of the device."""
    project = tables.project
    for one in waits(tables):
        if is_quiet(project, one.where):
            continue
        cuda = one.kind == CUDA
        what = "what a CUDA graph captures" if cuda else "a lazy XLA loop"
        severity = "error" if cuda else "warning"
        claim = Claim(
            message=f"`{one.text}` in {what} {one.does}: the host needs a value of the device",
            cost="the capture fails: nothing has run yet when the host asks for it"
            if cuda
            else "the graph so far is compiled and run at this line, in each round, before the step is whole",
            effect="eager" if cuda else "break",
            severity=severity if one.usual else "note",
            subject=one.text,
            advice="keep it a tensor, use `torch.where` or a mask, and read values after the replay"
            if cuda
            else "keep it a tensor; read it every so many steps, or in `xm.add_step_closure(…)`",
            step="waits for the device",
            related=(Related(*one.recorded, 1, "recorded here"),),
        )
        yield at_line(rule, tables, context, one.where, one.line, claim)


@named("DYN529", "late-cache")
def late_cache(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each cache that is set up after the first computation."""
    for one in late_caches(tables.project):
        if is_quiet(tables.project, one.where):
            continue
        claim = Claim(
            message=f"`{one.text}` stands after the first computation",
            cost="the runtime has decided about its cache by then: it raises, or compiles without one"
            if one.fails
            else "what was compiled before is not in the cache, and is compiled again by each start",
            severity="warning" if one.fails else "note",
            subject=one.text,
            advice=f"call it before line {one.before}",
            step="sets up a cache",
            related=(Related(one.where.path, one.before, 1, "computes"),),
        )
        yield at_line(rule, tables, context, one.where, one.line, claim)
