"""The engine: rounds, refusals, and files that are replaced as a whole or left alone."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes import attribute_uses, edit_session
from dynamo_lint.run import rewrite
from dynamo_lint.run.write import diff, write
from tests.fixes.fixing import fix_files, fixed

COUNTER = """\
import torch


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._calls = 0

    def forward(self, x):
        self._calls += 1
        return x * 2


model = torch.compile(Counter())
"""
SAFE = COUNTER.replace("self._calls = 0", "{}").format(
    'self.register_buffer("_calls", torch.zeros((), dtype=torch.long), persistent=False)'
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dynamo-lint.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_fixes(monkeypatch: pytest.MonkeyPatch, change: Callable[[Finding], Fix | None]) -> None:
    """Let every finding carry the fix that `change` makes up for it."""
    real = rewrite.check

    def check(*args, **options):
        report = real(*args, **options)
        return replace(report, findings=tuple(replace(f, fix=change(f)) for f in report.findings))

    monkeypatch.setattr(rewrite, "check", check)


def line_of(finding: Finding, text: str) -> Fix:
    span = replace(finding.span, end_line=finding.span.line, end_column=finding.span.column)
    return Fix("safe", "", (Edit(span, text),))


def test_fixing_twice_changes_nothing(here: Path) -> None:
    (here / "a.py").write_text(COUNTER)
    assert cli.run(["--fix", "-q"]) == 0
    assert (here / "a.py").read_text() == SAFE
    before = (here / "a.py").stat()
    assert cli.run(["--fix", "-q"]) == 0
    assert (here / "a.py").stat() == before
    assert fixed(here).applied == ()


def test_diff_writes_nothing_and_exits_1_only_where_something_would_change(here: Path, capsys) -> None:
    (here / "a.py").write_text(COUNTER)
    assert cli.run(["--diff"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("--- a.py\n+++ a.py\n@@")
    assert "-        self._calls = 0\n+        self.register_buffer(" in said.out
    assert said.err == "Would fix 1 finding in 1 file.\n"
    assert (here / "a.py").read_text() == COUNTER
    (here / "a.py").write_text(SAFE)
    assert cli.run(["--diff"]) == 0
    assert capsys.readouterr() == ("", "Nothing would change.\n")


def test_a_diff_that_leaves_unsafe_fixes_out_names_the_option(here: Path, capsys) -> None:
    (here / "setup.cfg").write_text("[metadata]\nname = counters\n")
    (here / "a.py").write_text(COUNTER.replace("_calls", "calls"))
    cli.run([])
    assert (
        "1 fixable with `--fix --unsafe-fixes`; `--diff --unsafe-fixes` shows what" in capsys.readouterr().out
    )
    assert cli.run(["--diff"]) == 0
    assert capsys.readouterr() == ("", "Nothing would change. 1 fixable with `--unsafe-fixes`.\n")
    assert cli.run(["--diff", "--unsafe-fixes"]) == 1
    assert capsys.readouterr().err == "Would fix 1 finding in 1 file.\n"


def hints(capsys: pytest.CaptureFixture[str], *options: str) -> list[tuple[str, str]]:
    """How each finding says that it can be fixed, and the fixes' own words."""
    cli.run(["--output-format", "json", "-q", *options])
    fixes = [one["fix"] for one in json.loads(capsys.readouterr().out)["findings"]]
    assert all((one["kind"] == "advice") == (not one["edits"]) for one in fixes)
    return [(one["applicability"], one["message"]) for one in fixes]


SHOWS_SIZES = """\
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._rows = 0

    def forward(self, x):
        self._rows += x.shape[0]
        return self.lin(x)


model = torch.compile(Decoder())
for rows in (3, 2, 5, 4):
    model(torch.ones(rows, 4))
"""


