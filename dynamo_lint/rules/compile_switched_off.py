"""DYN504: compiling is asked for, and switched off."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import name_of, stated, told
from dynamo_lint.rules.practices import at_line, is_quiet
from dynamo_lint.state.opt_in import OptIn
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each switch under which compiled code is called."""
    for one in told(tables, "off"):
        name = name_of(one.met[0].unit)
        claim = Claim(
            message=f"`{one.source}` switches compiling off, and `{name}` is called under it",
            cost="these calls run eagerly, without a warning",
            effect="eager",
            severity="note" if one.doubt or one.partly else "warning",
            subject=one.source,
            advice="take it away, or leave it off unless a user asks for it, and log that it is on",
            step="switches compiling off",
        )
        yield stated(rule, tables, context, one.site, claim, one.likeliest)
    yield from _opted_in(rule, tables, context)


def _opted_in(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """A note for each call that compiles only where somebody sets a variable."""
    entries = {(entry.path, entry.line) for entry in tables.regions.entries}
    sites = {(one.where, one.line) for one in tables.practice.compiles if one.sure}
    for where, site in tables.project.calls_of("compile"):
        if (where.path, site.call.line) in entries:
            sites.add((where, site.call.line))
    reading = OptIn(tables.project, tables.bodies)
    for where, line in sorted(sites):
        variable = None if is_quiet(tables.project, where) else reading.variable_for(where, line)
        if variable is not None:
            claim = Claim(
                message=f"nothing is compiled here unless `{variable}` is set in the environment",
                cost="a job whose launcher forgets the variable runs eagerly, without a warning",
                effect="",
                severity="note",
                subject=variable,
                advice="compile by default, and let a variable switch it off; or log which of the two it is",
                step="compiles on request",
            )
            yield at_line(rule, tables, context, where, line, claim)


COMPILE_SWITCHED_OFF = Rule("DYN504", "compile-switched-off", check)
