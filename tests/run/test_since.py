"""`check --since`: what a change adds is reported and nothing else, and Git runs no program of the repository."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from dynamo_lint import cli, git
from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.run.check import check
from dynamo_lint.run.since import older_findings
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources
from tests.notebooks import notebook

HEAD = "import torch\nfrom torch import nn\n"
BLOCK = """

class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.{attribute} = 0

    def forward(self, x):
        self.{attribute} += 1
        return x + self.{attribute}


step_{name} = torch.compile({name}())
"""
ME = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false", "-c", "gc.auto=0")


def block(name: str, attribute: str = "calls") -> str:
    return BLOCK.format(name=name, attribute=attribute)


def of_git(*words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(["git", *ME, *words], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(message: str = "change", cwd: Path | None = None) -> str:
    of_git("add", "--all", cwd=cwd)
    of_git("commit", "--quiet", "--allow-empty", "-m", message, cwd=cwd)
    return of_git("rev-parse", "HEAD", cwd=cwd)


@pytest.fixture
def repo(here: Path) -> Path:
    """A repository with one old finding in `a.py` on the branch main, which the test runs in."""
    folder = here / "repo"
    folder.mkdir()
    os.chdir(folder)
    of_git("init", "--quiet", "-b", "main")
    (folder / "pyproject.toml").write_text("[tool.dynamo-lint]\n")
    (folder / "a.py").write_text(HEAD + block("A"))
    commit()
    return folder


def lint(*args: str, since: str = "main") -> int:
    return cli.run(["check", "--no-cache", "--since", since, "--output-format", "concise", *args])


def reported(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The file and the class of each finding, and nothing of the summary."""
    lines = capsys.readouterr().out.splitlines()
    return [
        f"{one.split(':')[0]} {one.split('`')[3].split('.')[0]}"
        for one in lines
        if "DYN101" in one and "`self" in one
    ]