def test_a_fix_that_would_be_taken_back_is_not_announced(here: Path, capsys, monkeypatch) -> None:
    (here / "a.py").write_text(COUNTER)
    monkeypatch.setattr(
        rewrite, "_guilty", lambda *reports: [(one, "it would cause it") for one in reports[2]]
    )
    cli.run([])
    said = capsys.readouterr()
    assert "fixable" not in said.err
    assert "does it)" not in said.out
    ((applicability, message),) = hints(capsys)
    assert applicability == "display"
    assert "`--fix` leaves it: it would cause it" in message
    cli.run(["--diff"])
    assert "a.py:10 DYN101 was not fixed: it would cause it" in capsys.readouterr().err


def test_a_note_that_an_error_hid_is_no_reason_to_leave_the_error(here: Path, capsys) -> None:
    (here / "a.py").write_text(SHOWS_SIZES)
    assert cli.run(["--fix", "-q", "--output-format", "json"]) == 0
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["findings"]] == ["DYN507"]
    assert "register_buffer" in (here / "a.py").read_text()


def test_a_fix_with_a_reader_that_is_not_linted_is_announced_as_unsafe(here: Path, capsys) -> None:
    (here / "src").mkdir()
    (here / "src/a.py").write_text(COUNTER)
    (here / "report.py").write_text("def report(model): return model._calls\n")
    ((applicability, message),) = hints(capsys, "src")
    assert applicability == "unsafe"
    assert "report.py, which this run does not lint, uses the attribute)" in message
    assert hints(capsys, "--fix", "src")[0][0] == "unsafe"
    assert cli.run(["src", "--fix", "--unsafe-fixes", "-q"]) == 0


