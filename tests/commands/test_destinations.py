"""Several outputs of one run, and the one that there was before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.run import judge
from tests.commands.test_cli import here

__all__ = ["here"]


def formats(*words: str) -> list[str]:
    return [part for word in words for part in ("--output-format", word)]


def test_one_analysis_is_written_in_several_formats(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, real = [], judge._judge_facts
    monkeypatch.setattr(judge, "_judge_facts", lambda *args: judged.append(1) or real(*args))
    assert cli.run(formats("sarif:out.sarif", "json:o:ut.json", "github")) == 1
    said = capsys.readouterr()
    assert said.out.startswith("::error ")
    assert said.err.startswith("Found 1 error")
    assert json.loads((here / "out.sarif").read_text())["version"] == "2.1.0"
    assert len(json.loads((here / "o:ut.json").read_text())["findings"]) == 1
    written = (here / "out.sarif").read_text()
    before = len(judged)
    assert cli.run([*formats("sarif"), "--output-file", "again.sarif"]) == 1
    assert (here / "again.sarif").read_text() == written
    assert (before, len(judged)) == (2, 2)  # with the trial of the fix, and then from the cache


def test_the_order_does_not_count_and_a_text_keeps_its_summary_on_stdout(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(formats("concise", "json:a.json")) == 1
    first = capsys.readouterr()
    assert cli.run(formats("json:a.json", "concise:-")) == 1
    assert capsys.readouterr() == first
    assert first.out.startswith("a.py:10:9: error DYN101")
    assert "\nFound 1 error" in first.out


def test_of_two_for_stdout_the_last_counts_as_before(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(formats("json", "concise")) == 1
    assert capsys.readouterr().out.startswith("a.py:10:9")
    assert cli.run([*formats("json:a.json", "concise"), "-o", "a.txt"]) == 1
    assert (here / "a.txt").read_text().startswith("a.py:10:9")
    assert capsys.readouterr().out.startswith("Found 1 error")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (formats("sarfi"), "'sarfi' is not one of full, concise"),
        (formats("sarfi:x"), "did you mean 'sarif'?"),
        (formats("sarif:"), "'sarif:' names no file; write sarif:FILE"),
        (formats("sarif:a", "json:./a"), "is named for two outputs"),
        ([*formats("json:a", "sarif"), "-o", "a"], "is named for two outputs"),
        ([*formats("json:a"), "-o", "b"], "every --output-format has a file, so b would get nothing"),
        ([*formats("concise", "json:a"), "--statistics"], "--statistics works with the formats"),
    ],
)
def test_outputs_that_cannot_be_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], args: list[str], message: str
) -> None:
    assert cli.run(args) == 2
    assert message in capsys.readouterr().err
    assert not (here / "a").exists()
