"""DYN301: compiled code reads the environment in a way that Dynamo does not guard."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region
from dynamo_lint.rules.environment import Change, appears_later, changes, changes_of, reads, shown
from dynamo_lint.state.model import EnvironmentRead
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line and key; a note where nothing is seen to change the variable between calls."""
    known = changes(tables)
    for hot, read in reads(tables):
        if not unguarded(read, known, context):
            continue
        found = shown(tables, read, known)
        what = f"the environment variable {read.key}" if read.key else "the environment"
        where = region(tables, hot)
        if read.form == "getenv":
            message = f"{what} is read with `os.getenv` in the compiled `{where}`, which Dynamo never guards"
        else:
            message = (
                f"{what} is read in the compiled `{where}` before it is set, and Dynamo does not guard that"
            )
        claim = Claim(
            message=message,
            cost="compiled code keeps the value of the first compile; any later change is missed"
            if found
            else "none while the variable is unchanged; any later change is missed",
            effect="stale",
            severity=None if found else "note",
            subject=f"os.environ[{read.key}]",
            advice="read it once, in `__init__` or at import, and keep the result",
            step="reads the environment",
            related=tuple(Related(c.where.path, c.line, 1, "changed here") for c in found[:4]),
        )
        yield finding(rule, tables, context, hot, read.position, claim)


def unguarded(read: EnvironmentRead, known: tuple[Change, ...], context: Context) -> bool:
    """Whether this torch misses a change: of what `os.getenv` reads, or of what is absent at first."""
    if read.form == "getenv":
        return context.has("getenv-is-unguarded")
    asks = read.form in {"get", "in"} and appears_later(changes_of(read, known))
    return asks and context.has("missing-variables-are-unguarded")


UNGUARDED_ENVIRONMENT_READ = Rule("DYN301", "unguarded-environment-read", check)
