"""The pipeline as the server asks it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.server.analysis import Question, judge
from tests.server.client import MOE, TRAIN, write


class Newer(Exception):
    """There is a newer edit."""


def test_an_analysis_can_be_ended_while_it_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write(tmp_path / "p", moe=MOE, train=TRAIN)
    question, told = Question(folder, folder, {}, cached=False), list[tuple[int, int]]()

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == 50:
            raise Newer

    with pytest.raises(Newer):
        judge(question, progress)
    assert (told[1], len(told)) == ((2, 2), 50)
    assert [one.code for one in judge(question).report.findings] == ["DYN101"]
