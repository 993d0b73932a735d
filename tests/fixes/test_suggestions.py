"""Edits that no command makes: how they are told, shown and left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dynamo_lint import cli

PARTS = """\
import torch


class Block(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def forward(self, x):
        return x + 1 if self.kind == 3 else x * 2


blocks = torch.nn.ModuleList([Block(kind) for kind in range(12)])
for block in blocks:
    block.compile()
for block in blocks:
    block(torch.ones(2))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dynamo-lint.toml").write_text("")
    (tmp_path / "a.py").write_text(PARTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_finding_says_that_its_edit_is_suggested_and_why(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.run(["--output-format", "json", "-q"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    fix = finding["fix"]
    assert (finding["code"], fix["kind"], fix["applicability"]) == ("DYN107", "suggested", "display")
    assert [edit["replacement"] for edit in fix["edits"]] == ["isolate_recompiles=True"]
    assert "compiled once" in fix["reason"]


def test_no_command_makes_a_suggested_edit(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["--fix", "--unsafe-fixes", "--exit-zero"])
    assert (here / "a.py").read_text() == PARTS
    assert "1 suggested edit to judge: `--diff --suggestions` shows it." in capsys.readouterr().out


def test_a_diff_shows_suggested_edits_for_the_asking(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--diff"]) == 0
    assert capsys.readouterr().out == ""
    assert cli.run(["--diff", "--suggestions"]) == 1
    shown = capsys.readouterr()
    assert "+    block.compile(isolate_recompiles=True)\n" in shown.out
    assert shown.err == "Shown, and yours to judge: 1 suggested edit.\n"
    assert (here / "a.py").read_text() == PARTS


def test_suggestions_are_for_diffs_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--suggestions"]) == 2
    assert "--suggestions goes with --diff" in capsys.readouterr().err


def test_the_text_of_a_finding_says_where_its_edit_is_shown(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.run([])
    assert "(`--diff --suggestions` shows an edit)" in " ".join(capsys.readouterr().out.split())
