"""Several configurations in one command: each file is judged as if it were named alone, and told with the others."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dynamo_lint import cli
from tests.commands.test_cli import here

__all__ = ["here"]

NET = """\
import os

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * self.n if os.environ.get("MODE") else x


class Other(torch.nn.Module):
    def forward(self, x, cache=[]):
        cache.append(1)
        return x + len(cache)
"""
TRAIN = "import torch\n\nfrom net import Net\n\nnet = torch.compile(Net())\nfor i in range(20):\n    net(torch.ones(i))\n"
LINES = (
    'select = ["DYN1"]',
    'ignore = ["DYN101"]',
    'severity = { DYN101 = "note", DYN2 = "error" }',
    'regions = ["net:Other"]',
    'assume = "modules"',
    'per-file-ignores = { "net.py" = ["DYN2"] }',
    'min-confidence = "possible"',
    'overrides = [{ paths = ["net.py"], fail-level = "note", severity = { DYN1 = "warning" } }]',
    'torch-version = "2.9"',
    'baseline = "accepted.json"',
)
ACCEPTED = {"path": "net.py", "code": "DYN101", "symbol": "Net.forward", "subject": "Net.n"}
PACKAGES = ("a", "b", "b/inner", "c")


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def package(folder: Path, *lines: str) -> None:
    """A program in a folder, with a configuration if there are lines for one."""
    write(folder / "net.py", NET)
    write(folder / "train.py", TRAIN)
    if lines:
        write(folder / "dynamo-lint.toml", "\n".join(lines) + "\n")
        write(folder / "accepted.json", json.dumps({"schema_version": 1, "findings": [ACCEPTED]}))


def lint(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, list[tuple[object, ...]]]:
    """The findings on each file."""
    assert cli.run([*args, "--output-format", "json", "--no-cache", "-q"]) in (0, 1)
    told: dict[str, list[tuple[object, ...]]] = {}
    for one in json.loads(capsys.readouterr().out)["findings"]:
        said = (
            one["code"],
            one["line"],
            one["severity"],
            one["confidence"],
            one["fingerprint"],
            one["message"],
        )
        told.setdefault(one["path"], []).append(said)
    return told


@pytest.mark.parametrize("seed", range(4))
def test_the_verdict_on_a_file_does_not_depend_on_what_is_named_beside_it(
    here: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    chance = random.Random(seed)
    write(here / "pyproject.toml", "[tool.dynamo-lint]\n" + "\n".join(chance.sample(LINES[:3], seed % 2)))
    for name in PACKAGES:
        extends = [f'extend = "{"../" * (name.count("/") + 1)}pyproject.toml"'] * chance.randrange(2)
        package(here / name, *extends, *chance.sample(LINES, chance.randint(1, 4)))
    files = [f"{name}/{file}" for name in PACKAGES for file in ("net.py", "train.py")]
    alone = {file: lint(capsys, file).get(file) for file in files}
    whole = lint(capsys, ".")
    assert alone == {file: whole.get(file) for file in files}
    assert any(alone.values())
    for name in PACKAGES:
        folder = lint(capsys, name)
        assert all(folder.get(file) == alone[file] for file in files if file.startswith(f"{name}/"))
    for _ in range(3):
        some = chance.sample(files, chance.randint(2, 5))
        told = lint(capsys, *some)
        assert {file: told.get(file) for file in some} == {file: alone[file] for file in some}
