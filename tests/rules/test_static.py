"""The rules that no run can prove, on small programs: `tests/static/CODE.py` has the cells of one rule.

A file is cut into cells as those of tests/truth. `# expect: CODE` stands where a finding is that is no note,
`# expect: CODE note` where a note is, and a cell without one is quiet. Most cells are.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dynamo_lint.config import Settings
from dynamo_lint.contract import Contract
from dynamo_lint.discovery import discover
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources
from tests.truths import CELL, FILE, MAIN

FOLDER = Path(__file__).parent.parent / "static"
CODES = sorted(path.stem for path in FOLDER.glob("*.py"))
MARK = re.compile(r"# expect: (DYN\d+)( note)?")
Rows = set[tuple[str, int, str, bool]]


def cells(code: str) -> dict[str, dict[str, str]]:
    """The files of each program of a rule, by its title."""
    head, *rest = CELL.split((FOLDER / f"{code}.py").read_text())
    found = {}
    for title, text in zip(rest[::2], rest[1::2], strict=True):
        main, *others = FILE.split(text)
        terms = "".join(re.findall(r"^# contract: .*\n", main, re.MULTILINE))  # before the first import
        found[title.strip()] = {
            MAIN: terms + head + main,
            **dict(zip(others[::2], others[1::2], strict=True)),
        }
    return found


def expected(files: dict[str, str]) -> Rows:
    return {
        (name, number, mark[1], mark[2] is not None)
        for name, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        for mark in MARK.finditer(line)
    }


PROGRAMS = [(code, title) for code in CODES for title in cells(code)]


@pytest.mark.parametrize(("code", "title"), PROGRAMS, ids=[f"{code}: {title}" for code, title in PROGRAMS])
def test_a_program_has_the_findings_that_it_expects_and_no_others(
    code: str, title: str, tmp_path: Path
) -> None:
    files = cells(code)[title]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = discover((tmp_path,), [], force_exclude=False)
    report = check(Settings(), found, catalogue(), Sources(found.root))
    assert {
        (one.span.path, one.span.line, one.code, one.severity == "note")
        for one in report.findings
        if one.code == code or one.severity != "note"
    } == expected(files)


@pytest.mark.parametrize("code", CODES)
def test_a_rule_is_shown_more_often_quiet_than_speaking(code: str) -> None:
    speaking = [bool(expected(files)) for files in cells(code).values()]
    assert any(speaking)
    assert 2 * sum(speaking) < len(speaking) + 1


def test_a_raised_limit_names_what_it_hides(tmp_path: Path) -> None:
    text = """
import torch

torch._dynamo.config.recompile_limit = 64


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


net = torch.compile(Net())
other = torch.compile(Net(), recompile_limit=32)
apart = torch.compile(torch.nn.ReLU(), recompile_limit=32)
"""
    (tmp_path / "a.py").write_text(text)
    found = discover((tmp_path,), [], force_exclude=False)
    report = check(Settings(), found, catalogue(), Sources(found.root))
    raised = {one.span.line: one for one in report.findings if one.code == "DYN511"}
    told = {line: one.message.partition(", and ")[2] for line, one in raised.items()}
    assert told == {4: "hides DYN101 at a.py:13", 18: "", 19: ""}
    assert [one.message for one in raised[4].related] == ["recompiles: DYN101 Net.calls"]


def test_a_contract_that_is_enforced_makes_errors_and_names_what_torch_does_by_itself(tmp_path: Path) -> None:
    text = """
import torch


def configure():
    torch._dynamo.config.suppress_errors = False


@torch.compile
def scale(x):
    return x * 2


scale(torch.ones(3))
configure()
"""
    (tmp_path / "a.py").write_text(text)
    found = discover((tmp_path,), [], force_exclude=False)
    contract = Contract(
        settings=(("automatic_dynamic_shapes", False),), settings_site="a:configure", enforce="error"
    )
    report = check(Settings(contract=contract), found, catalogue(), Sources(found.root))
    assert [(one.span.line, one.severity, one.message) for one in report.findings] == [
        (
            5,
            "error",
            "no code sets `automatic_dynamic_shapes`, which the contract says is False, and torch's own "
            "default is True",
        ),
        (
            15,
            "error",
            "`configure`, the contract's `settings-site`, is called after compiled code, at line 14",
        ),
    ]
