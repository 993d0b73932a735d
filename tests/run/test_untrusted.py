"""A checkout that means harm: nothing is read, printed or written beyond it, and nothing in it stops a run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dynamo_lint import cli, discovery, files
from dynamo_lint.config import ConfigError, load
from dynamo_lint.confirm.probes import closure
from dynamo_lint.confirm.probes import find as find_probes
from dynamo_lint.confirm.run import copied
from dynamo_lint.discovery import discover

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")

HAZARD = """\
import torch
from torch import nn


class A(nn.Module):
    def __init__(self):
        super().__init__()
        self._n = 0

    def forward(self, x):
        self._n += 1
        return x * 2


step = torch.compile(A())
"""
SECRET = "AWS_SECRET=topsecret123 x\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a hazard in `m.py`, which the test runs in; beside it lies a secret of the user."""
    folder = tmp_path / "repo"
    (folder / ".git").mkdir(parents=True)
    (folder / "m.py").write_text(HAZARD)
    (tmp_path / "secret").write_text(SECRET)
    monkeypatch.chdir(folder)
    return folder


def lint(*args: str) -> int:
    return cli.run(["check", "--no-cache", *args])


# --- what is read ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["leak.py", "sub/leak.py", "leak.yaml", ".gitignore", "sub/.gitignore"])
@pytest.mark.parametrize("to", ["secret", "outside.py"])
def test_text_behind_a_link_out_of_the_checkout_is_never_printed(
    repo: Path, capsys: pytest.CaptureFixture[str], name: str, to: str
) -> None:
    (repo.parent / "outside.py").write_text(SECRET)
    (repo / "sub").mkdir()
    (repo / "sub/a.py").write_text("from hydra.utils import instantiate\ninstantiate(cfg)\n")
    (repo / name).symlink_to(repo.parent / to)
    assert lint(".") == 1
    said = capsys.readouterr()
    assert "DYN101" in said.out
    assert "topsecret" not in said.out + said.err


def test_a_link_that_is_passed_over_is_named(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(5):
        (repo / f"l{number}.py").symlink_to("../secret")
    lint(".")
    assert "links lead out of the project: l0.py, l1.py, l2.py, and 2 more\n" in capsys.readouterr().err
    lint(".", "-v")
    assert "l4.py" in capsys.readouterr().err
    lint(".", "-q")
    assert capsys.readouterr().err == ""


def test_a_link_within_the_project_is_followed_to_code_and_to_nothing_else(repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src/alias.py").symlink_to("../m.py")
    (repo / "src/env.py").symlink_to("../.env")
    (repo / ".env").write_text(SECRET)
    found = discover([Path("src")], [])
    assert (found.files, found.outside) == (("src/alias.py",), ("src/env.py",))


def test_a_folder_of_links_is_followed_no_further_than_a_link(repo: Path) -> None:
    (repo.parent / "other").mkdir()
    (repo.parent / "other/a.py").write_text("")
    (repo / "pkg").mkdir()
    (repo / "pkg/up").symlink_to("../../other")
    (repo / "way").symlink_to("pkg")
    found = discover([Path(".")], [])
    assert (found.files, found.outside) == (("m.py",), ("pkg/up",))


def test_a_link_that_is_named_is_the_choice_of_the_user(repo: Path) -> None:
    (repo.parent / "other").mkdir()
    (repo.parent / "other/a.py").write_text("")
    (repo / "pkg").symlink_to("../other")
    (repo / "one.py").symlink_to("../other/a.py")
    assert discover([Path("pkg")], []).files == ("pkg/a.py",)
    assert "one.py" in discover([Path("one.py")], []).reported


@pytest.mark.parametrize(
    "name", [".gitignore", "sub/.gitignore", ".git", "pyproject.toml", "x.py", "cfg.yaml"]
)
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "loop"])
def test_what_is_no_file_stops_no_run(
    repo: Path, capsys: pytest.CaptureFixture[str], name: str, kind: str
) -> None:
    (repo / ".git").rmdir()
    (repo / "sub").mkdir()
    (repo / "sub/a.py").write_text("from hydra.utils import instantiate\ninstantiate(cfg)\n")
    match kind:
        case "pipe":
            os.mkfifo(repo / name)
        case "device":
            (repo / name).symlink_to("/dev/zero")
        case "folder":
            (repo / name).mkdir()
        case _:
            (repo / name).symlink_to(Path(name).name)
    assert lint(".") == 1
    assert "DYN101" in capsys.readouterr().out


def test_a_named_pipe_is_read_as_code(repo: Path) -> None:
    program = [sys.executable, "-m", "dynamo_lint", "check", "--no-cache", "--output-format", "concise"]
    done = subprocess.run(
        ["bash", "-c", '"$@" <(cat m.py)', "bash", *program],
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "DYN101" in done.stdout) == (1, True), done.stderr


