"""DYN302: a forward hook is registered inside a region after the region was compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.interpreter.find import runs
from dynamo_lint.interpreter.model import Met, Site
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import name_of, stated
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per registration that compiled code will not see."""
    said: set[Site] = set()
    for run in runs(tables):
        for stale in run.stale:
            if stale.hook is None or stale.doubt or stale.hook.site in said:
                continue
            site, region = stale.hook.site, name_of(stale.target)
            said.add(site)
            text = ast.unparse(site.node.func) if isinstance(site.node, ast.Call) else stale.what
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


LATE_HOOK = Rule("DYN302", "late-hook", check)
