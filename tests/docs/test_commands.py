"""Every command that README.md and the documentation show is run, in a small project that stands in for the reader's."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from dynamo_lint import cli
from tests.forked import RUN_LINTER

ROOT = Path(__file__).parent.parent.parent
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"<!-- output: .*?<!-- /output -->", re.DOTALL)
"""What `tools/readme.py` fills and compares."""

NOT_RUN = {
    "python3 -m venv": "it installs from the network: CI runs the one, and the example shows the other",
    "pip install": "it installs from the network",
    "npm ": "it installs from the network; the extension has tests of its own",
    "code --install-extension": "the editor is not here",
    "dynamo-lint init": "the project that stands in has a configuration already",
    "dynamo-lint regions --guards --update": "it writes a file that the contract names",
}
"""How commands begin that are not run, and why."""
PARTS = {
    'eval "$(_DYNAMO_LINT_COMPLETE=zsh_source dynamo-lint)"': "_DYNAMO_LINT_COMPLETE=zsh_source dynamo-lint",
    "_DYNAMO_LINT_COMPLETE=fish_source dynamo-lint | source": "_DYNAMO_LINT_COMPLETE=fish_source dynamo-lint",
}
"""What is run of commands for a shell that may not be there."""
PLACEHOLDERS = {"PATH…": "src", "NAME": "MoE.forward", "CODE": "DYN101", "KEY": "fail-level"}
FOREIGN = {
    *("--nproc-per-node", "--quiet", "--snapshot-update", "--check", "--all-under-torch"),
    *("--recorded", "--table", "--repo", "--steps", "--install-extension"),
}
"""Options of other programs."""

MOE = """\
import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self._overflow_total = 0

    def forward(self, x):
        self._overflow_total += 1
        return x * self._overflow_total
"""
TRAIN = """\
import torch
from moe import MoE

model = MoE()
model.compile()
for _ in range(3):
    model(torch.ones(2))
"""
MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.mode = 1.0, "train"

    def forward(self, x):
        return x * self.scale if self.mode == "train" else x
"""
KERNELS = """\
import torch


def probe_plain():
    return torch.compile(lambda x: torch.relu(x * 2)), [(torch.ones(2),)]


def probe_kernel():
    return torch.compile(lambda x: torch.relu(x) * 2), [(torch.ones(2),)]
"""
STAND_INS = {
    "python": "cat job.log >&2",
    "kubectl": "cat job.log",
    "torchrun": "echo started",
    "pytest": "echo passed",
    "reviewdog": "cat",
}
"""Programs that the commands name, beside our own."""