def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 1000)
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert files.read(file, 1000) == files.read(tmp_path / "link") == b"x" * 1000
    for path, more in (
        (file, {"largest": 999}),
        (tmp_path / "link", {"links": False}),
        (tmp_path / "pipe", {}),
    ):
        with pytest.raises(OSError, match="it is "):
            files.read(path, **more)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="regular"):
        files.read("/dev/zero")
    with pytest.raises(OSError, match="larger than 1 kB"):
        files.read_named("/dev/zero", 1000)


def test_probes_behind_links_out_of_the_project_are_not_looked_for(repo: Path) -> None:
    (repo.parent / "probes.py").write_text("def probe_a(): ...\n")
    (repo / "mine.py").write_text("def probe_b(): ...\n")
    (repo / "theirs.py").symlink_to("../probes.py")
    os.mkfifo(repo / "pipe.py")
    assert [probe.name for probe in find_probes(["."], repo)] == ["probe_b"]


def test_what_a_probe_imports_through_a_link_out_of_the_project_is_not_of_the_project(repo: Path) -> None:
    (repo.parent / "real.py").write_text("")
    (repo / "far.py").symlink_to("../real.py")
    (repo / "pkg").mkdir()
    (repo / "near.py").symlink_to("pkg/a.py")
    (repo / "pkg/a.py").write_text("")
    (repo / "probes.py").write_text("import far, near\n")
    assert closure(repo / "probes.py", repo) == {repo / "probes.py", repo / "pkg/a.py"}


# --- patterns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["!", "\\", "[", "a\\", "[z-a]", "[[:alpha:]", "!!", "***\\", "*a*b*[z-a]"])
def test_a_line_of_gitignore_that_is_no_pattern_matches_nothing(
    repo: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    (repo / "gone.py").write_text(HAZARD)
    (repo / ".gitignore").write_text(f"{line}\ngone.py\n")
    (repo / ".git/index").write_bytes(b"")
    assert lint(".", "--output-format", "concise") == 1
    said = capsys.readouterr()
    assert (said.out.count("error DYN101"), "Warning" in said.err) == (1, False)


@pytest.mark.parametrize(
    "pattern", ["*a" * 30 + "b", "**/" * 30 + "b", "/".join(["**", "a*"] * 20) + "b", "*" * 99 + "b"]
)
def test_a_pattern_with_many_stars_takes_no_time(repo: Path, pattern: str) -> None:
    (repo / ".gitignore").write_text(pattern + "\n")
    deep = repo.joinpath(*["a" * 20] * 30)
    deep.mkdir(parents=True)
    for path in (repo, deep):
        (path / ("a" * 200 + ".py")).write_text("")
    start = time.monotonic()
    assert len(discover([Path(".")], []).files) == 3
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*a*b*c", ["xaybzc", "d/abc", "abc/"], ["acb", "abcd"]),
        ("/*a*b*c", ["abc", "abc/d"], ["d/abc"]),
        ("x/**/y/*a*/z", ["x/y/a/z", "x/q/r/y/bab/z/w"], ["x/y/z", "y/a/z"]),
        ("*/*/*/", ["a/b/c/", "a/b/c/d"], ["a/b/c", "a/b"]),
        ("**/a/**/b/**", ["a/b/c", "x/a/y/b/z"], ["a/b", "b/a"]),
        (r"*\*[!x]*y*", ["*ay", "q*byq"], ["*xy", "ay"]),
    ],
)
def test_many_stars_mean_what_they_mean_to_git(pattern: str, yes: list[str], no: list[str]) -> None:
    opinion = discovery.patterns([pattern])
    assert [path for path in (*yes, *no) if opinion(path)] == yes
    assert [path for path in (*yes, *no) if discovery.patterns(["*", "!" + pattern])(path) is False] == yes


def test_the_last_pattern_decides_whichever_kind_it_is_of() -> None:
    opinion = discovery.patterns(["*.py", "!*a*b*c*", "abcd.py"])
    assert [opinion(path) for path in ("x.py", "abc.py", "abcd.py", "x")] == [True, False, True, None]


