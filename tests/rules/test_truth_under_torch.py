"""The programs of tests/truth under torch: Dynamo does what is claimed, and loses nothing where nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.proof import watch
from tests.rules.test_truth import CASES, disagreement
from tests.truths import Case, agreement, claims

LIMIT = 4
"""A recompile limit that storms hit twice as fast as the default one; both sides are told."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_dynamo_does_what_is_claimed(case: Case, tmp_path: Path) -> None:
    program = case.write(tmp_path)
    receipt = watch(program, LIMIT)
    assert agreement([claim for claim in case.expected if not claim.note], receipt, LIMIT) == "agree", receipt
    if disagreement(case) is None:
        assert agreement(claims(tmp_path, LIMIT), receipt, LIMIT) == "agree", receipt
