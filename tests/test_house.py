"""The habits of this house, held by tests: names that agree, imports that point one way, no torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from bench import house
from dynamo_lint.pages import load_pages
from dynamo_lint.rules import RULES

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "dynamo_lint").rglob("*.py"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_its_function_its_page_its_proof_and_its_row_in_the_list_carry_one_name(rule) -> None:
    of_a_table = isinstance(rule.check, partial)
    assert of_a_table or rule.check.__name__ in {rule.name.replace("-", "_"), "by_runs"}
    assert (ROOT / "rules" / f"{rule.code}-{rule.name}.md").is_file()
    folders = ("proofs", "static") if load_pages()[rule.code].is_static else ("proofs",)
    assert any((ROOT / "tests" / folder / f"{rule.code}.py").is_file() for folder in folders)
    assert f"{rule.code}-{rule.name}.md) | `{rule.name}` |" in (ROOT / "docs/reference/rules.md").read_text()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_modules_of_rules_stay_readable() -> None:
    sizes = {
        path.name: len(path.read_text().splitlines()) for path in (ROOT / "dynamo_lint/rules").glob("*.py")
    }
    assert {name: size for name, size in sizes.items() if size > 550} == {}


def test_imports_point_from_later_packages_to_earlier_ones_and_never_around_a_corner() -> None:
    figures = house.imports(house.trees())
    assert figures["cycles"] == []
    assert figures["folder_cycles"] == []
    assert figures["against_order"] == []


def test_linting_never_imports_torch_or_the_linted_code(tmp_path: Path) -> None:
    (tmp_path / "victim.py").write_text(
        "import torch\nraise SystemExit('imported')\nmodel = torch.compile(torch.nn.Linear(2, 2))\n"
    )
    code = (
        "import sys; from dynamo_lint.cli import run; status = run([sys.argv[1], '-q']); "
        "sys.exit(status or ('torch' in sys.modules) or ('victim' in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