def test_a_fix_of_other_files_than_the_text_on_stdin_is_not_announced(
    here: Path, capsys, monkeypatch
) -> None:
    (here / "a.py").write_text(COUNTER)
    (here / "b.py").write_text("from a import model\n\nprint(model._calls + 1)\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(COUNTER.encode())))
    ((applicability, message),) = hints(capsys, "-", "--stdin-filename", "a.py")
    assert applicability == "display"
    assert message.endswith("`--fix` leaves it: it needs edits outside this run")


def test_a_finding_whose_rule_has_fixes_says_why_it_has_none(here: Path, capsys) -> None:
    (here / "a.py").write_text(COUNTER.replace("return x * 2", "return x if self._calls > 2 else -x"))
    ((_, message),) = hints(capsys, "--select", "DYN101")
    assert "; `--fix` leaves it: line 11 needs it as a Python number; or " in message


def test_unsafe_fixes_wait_until_they_are_asked_for(here: Path) -> None:
    public = COUNTER.replace("_calls", "calls")
    (here / "setup.cfg").write_text("[metadata]\nname = counters\n")
    (here / "a.py").write_text(public)
    assert cli.run(["--fix", "-q"]) == 1
    assert (here / "a.py").read_text() == public
    assert cli.run(["--fix", "--unsafe-fixes", "-q"]) == 0
    assert (here / "a.py").read_text() == SAFE.replace("_calls", "calls")


def test_a_fix_that_would_not_parse_is_not_written(here: Path, monkeypatch) -> None:
    (here / "a.py").write_text(COUNTER)
    with_fixes(monkeypatch, lambda finding: line_of(finding, "if ("))
    done = fixed(here)
    assert (done.files, done.applied) == ({}, ())
    assert [why for _, why in done.refused] == ["the file would no longer parse"]


def test_a_fix_that_leaves_its_finding_standing_is_not_written(here: Path, monkeypatch) -> None:
    (here / "a.py").write_text(COUNTER)
    with_fixes(monkeypatch, lambda finding: line_of(finding, "pass; "))
    done = fixed(here)
    assert done.files == {}
    assert [why for _, why in done.refused] == ["the finding would still be there"]


def test_a_fix_that_brings_another_finding_is_not_written(here: Path, monkeypatch) -> None:
    (here / "a.py").write_text(COUNTER)
    worse = "self._other = getattr(self, '_other', 0) + 1; "

    def change(finding: Finding) -> Fix:
        return Fix("safe", "", (Edit(replace(finding.span), worse),))

    with_fixes(monkeypatch, change)
    done = fixed(here)
    assert done.files == {}
    assert all("it would cause" in why for _, why in done.refused)


def test_of_overlapping_fixes_the_second_one_waits_for_the_next_round(here: Path) -> None:
    two = COUNTER.replace("self._calls = 0", "self._calls = 0\n        self._seen = 0").replace(
        "self._calls += 1", "self._calls += 1\n        self._seen += 1"
    )
    without = two.replace("import torch\n", "from torch import compile, nn\n", 1).replace("torch.nn", "nn")
    (here / "a.py").write_text(without.replace("torch.compile", "compile"))
    done = fixed(here)
    assert len(done.applied) == 2  # both need `import torch` in the same place
    assert done.files["a.py"].count(b"import torch\n") == 1


def rounds(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One item for each time that the project is linted from now on."""
    real, linted = rewrite.check, list[None]()

    def check(*args, **options):
        linted.append(None)
        return real(*args, **options)

    monkeypatch.setattr(rewrite, "check", check)
    return linted


VARIABLES = """\
import os

import torch


@torch.compile
def scaled(x):
    if os.environ.get("MY_SCALE"):
        x = x * 2
    if os.environ.get("MY_SHIFT"):
        x = x + 1
    return x
"""


def test_lines_that_two_fixes_insert_at_one_place_are_tried_in_one_round(here: Path, monkeypatch) -> None:
    (here / "a.py").write_text(VARIABLES)
    linted = rounds(monkeypatch)
    done = fixed(here, unsafe=True)
    assert len(done.applied) == 2
    assert len(linted) == 2
    made = done.files["a.py"].decode()
    assert "_MY_SCALE = " in made
    assert "_MY_SHIFT = " in made


def test_lines_that_bind_one_name_wait_for_each_other(here: Path, monkeypatch) -> None:
    (here / "a.py").write_text(VARIABLES.replace('get("MY_SHIFT")', 'get("MY_SCALE", "")'))
    linted = rounds(monkeypatch)
    done = fixed(here, unsafe=True)
    assert len(done.applied) == 2
    assert len(linted) == 3
    assert "_MY_SCALE_ENV = " in done.files["a.py"].decode()


def test_files_that_are_closed_between_two_findings_are_opened_again(here: Path, monkeypatch) -> None:
    other = COUNTER.replace("_calls", "_turns")
    (here / "a.py").write_text(COUNTER + other.partition("import torch\n")[2].replace("Counter", "Other"))
    (here / "b.py").write_text(COUNTER.replace("_calls", "_seen"))
    kept = fixed(here).files
    monkeypatch.setattr(edit_session, "_MOST_NODES", 0)
    assert set(kept) == {"a.py", "b.py"}
    assert fixed(here).files == kept


def test_a_read_only_file_is_left_alone_also_by_root(here: Path) -> None:
    (here / "a.py").write_text(COUNTER)
    (here / "a.py").chmod(0o444)
    assert write(here, fixed(here)) == {"a.py": "a.py is read-only"}
    assert (here / "a.py").read_text() == COUNTER


def test_a_file_changed_meanwhile_is_left_alone_with_a_message(here: Path) -> None:
    (here / "a.py").write_text(COUNTER)
    done = fixed(here)
    (here / "a.py").write_text(COUNTER + "# edited\n")
    assert write(here, done) == {"a.py": "a.py changed on disk during the run; not rewritten"}
    assert (here / "a.py").read_text() == COUNTER + "# edited\n"


def test_files_that_one_fix_changes_are_written_together_or_not_at_all(here: Path) -> None:
    (here / "a.py").write_text(COUNTER)
    (here / "b.py").write_text("from a import model\n\nprint(model._calls + 1)\n")
    done = fixed(here)
    assert done.files["b.py"].decode() == "from a import model\n\nprint(int(model._calls) + 1)\n"
    (here / "b.py").write_text("")
    assert set(write(here, done)) == {"a.py", "b.py"}
    assert (here / "a.py").read_text() == COUNTER


def test_mode_and_link_of_a_file_stay_and_no_draft_is_left(here: Path) -> None:
    (here / "real").mkdir()
    (here / "real/a.py").write_text(COUNTER)
    (here / "real/a.py").chmod(0o755)
    os.symlink("real/a.py", here / "a.py")
    assert write(here, fixed(here)) == {}
    assert (here / "a.py").is_symlink()
    assert stat.S_IMODE((here / "real/a.py").stat().st_mode) == 0o755
    assert (here / "real/a.py").read_text() == SAFE
    assert sorted(path.name for path in (here / "real").iterdir()) == ["a.py"]


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_a_message(here: Path) -> None:
    (here / "a.py").write_text(COUNTER)
    done = fixed(here)
    here.chmod(0o500)
    assert write(here, done) == {"a.py": "cannot be written: Permission denied"}
    here.chmod(0o700)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_byte_order_mark_and_missing_last_newline_survive(
    here: Path, end: str, mark: bytes
) -> None:
    raw = mark + COUNTER.replace("\n", end).rstrip().encode()
    (here / "a.py").write_bytes(raw)
    done = fixed(here)
    assert done.files["a.py"] == mark + SAFE.replace("\n", end).rstrip().encode()
    assert b"\\ No newline at end of file" in diff(replace(done, files={"a.py": raw + b" "}), {})


def test_the_lines_of_a_patch_are_the_bytes_of_the_file(here: Path) -> None:
    text = "# coding: latin-1\n" + COUNTER.replace(
        "super().__init__()\n", "super().__init__()  # caf\xe9\n", 1
    )
    (here / "a.py").write_bytes(text.encode("latin-1"))
    patch = diff(fixed(here), {})
    assert b"super().__init__()  # caf\xe9\n" in patch


@pytest.mark.parametrize(
    ("name", "header"),
    [("a b.py", b"--- a b.py\n"), ("a\n+++ b.py", rb'--- "a\012+++ b.py"'), ('a"\\.py', rb'--- "a\"\\.py"')],
)
def test_no_file_name_writes_a_header_into_a_patch(here: Path, name: str, header: bytes) -> None:
    (here / "a.py").write_text(COUNTER)
    patch = diff(fixed(here), {"a.py": name})
    assert patch.startswith(header.rstrip() + b"\n")
    assert [patch.count(mark) for mark in (b"\n--- ", b"\n+++ ")] == [0, 1]


def test_a_finding_silenced_by_a_comment_is_not_fixed(here: Path) -> None:
    (here / "a.py").write_text(COUNTER.replace("+= 1", "+= 1  # dynamo-lint: ignore[DYN101]"))
    assert fixed(here).files == {}


def test_only_the_files_that_were_asked_for_are_fixed(here: Path) -> None:
    (here / "a.py").write_text(COUNTER)
    (here / "b.py").write_text("from a import model\n")
    assert cli.run(["b.py", "--fix", "-q"]) == 0
    assert (here / "a.py").read_text() == COUNTER


def test_an_attribute_of_many_classes_is_looked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "import torch\nfrom torch import nn\nclass A(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self._n = 0\n    def forward(self, x):\n        self._n += 1\n"
        "        return x\na = torch.compile(A())\nb = A()\nprint(b._n)\n"
    )
    asked: list[object] = []
    monkeypatch.setattr(attribute_uses, "_known", counted(attribute_uses._known, asked))
    changed = fix_files(tmp_path, **{f"m{number}": text for number in range(8)})
    assert len(changed) == 8
    assert len(asked) == 16  # each `b._n` once for all classes, and once more for its own


def counted(function: Callable[..., object], calls: list[object]) -> Callable[..., object]:
    def called(*args: object) -> object:
        calls.append(args)
        return function(*args)

    return called
