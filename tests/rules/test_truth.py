"""The linter says about every program of tests/truth exactly what stands beside its lines, and says it there.

A comment stands where compiled code meets the hazard. A finding is at the line to change, which often is another one:
tests/truth/lines.json has the code of that line for each such program, and ELSEWHERE says why.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from dynamo_lint.rules import RULES
from tests.lints import findings_about
from tests.truths import EXPECTED, FOLDER, THEMES, Case, cases, claims_in

DISAGREEMENTS: dict[str, str] = {
    "blocks: a factory of functions with a number each": "says nothing",
    "graph_breaks: an error that leaves the region": "says nothing",
    "scalars: a step copied from an argument": "says DYN109 once",
}
"""Programs about which the linter is still wrong, and how; about everything else it must be right."""

ELSEWHERE = {
    "DYN101": "where the value changes, also in a helper or a decorator",
    "DYN102": "where other code sets what compiled code reads",
    "DYN103": "where compiled code writes the attribute that it reads",
    "DYN105": "where other code changes the container",
    "DYN107": "where the constructor takes the value that differs, or where the function that is shared reads it",
    "DYN108": "where the constructor takes the part that differs",
    "DYN109": "at the call that passes the value",
    "DYN110": "at the call or the decorator that meets the other mode, or where parameters are frozen",
    "DYN302": "where a call of several lines begins",
    "DYN303": "at the call that passes the value",
    "DYN401": "also where the message is written, if it ever is",
    "DYN503": "at the call that runs eagerly",
    "DYN504": "at the decorator",
    "DYN509": "where the mode is set back",
}
"""The lines of findings, by their codes, where they are other ones than those that meet the hazard."""
LINES: dict[str, dict[str, list[str]]] = json.loads((FOLDER / "lines.json").read_text(encoding="utf-8"))
"""Program to code to the lines of its findings, where they are not those of the comments."""

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


def code_at(case: Case, name: str, number: int) -> str:
    """File and code of a line, without the comment beside it."""
    line = dict(case.files)[name].splitlines()[number - 1]
    return f"{name}: {line.partition('# expect:')[0].strip()}"


def marked(case: Case) -> dict[str, set[str]]:
    """The lines with a comment that claims something, by code."""
    lines: dict[str, set[str]] = defaultdict(set)
    for name, text in case.files:
        for number, line in enumerate(text.splitlines(), 1):
            for mark in EXPECTED.finditer(line):
                if mark[3] is None:
                    lines[mark[1]].add(code_at(case, name, number))
    return lines


@pytest.mark.parametrize("case", [_param(case) for case in CASES])
def test_the_claims_are_those_beside_the_lines(case: Case) -> None:
    welcome = {(claim.code, claim.effect) for claim in case.expected if claim.note}
    findings = [
        finding
        for finding in findings_about(case)
        if finding.severity != "note" or (finding.code, finding.effect) not in welcome
    ]
    said = {(claim.code, claim.effect) for claim in claims_in(findings)}
    assert said == {(claim.code, claim.effect) for claim in case.expected if not claim.note}

    lines: dict[str, set[str]] = defaultdict(set)
    for finding in findings:
        lines[finding.code].add(code_at(case, Path(finding.span.path).name, finding.span.line))
    listed = {code: set(one) for code, one in LINES.get(case.id, {}).items()}
    assert lines == marked(case) | listed
    for code, one in listed.items():
        assert one != marked(case)[code], "its row in lines.json says no more than its comments"


def test_every_case_has_a_title_of_its_own() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


def test_disagreements_name_cases() -> None:
    assert DISAGREEMENTS.keys() <= {case.id for case in CASES}


def test_lines_that_are_listed_are_those_of_cases_and_have_a_reason() -> None:
    assert LINES.keys() <= {case.id for case in CASES}
    assert {code for row in LINES.values() for code in row} == ELSEWHERE.keys()
