"""The pre-commit hooks, run by pre-commit itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dynamo_lint import cli
from tests.commands.test_cli import CLEAN, COUNTER, here

__all__ = ["here"]

ROOT = Path(__file__).parent.parent.parent
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
SHIPPED = ("dynamo_lint", "rules", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
"""What a build of the package needs."""

OFFLINE = ("Temporary failure in name resolution", "NewConnectionError", "ConnectTimeoutError", "ProxyError")


def run(*command: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    identity = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "nobody"), ("EMAIL", "nobody@example.org"))
    }
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONPATH": ""}
    return subprocess.run(
        command,
        cwd=cwd,
        env={**environment, **identity, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def pre_commit(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "pre_commit", *arguments, cwd=cwd, **variables)


def repository(folder: Path) -> Path:
    """A Git repository of what lies in a folder."""
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all of it")):
        done = run("git", *command, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


def test_manifest_is_valid_and_reads_the_project_once(tmp_path: Path) -> None:
    done = pre_commit("validate-manifest", str(MANIFEST), cwd=tmp_path, PRE_COMMIT_HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "")
    hooks = {hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text())}
    assert list(hooks) == ["dynamo-lint", "dynamo-lint-fix"]
    assert all(hook["require_serial"] and hook["pass_filenames"] for hook in hooks.values())


def test_hook_and_run_over_everything_agree_on_a_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, _, entry = COUNTER.partition("model = ")
    (here / "a.py").write_text(model)
    (here / "train.py").write_text("import torch\nfrom a import Counter\n\nmodel = " + entry)
    outputs = []
    for paths in (["a.py"], ["a.py", "train.py"], ["."]):
        assert cli.run(["check", "--force-exclude", "--output-format", "concise", "-q", *paths]) == 1
        outputs.append(capsys.readouterr().out)
    assert len(set(outputs)) == 1


def test_hooks_install_find_and_fix_as_users_run_them(tmp_path: Path) -> None:
    # One run for both hooks, since pre-commit builds an environment with pip for each.
    source, project = tmp_path / "source", tmp_path / "project"
    source.mkdir()
    project.mkdir()
    for name in SHIPPED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    repository(source)
    (project / "a.py").write_text(COUNTER)
    (project / "b.py").write_text(CLEAN.replace("pass", "pass  # dynamo-lint: ignore[DYN777]"))
    (project / "unread.py").write_text(COUNTER)
    repository(project)

    done = pre_commit(
        "try-repo",
        str(source),
        "--files",
        "a.py",
        "b.py",
        cwd=project,
        PRE_COMMIT_HOME=str(tmp_path / "home"),
    )
    if any(word in done.stdout + done.stderr for word in OFFLINE):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 1, done.stdout + done.stderr
    checked, _, fixed = done.stdout.partition("- hook id: dynamo-lint-fix")
    for output in (checked, fixed):
        assert "a.py:10:9: error DYN101" in output, done.stdout
        assert "unread.py" not in output
    assert "b.py:10:15: note DYN904" in checked
    assert "files were modified by this hook" in fixed
    assert "DYN904" not in fixed
    assert (project / "b.py").read_text() == CLEAN
