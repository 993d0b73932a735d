"""DYN508: compiled code changes a setting of Dynamo."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.models.drivers import NAMES
from dynamo_lint.program.refs import ExternalSymbol
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.rules.base import Claim, Context, Rule, finding
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.rules.eager_code import line_of
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which Dynamo does not trace",
    advice="make the setting around the compiled calls, or once before the first of them",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line, and for each decorator that makes a setting."""
    yield from broken(rule, tables, context, WORDING)
    for hot in tables.regions.hot:
        for decorator in _patches(tables, hot):
            claim = Claim(
                message=f"the decorator changes a setting of Dynamo around the compiled `{hot.function.key}`",
                cost="a graph break before it: Dynamo does not trace what makes the setting",
                effect="break",
                severity="note" if hot.compiled else None,  # what it decorates is compiled all the same
                subject=hot.function.id,
                advice=WORDING.advice,
                step="changes a setting of Dynamo",
            )
            place = line_of(tables, hot.function, decorator.line)
            yield finding(rule, tables, context, hot, place, claim)


def _patches(tables: Tables, hot: CompiledFunction) -> Iterator[ir.Call]:
    """The decorators of a compiled function that make settings while it runs."""
    function = tables.project.function(hot.function)
    for one in function.decorators:
        if isinstance(one, ir.Call):
            symbols = tables.project.symbols(one.function, hot.function.path, function.outer or MODULE_KEY)
            if any(isinstance(s, ExternalSymbol) and s.dotted in NAMES["patch"] for s in symbols):
                yield one


SETTING_IN_REGION = Rule("DYN508", "setting-in-region", check)
