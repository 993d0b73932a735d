"""The linter says about every program of tests/truth exactly what stands beside its lines."""

from __future__ import annotations

import pytest

from dynamo_lint.rules import RULES
from tests.lints import claims_about
from tests.truths import THEMES, Case, cases

DISAGREEMENTS: dict[str, str] = {
    "blocks: a factory of functions with a number each": "says nothing",
    "graph_breaks: an error that leaves the region": "says nothing",
    "graph_breaks: a hook that was registered at set-up and prints": "says nothing",
    "lazy: a growing cache of keys": "says DYN103 once",
    "scalars: a step copied from an argument": "says DYN109 once",
}
"""Programs about which the linter is still wrong, and how; about everything else it must be right."""

CASES = [case for theme in THEMES for case in cases(theme)]


def disagreement(case: Case) -> str | None:
    """Why the linter is not expected to be right about a program."""
    unwritten = {claim.code for claim in case.expected} - {rule.code for rule in RULES}
    return f"there is no {min(unwritten)} yet" if unwritten else DISAGREEMENTS.get(case.id)


def _param(case: Case):
    reason = disagreement(case)
    return pytest.param(
        case, id=case.id, marks=[pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    )


@pytest.mark.parametrize("case", [_param(case) for case in CASES])
def test_the_claims_are_those_beside_the_lines(case: Case) -> None:
    welcome = {(claim.code, claim.effect) for claim in case.expected if claim.note}
    said = {
        (claim.code, claim.effect)
        for claim in claims_about(case)
        if not (claim.note and (claim.code, claim.effect) in welcome)
    }
    assert said == {(claim.code, claim.effect) for claim in case.expected if not claim.note}


def test_every_case_has_a_title_of_its_own() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


def test_disagreements_name_cases() -> None:
    assert DISAGREEMENTS.keys() <= {case.id for case in CASES}
