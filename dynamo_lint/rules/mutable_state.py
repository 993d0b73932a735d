"""DYN520: house policy: no Python state is written in compiled code, whether or not it costs anything."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import Constant
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.project import Project
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region, spell, subject
from dynamo_lint.state.model import AttributeState, MutationSite, WriteSite
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line that writes state, under a contract or a preset that forbids it."""
    for state in (*tables.attributes, *tables.globals):
        if not state.scoped and _is_buffer(tables.project, state):
            continue
        sites: tuple[WriteSite | MutationSite, ...] = (*state.writes, *state.mutations)
        for site in sites:
            if context.contract_of(site.hot.function.path).mutable_state != "forbid":
                continue
            place = site.write.place if isinstance(site, WriteSite) else site.mutation.place
            where = region(tables, site.hot)
            claim = Claim(
                message=f"`{spell(place)}` is written in the compiled `{where}`, which house policy forbids",
                cost="none by itself: Python state in compiled code costs as soon as something reads it",
                effect="",
                severity="warning",
                subject=subject(state),
                advice="keep it in a buffer, return it, or write it outside of compiled code",
                step=f"writes `{spell(place)}`",
            )
            yield finding(rule, tables, context, site.hot, site.position, claim)


def _is_buffer(project: Project, state: AttributeState) -> bool:
    """Whether an attribute is a buffer, which torch keeps and moves with its module."""
    if any(terminal_name(one.value) == "Buffer" for one in state.outside if one.initial):
        return True
    line = project.mro(state.declared_in)
    return any(
        project.owner(where) in line
        for where, site in project.calls_of("register_buffer")
        if site.call.arguments[:1] == (Constant(state.key.attribute),)
    )


MUTABLE_STATE = Rule("DYN520", "mutable-state", check)