def text_of(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def commands(document: Path) -> Iterator[str]:
    """The lines of shell blocks and CI snippets, and commands of ours in the text."""
    text = OUTPUT.sub("", text_of(document))
    for language, block in BLOCK.findall(text):
        if language == "sh":
            yield from (line.partition("  #")[0].strip() for line in block.splitlines() if line.strip())
        elif language == "yaml":
            yield from (line for line in scripts(yaml.safe_load(block)) if "dynamo-lint" in line)
    prose = re.sub(r"^#.*$", "", BLOCK.sub("", text), flags=re.MULTILINE)
    for command in re.findall(r"`(dynamo-lint(?: [^`]*)?)`", prose):
        command = " ".join(command.split())
        for word, stand_in in PLACEHOLDERS.items():
            command = command.replace(word, stand_in)
        if command != "dynamo-lint":  # the name of the program, of the package, or of a hook
            yield command


def scripts(document: Any) -> Iterator[str]:
    """The shell lines of a CI snippet."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key in ("run", "script"):
                yield from [value] if isinstance(value, str) else value
            else:
                yield from scripts(value)
    elif isinstance(document, list):
        for value in document:
            yield from scripts(value)


def snippets(document: Path, language: str) -> list[str]:
    return [block for found, block in BLOCK.findall(text_of(document)) if found == language]


def is_of_confirm(command: str) -> bool:
    return command.startswith("dynamo-lint confirm")


def run(command: str, project: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("/scratch/", f"{project}/")],
        cwd=project,
        env={"PATH": f"{project}/bin:/usr/bin:/bin", "HOME": f"{project}/home", "PYTHONPATH": str(ROOT)}
        | {"GITHUB_BASE_REF": "main"},
        capture_output=True,
        text=True,
        check=False,
    )


def wrong(command: str, project: Path) -> str:
    """What is wrong with a command; empty if it does what it says."""
    done = run(command, project)
    expected = (0, 1, 3) if " logs " in command else (0, 1)
    said = done.stderr + done.stdout
    if done.returncode in expected and "Traceback" not in said and "Usage:" not in said:
        return ""
    return f"{command}: exit {done.returncode}: {said[-400:]}"


@pytest.fixture
def project(tmp_path: Path, python_with_linter: str) -> Path:
    probe, test = snippets(ROOT / "docs/guides/confirm.md", "python")
    log = (ROOT / "tests/logs/jobs/hit_limit.log").read_text()
    contents = {
        "pyproject.toml": '[project]\nname = "reader"\n[tool.dynamo-lint]\nprobes = ["tests/probes.py"]\n',
        "src/moe.py": MOE,
        "src/train.py": TRAIN,
        "train.py": "",
        "a/net.py": MOE,
        "b/net.py": MOE,
        "mymodel.py": MODEL,
        "tests/probes.py": f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{probe}",
        "tests/kernels.py": KERNELS,
        "tests/test_block.py": f"import torch\nfrom mymodel import Block\n\n\n{test}",
        **{f"{name}.log": log for name in ("job", "stderr", "run", "trace/rank0")},
        "home/.keep": "",
    }
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    linter = f'exec {python_with_linter} -c {shlex.quote(RUN_LINTER)} "$@"'
    for name, script in {"dynamo-lint": linter, **STAND_INS}.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    git = ("git", "-c", "user.name=reader", "-c", "user.email=reader@example.org")
    for words in (
        ("init", "--quiet", "-b", "main"),
        ("add", "--all"),
        ("commit", "--quiet", "-m", "first"),
        ("update-ref", "refs/remotes/origin/main", "HEAD"),
    ):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("document", DOCS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_of_a_page_runs(document: Path, project: Path) -> None:
    found = dict.fromkeys(commands(document))
    chosen = [one for one in found if not one.startswith(tuple(NOT_RUN)) and not is_of_confirm(one)]
    assert [said for one in chosen if (said := wrong(PARTS.get(one, one), project))] == []


def test_the_commands_that_are_not_run_are_still_shown() -> None:
    found = [one for document in DOCS for one in commands(document)]
    for beginning in (*NOT_RUN, *PARTS):
        assert any(one.startswith(beginning) for one in found), beginning
    assert len(found) > 50


def test_every_command_of_confirm_runs_under_torch(project: Path, python_with_torch: str) -> None:
    start = f"import sys; sys.executable = {python_with_torch!r}; from dynamo_lint.cli import main; main()"
    (project / "bin" / "dynamo-lint").write_text(
        f'#!/bin/sh\nexec {sys.executable} -c {shlex.quote(start)} "$@"\n'
    )
    found = dict.fromkeys(one for document in DOCS for one in commands(document) if is_of_confirm(one))
    assert len(found) > 3
    assert [said for one in found if (said := wrong(one, project))] == []
    assert (project / "receipt.json").is_file()


def test_the_test_of_the_confirm_guide_passes_under_torch(project: Path, python_with_torch: str) -> None:
    start = shlex.quote("import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))")
    done = run(f"{python_with_torch} -c {start} -q -p no:cacheprovider tests/test_block.py", project)
    assert done.returncode == 0, done.stdout[-2000:]


def test_every_option_that_the_pages_name_is_one_of_ours() -> None:
    ours = {"--help", "--version"} | {
        name
        for command in map(partial(cli.app.get_command, click.Context(cli.app)), cli.COMMANDS)
        if command is not None
        for option in command.params
        for name in option.opts
    }
    for document in DOCS:
        named = set(re.findall(r"(?<![\w\-\[])--[a-z][a-z-]+", text_of(document)))
        assert named - ours - FOREIGN == set(), document


# --- what the pages show of the output -------------------------------------------------------------------


def shape(value: Any) -> Any:
    """The keys of a document, at each level."""
    if isinstance(value, dict):
        return {key: shape(inside) for key, inside in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else None


def unlike(shown: Any, real: Any, path: str = "") -> Iterator[str]:
    """The keys that a sample has and the output lacks, or the other way round."""
    if isinstance(shown, dict) and isinstance(real, dict) and shown and real:
        yield from (f"{path}.{key}" for key in shown.keys() ^ real.keys())
        for key in shown.keys() & real.keys():
            yield from unlike(shown[key], real[key], f"{path}.{key}")
    elif isinstance(shown, list) and isinstance(real, list) and shown and real:
        yield from unlike(shown[0], real[0], f"{path}[]")


@pytest.mark.parametrize(
    ("page", "command", "absent"),
    [
        ("reference/output.md", "dynamo-lint check src --output-format json", set()),
        ("guides/doctor.md", "dynamo-lint doctor --output-format json", set()),
        (
            "guides/logs.md",
            "dynamo-lint logs stderr.log --output-format json --max-recompiles 0",
            {".ranks", ".limits[].rank"},  # where there are several
        ),
    ],
)
def test_the_json_of_a_page_has_the_keys_of_the_output(
    page: str, command: str, absent: set[str], project: Path
) -> None:
    (sample,) = snippets(ROOT / "docs" / page, "json")
    done = run(f"TORCHDYNAMO_SUPPRESS_ERRORS=0 {command}", project)
    assert set(unlike(shape(json.loads(sample)), shape(json.loads(done.stdout)))) - absent == set()


def test_the_lines_of_the_doctor_guide_are_those_of_the_command(project: Path) -> None:
    (sample,) = snippets(ROOT / "docs/guides/doctor.md", "text")
    *checks, _ = sample.splitlines()
    variables = " ".join(re.findall(r"[A-Z_]+=\S+?(?=: )", sample))
    done = run(f"{variables} dynamo-lint doctor --torch-version 2.13 -- torchrun train.py", project)
    assert set(checks) <= set(done.stderr.splitlines())
    assert done.stderr.splitlines()[-1].endswith("; not started")


def test_the_receipt_of_the_confirm_guide_is_that_of_the_command_under_torch(python_with_torch: str) -> None:
    (sample,) = snippets(ROOT / "docs/guides/confirm.md", "text")
    probe = "fixtures/moe/hazard/probes.py::probe_noise_switch"
    done = subprocess.run(
        [sys.executable, "-m", "dynamo_lint", "confirm", "--python", python_with_torch, probe],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(sample), done.stdout
