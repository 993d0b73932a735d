"""README.md: its output is real, its commands are the ones that CI runs, and what it left to the docs is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from dynamo_lint.findings import EFFECTS
from dynamo_lint.selectors import catalogue

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_shows_what_the_commands_print_today() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/readme.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_readme_holds_exactly_one_lint_and_one_test_command() -> None:
    commands = re.findall(r"^python3 -m venv .*$", README, re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith(".venv/bin/dynamo-lint fixtures/moe/hazard")
    assert commands[1].endswith(".venv/bin/pytest -q -n 2")


def test_the_guide_explains_every_effect_and_the_reference_names_every_rule() -> None:
    guide = (ROOT / "docs/guides/findings.md").read_text(encoding="utf-8")
    reference = (ROOT / "docs/reference/rules.md").read_text(encoding="utf-8")
    assert [word for word in EFFECTS if f"| `{word}` | " not in guide] == []
    rules = catalogue().items()
    assert [
        code for code, name in rules if f"[`{code}`]" not in reference or f"| `{name}` |" not in reference
    ] == []


def test_readme_fits_a_screen_and_a_half_beside_its_example_and_its_table_of_gains() -> None:
    shown = r"<!-- output: .*?<!-- /output -->|<!-- gpu table -->.*?(?=^## )"
    own = re.sub(shown, "", README, flags=re.DOTALL | re.MULTILINE)
    assert len(own.splitlines()) <= 66


def test_readme_leads_to_the_guide_of_findings_the_rules_and_all_pages() -> None:
    for page in (
        "docs/guides/findings.md",
        "docs/guides/start.md",
        "docs/reference/rules.md",
        "docs/README.md",
    ):
        assert f"]({page})" in README


def test_readme_has_the_place_of_the_table_of_gains_once() -> None:
    assert README.count("<!-- gpu table -->") == 1


def test_the_gains_on_a_gpu_are_those_that_were_recorded() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench/gpu/report.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
