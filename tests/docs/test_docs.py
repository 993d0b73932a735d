"""The documentation: every page is reachable, every link leads somewhere, every snippet is understood."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from dynamo_lint import REPOSITORY, __version__, cli
from dynamo_lint.config import KEYS
from dynamo_lint.contract import Contract
from dynamo_lint.pages import load_pages
from dynamo_lint.selectors import catalogue
from tests.commands.test_cli import COUNTER

ROOT = Path(__file__).parent.parent.parent
DOCS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?:^|\s)(dynamo-lint(?: [^|<>#&\n]*)?)(?=$|[|<>#&\n])", re.MULTILINE)


def blocks(language: str) -> list[tuple[Path, str]]:
    """Every block of a language, with its file."""
    return [
        (file, text)
        for file in DOCS
        for found, text in BLOCK.findall(file.read_text(encoding="utf-8"))
        if found == language
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/site.py"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def anchors(text: str) -> set[str]:
    """The anchors of a page: headings as GitHub names them, and those that are written out."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


def test_every_link_of_the_site_leads_to_a_page_and_an_anchor_that_exist(site: Path) -> None:
    files = sorted(site.rglob("*.md"))
    assert len(files) > len(catalogue())
    for file in files:
        text = file.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", re.sub(r"`[^`]*`", "", text)):
            if target.startswith(REPOSITORY) and not target.startswith(f"{REPOSITORY}/issues?"):
                inside = re.sub(r"^/(blob|tree)/main/", "", target.removeprefix(REPOSITORY))
                assert (ROOT / inside).exists(), (file, target)
            elif not target.startswith("https://"):
                page = (file.parent / target) if target else file
                assert page.is_file(), (file, target)
                assert not anchor or anchor in anchors(page.read_text(encoding="utf-8")), (file, anchor)


def test_pictures_are_small_and_stand_in_the_site(site: Path) -> None:
    pictures = sorted((ROOT / "docs/images").iterdir())
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size <= 150_000, picture
        assert (site / "docs/images" / picture.name).is_file()


def test_every_page_of_the_docs_is_linked_from_their_first_page() -> None:
    first = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    for file in sorted((ROOT / "docs").rglob("*.md")):
        path = file.relative_to(ROOT / "docs").as_posix()
        assert path == "README.md" or f"]({path})" in first, path


def test_every_rule_has_a_page_an_anchor_and_a_row_in_the_list(site: Path) -> None:
    listed = (ROOT / "docs/reference/rules.md").read_text(encoding="utf-8")
    rules = anchors(listed)
    for code, name in catalogue().items():
        assert (site / f"rules/{code}-{name}.md").is_file()
        assert code.lower() in rules
        assert f"/{code}-{name}.md) | `{name}` |" in listed


def test_front_matter_does_not_show_in_the_site(site: Path) -> None:
    for code, page in load_pages().items():
        text = (site / f"rules/{code}-{page.name}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {code} {page.name}\n\n")
        assert f"\n| finds | {page.summary} |\n" in text
        assert "+++" not in text


def test_every_configuration_key_and_output_format_is_in_the_reference() -> None:
    reference = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    formats = (ROOT / "docs/reference/output.md").read_text(encoding="utf-8")
    for key, about in KEYS.items():
        assert f"`{key}`" in reference
        if key == "output-format":
            for name in about.choices:
                assert f"| `{name}` |" in formats


def test_every_key_of_a_contract_is_in_the_reference() -> None:
    reference = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    for one in fields(Contract):
        assert f"`{one.name.replace('_', '-')}`" in reference


def test_every_command_in_the_docs_is_one_that_we_understand() -> None:
    found = []
    for language in ("sh", "yaml"):
        for file, text in blocks(language):
            for command in COMMAND.findall(text.replace("run: ", "\n").replace("- dynamo", "\ndynamo")):
                arguments = shlex.split(command)[1:]
                if not arguments or arguments[0].startswith(("-reporter", "source")):
                    continue
                found.append((file, arguments))
    assert len(found) > 8
    for file, arguments in found:
        name = arguments[0] if arguments[0] in cli.COMMANDS else "check"
        rest = arguments[1:] if arguments[0] == name else arguments
        command = cli.app.get_command(click.Context(cli.app), name)
        assert command is not None
        assert command.make_context(name, list(rest)), (file, arguments)


def test_every_configuration_snippet_is_accepted(tmp_path: Path) -> None:
    from dynamo_lint.config import load

    snippets = blocks("toml")
    assert snippets
    (tmp_path / "pyproject.toml").write_text("[tool.dynamo-lint]\n")  # which some extend
    for number, (_, text) in enumerate(snippets):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "pyproject.toml").write_text(text)
        assert load(folder).source


SNIPPETS = {
    text.split("\n", 1)[0].removeprefix("# "): text for _, text in blocks("yaml") if text.startswith("# .")
}
SCHEMAS = {".github/workflows": "vendor.github-workflows", ".gitlab-ci.yml": "vendor.gitlab-ci"}


@pytest.mark.parametrize("name", sorted(SNIPPETS))
def test_every_ci_snippet_is_valid_by_the_schema_of_its_service(name: str, tmp_path: Path) -> None:
    file = tmp_path / "snippet.yml"
    file.write_text(SNIPPETS[name])
    assert yaml.safe_load(SNIPPETS[name])
    schema = next((schema for prefix, schema in SCHEMAS.items() if name.startswith(prefix)), None)
    if schema is not None:
        assert valid(schema, file) == ""


def test_the_shell_lines_of_ci_snippets_parse() -> None:
    lines = []
    for text in SNIPPETS.values():
        document = yaml.safe_load(text)
        jobs = document.get("jobs", document)
        for job in jobs.values() if isinstance(jobs, dict) else []:
            if isinstance(job, dict):
                lines += [step["run"] for step in job.get("steps", []) if "run" in step]
                lines += job.get("script", [])
    assert len(lines) >= 6
    for line in lines:
        assert subprocess.run(["bash", "-n", "-c", line], check=False).returncode == 0, line


def test_the_repository_has_one_address() -> None:
    pattern = re.compile(r"github\.com/([\w.-]+/dynamo-lint)\b")
    texts = [
        file.read_text(encoding="utf-8") for file in (*DOCS, ROOT / "pyproject.toml", ROOT / "action.yml")
    ]
    named = {name for text in texts for name in pattern.findall(text)}
    assert named == {REPOSITORY.removeprefix("https://github.com/")}


def test_revisions_in_snippets_are_of_this_version() -> None:
    for text in SNIPPETS.values():
        for revision in re.findall(r"(?:rev: v|dynamo-lint@v)([\d.]+)", text):
            assert revision == __version__


def valid(schema: str, *files: Path) -> str:
    """What check-jsonschema has to say; its schemas come with it, so nothing is fetched."""
    from check_jsonschema import main

    done = CliRunner().invoke(main, ["--builtin-schema", schema, *map(str, files)])
    return "" if done.exit_code == 0 else done.output


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").iterdir()), ids=lambda path: path.name)
def test_a_workflow_of_our_own_is_valid_and_ends(path: Path) -> None:
    assert valid("vendor.github-workflows", path) == ""
    assert all(job["timeout-minutes"] <= 60 for job in yaml.safe_load(path.read_text())["jobs"].values())


# The GitHub action


ACTION = ROOT / "action.yml"


def test_action_is_valid_and_takes_no_input_into_its_shell_lines() -> None:
    assert valid("vendor.github-actions", ACTION) == ""
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 3  # to install, to lint, and the result
    # An expression inside of a script would be run as code; the environment is only data.
    assert not [script for script in scripts if "${{" in script]


@pytest.fixture
def action(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a step of the action in a folder, with some inputs and variables, and returns how it ended."""
    tool = tmp_path / "dynamo-lint/bin/dynamo-lint"
    tool.parent.mkdir(parents=True)
    tool.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m dynamo_lint "$@"\n')
    tool.chmod(0o755)
    steps = {step["name"]: step for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]}

    def run(name: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "PYTHONPATH": str(ROOT),
            "PATHS": ".",
            "ARGS": "",
            "SINCE": "auto",
        }
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", steps[name]["run"]],
            cwd=folder,
            env=environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("arguments", ["", "--min-confidence possible --select DYN1,DYN2"])
def test_the_steps_of_the_action_do_what_they_say(
    tmp_path: Path, action: Callable[..., subprocess.CompletedProcess[str]], arguments: str
) -> None:
    lint = action("Lint", ROOT, PATHS="fixtures/moe/hazard 'fixtures/moe/fixed'", ARGS=arguments)
    assert lint.returncode == 0, lint.stderr
    results = json.loads((tmp_path / "dynamo-lint.sarif").read_text())["runs"][0]["results"]
    levels = [one["level"] for one in results]
    counts = [f"{level}s={levels.count(level)}" for level in ("error", "warning", "note")]
    told = [f"sarif={tmp_path}/dynamo-lint.sarif", "status=1", *counts]
    assert (tmp_path / "output").read_text().splitlines() == told
    assert len([line for line in lint.stdout.splitlines() if line.startswith("::")]) == len(results) > 0
    assert [action("Result", ROOT, STATUS=status).returncode for status in ("0", "1")] == [0, 1]


def test_the_action_takes_arguments_with_blanks_and_fails_at_once_for_wrong_ones(
    tmp_path: Path, action: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    folder = tmp_path / "my code"
    folder.mkdir()
    (folder / "a.py").write_text(COUNTER)
    lint = action("Lint", tmp_path, PATHS="'my code'", ARGS="--exclude '$(touch x) *.txt'")
    assert "status=1\n" in (tmp_path / "output").read_text(), lint.stderr
    assert not (tmp_path / "x").exists()
    assert action("Lint", tmp_path, PATHS="", ARGS="--no-such-option").returncode == 2


def test_the_action_reports_what_a_pull_request_adds(
    tmp_path: Path, action: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    def git(*words: str, cwd: Path) -> str:
        me = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "protocol.file.allow=always")
        done = subprocess.run(["git", *me, *words], cwd=cwd, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    origin, shallow = tmp_path / "origin", tmp_path / "shallow"
    origin.mkdir()
    git("init", "--quiet", "-b", "main", cwd=origin)
    for branch, name in (("main", "old.py"), ("work", "new.py")):
        if branch != "main":
            git("checkout", "--quiet", "-b", branch, cwd=origin)
        (origin / name).write_text(COUNTER.replace("Counter", name[:3]))
        git("add", "--all", cwd=origin)
        git("commit", "--quiet", "-m", name, cwd=origin)
    git("checkout", "--quiet", "-b", "merge", "main", cwd=origin)
    git("merge", "--quiet", "--no-ff", "-m", "merge", "work", cwd=origin)
    merge = git("rev-parse", "HEAD", cwd=origin)
    git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=origin)
    git("clone", "--quiet", "--depth=1", "-b", "merge", f"file://{origin}", str(shallow), cwd=tmp_path)
    of_request = {"GITHUB_BASE_REF": "main", "GITHUB_SHA": merge}
    for variables, names in (
        ({}, ["new.py", "old.py"]),
        (of_request, ["new.py"]),
        ({**of_request, "SINCE": "none"}, ["new.py", "old.py"]),
        ({"SINCE": "HEAD"}, []),
    ):
        lint = action("Lint", shallow, **variables)
        assert re.findall(r"file=(\w+\.py)", lint.stdout) == names, lint.stderr
