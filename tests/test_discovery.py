"""Which files are read and reported on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from dynamo_lint.config import DEFAULT_EXCLUDE
from dynamo_lint.discovery import LARGEST, LARGEST_SETTINGS, Discovered, DiscoveryError, base, discover


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def make(folder: Path, *names: str) -> None:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def find(*paths: str, exclude: Sequence[str] = DEFAULT_EXCLUDE, force: bool = False) -> Discovered:
    return discover([Path(path) for path in paths], [(Path.cwd(), exclude)], force)


def test_python_files_are_found_sorted_and_nothing_else_is(here: Path) -> None:
    make(here, "b.py", "a/z.py", "a/b/c.py", "a.txt", "x.pyi", "x.pyc", "x.ipynb", "x.ipynb.txt")
    (here / "folder.py").mkdir()
    os.mkfifo(here / "pipe.py")
    found = find(".")
    assert found.root == here
    assert found.files == ("a/b/c.py", "a/z.py", "b.py", "x.ipynb")
    assert found.reported == set(found.files)


def test_a_file_whose_name_is_an_ending_and_nothing_more_is_code(here: Path) -> None:
    make(here, ".py", ".ipynb")
    assert find(".").files == (".ipynb", ".py")


def test_configurations_are_found_on_request_and_read_as_no_code(here: Path) -> None:
    make(here, "a.py", "conf/b.yaml", "conf/c.yml", "d.json", "e.toml", "conf/deep/f.yaml")
    make(here, "build/g.yaml")
    (here / "large.json").write_bytes(b" " * (LARGEST_SETTINGS + 1))
    (here / "folder.yaml").mkdir()
    (here / ".gitignore").write_text("conf/deep/\nc.yml\n")
    assert find("a.py").settings() == ()  # no project
    make(here, ".git/HEAD")
    found = find(".")
    assert found.files == ("a.py",)
    assert found.settings() == ("conf/b.yaml", "d.json")
    (here / "pyproject.toml").touch()
    assert find("a.py").settings() == ("conf/b.yaml", "d.json", "pyproject.toml")


def test_a_folder_that_is_gone_by_then_has_no_configurations(here: Path) -> None:
    make(here, "a.py", "conf/b.yaml")
    found = find(".")
    (here / "conf" / "b.yaml").unlink()
    (here / "conf").rmdir()
    assert found.settings() == ()


def test_deleted_working_folder_is_an_error_that_says_so(here: Path) -> None:
    here.rmdir()
    with pytest.raises(DiscoveryError, match="the current folder no longer exists"):
        base([Path("a.py")])


def test_empty_folder_is_no_error(here: Path) -> None:
    assert find(".").files == ()


def test_missing_path_is_an_error_that_names_it(here: Path) -> None:
    with pytest.raises(DiscoveryError, match=r"^nowhere/x\.py: no such file or folder$"):
        find("nowhere/x.py")


def test_caches_environments_and_builds_are_left_out(here: Path) -> None:
    make(here, "keep.py", *(f"{name}/x.py" for name in DEFAULT_EXCLUDE), "src/.venv/lib/x.py")
    assert find(".").files == ("keep.py",)


def test_gitignore_files_count_from_their_own_folder(here: Path) -> None:
    make(here, "a.py", "gen.py", "sub/gen.py", "sub/local.py", "sub/deep/local.py", "local.py", "out/x.py")
    make(here, ".git/HEAD")
    (here / ".gitignore").write_text("/gen.py\nout/\n")
    (here / "sub/.gitignore").write_text("local.py\n")
    assert find(".").files == ("a.py", "local.py", "sub/gen.py")


def test_inner_gitignore_can_take_back_what_an_outer_one_ignores(here: Path) -> None:
    make(here, ".git/HEAD", "x_gen.py", "sub/x_gen.py")
    (here / ".gitignore").write_text("*_gen.py\n")
    (here / "sub/.gitignore").write_text("!x_gen.py\n")
    assert find(".").files == ("sub/x_gen.py",)


def test_gitignore_of_the_repository_counts_when_a_subfolder_is_linted(here: Path) -> None:
    make(here, ".git/HEAD", "src/a.py", "src/gen.py")
    (here / ".gitignore").write_text("gen.py\n")
    assert find("src").files == ("src/a.py",)


def test_gitignore_above_the_repository_does_not_count(here: Path) -> None:
    (here.parent / ".gitignore").write_text("*.py\n")
    make(here, ".git/HEAD", "src/a.py")
    assert find("src").files == ("src/a.py",)


def test_outside_a_repository_nothing_is_ignored_by_git(here: Path) -> None:
    make(here, "a.py", "models/b.py")
    (here / ".gitignore").write_text("models/\n")
    assert find(".").files == ("a.py", "models/b.py")


def test_environments_are_left_out_by_whatever_name(here: Path) -> None:
    make(here, "a.py", "py313/pyvenv.cfg", "py313/lib/b.py")
    assert find(".").files == ("a.py",)
    assert find("py313").files == ("py313/lib/b.py",)


def test_ignored_folder_is_linted_when_it_is_named(here: Path) -> None:
    make(here, ".git/HEAD", "build/a.py", "gen/sub/b.py", "gen/build/c.py")
    (here / ".gitignore").write_text("gen/\n")
    assert find("build").files == ("build/a.py",)
    assert find("gen/sub").files == ("gen/sub/b.py",)
    assert find("gen").files == ("gen/sub/b.py",)


def test_excluded_file_is_linted_when_it_is_named_unless_forced(here: Path) -> None:
    make(here, "gen/a.py")
    assert find("gen/a.py", exclude=["gen"]).reported == {"gen/a.py"}
    assert find("gen/a.py", exclude=["gen"], force=True).reported == set()
    assert find("gen", exclude=["gen"], force=True).reported == set()


def test_forced_exclusion_obeys_gitignore_too(here: Path) -> None:
    make(here, ".git/HEAD", "gen/a.py", "b.py")
    (here / ".gitignore").write_text("gen/\n")
    assert find("gen/a.py", "b.py", force=True).reported == {"b.py"}


def test_exclusions_are_gitignore_patterns(here: Path) -> None:
    make(here, "a.py", "tests/a.py", "src/tests/a.py", "src/a_pb2.py")
    assert find(".", exclude=["/tests", "*_pb2.py"]).files == ("a.py", "src/tests/a.py")


def test_default_exclusions_hold_outside_the_configured_folder(here: Path) -> None:
    make(here.parent, "other/a.py", "other/.venv/x.py")
    assert find("../other").files == ("a.py",)


def test_symlink_loops_end_and_files_keep_their_real_names(here: Path) -> None:
    make(here, "src/a.py")
    (here / "alias").symlink_to("src")
    (here / "src/loop").symlink_to("..")
    assert find(".").files == ("src/a.py",)


def test_what_is_linked_in_from_outside_is_passed_over_and_named(here: Path) -> None:
    make(here.parent, "shared/a.py")
    (here / "linked").symlink_to("../shared")
    found = find(".")
    assert (found.files, found.outside) == ((), ("linked",))


def test_dangling_symlink_is_passed_by(here: Path) -> None:
    (here / "gone.py").symlink_to("nowhere.py")
    assert find(".").files == ()


def test_large_files_are_passed_over_unless_they_are_named(here: Path) -> None:
    make(here, "a.py")
    (here / "tables.py").write_bytes(b"#" * (LARGEST[".py"] + 1))
    (here / "pictures.ipynb").write_bytes(b" " * (LARGEST[".py"] + 1))
    assert find(".").files == ("a.py", "pictures.ipynb")
    assert find(".").passed_over == ("tables.py",)
    assert find(".", "tables.py").reported == {"a.py", "pictures.ipynb", "tables.py"}
    assert find(".", "tables.py").passed_over == ()


def test_a_large_file_is_an_error_where_it_would_be_reported_on(here: Path) -> None:
    make(here, "pyproject.toml", "a.py", "sub/__init__.py")
    (here / "tables.py").write_bytes(b"#" * (LARGEST[".py"] + 1))
    (here / "sub" / "film.ipynb").write_bytes(b" " * (LARGEST[".ipynb"] + 1))
    told = {error.path: (error.message, error.severity) for error in find(".").errors}
    assert told == {
        "sub/film.ipynb": ("it is larger than 20 MB", "warning"),
        "tables.py": ("it is larger than 1 MB", "warning"),
    }
    assert [error.path for error in find("sub").errors] == ["sub/film.ipynb"]
    assert find("sub").passed_over == ("sub/film.ipynb", "tables.py")
    assert find("a.py").errors == ()


def test_named_file_reads_its_project_but_reports_on_itself(here: Path) -> None:
    make(here, "pyproject.toml", "train.py", "src/moe.py", ".venv/x.py")
    found = find("src/moe.py")
    assert found.files == ("src/moe.py", "train.py")
    assert found.reported == {"src/moe.py"}


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        ({"nets/__init__.py": "", "nets/moe.py": "", "tools/run.py": ""}, "nets"),  # a package
        ({"nets/moe.py": "", "train.py": "from nets.moe import MoE"}, "nets"),  # a script imports it
        ({"src/nets/__init__.py": "", "train.py": "import nets.moe as m"}, "src"),
        ({"nets/__init__.py": "", "tests/run.py": "def f():\n    from nets import moe"}, "tests"),
        ({"src/nets/__init__.py": "", "tests/run.py": "import nets"}, "tests"),
    ],
)
def test_folder_of_a_project_reads_it_but_reports_on_itself(
    here: Path, files: dict[str, str], folder: str
) -> None:
    make(here, "pyproject.toml", *files)
    for name, text in files.items():
        (here / name).write_text(text)
    found = find(folder)
    assert found.files == tuple(sorted(files))
    assert found.reported == {name for name in files if name.startswith(f"{folder}/")}
    assert found.root == here


@pytest.mark.parametrize(
    "files",
    [
        {"a/moe.py": "import torch, nets_of_others", "nets/__init__.py": "import a_part"},
        {"a/train.py": "from nets import moe", "a/nets/moe.py": "", "nets/other.py": ""},
        {"a/pyproject.toml": "", "a/run.py": "import nets", "nets/__init__.py": ""},
        {"a/b/__init__.py": "", "a/run.py": "import b", "nets/__init__.py": ""},
    ],
)
def test_folder_apart_from_the_project_around_it_is_read_alone(here: Path, files: dict[str, str]) -> None:
    make(here, "pyproject.toml", *files)
    for name, text in files.items():
        (here / name).write_text(text)
    own = sorted(name for name in files if name.startswith("a/") and name.endswith(".py"))
    assert find("a").files == tuple(own)


def test_a_script_outside_of_any_project_reads_what_it_imports_beside_it(here: Path) -> None:
    texts = {
        "train.py": "import os, moe\nfrom nets import (\n    layers,\n    heads as h,\n)\nfrom .here import x\n",
        "moe.py": "def f():\n    import deep.er.est\n",
        "nets/__init__.py": "",
        "nets/layers.py": "from .parts import Part\nfrom . import more\nfrom ... import above\n",
        "nets/heads.py": "import torch",
        "nets/parts.py": "import train",
        "nets/more.py": "",
        "nets/unused.py": "",
        "deep/er/est.py": "",
        "here.py": "",
        "other.py": "",
        "../above.py": "",
    }
    make(here, *texts)
    for name, text in texts.items():
        (here / name).write_text(text)
    (here / "torch.py").symlink_to(here.parent / "above.py")
    found = find("train.py")
    assert found.reported == {"train.py"}
    assert found.files == (
        *("deep/er/est.py", "here.py", "moe.py", "nets/__init__.py", "nets/heads.py", "nets/layers.py"),
        *("nets/more.py", "nets/parts.py", "train.py"),
    )
    assert find("nets/heads.py").files == ("nets/heads.py",)
    assert find("nets/parts.py").files == tuple(sorted({*found.files}))
    assert find("train.py", exclude=["moe.py"]).files == tuple(
        name for name in found.files if name not in ("moe.py", "deep/er/est.py")
    )
    given = discover([Path("train.py")], [], given={Path("train.py"): b"import other"})
    assert given.files == ("other.py", "train.py")


def test_named_file_gets_the_same_paths_from_inside_the_project(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(here, "pyproject.toml", "train.py", "src/moe.py")
    monkeypatch.chdir(here / "src")
    found = find("moe.py")
    assert found.root == here
    assert found.reported == {"src/moe.py"}


def test_named_file_outside_any_project_is_read_alone(here: Path) -> None:
    make(here, "a.py", "b.py")
    assert find("a.py").files == ("a.py",)


def test_home_folder_is_never_taken_for_a_project(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(here, ".git/HEAD", "a.py", "b.py")
    monkeypatch.setattr(Path, "home", lambda: here)
    assert find("a.py").files == ("a.py",)


def test_named_file_needs_no_python_suffix(here: Path) -> None:
    make(here, "train")
    assert find("train").files == ("train",)


def test_file_named_twice_is_read_once(here: Path) -> None:
    make(here, "a.py")
    assert find("a.py", "./a.py", ".").files == ("a.py",)


def test_root_is_the_common_folder_when_a_path_lies_elsewhere(here: Path) -> None:
    make(here, "a.py")
    make(here.parent, "other/b.py")
    found = find("a.py", "../other/b.py")
    assert found.root == here.parent
    assert found.files == ("other/b.py", "project/a.py")


def test_base_is_the_deepest_common_folder(here: Path) -> None:
    make(here, "src/x/a.py", "src/y/b.py")
    assert base([Path("src/x/a.py")]) == here / "src/x"
    assert base([Path("src/x"), Path("src/y/b.py")]) == here / "src"
