"""`dynamo-lint mcp`: the tools of the linter for agents."""

from __future__ import annotations

from pathlib import Path

import click

from dynamo_lint.trouble import Trouble

MISSING = "the agent interface needs mcp; install it with `pip install 'dynamo-lint[mcp]'`"


@click.command(short_help="Speak the Model Context Protocol, for agents.")
def mcp() -> None:
    """Speak the Model Context Protocol over stdin and stdout.

    Agents start it in the folder of a project; paths that lead out of it are refused. docs/guides/agents.md
    has the settings of each. `apply_fix` writes files only if it is told to, and `confirm` alone runs code.
    """
    try:
        from dynamo_lint.agents.serve import build
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise Trouble(MISSING) from None
    build(Path.cwd()).run("stdio")