@pytest.mark.parametrize("key", ["exclude", "extend-exclude"])
def test_an_exclusion_that_is_no_pattern_is_a_usage_error(
    repo: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    assert lint(".", f"--{key}", "!") == 2
    assert capsys.readouterr().err == "dynamo-lint: exclude: '!' is no pattern as in .gitignore\n"
    (repo / "dynamo-lint.toml").write_text(f'{key} = ["a", "["]\n')
    assert lint(".") in (1, 2)
    assert "internal" not in capsys.readouterr().err


# --- configuration --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pyproject.toml", "dynamo-lint.toml"])
def test_a_configuration_that_nests_deeply_is_one_line(
    repo: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (repo / name).write_text("a = " + "[" * 3000 + "]" * 3000)
    assert lint(".") == 2
    assert capsys.readouterr().err == f"dynamo-lint: {repo / name}: cannot be read: it nests too deeply\n"


def test_a_baseline_that_nests_deeply_is_one_line(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "b.json").write_text("[" * 100_000)
    assert lint(".", "--baseline", "b.json") == 2
    assert capsys.readouterr().err == "dynamo-lint: b.json: is not a baseline: it is nested too deeply\n"


def test_a_configuration_behind_a_link_out_of_the_project_is_refused(repo: Path) -> None:
    (repo.parent / "keys.toml").write_text('[topsecret]\ntoken = "x"\n')
    (repo / "dynamo-lint.toml").symlink_to("../keys.toml")
    with pytest.raises(ConfigError, match="link out of the project"):
        load(repo)


@pytest.mark.parametrize("name", ["../b.json", "link.json"])
def test_a_configuration_cannot_put_the_baseline_outside_of_the_project(
    repo: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (repo.parent / "b.json").write_text("precious")
    (repo / "link.json").symlink_to("../b.json")
    (repo / "dynamo-lint.toml").write_text(f'baseline = "{name}"\n')
    assert lint(".", "--update-baseline") == 2
    assert "leads out of the project" in capsys.readouterr().err
    assert (repo.parent / "b.json").read_text() == "precious"


# --- what is written ------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [["."], ["m.py"], [".", "m.py"]])
def test_fixes_are_not_written_through_a_link_out_of_the_project(repo: Path, args: list[str]) -> None:
    (repo.parent / "real.py").write_text(HAZARD)
    (repo / "m.py").unlink()
    (repo / "m.py").symlink_to("../real.py")
    lint(*args, "--fix")
    assert (repo.parent / "real.py").read_text() == HAZARD


def test_a_named_link_that_is_not_fixed_is_named(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo.parent / "real.py").write_text(HAZARD)
    (repo / "l.py").symlink_to("../real.py")
    lint("l.py", "--fix")
    assert "l.py was not changed: l.py is a link that leads out of the project" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["out.json", "sub/out.json"])
def test_output_does_not_go_through_a_planted_link(
    repo: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    victim = repo.parent / "home"
    victim.mkdir()
    (victim / "out.json").write_text("precious")
    (repo / name.partition("/")[0]).symlink_to(victim if "/" in name else victim / name)
    for named in (name, str(repo / name)):
        assert lint(".", "-o", named) == 2
        assert "a link leads out of the project" in capsys.readouterr().err
    assert (victim / "out.json").read_text() == "precious"
    assert len(list(victim.iterdir())) == 1


def test_the_draft_of_the_output_has_a_name_that_cannot_be_told(repo: Path) -> None:
    victim = repo.parent / "secret"
    (repo / f".out.json.{os.getpid()}").symlink_to(victim)
    assert lint(".", "-o", "out.json") == 1
    assert victim.read_text() == SECRET
    assert "DYN101" in (repo / "out.json").read_text()


@pytest.mark.parametrize("shell", ["-o /dev/stdout | cat", "-o >(cat) | cat", "-o /dev/stdout > f; cat f"])
def test_output_may_be_what_has_no_other_name(repo: Path, shell: str) -> None:
    program = [sys.executable, "-m", "dynamo_lint", "check", ".", "--no-cache", "--output-format", "concise"]
    done = subprocess.run(
        ["bash", "-c", f'"$@" {shell}; wait', "bash", *program],
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "DYN101" in done.stdout, done.stderr


def test_a_copy_to_be_fixed_leads_to_no_file_of_the_user(repo: Path) -> None:
    outside = repo.parent / "real"
    (outside / "pkg").mkdir(parents=True)
    (outside / "model.py").write_text("old")
    (outside / "pkg/a.py").write_text("old")
    (repo / "model.py").symlink_to(outside / "model.py")
    (repo / "pkg").symlink_to(outside / "pkg")
    (repo / "self").symlink_to(".")
    (repo / "build").mkdir()
    (repo / "build/__init__.py").write_text("")
    (repo / "build/b.py").write_text("old")
    (repo / "node_modules").mkdir()
    os.mkfifo(repo / "pipe")
    fixed = {"model.py": b"new", "build/b.py": b"new"}
    copy = copied(repo, fixed, repo.parent / "to")
    assert {path.read_text() for path in outside.rglob("*.py")} == {"old"}
    assert [(copy / name).read_text() for name in fixed] == ["new", "new"]
    assert sorted(path.name for path in copy.iterdir()) == ["build", "m.py", "model.py", "self"]
    assert (copy / "build/__init__.py").exists()
    assert (copy / "self").resolve() == copy.resolve()


def test_a_folder_that_only_a_link_leads_to_is_copied_for_real(repo: Path) -> None:
    (repo / ".hidden").mkdir()
    (repo / ".hidden/a.py").write_text("old")
    (repo / "shown").symlink_to(".hidden")
    copy = copied(repo, {"shown/a.py": b"new"}, repo.parent / "to")
    assert (copy / "shown/a.py").read_text() == "new"
    assert (repo / ".hidden/a.py").read_text() == "old"
