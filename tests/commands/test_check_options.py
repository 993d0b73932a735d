"""Options of `check` beyond what is linted: stdin, what is shown, progress, completion."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.commands import output as progress
from dynamo_lint.config import Settings, load
from dynamo_lint.selectors import catalogue, completions
from tests.commands.test_cli import COUNTER, here, spawn

__all__ = ["here"]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def put(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return put


def test_text_on_stdin_is_linted(
    here: Path, feed: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    feed(COUNTER)
    assert cli.run(["-", "--output-format", "concise", "-q"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:10:9: error DYN101 [storm] ")


def test_text_with_a_file_name_is_linted_as_part_of_its_project(
    here: Path, feed: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    model, _, entry = COUNTER.partition("model = ")
    (here / "a.py").write_text("# an older text without the class\n")
    (here / "train.py").write_text("import torch\nfrom a import Counter\n\nmodel = " + entry)
    feed(model)
    assert cli.run(["-", "--stdin-filename", "a.py", "-q"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("a.py:10:9: error DYN101")
    assert "10 |         self.calls += 1" in out
    assert "train.py:4" in out


@pytest.mark.parametrize(("options", "status"), [([], 1), (["--exit-zero"], 0), (["--unsafe-fixes"], 0)])
def test_fixed_text_has_the_exit_status_of_what_is_left(
    here: Path,
    feed: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    status: int,
) -> None:
    feed(COUNTER)
    assert cli.run(["-", "--fix", *options]) == status
    said = capsys.readouterr()
    assert ("register_buffer" in said.out) == ("--unsafe-fixes" in options)
    assert said.err == ("" if "--unsafe-fixes" in options else "1 finding left\n")


def test_text_with_a_new_file_name_and_with_a_syntax_error(
    here: Path, feed: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    feed("def f(:\n")
    assert cli.run(["-", "--stdin-filename", "new/b.py", "-q", "--output-format", "concise"]) == 1
    assert capsys.readouterr().out.startswith("new/b.py:1:7: error DYN901 ")


def test_excluded_text_is_not_linted_with_force_exclude(here: Path, feed: Callable[[str], None]) -> None:
    for arguments, status in (([], 1), (["--force-exclude"], 0)):
        feed(COUNTER)
        named = ["-", "--stdin-filename", "gen/b.py", "--extend-exclude", "gen"]
        assert cli.run([*named, *arguments]) == status


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--stdin-filename", "a.py"], "--stdin-filename needs `-` as the path"),
        (["-", "a.py"], "`-` (stdin) cannot be combined with other paths"),
    ],
)
def test_half_of_the_stdin_options_is_wrong_usage(
    here: Path, capsys: pytest.CaptureFixture[str], args: list[str], message: str
) -> None:
    assert cli.run(args) == 2
    assert message in capsys.readouterr().err


def test_show_files_lists_what_would_be_linted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "build").mkdir()
    (here / "build/b.py").touch()
    (here / "c.py").touch()
    assert cli.run(["--show-files"]) == 0
    assert capsys.readouterr().out == "a.py\nc.py\n"
    assert cli.run(["--show-files", "a.py"]) == 0
    assert capsys.readouterr().out == "a.py\n"


def test_shown_settings_are_a_configuration_that_means_the_same(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "dynamo-lint.toml").write_text(
        'select = ["DYN1"]\ntorch-version = "2.10"\nregions = ["a:b\\"c"]\n'
        'contract = { max-breaks = 1, expected-breaks = { "a.py:f" = 2 }, ignore-log = ["x"] }\n'
    )
    assert cli.run(["--show-settings", "--assume", "blocks"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"# {here / 'dynamo-lint.toml'}\n")
    again = here / "again"
    again.mkdir()
    (again / "dynamo-lint.toml").write_text(out)
    shown = load(again)
    assert (shown.select, shown.torch_version) == (("DYN1",), (2, 10))
    assert (shown.regions, shown.assume) == (('a:b"c',), "blocks")
    assert shown.contract == load(here).contract


def test_default_settings_can_be_shown_and_read_back(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = ".".join(map(str, Settings().torch_version))  # by itself it is that of the torch beside it
    cli.run(["--show-settings", "--isolated", "--torch-version", usual])
    file = here / "shown.toml"
    file.write_text(capsys.readouterr().out)
    shown = load(here, file)
    assert replace(shown, source=None) == Settings()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_appears_on_a_terminal_after_a_second_and_wipes_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with progress.Progress() as told:
        told(1, 9)
        assert terminal.getvalue() == ""
        clock[0] += 1.05
        told(2, 9)
        assert terminal.getvalue().endswith("reading 2 of 9 files")
        told(3, 9)
        assert terminal.getvalue().endswith("reading 2 of 9 files")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_progress_is_silent_in_a_pipe_and_when_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0)
    for stream, wanted in ((io.StringIO(), True), (Terminal(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress.Progress(wanted) as told:
            told(1, 2)
        assert stream.getvalue() == ""


def test_a_short_run_shows_no_progress_on_a_terminal(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    cli.run([])
    assert "reading" not in terminal.getvalue()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(here: Path, shell: str) -> None:
    def ask(**variables: str) -> str:
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(cli.__file__).parent.parent),
            **variables,
        }
        done = subprocess.run(
            [sys.executable, "-c", "from dynamo_lint.cli import main; main()"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    assert "_DYNAMO_LINT_COMPLETE" in ask(_DYNAMO_LINT_COMPLETE=f"{shell}_source")
    words = {"COMP_WORDS": "dynamo-lint ru", "COMP_CWORD": "1" if shell != "fish" else "ru"}
    assert "rule" in ask(_DYNAMO_LINT_COMPLETE=f"{shell}_complete", **words)
    words = {"COMP_WORDS": "dynamo-lint --stat", "COMP_CWORD": "1" if shell != "fish" else "--stat"}
    assert "--statistics" in ask(_DYNAMO_LINT_COMPLETE=f"{shell}_complete", **words)
    last = "DYN101,dyn2"
    words = {
        "COMP_WORDS": f"dynamo-lint check --select {last}",
        "COMP_CWORD": "3" if shell != "fish" else last,
    }
    assert "DYN101,DYN201" in ask(_DYNAMO_LINT_COMPLETE=f"{shell}_complete", **words)


def test_codes_names_and_formats_are_completed() -> None:
    assert completions("DYN10")[0] == ("DYN101", "mutated-scalar-attribute")
    assert completions("DYN1,lazy") == [("DYN1,lazy-attribute", "DYN104")]
    assert len(completions("")) == len(catalogue())
    assert completions("x") == []


@pytest.mark.parametrize(
    "args",
    [
        ["."],
        ["regions"],
        ["rule", "--all"],
        ["--show-settings"],
        ["--diff"],
        ["--help"],
        ["--version"],
        ["-", "--fix"],
    ],
    ids=" ".join,
)
def test_full_disk_is_one_line_and_exit_2_for_every_command(here: Path, args: list[str]) -> None:
    (here / "a.py").write_text(COUNTER + "x = 1  # dynamo-lint: ignore[DYN777]\n")
    with Path("/dev/full").open("w") as full, (here / "a.py").open() as text:
        process = spawn(*args, stdout=full, stdin=text)
        _, err = process.communicate()
    assert err.splitlines()[-1] == "dynamo-lint: the output cannot be written: No space left on device"
    assert process.returncode == 2


def test_full_disk_behind_stderr_does_not_change_the_findings(here: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = spawn("--output-format", "concise", stderr=full)
        out, _ = process.communicate()
    assert out.startswith("a.py:10:9: error DYN101")


@pytest.mark.parametrize(
    "args", [["--config", "/dev/zero"], ["--baseline", "/dev/zero"], ["/dev/zero"]], ids=" ".join
)
def test_a_device_is_not_read_to_its_end(
    here: Path, capsys: pytest.CaptureFixture[str], args: list[str]
) -> None:
    assert cli.run(args) == 2
    assert capsys.readouterr().err.startswith("dynamo-lint: /dev/zero: ")


def test_configuration_that_is_not_toml_and_output_that_cannot_be_written_lose_nothing(
    here: Path,
) -> None:
    (here / "report.json").write_text("old")
    (here / "dynamo-lint.toml").write_text("select = [")
    process = spawn("--output-format", "json", "-o", "report.json")
    out, err = process.communicate()
    assert (process.returncode, out, len(err.splitlines())) == (2, "", 1)
    assert "is not valid TOML" in err
    assert (here / "report.json").read_text() == "old"
    process = spawn("--isolated", "--output-format", "sarif", "-o", "/dev/full")
    _, err = process.communicate()
    assert (process.returncode, err) == (
        2,
        "dynamo-lint: /dev/full: cannot be written: No space left on device\n",
    )
