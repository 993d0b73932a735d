"""Unified diffs: which lines are new, whoever wrote the patch; what is none is refused with its line."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from dynamo_lint import cli, patch
from dynamo_lint.trouble import Trouble
from tests.commands.test_cli import COUNTER, here
from tests.notebooks import notebook

__all__ = ["here"]

CHANGE = """\
diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -8,3 +8,4 @@ class Counter
     def forward(self, x):
-        pass
+        y = x
+        self.calls += 1
         return x + self.calls
\\ No newline at end of file
"""


def added(text: str) -> dict[str, list[int]]:
    return {path: sorted(lines) for path, lines in patch.read(Path("p"), text.encode()).lines.items()}


def test_added_lines_are_numbered_as_in_the_new_file() -> None:
    assert added(CHANGE) == {"b/a.py": [9, 10]}
    assert added(CHANGE.replace("\n", "\r\n")) == {"b/a.py": [9, 10]}
    assert added("From: me\nSubject: x\n---\n 1 file\n\n" + CHANGE + "-- \n2.39\n") == {"b/a.py": [9, 10]}


def test_several_files_new_ones_renames_and_deletions() -> None:
    text = (
        "diff --git a/x.py b/y.py\nsimilarity index 100%\nrename from x.py\nrename to y.py\n"
        "diff --git a/n.py b/n.py\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\n"
        "diff --git a/g.py b/g.py\n--- a/g.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n--- y\n"
        "Binary files a/p.png and b/p.png differ\n" + CHANGE
    )
    assert added(text) == {"b/n.py": [1], "b/a.py": [9, 10]}


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ('"b/\\303\\244 \\"q\\"\\t.py"', 'b/ä "q"\t.py'),
        ("new/a b.py\t2026-01-01 00:00:00", "new/a b.py"),
        ("a.py", "a.py"),
    ],
)
def test_names_in_quotes_with_blanks_and_times(header: str, path: str) -> None:
    assert added(f"--- {header}\n+++ {header}\n@@ -1 +1 @@\n-x\n+y\n") == {path: [1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "p:1: is not a unified diff: it names no file"),
        ("--- a\n+++ b\n@@ nonsense @@\n", "p:3: is not a unified diff: expected `@@ -1,2 +1,3 @@`"),
        ("@@ -1 +1 @@\n-x\n+y\n", "p:1: is not a unified diff: no file is named before this hunk"),
        (
            "--- a\n+++ b\n@@ -1,3 +1 @@\n-x\n+y\n",
            "p:6: is not a unified diff: the hunk of line 3 is shorter",
        ),
        ("--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\ndiff", "p:6: is not a unified diff: the hunk of line 3"),
        ("diff --cc a\n--- a\n+++ b\n@@@ -1 -1 +1 @@@\n", "p:4: is the diff of a merge"),
    ],
)
def test_what_is_no_patch_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(Trouble) as error:
        added(text)
    assert str(error.value).startswith(message)


def test_an_empty_patch_adds_nothing() -> None:
    assert added("") == added("\n") == {}


def lint(*args: str) -> int:
    return cli.run(["check", "--no-cache", "--diff-file", "p.diff", "--output-format", "concise", *args])


def test_findings_on_added_lines_or_with_a_chain_over_one_are_shown(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _, entry = COUNTER.partition("model = ")
    (here / "a.py").write_text(model)
    (here / "train.py").write_text("import torch\nfrom a import Counter\n\nmodel = " + entry)
    row = "--- {0}\n+++ {0}\n@@ -{1} +{1} @@\n-x\n+y\n"
    for path, line, status in (
        *(("b/a.py", 10, 1), ("a.py", 10, 1), ("new/a.py", 10, 1), ("b/train.py", 4, 1)),
        *(("b/a.py", 9, 0), ("b/train.py", 3, 0), ("b/pkg/a.py", 10, 0)),
    ):
        (here / "p.diff").write_text(row.format(path, line))
        assert lint() == status, (path, line)
        said = capsys.readouterr().out
        assert ("a.py:10:9" in said) == bool(status)
        assert f"{1 - status} finding" in said.replace("findings", "finding")
        assert "not shown: not on a line that p.diff adds.\n" in said


def test_a_patch_counts_from_the_repository_or_from_the_current_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".git").mkdir()
    (here / "pkg").mkdir()
    (here / "a.py").rename(here / "pkg/a.py")
    monkeypatch.chdir(here / "pkg")
    for path in ("b/pkg/a.py", "pkg/a.py", "a.py", "b/a.py"):
        (here / "pkg/p.diff").write_text(f"--- {path}\n+++ {path}\n@@ -10 +10 @@\n-x\n+y\n")
        assert lint() == 1, path


def test_lines_of_a_notebook_are_those_of_its_file(here: Path) -> None:
    (here / "a.py").unlink()
    text = notebook(COUNTER)
    (here / "n.ipynb").write_text(text)
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "self.calls += 1" in row)
    for at, status in ((line, 1), (line - 1, 0)):
        (here / "p.diff").write_text(f"--- a/n.ipynb\n+++ b/n.ipynb\n@@ -{at} +{at} @@\n-x\n+y\n")
        assert lint() == status


def test_a_file_of_the_patch_that_cannot_be_read_is_told(here: Path) -> None:
    (here / "a.py").write_text("x = (\n\n\ny = 1\n")
    (here / "p.diff").write_text("--- a.py\n+++ a.py\n@@ -3 +3 @@\n-x\n+\n")
    assert lint() == 1
    (here / "p.diff").write_text("--- b.py\n+++ b.py\n@@ -3 +3 @@\n-x\n+\n")
    assert lint() == 0


def test_what_does_not_go_together(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CHANGE.encode())))
    assert lint() == 2
    assert "p.diff: no such file; write it with `git diff main > p.diff`" in capsys.readouterr().err
    (here / "p.diff").write_text(CHANGE)
    assert lint("--fix") == 2
    assert lint("-", "--diff-file", "-") == 2
    assert "stdin cannot be both" in capsys.readouterr().err


def test_a_patch_of_git_is_read_from_stdin(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = ("git", "-c", "user.name=n", "-c", "user.email=n@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
        subprocess.run([*git, *words], check=True)
    (here / "a.py").write_text("# above\n" + COUNTER.replace("self.calls += 1", "self.calls += 2"))
    made = subprocess.run([*git, "diff"], capture_output=True, check=True).stdout
    assert patch.read(Path("p"), made).lines == {"b/a.py": {1, 11}}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(made)))
    assert lint("--diff-file", "-") == 1
