"""Git, asked for what a commit holds: it changes nothing, and runs no program that a repository names.

The configuration of a repository can name programs: filters, hooks, monitors, ways to fetch what is missing.
So only commands are used that read objects (gitattributes are about files in a working tree, which none of
them looks at), with that configuration's programs switched off, and with no way to a network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from dynamo_lint import files
from dynamo_lint.dataclass import dataclass
from dynamo_lint.discovery import Repositories
from dynamo_lint.trouble import Trouble

_QUIET = ("--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A clone may lack objects and name a program that fetches them: no protocol is called so.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF")
"""Variables that Git sets for hooks, or that name a program."""
_SECONDS, _SECONDS_FOR_ALL = 120, 1200
"""Within which a command answers, and one that lists or reads a whole tree has ended."""
_MOST_ENTRIES = 5_000_000
"""Files of a tree; some small repositories unfold to billions."""
_PIECE = 1_000_000
_LINK, _SUBMODULE = "120000", "160000"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, a link or a submodule in the tree of a commit."""

    path: str
    """From the top of the repository, with `/`; its parts are names and nothing else."""
    mode: str
    object: str
    size: int

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link, whose content is where it leads."""
        return self.mode == _LINK

    @property
    def is_submodule(self) -> bool:
        """Whether it is another repository, of which only the commit is known."""
        return self.mode == _SUBMODULE


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, by the top of its working tree."""

    top: Path
    program: str

    def merge_base(self, revision: str) -> str:
        """The commit at which HEAD and a revision part; raises `Trouble` for one that says what to do."""
        head, other = self._commit("HEAD"), self._commit(revision)
        if head is None:
            raise Trouble(f"{self.top}: has no commit yet that a working tree could be compared with")
        if other is None:
            raise Trouble(
                f"there is no revision {revision!r} in {self.top}; fetch it first, such as with "
                f"`git fetch origin main`, or name one that `git log` shows"
            )
        base = self._answer("merge-base", other, head)
        if base is not None:
            return base
        if self._answer("rev-parse", "--is-shallow-repository") == "true":
            raise Trouble(
                f"{revision!r} and HEAD have no common commit in this shallow clone; "
                "run `git fetch --unshallow`, or set `fetch-depth: 0` where the checkout is made"
            )
        raise Trouble(f"{revision!r} and HEAD have no common commit; name a branch that HEAD came from")

    def entries(self, commit: str) -> Iterator[Entry]:
        """All that the tree of a commit holds, but for what has no place in a folder."""
        command = ("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        with self._started(command) as process:
            left, count = b"", 0
            while piece := _stream(process).read(_PIECE):
                *rows, left = (left + piece).split(b"\0")
                count += len(rows)
                if count > _MOST_ENTRIES:
                    raise Trouble(
                        f"{self.top}: the tree of {commit[:7]} has more than {_MOST_ENTRIES:,} files"
                    )
                for row in rows:
                    about, _, path = row.partition(b"\t")
                    mode, _, name, size = about.decode("ascii").split()
                    entry = Entry(os.fsdecode(path), mode, name, int(size) if size.isdecimal() else 0)
                    if _is_plain(entry.path):
                        yield entry

    def contents(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Each entry with its bytes as they were committed."""
        with tempfile.TemporaryFile() as names:
            names.write(b"".join(f"{entry.object}\n".encode() for entry in entries))
            names.seek(0)
            with self._started(("cat-file", "--batch"), names) as process:
                stream = _stream(process)
                for entry in entries:
                    head = stream.readline().split()
                    if len(head) != len(("name", "kind", "size")):
                        raise Trouble(
                            f"{self.top}: this clone lacks {entry.path} as it was; "
                            "run `git fetch --refetch --no-filter`, or clone without --filter"
                        )
                    yield entry, stream.read(int(head[2]))
                    stream.read(1)

    def _commit(self, revision: str) -> str | None:
        return self._answer("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")

    def _answer(self, *command: str) -> str | None:
        """The line that a command prints; None if it fails."""
        try:
            done = subprocess.run(
                self._command(command),
                cwd=self.top,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except OSError as error:
            raise Trouble(f"git cannot be run in {self.top}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise Trouble(f"{self.top}: `git {command[0]}` did not answer in {_SECONDS} seconds") from None
        if fatal := re.search(rb"^fatal: (.+)$", done.stderr, re.MULTILINE):
            said = fatal[1].decode("utf-8", "backslashreplace").strip()
            raise Trouble(f"{self.top}: git cannot compare: {said}")
        return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None

    @contextmanager
    def _started(
        self, command: Sequence[str], stdin: IO[bytes] | None = None
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A command that is being read from; it is ended where the reader stops early."""
        process = subprocess.Popen(
            self._command(command),
            cwd=self.top,
            env=_environment(),
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        # A pipe in the place of a file of Git would never end.
        limit = threading.Timer(_SECONDS_FOR_ALL, process.kill)
        limit.start()
        try:
            yield process
            if process.wait() != 0:
                raise Trouble(f"{self.top}: `git {command[0]}` failed; `git fsck` says what is damaged")
        finally:
            limit.cancel()
            process.kill()
            _stream(process).close()
            process.wait()

    def _command(self, command: Sequence[str]) -> list[str]:
        # Named, so that git looks for no other one above, and does not ask whose it is: what a foreign one
        # could make it do is switched off.
        return [self.program, *_QUIET, "--git-dir", str(self.top / ".git"), *command]


def open_repository(folder: Path) -> Repository:
    """The repository around a folder."""
    top = Repositories().around(str(folder))
    if top is None:
        raise Trouble(f"{folder}: is in no Git repository")
    return Repository(Path(top), _program(top))


def check_revision(revision: str) -> None:
    """Refuse a text that is no revision, whatever the repository holds."""
    if not revision.strip() or revision.startswith("-") or not revision.isprintable():
        raise Trouble(f"{revision!r} is no revision; name a branch, a tag or a commit, such as `main`")


def renames(old: Path, new: Path) -> dict[str, str]:
    """For each path in one folder the path in another that it was renamed to, as far as Git sees it.

    Outside of any repository, so that no attributes and no configuration count.
    """
    command = [_program(str(old)), *_QUIET, "diff", "--no-index", "--name-status", "--find-renames", "-z"]
    command += ["--no-ext-diff", "--no-textconv", "--", old.name, new.name]
    environment = {**_environment(), "GIT_CEILING_DIRECTORIES": str(old.parent.parent), "GIT_DIR": os.devnull}
    try:
        done = subprocess.run(
            command,
            cwd=old.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise Trouble(f"git cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Trouble(f"`git diff` did not answer in {_SECONDS} seconds") from None
    words = iter(os.fsdecode(done.stdout).split("\0"))
    found = {}
    for status in words:
        if re.fullmatch(r"[RC]\d+", status):
            source, target = next(words), next(words)
            found[source.removeprefix(f"{old.name}/")] = target.removeprefix(f"{new.name}/")
        elif status:
            next(words)
    return found


def _program(top: str) -> str:
    """Git, by its path; never one that the linted code has brought along."""
    program = shutil.which("git")
    if program is None:
        raise Trouble("git is not installed, or not in PATH; --since needs it")
    if files.inside(program, [os.path.realpath(top)]):
        raise Trouble(f"{program}: the git in PATH is part of what is linted; take it out of PATH")
    return program


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    return inherited | _ENVIRONMENT


def _stream(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def _is_plain(path: str) -> bool:
    """Whether a path leads nowhere but down, on any system: a tree can be made to hold others."""
    parts = path.split("/")
    return not any(
        part in ("", ".", "..") or part.lower() == ".git" or set(part) & set("\\:\0") for part in parts
    )
