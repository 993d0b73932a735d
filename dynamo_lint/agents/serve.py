"""The protocol of agents: the tools with their descriptions, each a process of this program."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from dynamo_lint import __version__
from dynamo_lint.agents import tools
from dynamo_lint.agents.tools import MOST, Answer
from dynamo_lint.trouble import EXIT_CLEAN, EXIT_FINDINGS, EXIT_UNPROVED, Trouble

INSTRUCTIONS = """\
dynamo-lint finds the lines of Python that make torch.compile recompile, run code eagerly or use stale values.
A slow job: read_logs on what it logged, or check on the project; explain the rule; apply_fix to preview, then
with apply=true; confirm runs a probe under torch. Paths count from the folder that the server was started in.
"""
# With `-m` the folder of the project would come first on the path, and may have a `dynamo_lint` of its own.
_START = """
import sys
if sys.path and not sys.path[0]:
    del sys.path[0]
from dynamo_lint.cli import main
main()
"""
_MINUTES = 15
_LINES = 20
"""Lines of what a command says beside its result."""
_GRACE = 5.0
"""Seconds that a command has to end in order."""

Paths = Annotated[Sequence[str], Field(description="Files or folders; the whole folder if none is named.")]
Select = Annotated[str | None, Field(description="Only these rules: codes or prefixes, separated by commas.")]
Most = Annotated[int, Field(ge=1, le=100, description="The most entries of a list.")]
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)


def build(root: Path) -> MCPServer[Any]:
    """The server for one folder."""
    server: MCPServer[Any] = MCPServer(
        "dynamo-lint", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR"
    )

    _of_findings(server, root)
    _of_runs(server, root)
    return server


def _of_findings(server: MCPServer[Any], root: Path) -> None:
    """The tools that look at code, and the one that changes it."""

    @server.tool(annotations=READS)
    async def check(
        paths: Paths = (), select: Select = None, torch_version: str | None = None, most: Most = MOST
    ) -> Answer:
        """Lint for hazards of torch.compile, without running or importing the code.

        Each finding has its rule, place, message, cost, the chain of calls from the compile entry, and the
        edit that fixes it.
        """
        output, _ = await _run(root, tools.words_of_check, paths, select, torch_version)
        return tools.found(json.loads(output), most)

    @server.tool(annotations=READS)
    async def explain(
        rule: Annotated[str, Field(description="A code, such as DYN101, or a name.")],
    ) -> Answer:
        """Explain a rule: what it finds, what that costs, how to fix it, with programs that show both."""
        output, _ = await _run(root, tools.words_of_rule, rule)
        return tools.rule(json.loads(output))

    @server.tool(annotations=READS)
    async def regions_why(
        name: Annotated[str, Field(description="A function, such as MoE.forward.")], paths: Paths = ()
    ) -> Answer:
        """Say why a function is compiled, line by line from its entry, or where the way to it ends."""
        output, _ = await _run(root, tools.words_of_why, paths, name)
        return {"why": tools.cut_text(output)}

    @server.tool(annotations=WRITES)
    async def apply_fix(
        paths: Paths = (),
        select: Select = None,
        apply: Annotated[bool, Field(description="Write the files; else only show the patch.")] = False,
    ) -> Answer:
        """Show the safe fixes for the findings of some files as a patch, or with apply=true write them.

        Each fix is tried first, and made only if its finding goes and no other comes.
        """
        output, said = await _run(root, tools.words_of_fix, paths, select, apply)
        if not apply:
            return {"applied": False, "patch": tools.cut_text(output), "said": said}
        return {"applied": True, "left": len(json.loads(output)["findings"]), "said": said}


def _of_runs(server: MCPServer[Any], root: Path) -> None:
    """The tools about code that runs, or has run."""

    @server.tool(annotations=READS)
    async def read_logs(
        logs: Annotated[Sequence[str], Field(description="Log files, or folders of TORCH_TRACE.")],
        sources: Annotated[Sequence[str], Field(description="The sources of the job.")] = (),
        most: Most = MOST,
    ) -> Answer:
        """Read what a job has logged (TORCH_LOGS or TORCH_TRACE), and name the lines that made it slow."""
        output, _ = await _run(root, tools.words_of_logs, logs, sources)
        return tools.causes(json.loads(output), most)

    @server.tool(annotations=RUNS)
    async def confirm(
        probes: Annotated[Sequence[str], Field(description="Files, or `file::probe_name`.")] = (),
        fixed: Annotated[bool, Field(description="Run them again with all fixes applied to a copy.")] = False,
        most: Most = MOST,
    ) -> Answer:
        """RUN CODE of the project: its probes, under torch; compare the findings with what Dynamo did.

        A probe is a function `probe_*` that returns a module and a list of argument tuples. It takes minutes
        and needs torch. Call it only where the user agrees that the code is run.
        """
        output, _ = await _run(root, tools.words_of_confirm, probes, fixed)
        return tools.receipt(json.loads(output), most)


async def _run(root: Path, words: Callable[..., list[str]], *arguments: object) -> tuple[str, list[str]]:
    """The output of a command of ours, and the lines on its stderr; its mistakes are those of the tool."""
    try:
        command = [sys.executable, "-c", _START, *words(root, *arguments)]
    except Trouble as trouble:
        raise ToolError(str(trouble)) from None
    process = await asyncio.create_subprocess_exec(
        *command, cwd=root, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env={**os.environ, "NO_COLOR": "1"}
    )
    try:
        output, errors = await asyncio.wait_for(process.communicate(), 60 * _MINUTES)
    except asyncio.TimeoutError:
        raise ToolError(f"it took longer than {_MINUTES} minutes; name fewer files") from None
    finally:
        await _end(process)
    said = errors.decode("utf-8", "replace").splitlines()
    if process.returncode not in (EXIT_CLEAN, EXIT_FINDINGS, EXIT_UNPROVED) or not (output or said):
        raise ToolError("\n".join(said[-_LINES:]) or f"it ended with status {process.returncode}")
    return output.decode("utf-8", "replace"), said[:_LINES]


async def _end(process: Process) -> None:
    """End a command whose answer nobody wants any more; it clears away what it has made."""
    with suppress(ProcessLookupError):
        if process.returncode is None:
            process.terminate()
            await asyncio.wait([asyncio.ensure_future(process.wait())], timeout=_GRACE)
        if process.returncode is None:
            process.kill()
