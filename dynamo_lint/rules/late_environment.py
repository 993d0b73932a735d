"""DYN513: an environment variable of torch is set after torch has read it."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.models.environment import COMPILER, USE, environment
from dynamo_lint.program.files import is_rehearsal
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.eager_code import line_of
from dynamo_lint.state.environment_writes import environment_writes
from dynamo_lint.state.provenance import Tables
from dynamo_lint.state.torch_loading import loaded_before, starts_children


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per write that nothing reads any more."""
    project = tables.project
    for write in environment_writes(project):
        variable = environment().variables.get(write.key)
        if not write.sets or variable is None or variable.time == USE or is_rehearsal(write.where):
            continue
        if not variable.is_read_by(context.torch_version):
            continue
        in_place = {
            one.line
            for one in tables.regions.entries
            if one.idiom == "method" and one.path == write.where.path
        }
        loading = loaded_before(project, write.where, write.line, variable.time, in_place)
        if loading is None or starts_children(project, write.where):
            continue
        lazy = variable.time == COMPILER
        claim = Claim(
            message=f"`{write.key}` is set after `{loading.what}` in line {loading.line}, which has read it",
            cost="torch goes on with what the variable was before, without a word",
            effect="",
            severity="warning",
            subject=write.key,
            advice=(
                f"set it above line {loading.line}, or in the launcher"
                + (f", or set the option in `{variable.reader}`" if lazy else "")
            ),
            step="sets a variable that has been read",
            related=(Related(loading.path, loading.line, 1, "read here"),),
        )
        place = line_of(tables, write.where, write.line)
        yield placed(rule, context, write.where.path, place, write.where.id, claim)


LATE_ENVIRONMENT = Rule("DYN513", "late-environment", check)
