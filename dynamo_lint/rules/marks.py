"""DYN523: sizes that are marked where torch refuses it, and others than the contract says."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import MODULE_KEY, Constant
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.interpreter.find import runs
from dynamo_lint.models.marks import REFUSED, marks_made, names_mark
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, is_quiet, named, region
from dynamo_lint.rules.interpreted import unit_name
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.provenance import Tables


@named("DYN523", "misplaced-mark")
def misplaced_mark(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each mark in compiled code or on a size that a layer fixes, and for those unagreed."""
    yield from _in_regions(rule, tables, context)
    yield from _pinned(rule, tables, context)
    yield from _not_agreed(rule, tables, context)


def _in_regions(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    project, said = tables.project, set[tuple[FunctionRef, int]]()
    short = {one.rpartition(".")[2] for one in REFUSED}
    spelt = short.union(*(project.aliases_of(one) for one in short))
    for hot in tables.regions.hot:
        for site in project.function(hot.function).calls:
            if terminal_name(site.call.function) not in spelt:
                continue
            symbols = project.symbols(site.call.function, hot.function.path, hot.function.key)
            names = [one.dotted for one in symbols if isinstance(one, ExternalSymbol)]
            refused = next((one for one in names if one in REFUSED), None)
            if refused is None or site.eager or (hot.function, site.call.line) in said:
                continue
            said.add((hot.function, site.call.line))
            name = refused.rpartition(".")[2]
            claim = Claim(
                message=f"`{name}` is called in the compiled `{region(tables, hot)}`, where torch forbids it",
                cost="an AssertionError when the code is compiled: a mark is made before the call",
                severity="error",
                subject=name,
                advice="mark the tensor where it is made, before it is passed to compiled code",
                step="marks a size",
            )
            yield at_line(rule, tables, context, hot.function, site.call.line, claim, hot)


def _pinned(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    for run in runs(tables):
        for one in run.pinned if not run.tried else ():
            unit = unit_name(one.compile.site.where.id)
            claim = Claim(
                message=f"axis {one.axis} is marked dynamic, and `{one.layer}` in compiled code fixes it",
                cost="a ConstraintViolationError when the code is compiled",
                severity="note" if one.doubt else "error",
                subject=f"{unit}: axis {one.axis}",
                advice="mark the axis that varies; `maybe_mark_dynamic` is no demand",
                step="marks a size",
                related=(
                    Related(*one.used.place, 1, "the size is fixed here"),
                    Related(*one.called.place, 1, "called here"),
                ),
            )
            yield at_line(rule, tables, context, one.mark.where, one.mark.node.lineno, claim)


def _not_agreed(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """The sizes that vary beside those of the contract: by a mark, by `dynamic=True`, or by torch itself."""
    project = tables.project
    for mark in marks_made(project):
        agreed = context.contract_of(mark.where.path).dynamic_axes
        if agreed and not any(names_mark(project, mark, one) for one in agreed):
            axis = "an axis" if mark.axis is None else f"axis {mark.axis}"
            what = f"{axis} of `{mark.tensor or 'a tensor'}` is marked dynamic"
            yield from _unagreed(rule, tables, context, mark.where, mark.line, what, f"mark: {mark.tensor}")
    for site in tables.practice.compiles:
        value = constant(project, dict(site.keywords).get("dynamic", Constant(None)), site.where)
        if value == Constant(True) and context.contract_of(site.where.path).dynamic_axes:
            what = "`dynamic=True` makes all sizes dynamic"
            yield from _unagreed(rule, tables, context, site.where, site.line, what, "dynamic=True")
    for hot in tables.regions.hot:
        entry = tables.regions.entries[hot.entries[0]]
        where = FunctionRef(entry.path, MODULE_KEY)
        open_ended = hot.compiled and not tables.static(hot) and not is_quiet(project, where)
        if open_ended and context.contract_of(entry.path).dynamic_axes:
            what = "`automatic_dynamic_shapes` is on, and makes each size dynamic that changes"
            yield from _unagreed(rule, tables, context, where, entry.line, what, "automatic_dynamic_shapes")
            return


def _unagreed(
    rule: Rule, tables: Tables, context: Context, where: FunctionRef, line: int, what: str, subject: str
) -> Iterator[Finding]:
    if is_quiet(tables.project, where):
        return
    claim = Claim(
        message=f"{what}, and `dynamic-axes` of the contract does not say so",
        cost="one more compile, and code for any size, which is slower than code for one",
        severity="warning",
        subject=subject,
        advice="leave it away, or name it in `dynamic-axes`",
        step="makes a size dynamic",
    )
    yield at_line(rule, tables, context, where, line, claim)
