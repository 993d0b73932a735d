"""DYN518: a cache of compiled code is put where it does not last."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.practices import at_line, is_quiet
from dynamo_lint.state.provenance import Tables

_COSTS = {
    "empty": ("is set to an empty text", "torch takes the working directory, and fills it"),
    "temporary": (
        "is a temporary folder",
        "the next machine, or this one after a restart, compiles all again",
    ),
    "relative": ("is a relative path", "each working directory has a cache of its own"),
}


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per variable that gets such a folder."""
    for one in tables.practice.caches:
        if is_quiet(tables.project, one.where):
            continue
        what, cost = _COSTS[one.fault]
        asked = dict(context.contract_of(one.where.path).environment)
        claim = Claim(
            message=f"`{one.variable}` {what}",
            cost=cost,
            effect="",
            severity="warning" if one.variable in asked else "note",
            subject=one.variable,
            advice="an absolute path on a volume that outlives the job, from the launcher",
            step="names the folder of a cache",
        )
        yield at_line(rule, tables, context, one.where, one.line, claim)


CACHE_DIRECTORY = Rule("DYN518", "cache-directory", check)
