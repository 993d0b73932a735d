"""Made probes under real Dynamo: what they confirm, what they may not do, and a command as the probe."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynamo_lint import cli

PROGRAM = """
import torch
from torch import nn


class Counting(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.layer = nn.Linear(dim, dim)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.layer(x) * self.calls


class Saving(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        open("saved.txt", "w").write("no")

    def forward(self, x):
        return x + 1


def run(argv):
    counting = torch.compile(Counting(8))
    for _ in range(4):
        counting(torch.randn(3, 8))
    torch.compile(Saving(8))(torch.randn(3, 8))
"""

CONFINED = """
import os, socket, sys
from pathlib import Path
from dynamo_lint.confirm.child.confined import confine
folder, other = map(Path, sys.argv[1:])
confine(folder)
(folder / "own").write_text("fine")
import torch
for attempt in (
    lambda: (other / "file").write_text("no"),
    lambda: (other / "folder").mkdir(),
    lambda: os.remove(other / "kept"),
    lambda: os.rename(folder / "own", other / "own"),
    lambda: torch.save({}, other / "weights"),
    lambda: socket.create_connection(("192.0.2.1", 80), 1),
):
    try:
        attempt()
    except PermissionError:
        continue
    sys.exit("allowed")
"""


def test_a_made_probe_confirms_a_counter_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python_with_torch: str
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    written = tmp_path / "probes.py"
    arguments = ["confirm", "--auto", ".", "-q", "--calls", "4", "--python", python_with_torch]
    arguments += ["--output-format", "json", "-o", "result.json", "--write-probe", str(written)]
    assert cli.run(arguments) == 0
    result = json.loads(Path("result.json").read_text())
    (probe,) = result["probes"]
    assert probe["made"]["varied"] == ["train and eval", "a smaller last batch"]
    assert [one["verdict"] for one in probe["findings"] if one["code"] == "DYN101"] == ["confirmed"]
    assert result["regions"]["built"] == 1
    (other,) = result["regions"]["not_built"]
    assert other["target"].endswith("Saving")
    assert "writes to its own folder only" in other["why"][0]
    assert sorted(os.listdir(tmp_path)) == ["probes.py", "program.py", "result.json"]
    text = written.read_text()
    assert "def probe_Counting():" in text
    assert "call = ...  # make `Saving` here" in text


def test_a_confined_process_changes_nothing_outside_of_its_folder(
    tmp_path: Path, python_with_torch: str
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    (other / "kept").write_text("kept")
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [python_with_torch, "-c", CONFINED, str(own), str(other)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert os.listdir(other) == ["kept"]
