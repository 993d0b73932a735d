"""One verdict for a project: what is named chooses from it, and says the same as a run of its own would."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.run import judge

PYPROJECT = """\
[project]
name = "app"
version = "1"

[tool.dynamo-lint]
exclude = ["generated"]
"""
BLOCKS = """\
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0
        self.scale = 1.0

    def forward(self, x):
        self.steps += 1
        return helper(x) * self.scale

class Other(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return helper(x)
        return x

def helper(x):
    print("step")
    return x + 1
"""
TRAIN = """\
import torch
from app.blocks import Block

def train(batches):
    block = Block()
    step = torch.compile(block)
    for batch in batches:
        block.scale = 0.5 * block.scale
        step(batch)

train([])
"""
SERVE = """\
import torch
from app.blocks import Other

serve = torch.compile(Other())

@torch.compile
def twice(x, fn):
    print(x)
    return fn(x)
"""
SITES = """\
import torch

def run(fn):
    return torch.compile(fn)

fast = torch.compile(torch.relu)
idle = 1  # dynamo-lint: ignore[DYN101]
"""
GENERATED = """\
from app.blocks import Other

Other.forward.scale = 3
"""
FILES = {
    "pyproject.toml": PYPROJECT,
    "app/__init__.py": "",
    "app/blocks.py": BLOCKS,
    "app/sites.py": SITES,
    "train.py": TRAIN,
    "serve.py": SERVE,
    "broken.py": "def f(:\n    pass\n",
    "cold.py": "LIMIT = 10\n\n\ndef total(rows):\n    return sum(rows)\n",
    "generated/code.py": GENERATED,
}
WITHIN = (
    ("train.py",),
    ("serve.py", "cold.py"),
    ("app/blocks.py",),
    ("app/sites.py",),
    ("broken.py",),
    ("cold.py",),
    ("app",),
    ("app/blocks.py", "train.py"),
    (".",),
)
"""Names of what discovery finds by itself, so that all of them are about the same files."""
BEYOND = (("generated/code.py",), ("generated/code.py", "serve.py"))
FORMATS = ("json", "full")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that everything is judged; dry runs of fixes judge other texts."""
    monkeypatch.setattr("dynamo_lint.run.rewrite.promised", lambda report, *_: report)
    times: list[str] = []
    whole: Callable[..., object] = judge._judge

    def counted(*given: object) -> object:
        times.append("judged")
        return whole(*given)

    monkeypatch.setattr(judge, "_judge", counted)
    return times


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = cli.run([*arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def linted(capsys: pytest.CaptureFixture[str], names: tuple[str, ...], *options: str) -> list[object]:
    return [said(capsys, "check", *names, "--output-format", form, *options) for form in FORMATS]


@pytest.mark.parametrize("backwards", [False, True])
def test_every_set_of_names_is_told_what_a_run_of_its_own_would_tell(
    project: Path, capsys: pytest.CaptureFixture[str], backwards: bool
) -> None:
    sets = (*WITHIN, *BEYOND)[:: -1 if backwards else 1]
    for text in (SERVE, "# a comment\n" + SERVE.replace("print", "len")):
        (project / "serve.py").write_text(text)
        with_cache = {names: linted(capsys, names) for names in sets}
        for names in sets:
            assert with_cache[names] == linted(capsys, names, "--no-cache"), names


def test_an_unchanged_project_is_judged_once_whatever_is_named(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for names in WITHIN:
        linted(capsys, names)
    assert len(judged) == 1
    linted(capsys, WITHIN[0], "--torch-version", "2.6")
    assert len(judged) == 2


def test_a_named_file_that_discovery_leaves_out_makes_it_another_project(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for names in (WITHIN[0], *BEYOND, WITHIN[0]):
        linted(capsys, names)
    assert len(judged) == 2


def test_text_from_stdin_is_judged_in_the_place_of_its_file(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def from_stdin(text: str) -> list[object]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return [said(capsys, "-", "--stdin-filename", "app/blocks.py", "--output-format", "json")]

    of_file = linted(capsys, ("app/blocks.py",))[:1]
    assert from_stdin(BLOCKS) == of_file
    assert len(judged) == 1
    assert from_stdin(BLOCKS.replace("+= 1", "+= 2")) != from_stdin("")
    assert len(judged) == 3


def test_an_edit_that_cannot_matter_is_not_judged_for_other_names_either(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    linted(capsys, ("train.py",))
    (project / "cold.py").write_text("LIMIT = 11\n")
    for names in WITHIN:
        with_cache = linted(capsys, names)
        times = len(judged)
        assert with_cache == linted(capsys, names, "--no-cache")
        del judged[times:]
    assert len(judged) == 1


def test_a_folder_that_is_a_project_of_its_own_is_read_without_what_lies_around_it(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "example").mkdir()
    (project / "example" / "run.py").write_text("import torch\n\n@torch.compile\ndef f(x):\n    print(x)\n")
    first = linted(capsys, ("example",))
    assert linted(capsys, ("example/run.py",)) == first
    assert len(judged) == 2
    assert [linted(capsys, ("train.py",)), linted(capsys, ("example",))][1] == first
    assert len(judged) == 2
