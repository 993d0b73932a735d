"""What contributors find: tasks, forms, workflows and pages about how to begin are valid and name what exists."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.docs.test_docs import valid
from tests.truths import CELL, EXPECTED, MAIN, Claim, claims

ROOT = Path(__file__).parent.parent.parent
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


def sessions() -> dict[str, ast.FunctionDef]:
    """The sessions of noxfile.py by name."""
    functions = [
        node
        for node in ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    return {function.name: function for function in functions if function.decorator_list}


def test_contributing_lists_the_tasks_that_there_are() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", CONTRIBUTING, re.MULTILINE)
    assert sorted(listed) == sorted(sessions())


def test_a_task_names_folders_and_extras_that_exist() -> None:
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    extras = set(re.findall(r"\.\[([\w,]+)\]", text + CONTRIBUTING))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for extra in {name for names in extras for name in names.split(",")}:
        assert f"\n{extra} = [" in project, extra
    (analysis,) = re.findall(r"for folder in \((.*?)\n    \)\n", text, re.DOTALL)
    for folder in re.findall(r'"(\w+)"', analysis):
        assert (ROOT / "tests" / folder).is_dir(), folder


def test_the_truth_program_of_contributing_holds_its_claim(tmp_path: Path) -> None:
    (cell,) = re.findall(r"^```text\n(# %% .*?)^```", CONTRIBUTING, re.MULTILINE | re.DOTALL)
    head, *_ = CELL.split((ROOT / "tests/truth/scalars.py").read_text(encoding="utf-8"))
    (tmp_path / MAIN).write_text(head + cell)
    (mark,) = EXPECTED.finditer(cell)
    assert [(claim.code, claim.effect) for claim in claims(tmp_path)] == [(mark[1], mark[2])]


def test_the_program_of_the_form_for_findings_is_one_that_torch_loses_nothing_in(tmp_path: Path) -> None:
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/finding.yml").read_text(encoding="utf-8"))
    (program,) = [part["attributes"]["value"] for part in form["body"] if part.get("id") == "program"]
    (tmp_path / MAIN).write_text(program)
    said: list[Claim] = claims(tmp_path)
    assert said == []
    assert "def drive():" in program


@pytest.mark.parametrize(
    ("pattern", "schema"),
    [
        (".github/ISSUE_TEMPLATE/[!c]*.yml", "vendor.github-issue-forms"),
        (".github/ISSUE_TEMPLATE/config.yml", "vendor.github-issue-config"),
        (".github/dependabot.yml", "vendor.dependabot"),
        ("CITATION.cff", "vendor.citation-file-format"),
    ],
)
def test_a_form_is_valid_by_the_schema_of_its_service(pattern: str, schema: str) -> None:
    files = sorted(ROOT.glob(pattern))
    assert files
    assert valid(schema, *files) == ""


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_little_and_runs_what_it_names_by_commit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "concurrency" in workflow
    uses = [line.strip().removeprefix("- ") for line in text.splitlines() if "uses:" in line]
    assert [line for line in uses if not PINNED.fullmatch(line)] == []
    assert [name for name, job in workflow["jobs"].items() if "timeout-minutes" not in job] == []
    named = re.findall(r"nox -s (\w+)|'(portable|quick)'", text)
    assert {name for pair in named for name in pair if name} <= sessions().keys()


def test_the_hooks_of_this_repository_are_valid(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-config", str(ROOT / ".pre-commit-config.yaml")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
