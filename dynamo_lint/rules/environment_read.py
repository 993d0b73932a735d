"""DYN201: compiled code reads the process environment."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region
from dynamo_lint.state.model import EnvironmentRead
from dynamo_lint.state.origins import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line and key."""
    for hot, state in tables.functions:
        seen: set[tuple[int, str]] = set()
        for read in state.environment:
            if (read.position.line, read.key) in seen:
                continue
            seen.add((read.position.line, read.key))
            effect = "stale" if read.form == "getenv" and context.torch_version >= (2, 9) else "per-value"
            claim = Claim(
                message=_message(read, effect, region(tables, hot), context),
                cost="the value of the first compile is kept: any later change is missed"
                if effect == "stale"
                else f"one compiled version per value, up to the recompile limit ({context.recompile_limit})",
                effect=effect,
                subject=f"os.environ[{read.key}]",
                advice="read it once, in `__init__` or at import, and keep the result",
                step="reads the environment",
            )
            yield finding(rule, tables, context, hot, read.position, claim)


def _message(read: EnvironmentRead, effect: str, where: str, context: Context) -> str:
    what = f"the environment variable {read.key}" if read.key else "the environment"
    if effect == "stale":
        return f"{what} is read with `os.getenv` in the compiled `{where}`, and Dynamo does not guard on it"
    missed = " and misses one that is set later" if context.torch_version >= (2, 8) else ""
    return f"{what} is read in the compiled `{where}`: Dynamo guards on a value that is there{missed}"


ENVIRONMENT_READ = Rule("DYN201", "environment-read", check)
