"""The static verdict on every program we publish: rule pages, proofs and fixtures say what they expect."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.pages import load_pages
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

ROOT = Path(__file__).parent.parent.parent
EXPECTED = re.compile(r"# expect: (DYN\d+)(?: ([a-z-]+))?")
BLOCK = re.compile(r"^## (Hazard|Fixed)$.*?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = {code: page for code, page in load_pages().items() if not code.startswith("DYN9")}


def findings(folder: Path) -> set[tuple[str, int, str, str]]:
    found = discover((folder,), [], force_exclude=False)
    report = check(Settings(), found, catalogue(), Sources(found.root))
    return {
        (Path(found.root, one.span.path).name, one.span.line, one.code, one.effect) for one in report.findings
    }


def expected(folder: Path) -> set[tuple[str, int, str, str]]:
    return {
        (path.name, number, *match.groups(default=""))
        for path in folder.glob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for match in EXPECTED.finditer(line)
    }


@pytest.mark.parametrize("code", PAGES)
def test_a_page_is_right_about_its_hazard_and_its_fixed_program_is_quiet(code: str, tmp_path: Path) -> None:
    programs = dict(BLOCK.findall(PAGES[code].body))
    (tmp_path / "hazard.py").write_text(programs["Hazard"])
    (tmp_path / "fixed.py").write_text(programs["Fixed"])
    wanted = expected(tmp_path)
    assert {name for name, _, _, _ in wanted} == {"hazard.py"}
    rules = {rule for _, _, rule, _ in wanted}
    assert code in rules <= {code, "DYN109"}  # which tells what a break hands on
    assert findings(tmp_path) == wanted


def test_the_proofs_under_torch_are_predicted_line_by_line(tmp_path: Path) -> None:
    # In a folder of tests, some rules leave a program alone.
    folder = Path(shutil.copytree(ROOT / "tests" / "proofs", tmp_path / "proofs"))
    assert len(expected(folder)) > 20
    assert findings(folder) == expected(folder)


def test_the_fixture_has_its_four_hazards_and_nothing_else() -> None:
    folder = ROOT / "fixtures" / "moe" / "hazard"
    assert {code for _, _, code, _ in expected(folder)} == {"DYN101", "DYN103", "DYN201", "DYN202"}
    assert findings(folder) == expected(folder)


def test_the_fixed_twin_of_the_fixture_is_quiet() -> None:
    assert findings(ROOT / "fixtures" / "moe" / "fixed") == set()
