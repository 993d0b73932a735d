"""The agent interface as an agent sees it: a process, asked with the client of the `mcp` package."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

from dynamo_lint.agents import tools
from dynamo_lint.trouble import Trouble
from tests.server.client import MOE, TRAIN, write

ROOT = Path(__file__).parents[2]
COUNTER = MOE.replace("x * self.total", "x") + "\n    def seen(self):\n        return self.total\n"


def asked(folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """The answers of tools in one session, structured, or the text of an error."""

    async def session() -> list[Any]:
        env = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]}
        words = ["-m", "dynamo_lint", "mcp"]
        server = StdioServerParameters(command=sys.executable, args=words, cwd=folder, env=env)
        answers: list[Any] = []
        async with Client(stdio_client(server)) as client:
            listed = {tool.name: tool.description for tool in (await client.list_tools()).tools}
            assert listed.keys() == {"check", "explain", "regions_why", "apply_fix", "read_logs", "confirm"}
            assert "RUN CODE" in listed["confirm"]
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                answers.append(result.content[0].text if result.is_error else result.structured_content)
        return answers

    return asyncio.run(asyncio.wait_for(session(), 90))


def test_an_agent_goes_from_a_log_to_a_fix(tmp_path: Path) -> None:
    folder = write(tmp_path / "p", moe=COUNTER, train=TRAIN)
    # A checkout may bring what is named like the linter: it is not what runs.
    (folder / "click.py").write_text("raise SystemExit('a module of the checkout')\n")
    (folder / "job.log").write_text((ROOT / "tests/logs/jobs/hit_limit.log").read_text())
    log, found, page, why, patch, done, again, outside, wrong = asked(
        folder,
        ("read_logs", {"logs": ["job.log"]}),
        ("check", {"paths": ["."]}),
        ("explain", {"rule": "DYN101"}),
        ("regions_why", {"name": "MoE.forward"}),
        ("apply_fix", {}),
        ("apply_fix", {"apply": True}),
        ("check", {}),
        ("check", {"paths": ["../elsewhere.py"]}),
        ("explain", {"rule": "--help"}),
    )
    assert (log["recompiles"], log["limits_hit"]) == (3, 1)
    (one,) = found["findings"]
    assert (one["code"], one["place"], one["fix"]["applicability"]) == ("DYN101", "moe.py:11:9", "safe")
    assert one["source"][2] == "11:         self.total += 1"
    assert one["chain"][0] == "train.py:5 compiled here"
    assert one["fix"]["edits"][0]["place"] == "moe.py:8:9-8:23"
    assert page["name"] == "mutated-scalar-attribute"
    assert "train.py:5  compiled here" in why["why"]
    assert '+        self.register_buffer("total"' in patch["patch"]
    assert not patch["applied"]
    assert (done["applied"], done["left"]) == (True, 0)
    assert 'self.register_buffer("total"' in (folder / "moe.py").read_text()
    assert again["findings"] == []
    assert "lies outside of" in outside
    assert "is no rule" in wrong


@pytest.mark.parametrize("path", ["..", "/etc/passwd", "a/../../b", "link/x.py", "nul\0"])
def test_paths_that_lead_out_of_the_folder_are_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    with pytest.raises(Trouble, match="lies outside of"):
        tools.words_of_check(tmp_path / "in", [path], None, None)
    with pytest.raises(Trouble, match="lies outside of"):
        tools.words_of_confirm(tmp_path / "in", [f"{path}::probe_x"], False)


def test_a_path_is_never_taken_for_an_option_or_for_stdin(tmp_path: Path) -> None:
    assert tools.words_of_check(tmp_path, ["--fix", "-"], None, None)[-2:] == ["./--fix", "./-"]
    assert tools.words_of_logs(tmp_path, ["--"], ["--no-lint"])[1::2] == ["--source=./--no-lint", "./--"]


def test_answers_are_short(tmp_path: Path) -> None:
    step = {"path": "a.py", "line": 1, "cell": None, "note": "calls"}
    edit = {"path": "a.py", "start": {"line": 1, "column": 1}, "end": {"line": 1, "column": 2}}
    one = {
        **dict.fromkeys(("code", "name", "effect", "confidence", "message", "cost", "fingerprint"), "x"),
        "severity": "note", "path": "n.ipynb", "line": 9, "column": 2, "cell": 3, "cell_line": 4,
        "chain": [step] * 99, "related": [],
        "fix": {"applicability": "safe", "message": "m", "edits": [{**edit, "replacement": "y" * 9999}] * 99},
    }  # fmt: skip
    site = {"path": "a.py", "line": 1, "expression": "e", "why": "w"}
    document = {
        "torch_version": "2.13", "summary": {"hot_functions": 1}, "errors": [],
        "findings": [one] * 99 + [{**one, "severity": "error"}], "unresolved": [site] * 50,
    }  # fmt: skip
    answer = tools.found(document, 3)
    assert (len(answer["findings"]), answer["left_out"]) == (3, 97)
    assert answer["findings"][0]["severity"] == "error"
    assert answer["findings"][0]["place"] == "n.ipynb:cell 3:4:2"
    assert answer["unresolved"][-1] == "... 40 more"
    assert len(str(answer)) < 40_000
    assert len(tools.cut_text("z" * 99_999)) < 17_000
