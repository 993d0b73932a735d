"""Files that Git tracks although a .gitignore names them belong to the project."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dynamo_lint.discovery import Repositories, discover, tracked

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git writes what is read here")
NAMES = [
    "a.py",
    "models/__init__.py",
    "models/net.py",
    "models/deep/down/gate.py",
    "naïve/b.py",
    "x" * 90 + ".py",
]


def git(folder: Path, *words: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    monkeypatch.chdir(folder)
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("models\ndata\n")
    git(folder, "add", "--force", ".")
    git(folder, "commit", "-qm", "all")
    return folder


def files(folder: Path) -> tuple[str, ...]:
    return discover([folder], [(folder, [])]).files


@pytest.mark.parametrize("version", ["2", "4"])
def test_every_layout_of_the_index_is_read(repository: Path, version: str) -> None:
    git(repository, "update-index", "--index-version", version)
    assert tracked(str(repository)) == {*NAMES, ".gitignore"}


def test_entries_with_more_flags_are_read(repository: Path) -> None:
    (repository / "later.py").touch()
    git(repository, "add", "--intent-to-add", "later.py")  # only the third layout can say so
    assert tracked(str(repository)) == {*NAMES, ".gitignore", "later.py"}


def test_what_is_tracked_is_found_where_it_is_ignored(repository: Path) -> None:
    assert files(repository) == tuple(sorted(NAMES))


def test_what_is_not_tracked_stays_ignored(repository: Path) -> None:
    for name in ("models/new.py", "models/other/new.py", "data/x.py", "x.py"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).touch()
    assert files(repository) == tuple(sorted([*NAMES, "x.py"]))


def test_what_is_excluded_is_left_out_though_tracked(repository: Path) -> None:
    assert discover([repository], [(repository, ["models", "x*"])]).files == ("a.py", "naïve/b.py")


def test_a_second_working_tree_has_its_own_index(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "second"))
    (tmp_path / "second" / "models" / "new.py").touch()
    assert files(tmp_path / "second") == tuple(sorted(NAMES))


def test_a_submodule_is_a_repository_of_its_own(repository: Path, tmp_path: Path) -> None:
    git(repository, "clone", "-q", str(repository), str(tmp_path / "inner"))
    git(repository, "submodule", "--quiet", "add", "--force", str(tmp_path / "inner"), "models/inner")
    (repository / "models/inner/models/new.py").touch()
    assert set(files(repository)) == {*NAMES, *(f"models/inner/{name}" for name in NAMES)}


@pytest.mark.parametrize("damage", [b"", b"DIRC", b"DIRC\0\0\0\2\0\0\0\5short", b"\0" * 500])
def test_a_damaged_index_tracks_nothing(repository: Path, damage: bytes) -> None:
    (repository / ".git/index").write_bytes(damage)
    assert files(repository) == tuple(sorted(name for name in NAMES if not name.startswith("models/")))


def test_a_cut_index_never_raises(repository: Path) -> None:
    whole = (repository / ".git/index").read_bytes()
    for end in range(0, len(whole), 7):
        (repository / ".git/index").write_bytes(whole[:end])
        assert tracked(str(repository)) <= {*NAMES, ".gitignore"}


def test_a_repository_is_asked_once(repository: Path) -> None:
    known = Repositories()
    assert known.keep(str(repository / "models"))
    (repository / ".git/index").unlink()
    assert known.keep(str(repository / "models/net.py"))
