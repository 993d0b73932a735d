"""Several configurations in one command: each file is judged as if it were named alone, and told with the others."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dynamo_lint import cli

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


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


@pytest.mark.parametrize("seed", range(3))
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


@pytest.fixture
def two(here: Path) -> Path:
    """A package that accepts what it has, one with a level of its own, and no configuration above them."""
    package(here / "a", 'baseline = "accepted.json"', 'select = ["DYN1"]')
    package(here / "b", 'severity = { DYN101 = "note" }', 'select = ["DYN101"]')
    return here


def test_what_a_script_above_compiles_is_told_as_the_nearest_configuration_has_it(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(two / "above.py", TRAIN.replace("from net", "from b.net"))
    alone, both = lint(capsys, "above.py"), lint(capsys, "above.py", "b")
    assert [one[:3] for one in alone["b/net.py"]] == [("DYN101", 12, "note")]
    assert [one[:3] for one in both["b/net.py"]] == [("DYN101", 12, "note")]
    # What the package accepts is not told because of the script.
    write(two / "above.py", TRAIN.replace("from net", "from a.net"))
    assert "a/net.py" in lint(capsys, "above.py")
    assert "a/net.py" not in lint(capsys, ".")


def test_the_summary_and_the_exit_status_are_those_of_all(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["a", "b", "--output-format", "concise"]) == 0
    told = capsys.readouterr().out
    assert "Found 1 note in 1 of 4 files; 2 compiled functions from 2 compile entries." in told
    assert "1 finding accepted by the baseline." in told
    (two / "a/accepted.json").write_text('{"schema_version": 1, "findings": []}\n')
    assert cli.run(["a", "b", "--output-format", "concise"]) == 1
    assert "Found 1 error, 1 note in 2 of 4 files" in capsys.readouterr().out
    assert cli.run(["a", "b", "--config", "b/dynamo-lint.toml"]) == 0


def test_paths_elsewhere_are_told_from_the_folder_that_all_share(
    two: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (two / "away").mkdir()
    monkeypatch.chdir(two / "away")
    (two / "a/accepted.json").write_text('{"schema_version": 1, "findings": []}\n')
    assert set(lint(capsys, "../a")) == {"net.py"}
    assert set(lint(capsys, "../a", "../b/net.py")) == {"a/net.py", "b/net.py"}


def test_fixes_of_all_configurations_are_shown_and_made(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (two / "a/accepted.json").write_text('{"schema_version": 1, "findings": []}\n')
    assert cli.run(["a", "b", "--diff", "--unsafe-fixes"]) == 1
    shown = capsys.readouterr()
    assert [line for line in shown.out.splitlines() if line.startswith("+++")] == [
        "+++ a/net.py",
        "+++ b/net.py",
    ]
    assert "Would fix 2 findings in 2 files." in shown.err
    assert cli.run(["a", "b", "--fix", "--unsafe-fixes"]) == 0
    assert "Fixed 2 findings in 2 files." in capsys.readouterr().err
    assert all("register_buffer" in (two / name / "net.py").read_text() for name in "ab")


def test_each_baseline_is_written_with_its_own_findings_or_one_with_all(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def accepted(file: str) -> list[str]:
        return [one["path"] for one in json.loads((two / file).read_text())["findings"]]

    assert cli.run(["a", "b", "--update-baseline"]) == 2
    assert cli.run(["a", "b", "--update-baseline", "--baseline", "all.json"]) == 0
    assert "all.json: accepts 2 findings from now on." in capsys.readouterr().err
    assert accepted("all.json") == ["a/net.py", "b/net.py"]
    assert lint(capsys, ".", "--baseline", "all.json") == {}
    write(two / "b/dynamo-lint.toml", 'baseline = "own.json"\nselect = ["DYN101"]\n')
    (two / "b/own.json").write_text('{"schema_version": 1, "findings": []}\n')
    assert cli.run([".", "--update-baseline"]) == 0
    assert (accepted("a/accepted.json"), accepted("b/own.json")) == (["net.py"], ["net.py"])


def test_settings_files_and_regions_of_all_are_shown(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["a", "b/net.py", "--show-files"]) == 0
    assert capsys.readouterr().out.split() == ["a/net.py", "a/train.py", "b/net.py"]
    assert cli.run([".", "--show-settings"]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("# /")]
    assert heads == [f"# {two}/a/dynamo-lint.toml", f"# {two}/b/dynamo-lint.toml"]
    assert cli.run(["regions", ".", "--output-format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in told["entries"]] == ["a/train.py", "b/train.py"]
    assert [(one["id"], one["entries"]) for one in told["functions"]] == [
        ("a/net.py::Net.forward", [0]),
        ("b/net.py::Net.forward", [1]),
    ]
    assert cli.run(["regions", ".", "--why", "Net.forward"]) == 0
    assert capsys.readouterr().out.count("is compiled") == 2


def test_commands_that_take_one_configuration_refuse_several(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(two / "job.log", "")
    assert cli.run(["logs", "job.log", "--source", "a", "--source", "b"]) == 2
    assert "the paths have different configurations" in capsys.readouterr().err
    assert cli.run(["regions", "a", "b", "--guards", "--update"]) == 2


def test_a_broken_file_that_does_not_speak_of_us_is_no_configuration(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(two / "c/pyproject.toml", "[broken\n")
    assert set(lint(capsys, ".")) == {"b/net.py"}
