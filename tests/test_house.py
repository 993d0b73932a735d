"""The habits of this house, held by tests: names that agree, files that fit on a screen or a few, no torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dynamo_lint.rules import RULES

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "dynamo_lint").rglob("*.py"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_its_module_its_page_its_proof_and_its_row_in_the_list_carry_one_name(rule) -> None:
    module = rule.name.replace("-", "_")
    assert rule.check.__module__ == f"dynamo_lint.rules.{module}"
    assert len((ROOT / "dynamo_lint" / "rules" / f"{module}.py").read_text().splitlines()) <= 120
    assert (ROOT / "rules" / f"{rule.code}-{rule.name}.md").is_file()
    assert (ROOT / "tests" / "proofs" / f"{rule.code}.py").is_file()
    assert f"{rule.code}-{rule.name}.md) | `{rule.name}` |" in (ROOT / "docs/reference/rules.md").read_text()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_a_module_takes_names_only_from_modules_that_do_not_import_it() -> None:
    # In a circle, whichever is imported first finds the other half made: a module is there, its names are not.
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in MODULES}
    imports = {name: _imported(path) & files.keys() for name, path in files.items()}
    for name, path in files.items():
        for taken in _taken_from(path) & files.keys():
            assert name not in _reached(imports, taken), f"{name} takes names from {taken}, which imports it"


def _top(path: Path) -> Iterator[ast.ImportFrom]:
    """What the top level of a module imports from others as it runs: not for the type checker alone."""
    return (part for part in ast.parse(path.read_text()).body if isinstance(part, ast.ImportFrom))


def _taken_from(path: Path) -> set[str]:
    return {part.module or "" for part in _top(path)}


def _imported(path: Path) -> set[str]:
    return _taken_from(path) | {f"{part.module}.{alias.name}" for part in _top(path) for alias in part.names}


def _reached(imports: dict[str, set[str]], start: str) -> set[str]:
    found, pending = {start}, [start]
    while pending:
        new = imports[pending.pop()] - found
        found |= new
        pending += new
    return found


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
