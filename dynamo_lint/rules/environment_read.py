"""DYN201: compiled code reads the process environment, and Dynamo guards on what it finds."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region
from dynamo_lint.rules.environment import changes, reads, shown
from dynamo_lint.rules.unguarded_environment_read import unguarded
from dynamo_lint.state.model import EnvironmentRead
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line and key; a note where nothing is seen to change the variable between calls."""
    known = changes(tables)
    for hot, read in reads(tables):
        if unguarded(read, known, context) or (read.form == "all" and not context.pedantic):
            continue
        found = shown(tables, read, known)
        claim = Claim(
            message=_message(read, region(tables, hot), context),
            cost=f"one compiled version per value, up to the recompile limit ({context.recompile_limit})"
            if found
            else "none while the variable is unchanged; otherwise one compiled version per value",
            effect="per-value",
            severity=None if found else "note",
            subject=f"os.environ[{read.key}]",
            advice="read it once, in `__init__` or at import, and keep the result",
            step="reads the environment",
        )
        yield finding(rule, tables, context, hot, read.position, claim)


def _message(read: EnvironmentRead, where: str, context: Context) -> str:
    what = f"the environment variable {read.key}" if read.key else "the environment"
    if read.form == "all":
        return f"all of the environment is read in the compiled `{where}`, which may stand in any guard"
    missed = ", but not on a missing one" if context.has("missing-variables-are-unguarded") else ""
    return f"{what} is read in the compiled `{where}`: Dynamo guards on a value that is set{missed}"


ENVIRONMENT_READ = Rule("DYN201", "environment-read", check)
