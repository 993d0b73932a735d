"""README.md: its output is real, and its commands are the ones that CI runs."""

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


def test_readme_explains_every_effect_and_names_every_rule_about_compiled_code() -> None:
    hazards = {code: name for code, name in catalogue().items() if not code.startswith("DYN9")}
    for word in (*EFFECTS, *hazards, *hazards.values()):
        assert f"`{word}`" in README, word