def test_only_what_the_working_tree_adds_is_reported(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint() == 0
    base = of_git("rev-parse", "--short=7", "main")
    assert f"0 new findings since main (merge base {base}); 1 older not shown.\n" in capsys.readouterr().out
    (repo / "b.py").write_text(HEAD + block("B"))
    assert lint() == 1
    assert reported(capsys) == ["b.py B"]
    assert lint("--exit-zero") == 0


def test_the_comparison_is_with_the_merge_base_and_not_with_what_the_branch_became(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_git("switch", "--quiet", "-c", "work")
    (repo / "b.py").write_text(HEAD + block("B"))
    commit()
    of_git("switch", "--quiet", "main")
    (repo / "a.py").write_text(HEAD)
    (repo / "c.py").write_text(HEAD + block("C"))
    commit()
    of_git("switch", "--quiet", "work")
    assert lint() == 1
    assert reported(capsys) == ["b.py B"]


@pytest.mark.parametrize("named", [[], ["."], ["pkg"], ["pkg/moved.py"]])
def test_a_finding_that_moved_with_its_file_or_to_another_is_not_new(
    repo: Path, capsys: pytest.CaptureFixture[str], named: list[str]
) -> None:
    (repo / "old.py").write_text(HEAD + block("Old") + block("Other"))
    commit()
    (repo / "pkg").mkdir()
    (repo / "pkg/__init__.py").touch()
    (repo / "old.py").rename(repo / "pkg/moved.py")
    (repo / "pkg/moved.py").write_text("# moved\n" + HEAD + block("Old") + block("Other") + block("Taken"))
    (repo / "pkg/other.py").write_text(HEAD + block("A"))
    (repo / "a.py").write_text("# nothing is left here\n")
    assert lint(*named) == 1
    assert reported(capsys) == ["pkg/moved.py Taken"]


def test_a_copy_is_new_for_the_original_is_still_there(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "copy.py").write_text((repo / "a.py").read_text())
    assert lint("copy.py") == 1
    assert reported(capsys) == ["copy.py A"]


def test_a_finding_that_is_silenced_no_more_is_new(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = HEAD + block("B").replace("calls += 1", "calls += 1  # dynamo-lint: ignore[DYN101] slow anyway")
    (repo / "b.py").write_text(text)
    commit()
    (repo / "b.py").write_text(text.replace("  # dynamo-lint: ignore[DYN101] slow anyway", ""))
    assert lint() == 1
    assert reported(capsys) == ["b.py B"]


def test_settings_are_those_of_the_working_tree(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "pyproject.toml").write_text(
        '[tool.dynamo-lint]\nexclude = ["a.py"]\nregions = ["b:B.forward"]\n'
    )
    commit()
    (repo / "sub").mkdir()
    (repo / "b.py").write_text(HEAD + block("B"))
    (repo / "pyproject.toml").write_text(
        '[tool.dynamo-lint]\nregions = ["b:B.forward"]\nper-file-ignores = { "/sub/**" = ["DYN1"] }\n'
    )
    (repo / "sub/c.py").write_text(HEAD + block("C"))
    assert lint() == 1
    assert reported(capsys) == ["b.py B"]


def test_a_baseline_and_an_older_finding_are_one_allowance(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["check", "--no-cache", "--baseline", "known.json", "--update-baseline"]) == 0
    (repo / "b.py").write_text(HEAD + block("B"))
    assert lint("--baseline", "known.json") == 1
    assert reported(capsys) == ["b.py B"]
    (repo / "a.py").rename(repo / "c.py")
    assert lint("--baseline", "known.json") == 1
    assert reported(capsys) == ["b.py B"]


def test_from_a_folder_and_through_machine_formats(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "pkg").mkdir()
    (repo / "pkg/b.py").write_text(HEAD + block("B"))
    monkeypatch.chdir(repo / "pkg")
    assert lint() == 1
    assert reported(capsys) == ["b.py B"]
    assert lint("..", "--output-format", "json") == 1
    said = capsys.readouterr()
    assert '"older": 1' in said.out
    assert "1 new finding since main" in said.err
    assert lint("--update-baseline", "--baseline", "x.json") == 2


def test_fixes_are_made_of_new_findings_alone(repo: Path) -> None:
    (repo / "b.py").write_text(HEAD + block("B"))
    lint("--fix", "--unsafe-fixes")
    assert "register_buffer" in (repo / "b.py").read_text()
    assert "register_buffer" not in (repo / "a.py").read_text()


def test_files_that_are_ignored_and_tracked_and_links_are_as_in_the_working_tree(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / ".gitignore").write_text("gen/\n")
    (repo / "gen").mkdir()
    (repo / "gen/g.py").write_text(HEAD + block("G"))
    (repo / "link.py").symlink_to("a.py")
    of_git("add", "--force", "gen/g.py")
    commit()
    assert lint() == 0
    (repo / "gen/untracked.py").write_text(HEAD + block("U"))
    assert lint() == 0
    capsys.readouterr()


def test_cells_of_a_notebook_and_text_on_stdin_are_compared(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "n.ipynb").write_text(notebook(HEAD, block("N")))
    commit()
    (repo / "n.ipynb").rename(repo / "m.ipynb")
    (repo / "m.ipynb").write_text(notebook("# above", HEAD, block("N"), block("New")))
    assert lint() == 1
    assert reported(capsys) == ["m.ipynb New"]
    text = (HEAD + block("A") + block("B")).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert lint("-", "--stdin-filename", "a.py") == 1
    assert reported(capsys) == ["a.py B"]


def test_a_clean_run_says_that_nothing_is_new(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint() == 0
    assert capsys.readouterr().out.startswith("No new findings: 1 compiled function")


def test_a_compile_that_is_new_makes_what_it_reaches_new(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "model.py").write_text(HEAD + block("M").partition("\nstep_M")[0])
    commit()
    (repo / "train.py").write_text("import torch\nfrom model import M\nstep = torch.compile(M())\n")
    assert lint("train.py") == 1
    assert reported(capsys) == ["model.py M"]
    assert lint("model.py") == 1


def test_a_submodule_counts_as_it_is_now(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = repo.parent / "library"
    library.mkdir()
    of_git("init", "--quiet", cwd=library)
    (library / "lib.py").write_text(HEAD + block("L"))
    commit(cwd=library)
    of_git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(library), "vendor")
    commit()
    assert lint() == 0
    assert "2 older not shown" in capsys.readouterr().out


# --- what cannot be compared ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("--upload-pack=touch x", "is no revision"),
        ("", "is no revision"),
        ("nope", "there is no revision 'nope' in "),
        ("main..work", "there is no revision 'main..work'"),
        ("main:a.py", "there is no revision 'main:a.py'"),
        ("@{upstream}", "git cannot compare: no upstream configured for branch 'main'"),
    ],
)
def test_a_revision_that_is_none_is_named(
    repo: Path, capsys: pytest.CaptureFixture[str], revision: str, message: str
) -> None:
    assert lint(since=revision) == 2
    assert message in capsys.readouterr().err


def test_branches_without_a_common_commit_and_shallow_clones_say_what_to_do(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_git("switch", "--quiet", "--orphan", "alone")
    commit()
    assert lint() == 2
    assert "have no common commit; name a branch" in capsys.readouterr().err
    of_git("switch", "--quiet", "main")
    of_git("switch", "--quiet", "-c", "work")
    commit("on work")
    of_git("switch", "--quiet", "main")
    commit("on main")
    url = f"file://{repo}"
    of_git("clone", "--quiet", "--depth", "1", "--no-single-branch", url, str(repo.parent / "shallow"))
    monkeypatch.chdir(repo.parent / "shallow")
    assert lint(since="origin/work") == 2
    assert "no common commit in this shallow clone; run `git fetch --unshallow`" in capsys.readouterr().err


def test_a_folder_without_a_repository_or_commit_and_a_system_without_git(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repo.parent / "other"
    other.mkdir()
    (other / "a.py").touch()
    assert lint(str(other)) == 2
    assert "is in no Git repository" in capsys.readouterr().err
    assert lint(".", str(other), "--isolated") == 2
    assert "is not in the repository" in capsys.readouterr().err
    (other / ".git").mkdir()
    assert lint(str(other)) == 2
    assert "git cannot compare: not a git repository" in capsys.readouterr().err
    of_git("init", "--quiet", cwd=other)
    assert lint(str(other), since="HEAD") == 2
    assert "has no commit yet" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(other))
    assert lint() == 2
    assert "git is not installed" in capsys.readouterr().err


# --- a repository that means harm -----------------------------------------------------------------------


def test_no_program_that_a_repository_names_is_run(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran, program = repo.parent / "ran", repo.parent / "program"
    program.write_text(f"#!/bin/sh\necho $0 >> {ran}\ncat\n")
    program.chmod(0o755)
    (repo / ".gitattributes").write_text("*.py filter=evil diff=evil export-subst export-ignore ident\n")
    (repo / "gone.py").write_text(HEAD + block("Gone"))
    commit()
    for hook in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        (repo / ".git/hooks" / hook).write_text(program.read_text())
        (repo / ".git/hooks" / hook).chmod(0o755)
    for key in (
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv"),
        *(
            "diff.evil.command",
            "diff.external",
            "core.fsmonitor",
            "core.pager",
            "core.sshCommand",
            "core.editor",
        ),
        *("core.alternateRefsCommand", "core.gitProxy", "gpg.program", "credential.helper"),
    ):
        of_git("config", key, str(program))
    (repo / "gone.py").rename(repo / "now.py")
    assert lint() == 0
    assert "2 older not shown" in capsys.readouterr().out
    assert not ran.exists()
    subprocess.run(["git", "status"], capture_output=True, check=False)
    assert ran.exists()  # as it would be by any command that looks at the working tree


def test_an_object_that_a_clone_lacks_is_not_fetched(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran, program = repo.parent / "ran", repo.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    program.chmod(0o755)
    name = of_git("rev-parse", "HEAD:a.py")
    (repo / ".git/objects" / name[:2] / name[2:]).unlink()
    of_git("config", "core.repositoryFormatVersion", "1")
    of_git("config", "extensions.partialClone", "origin")
    of_git("config", "remote.origin.promisor", "true")
    of_git("config", "remote.origin.url", str(repo))
    of_git("config", "remote.origin.uploadpack", str(program))
    assert lint() == 2
    assert not ran.exists()
    said = capsys.readouterr().err
    assert "lacks a.py" in said or "failed" in said


def tree(*rows: tuple[str, str, str]) -> str:
    """A commit of a tree that no command of Git would make."""
    lines = b"".join(f"{mode} {path}\0".encode() + bytes.fromhex(name) for mode, path, name in rows)
    made = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
        input=lines,
        capture_output=True,
        check=True,
    )
    return of_git("commit-tree", "-m", "x", made.stdout.decode().strip())


def test_names_and_links_of_a_tree_lead_nowhere_else(repo: Path, tmp_path: Path) -> None:
    blob = of_git("rev-parse", "HEAD:a.py")
    (repo / "target").write_text("/etc")
    link = of_git("hash-object", "-w", "target")
    evil = tree(
        ("100644", "..", blob),
        ("100644", ".git", blob),
        ("100644", "../../evil.py", blob),
        ("100644", "/tmp/evil.py", blob),
        ("100644", "C:\\evil.py", blob),
        ("100644", "a.py", blob),
        ("120000", "out", link),
        ("120000", "out.py", link),
    )
    repository = git.open_repository(repo)
    assert [one.path for one in repository.entries(evil)] == ["a.py", "out", "out.py"]
    of_git("update-ref", "refs/heads/evil", evil)
    of_git("symbolic-ref", "HEAD", "refs/heads/evil")
    assert lint(since="evil") == 0


def test_a_repository_of_another_format_and_a_tree_without_end_are_refused(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "_MOST_ENTRIES", 1)
    assert lint() == 2
    assert "has more than 1 files" in capsys.readouterr().err
    of_git("config", "core.repositoryFormatVersion", "7")
    assert lint() == 2
    assert "Expected git repo version" in capsys.readouterr().err


def test_a_pipe_in_the_place_of_a_file_of_git_ends_the_run(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "_SECONDS", 0.3)
    monkeypatch.setattr(git, "_SECONDS_FOR_ALL", 0.3)
    name = of_git("rev-parse", "HEAD:a.py")
    for file, message in (
        (f"objects/{name[:2]}/{name[2:]}", "`git ls-tree` failed"),
        ("HEAD", "did not answer in 0.3 seconds"),
    ):
        (repo / ".git" / file).unlink()
        os.mkfifo(repo / ".git" / file)
        assert lint() == 2
        assert message in capsys.readouterr().err


def test_a_git_that_the_checkout_brings_along_is_not_started(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "git").write_text("#!/bin/sh\ntouch ran\n")
    (repo / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{repo}:{os.environ['PATH']}")
    assert lint() == 2
    assert "is part of what is linted" in capsys.readouterr().err
    assert not (repo / "ran").exists()


# --- histories that are made up --------------------------------------------------------------------------


class History:
    """A history in which each file has some classes, each with a finding; which of them are new is written down."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.random = folder, random.Random(seed)
        self.classes: dict[str, list[str]] = {}
        self.heads: dict[str, int] = {}
        self.number = 0

    def add(self) -> str:
        """A new class in a file, which may be new as well."""
        self.number += 1
        name = f"Block{self.number}"
        names = [*self.classes, f"m{self.number}.py", f"pkg/n{self.number}.py"]
        path = self.random.choice(names)
        self.classes.setdefault(path, []).insert(
            self.random.randint(0, len(self.classes.get(path, []))), name
        )
        return name

    def rename(self) -> None:
        path = self.random.choice([*self.classes])
        self.number += 1
        self.classes[f"pkg/renamed{self.number}.py"] = self.classes.pop(path)

    def move(self) -> None:
        source, target = (self.random.choice([*self.classes]) for _ in range(2))
        if source != target and self.classes[source]:
            self.classes[target].append(
                self.classes[source].pop(self.random.randrange(len(self.classes[source])))
            )

    def remove(self) -> set[str]:
        path = self.random.choice([*self.classes])
        return {self.classes[path].pop()} if self.classes[path] else set()

    def edit(self) -> None:
        path = self.random.choice([*self.classes])
        self.heads[path] = self.heads.get(path, 0) + self.random.randint(1, 5)

    def write(self) -> None:
        for old in self.folder.rglob("*.py"):
            old.unlink()
        for path, names in self.classes.items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            head = "# a line above\n" * self.heads.get(path, 0)
            (self.folder / path).write_text(head + HEAD + "".join(map(block, names)))

    def change(self, steps: int) -> set[str]:
        """Some random steps; returns the classes that they add."""
        new: set[str] = set()
        for _ in range(steps):
            match self.random.choice(("add", "rename", "move", "edit", "remove")):
                case "add":
                    new.add(self.add())
                case "rename":
                    self.rename()
                case "move":
                    self.move()
                case "edit":
                    self.edit()
                case "remove":
                    new -= self.remove()
        self.write()
        return new


def new_since(revision: str, named: str = ".") -> list[str]:
    found = discover([Path(named)], [])
    sources, rules = Sources(found.root), catalogue()
    older = older_findings(revision, Settings(), found, rules, sources)
    report = check(Settings(), found, rules, sources, older=older)
    return sorted(one.subject.partition(".")[0] for one in report.findings if one.code == "DYN101")


@pytest.mark.parametrize("seed", range(30))
def test_what_a_history_adds_by_construction_is_what_is_new(here: Path, seed: int) -> None:
    of_git("init", "--quiet", "-b", "main")
    history = History(here, seed)
    for _ in range(3):
        history.add()
    history.write()
    commit()
    of_git("switch", "--quiet", "-c", "work")
    new = history.change(3)
    commit()
    if seed % 3 == 0:  # main goes on, and is merged: what it brings is not new since it
        aside = here / "from_main.py"
        of_git("switch", "--quiet", "main")
        aside.write_text(HEAD + block("FromMain"))
        commit()
        of_git("switch", "--quiet", "work")
        of_git("merge", "--quiet", "--no-edit", "main")
        history.classes["from_main.py"] = ["FromMain"]
    new |= history.change(2)
    new = {name for name in new if any(name in names for names in history.classes.values())}
    assert new_since("main") == sorted(new)
    if seed % 3 == 1:  # part of it is as the whole says
        path = history.random.choice([*history.classes])
        assert new_since("main", path) == sorted(new.intersection(history.classes[path]))
