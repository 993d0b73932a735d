"""DYN510: compiled code is thrown away at a place that is not there for it."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.practices import at_line, is_named, is_quiet, together
from dynamo_lint.state.practice import Practice, Site
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Resets outside the sites of the contract; without one, those beside the one that compiles anew."""
    project, practice = tables.project, tables.practice
    sites = [one for one in practice.resets if not is_quiet(project, one.where)]
    for site in sites:
        allowed = context.contract_of(site.where.path).reset_sites
        if allowed:
            misplaced = not is_named(project, site.where, allowed)
        else:
            near = [one.where for one in sites if together(project, one.where, site.where)]
            home = next((one for one in near if _rebuilds(practice, one)), near[0])
            misplaced = site.where != home and not _rebuilds(practice, site.where)
        importing = not allowed and _is_import(tables, site)
        if not misplaced and not importing:
            continue
        why = "outside of `reset-sites`" if allowed else "beside another place that does so"
        why = why if misplaced else "when the file is imported"
        claim = Claim(
            message=f"compiled code is thrown away here, {why}",
            cost="everything compiles again at its next call, on this rank alone if others do not come here",
            effect="",
            severity="warning" if allowed else "note",
            subject="torch._dynamo.reset",
            advice="reset in one function that compiles anew, and name it in `reset-sites` of the contract",
            step="resets the compiler",
        )
        yield at_line(rule, tables, context, site.where, site.line, claim)


def _is_import(tables: Tables, site: Site) -> bool:
    """Whether a line runs when its file is imported, and the file is not there to be run by itself."""
    where = site.where
    alone = tables.project.files[where.path].is_script
    return (
        where.key == MODULE_KEY and not alone and not tables.project.function(where).is_conditional(site.line)
    )


def _rebuilds(practice: Practice, where: FunctionRef) -> bool:
    """Whether a function compiles something, too."""
    return any(one.where == where for one in practice.compiles)


RESET_SITE = Rule("DYN510", "reset-site", check)
