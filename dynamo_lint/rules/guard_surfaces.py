"""DYN527: Python values that compiled code reads, and that the team has not agreed on."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, is_quiet, named
from dynamo_lint.state.guard_surface import GuardedRead, guard_surface
from dynamo_lint.state.provenance import Tables

_WRITERS = {
    "compiled": "compiled code writes it",
    "outside": "code outside writes it",
    "constructor": "its constructor alone writes it",
    "import": "nothing writes it after the import",
    "nobody": "nothing is seen to write it",
}


@named("DYN527", "new-guard")
def new_guard(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each value and line that reads it first, where the contract has a list."""
    contracts = (context.contract, *(own for _, own in context.own_contracts))
    if all(one.guard_surface is None for one in contracts):
        return
    for one in guard_surface(tables):
        guarded = one.guarded
        if _is_agreed(context, one) or is_quiet(tables.project, one.hot.function):
            continue
        region = guarded.region.rpartition("::")[2]
        places = [place.rpartition(":") for place in guarded.places]
        claim = Claim(
            message=f"the compiled `{region}` reads the {guarded.kind} `{guarded.name}` ({guarded.type}), "
            f"which `guard-surface` of the contract does not list; {_WRITERS[guarded.writers]}",
            cost="Dynamo compares it in every call, and each new value compiles the code again",
            severity="warning",
            subject=guarded.name,
            advice="read it outside of compiled code, or list it: `dynamo-lint regions --guards --update`",
            step="reads a value that is guarded",
            related=tuple(Related(path, int(line), 1, "set here") for path, _, line in places),
        )
        yield at_line(rule, tables, context, one.hot.function, one.line, claim, one.hot)


def _is_agreed(context: Context, one: GuardedRead) -> bool:
    """Whether the contract lists a value, or has no list."""
    surface = context.contract_of(one.hot.function.path).guard_surface
    if isinstance(surface, tuple):
        return one.guarded.name in surface
    return surface is None or context.guards is None or one.guarded.identity in context.guards
