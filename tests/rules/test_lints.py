"""What the linter is asked about a program once for all tests is what it says whenever it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lints import LIMITS, AskedLimit, AskedVersion, Shared, claims_about, findings_about
from tests.rules.test_truth import CASES
from tests.truths import MAIN, Case, claims
from tests.verdicts import sampled

SAMPLE = [case for case in CASES if sampled(case.id)]
VERSIONS = ((2, 6), (2, 13))


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.id)
def test_what_is_shared_is_what_a_lint_for_that_limit_and_version_says(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    for limit in LIMITS:
        for version in VERSIONS:
            assert claims_about(case, limit, version) == claims(tmp_path, limit, version)


SIX_BLOCKS = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, x):
        return x * self.index


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(i) for i in range(6))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


model = Model()
for block in model.blocks:
    block.compile()
for _ in range(3):
    model(torch.ones(2))
"""


def test_limits_that_are_told_apart_get_answers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shared, "answers", {})
    monkeypatch.setattr(Shared, "folder", None)
    case = Case("made up", "six blocks", ((MAIN, SIX_BLOCKS),))
    low, high = (findings_about(case, limit) for limit in LIMITS)
    assert [one.severity for one in low] != [one.severity for one in high]
    assert [answer.limits for answer in Shared.answers[case.digest]] == [(limit,) for limit in LIMITS]


def test_the_processes_of_a_run_find_what_another_one_has_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shared, "folder", tmp_path / "lints")
    case = Case("made up", "six blocks", ((MAIN, SIX_BLOCKS),))
    monkeypatch.setattr(Shared, "answers", {})
    said = findings_about(case)
    monkeypatch.setattr(Shared, "answers", {})
    monkeypatch.setattr("tests.lints.findings", None)
    assert findings_about(case) == said


@pytest.mark.parametrize(
    ("asked", "apart"),
    [
        (lambda limit: limit > 8, False),
        (lambda limit: limit >= 8, True),
        (lambda limit: max(limit, 0) > 3, False),
        (lambda limit: max(0, limit) > 5, True),
        (lambda limit: limit == 8, True),
        (lambda limit: 1 + limit, True),
        (lambda limit: f"{limit} compiles", False),
    ],
)
def test_a_limit_notes_what_another_one_would_change_but_for_texts(asked, apart: bool) -> None:
    AskedLimit.told_apart = False
    asked(AskedLimit(LIMITS[0]))
    assert AskedLimit.told_apart == apart


def test_a_version_notes_where_the_answer_changes() -> None:
    AskedVersion.noted.clear()
    assert AskedVersion((2, 9)) >= (2, 8)
    assert not AskedVersion((2, 9)) > (2, 10)
    assert AskedVersion.noted == {(2, 8), (2, 11)}
