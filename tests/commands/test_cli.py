"""The command line from outside: what is printed where, and the exit status."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.commands.output import FOR_PEOPLE
from dynamo_lint.config import OUTPUT_FORMATS
from dynamo_lint.run import judge

COUNTER = """\
import torch


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x + 0.1 * self.calls


model = torch.compile(Counter())
"""
CLEAN = COUNTER.replace("self.calls += 1", "pass")
EAGER = COUNTER.replace("torch.compile(Counter())", "Counter()")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # A configuration of its own keeps whatever lies above the temporary folder out of the test.
    (tmp_path / "dynamo-lint.toml").write_text("")
    (tmp_path / "a.py").write_text(COUNTER)
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def spawn(*args: str, **options: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)}
    environment.pop("COLUMNS", None)
    return subprocess.Popen(
        [sys.executable, "-m", "dynamo_lint", *args],
        env=environment,
        text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},  # type: ignore[call-overload]
    )


def test_findings_exit_1_and_go_to_stdout_with_the_summary_behind_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["."]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("a.py:10:9: error DYN101 mutated-scalar-attribute\n")
    assert "\n\nFound 1 error in 1 of 1 file; 1 compiled function from 1 compile entry.\n" in out
    assert "dynamo-lint rule DYN101" in out


@pytest.mark.parametrize("options", [(), ("--output-format", "concise"), ("--statistics",)])
def test_a_text_has_its_summary_on_stdout_also_where_the_findings_go_to_a_file(
    options: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*options]) == 1
    whole, _ = capsys.readouterr()
    assert cli.run([*options, "-o", "findings.txt"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("Found 1 error")
    assert err == ""
    assert whole.replace("\n\nFound", "\nFound") == (here / "findings.txt").read_text() + out


@pytest.mark.parametrize("name", [one for one in OUTPUT_FORMATS if one not in FOR_PEOPLE])
def test_a_format_for_machines_has_its_summary_on_stderr(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["--output-format", name]) == 1
    out, err = capsys.readouterr()
    assert err.startswith("Found 1 error in 1 of 1 file; ")
    assert name == "html" or "Found 1 error in" not in out


def test_a_dash_for_the_output_file_is_stdout(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["--output-format", "json"]):
        assert cli.run(options) == 1
        plain = capsys.readouterr()
        assert cli.run([*options, "-o", "-"]) == 1
        assert capsys.readouterr() == plain
    assert not (here / "-").exists()


def test_no_path_means_the_current_folder_and_check_is_the_default(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = []
    for args in ([], ["."], ["check"], ["check", "a.py"], ["a.py"]):
        assert cli.run(args) == 1
        outputs.append(capsys.readouterr())
    assert len(set(outputs)) == 1


def test_clean_code_exits_0_and_says_what_was_judged(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(CLEAN)
    assert cli.run([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    said, torch = out.splitlines()
    assert said == "No findings: 1 compiled function from 1 compile entry in 1 file."
    assert torch.startswith("Judged as torch 2.")


def test_code_that_compiles_nothing_is_not_called_clean(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.py").write_text(EAGER)
    assert cli.run([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "no compiled code found in 1 file" in out
    assert "--assume-compiled" in out


def test_assumed_regions_are_judged(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(EAGER)
    assert cli.run(["--assume-compiled", "--output-format", "concise"]) == 1
    assert capsys.readouterr().out.startswith("a.py:10:9: error DYN101 [storm] ")
    assert cli.run(["--assume", "blocks"]) == 0


def test_empty_folder_is_no_failure(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").unlink()
    assert cli.run([]) == 0
    assert capsys.readouterr() == ("No Python files or notebooks found.\n", "")


def test_unreadable_file_is_a_finding_and_the_run_goes_on(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "b.py").write_text("def f(:\n")
    (here / "c.py").write_bytes(b"x = '\xff'\n")
    (here / "d.py").write_text("x = " + "(" * 5000 + ")" * 5000)
    assert cli.run(["--output-format", "json", "--quiet"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [(found["path"], found["code"]) for found in document["findings"]] == [
        ("a.py", "DYN101"),
        ("b.py", "DYN901"),
        ("c.py", "DYN901"),
        ("d.py", "DYN901"),
    ]
    assert [error["path"] for error in document["errors"]] == ["b.py", "c.py", "d.py"]


def test_the_caret_of_a_syntax_error_is_at_its_column(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.py").write_text("x = 1\ny = (x +* 2)\n")
    assert cli.run(["b.py"]) == 1
    out, _ = capsys.readouterr()
    assert out.startswith("b.py:2:9: error DYN901 ")
    assert "     2 | y = (x +* 2)\n       |         ^\n" in out


def test_fail_level_and_exit_zero_change_the_status_only(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.py").write_text(CLEAN + "# dynamo-lint: ignore[DYN777]\n")
    assert cli.run([]) == 0
    shown = capsys.readouterr()
    assert " note DYN904 " in shown.out
    assert cli.run(["--fail-level", "note"]) == 1
    assert capsys.readouterr() == shown
    assert cli.run(["--exit-zero"]) == 0
    assert capsys.readouterr() == shown


def test_select_and_ignore_take_codes_prefixes_names_and_lists(here: Path) -> None:
    assert cli.run(["--select", "DYN201,DYN1"]) == 1
    assert cli.run(["--select", "DYN201", "--select", "mutated-scalar-attribute"]) == 1
    assert cli.run(["--select", "DYN2"]) == 0
    assert cli.run(["--ignore", "DYN1"]) == 0
    assert cli.run(["--select", "ALL", "--ignore", "DYN2,DYN9"]) == 1


def test_older_torch_changes_the_effect(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["--output-format", "concise", "--torch-version", "2.6"])
    assert "DYN101 [once]" in capsys.readouterr().out


def test_newer_torch_is_judged_as_the_newest_known_and_said_once(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.run(["--output-format", "concise", "--torch-version", "2.15"])
    newest = capsys.readouterr()
    cli.run(["--output-format", "concise", "--torch-version", "2.16"])
    newer = capsys.readouterr()
    line = "torch 2.16 is newer than 2.15, the newest known here, and is judged as that"
    assert newer.out == newest.out
    assert newer.err.count(line) == 1
    assert "judged as" not in newest.err
    cli.run(["-q", "--torch-version", "2.16"])
    assert capsys.readouterr().err == ""
    (here / "dynamo-lint.toml").write_text('torch-version = "2.16"\n')
    cli.run([])
    assert line in capsys.readouterr().err
    (here / "dynamo-lint.toml").write_text('pedantic = true\ntorch-version = "9.9"\n')
    assert cli.run([]) == 2
    said = capsys.readouterr().err
    assert f'{here / "dynamo-lint.toml"}:2: torch-version = "9.9": expected' in said
    assert '"2.6" to "2.15"' in said


def test_suppressed_finding_is_counted_and_not_shown(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(COUNTER.replace("+= 1", "+= 1  # dynamo-lint: ignore[DYN101] debugging"))
    assert cli.run([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "1 finding silenced by comments." in out


def test_unused_suppression_is_a_note_where_code_is_compiled(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    comment = "pass  # dynamo-lint: ignore[DYN101]"
    (here / "a.py").write_text(CLEAN.replace("pass", comment))
    assert cli.run(["--output-format", "concise", "-q"]) == 0
    assert capsys.readouterr().out == "a.py:10:15: note DYN903 `ignore[DYN101]` is an unused suppression\n"
    (here / "a.py").write_text(EAGER.replace("self.calls += 1", comment))
    assert cli.run([]) == 0


def test_naming_one_file_finds_the_entry_in_another(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, _, entry = COUNTER.partition("model = ")
    (here / "a.py").write_text(model)
    (here / "train.py").write_text("import torch\nfrom a import Counter\n\nmodel = " + entry)
    assert cli.run(["a.py", "--output-format", "json", "-q"]) == 1
    (one,) = json.loads(capsys.readouterr().out)["findings"]
    assert one["chain"][0]["path"] == "train.py"
    assert cli.run(["--output-format", "json", "-q"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"] == [one]


def test_naming_the_file_with_the_entry_reports_what_it_compiles_elsewhere(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _, entry = COUNTER.partition("model = ")
    (here / "a.py").write_text(model)
    (here / "train.py").write_text("import torch\nfrom a import Counter\n\nmodel = " + entry)
    (here / "other.py").write_text("import a\n")
    assert cli.run(["--output-format", "json", "-q"]) == 1
    (whole,) = json.loads(capsys.readouterr().out)["findings"]
    assert cli.run(["train.py", "--output-format", "json", "-q"]) == 1
    document = json.loads(capsys.readouterr().out)
    (one,) = document["findings"]
    assert {**one, "fix": None} == {**whole, "fix": None}
    assert one["fix"]["edits"] == []
    assert one["fix"]["message"].endswith("name a.py to have it fixed")
    assert document["summary"]["elsewhere"] == ["a.py"]
    assert cli.run(["train.py", "--output-format", "concise"]) == 1
    said = capsys.readouterr().out
    assert "Found 1 error in 1 file; 1 compiled function from 1 compile entry." in said
    assert "1 compile entry here; what it compiles is in a.py (1 finding there)." in said
    assert "fixable" not in said
    before = (here / "a.py").read_text()
    assert cli.run(["train.py", "--fix", "--unsafe-fixes", "-q"]) == 1
    assert (here / "a.py").read_text() == before
    assert cli.run(["other.py", "-q"]) == 0


@pytest.mark.parametrize("path", ["torch.py", "torch/__init__.py"])
@pytest.mark.parametrize("text", ["", "def seed(): pass\n", "compile("])
def test_a_file_that_hides_torch_is_told_and_hides_no_finding(
    here: Path, capsys: pytest.CaptureFixture[str], path: str, text: str
) -> None:
    (here / "a.py").write_text(COUNTER)
    assert cli.run(["a.py", "--output-format", "concise", "-q"]) == 1
    before = capsys.readouterr().out
    (here / path).parent.mkdir(exist_ok=True)
    (here / path).write_text(text)
    told = f"{path} hides torch where code is run from its folder (what it lacks is judged as torch's)"
    for named in ("a.py", "."):
        assert cli.run([named, "--output-format", "concise"]) == 1
        out, _ = capsys.readouterr()
        assert before in out
        assert told in out
    assert cli.run(["a.py", "--output-format", "json", "-q"]) == 1
    (gap,) = json.loads(capsys.readouterr().out)["unresolved"]
    assert (gap["kind"], gap["path"], gap["why"]) == ("library", "a.py", told)
    assert cli.run(["regions", "a.py"]) == 0
    assert f"Not followed to the end:\n    a.py:1  import torch: {told}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("helpers/torch.py", ""),  # found by what is run from that folder alone
        ("torch/helpers.py", ""),  # a folder without `__init__.py` comes after the library
        ("torch.py", "from somewhere import *\n"),
    ],
)
def test_a_file_that_hides_no_library_is_not_told(
    here: Path, capsys: pytest.CaptureFixture[str], path: str, text: str
) -> None:
    (here / "a.py").write_text(COUNTER)
    (here / path).parent.mkdir(exist_ok=True)
    (here / path).write_text(text)
    cli.run(["a.py"])
    assert "hides" not in capsys.readouterr().out


def test_a_file_that_hides_another_library_is_told_where_a_name_is_missing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decorated = (
        "import functools\n\nimport torch\n\nN = 0\n\n\n@functools.partial(torch.compile, dynamic=True)\n"
    )
    counts = "def step(x):\n    global N\n    N += 1\n    return x * N\n\n\nfor _ in range(9):\n    step(torch.ones(2))\n"
    (here / "a.py").write_text(decorated + counts)
    (here / "functools.py").write_text("")
    assert cli.run(["a.py"]) == 1
    assert "functools.py hides functools" in capsys.readouterr().out
    (here / "functools.py").write_text("def partial(function, **options): return function\n")
    cli.run(["a.py"])
    assert "hides" not in capsys.readouterr().out


def test_a_comment_silences_what_an_entry_in_a_named_file_compiles(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _, entry = COUNTER.partition("model = ")
    comment = "self.calls += 1  # dynamo-lint: ignore[DYN101] only here"
    (here / "a.py").write_text(
        model.replace("self.calls += 1", comment) + "x = 1  # dynamo-lint: ignore[DYN1]\n"
    )
    (here / "train.py").write_text("import torch\nfrom a import Counter\n\nmodel = " + entry)
    assert cli.run(["train.py", "--fail-level", "note"]) == 0
    said = capsys.readouterr().out
    assert "No findings: 1 compiled function from 1 compile entry in 1 file." in said
    assert "1 compile entry here; what it compiles is in a.py (0 findings there)." in said
    assert "1 finding silenced by comments." in said


def test_fingerprint_survives_edits_elsewhere_in_the_file(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prints = []
    for text in (
        COUNTER,
        "# a comment\n\n" + COUNTER,
        COUNTER.replace("calls = 0", "calls = 0\n        self.b = 1"),
    ):
        (here / "a.py").write_text(text)
        cli.run(["--output-format", "json"])
        prints += [found["fingerprint"] for found in json.loads(capsys.readouterr().out)["findings"]]
    assert len(prints) == 3
    assert len(set(prints)) == 1


def test_statistics_count_by_rule(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--statistics", "-q"]) == 1
    assert capsys.readouterr().out == "     1  DYN101  mutated-scalar-attribute\n"
    assert cli.run(["--statistics", "--output-format", "json"]) == 2


def test_configuration_is_used_overridden_and_ignored_on_request(here: Path) -> None:
    (here / "dynamo-lint.toml").write_text('ignore = ["DYN101"]\n')
    assert cli.run([]) == 0
    assert cli.run(["--ignore", "DYN2"]) == 1
    assert cli.run(["--isolated"]) == 1
    (here / "other.toml").write_text("")
    assert cli.run(["--config", "other.toml"]) == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere.py"], "dynamo-lint: nowhere.py: no such file or folder"),
        (["region"], "dynamo-lint: region: no such file or folder; did you mean the command `regions`?"),
        (["--select", "DYN191"], "dynamo-lint: --select: no rule is named 'DYN191'; did you mean 'DYN101'?"),
        (["--config", "no.toml"], "dynamo-lint: no.toml: cannot be read: No such file or directory"),
        (
            ["--torch-version", "1.13"],
            "dynamo-lint: invalid value for '--torch-version': '1.13' is not a torch version",
        ),
        (
            ["--torch-version", "9.9"],
            "dynamo-lint: invalid value for '--torch-version': "
            '\'9.9\' is not a torch version from "2.6" to "2.15", such as "2.13"',
        ),
        (
            ["--torch-version", "abc"],
            "dynamo-lint: invalid value for '--torch-version': "
            '\'abc\' is not a torch version from "2.6" to "2.15", such as "2.13"',
        ),
        (
            ["--assume", "blocks", "--assume-compiled"],
            "dynamo-lint: --assume-compiled contradicts --assume blocks",
        ),
        (["-o", "no/such/folder.txt"], "dynamo-lint: no/such/folder.txt: cannot be written: No such file"),
        (["rule", "DYN1O1"], "dynamo-lint: no rule is named 'DYN1O1'; did you mean 'DYN101'?"),
        (["rule"], "dynamo-lint: name the rules to explain, or use --all"),
        (
            ["regions", "--why", "forwrd"],
            "dynamo-lint: no function is named 'forwrd'; did you mean",
        ),
    ],
)
def test_wrong_usage_exits_2_with_one_line_that_says_what_to_do(
    here: Path, capsys: pytest.CaptureFixture[str], args: list[str], message: str
) -> None:
    assert cli.run(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith(message)
    assert "Traceback" not in err


def test_wrong_configuration_exits_2_and_names_the_file(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, message in (
        ("selct = []", "unknown key 'selct'"),
        ('select = ["DYN9999"]', "no rule is named"),
    ):
        (here / "dynamo-lint.toml").write_text(text)
        assert cli.run([]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"dynamo-lint: {here / 'dynamo-lint.toml'}:")
        assert message in line


def test_defect_of_ours_is_one_line_and_exit_2_and_a_traceback_only_on_request(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("state")

    monkeypatch.setattr(judge, "_judge_facts", broken)
    assert cli.run([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("dynamo-lint: internal error: KeyError: 'state' (test_cli.py:")
    assert "Traceback" not in err
    monkeypatch.setenv("DYNAMO_LINT_DEBUG", "1")
    with pytest.raises(KeyError):
        cli.run([])


def test_output_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "out").mkdir()
    (here / "out/report.json").write_text("old")
    (here / "link.json").symlink_to("out/report.json")
    assert cli.run(["--output-format", "json", "-o", "link.json"]) == 1
    assert capsys.readouterr().out == ""
    assert json.loads((here / "out/report.json").read_text())["summary"]["findings"] == 1
    assert (here / "link.json").is_symlink()
    assert [file.name for file in (here / "out").iterdir()] == ["report.json"]


def test_colour_follows_option_then_environment(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def coloured(*args: str) -> bool:
        cli.run(list(args))
        return "\x1b[" in capsys.readouterr().out

    assert not coloured()
    assert coloured("--color", "always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert coloured()
    assert not coloured("--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not coloured()
    assert coloured("--color", "always")


def test_quiet_is_silent_on_stderr_and_verbose_names_files_and_settings(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "big.py").write_bytes(b"#" * 1_000_001)
    cli.run(["-q"])
    assert capsys.readouterr().err == ""
    cli.run(["-v"])
    cli_output, err = capsys.readouterr()
    assert f"configuration: {here / 'dynamo-lint.toml'}" in err
    assert "warning DYN901" in cli_output


def test_regions_show_entries_functions_and_the_way_to_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["regions", "a.py"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("a.py:14  compiles Counter  (call, certain)\n    a.py:9  Counter.forward\n")
    assert cli.run(["regions", "--why", "Counter.forward"]) == 0
    assert "a.py:14" in capsys.readouterr().out
    assert cli.run(["regions", "--output-format", "json"]) == 0
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    assert function["id"] == "a.py::Counter.forward"


def test_regions_of_a_file_are_those_that_it_makes_or_suffers(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _, entry = COUNTER.partition("model = ")
    (here / "a.py").write_text(model)
    (here / "train.py").write_text("import torch\nfrom a import Counter\n\nmodel = " + entry)
    (here / "other.py").write_text("import torch\n\n\n@torch.compile\ndef f(x):\n    return x\n")
    (here / "idle.py").touch()
    shown = {}
    for name in ("a.py", "train.py", "other.py", "idle.py", "."):
        assert cli.run(["regions", name, "--output-format", "json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert all(function["entries"] for function in document["functions"])
        shown[name] = ([one["path"] for one in document["entries"]], [f["id"] for f in document["functions"]])
    assert shown["a.py"] == shown["train.py"] == (["train.py"], ["a.py::Counter.forward"])
    assert shown["other.py"] == (["other.py"], ["other.py::f"])
    assert shown["idle.py"] == ([], [])
    assert shown["."] == (["other.py", "train.py"], ["a.py::Counter.forward", "other.py::f"])
    cli.run(["regions", "idle.py"])
    assert capsys.readouterr().out == "No compiled code found in 1 file.\n"


def test_summary_counts_what_is_compiled_in_the_named_files(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "idle.py").touch()
    (here / "other.py").write_text("import torch\n\n\n@torch.compile\ndef f(x):\n    return x\n")
    assert cli.run(["idle.py"]) == 0
    assert "no compiled code found in 1 file" in capsys.readouterr().out
    assert cli.run(["other.py"]) == 0
    assert "1 compiled function from 1 compile entry in 1 file" in capsys.readouterr().out


def test_rule_pages_are_printed_as_text_and_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["rule", "DYN101", "unused-suppression"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("DYN101 mutated-scalar-attribute\n")
    assert "\nDYN903 unused-suppression\n" in out
    assert "```" not in out
    assert cli.run(["rule", "--all", "--output-format", "json"]) == 0
    pages = json.loads(capsys.readouterr().out)
    assert [page["code"] for page in pages] == sorted(page["code"] for page in pages)


def test_help_and_version_exit_0_and_help_fits_a_screen(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for args, screen in (
        (["--help"], 30),
        (["-h"], 30),
        (["check", "--help"], 56),
        (["regions", "--help"], 30),
        (["rule", "--help"], 24),
    ):
        assert cli.run(args) == 0
        out = capsys.readouterr().out
        assert out.startswith("Usage: dynamo-lint ")
        assert len(out.splitlines()) <= screen
        assert max(map(len, out.splitlines())) <= 80
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"dynamo-lint {cli.__version__}\n"


def test_help_of_check_groups_every_option_under_a_heading(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.run(["check", "--help"])
    out = capsys.readouterr().out
    for heading in ("Rules:", "What is compiled:", "Files and configuration:", "Output:"):
        assert f"\n{heading}\n" in out
    assert "Options:" not in out
    cli.run(["--help"])
    brief = capsys.readouterr().out
    for name in re.findall(r"--[a-z-]+", out):
        assert name in brief


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["rule", "DYN101"], ["."], ["--jobs", "2", "--no-cache", "."]]
)
def test_libcst_and_torch_are_not_imported_where_nothing_is_compiled(here: Path, args: list[str]) -> None:
    (here / "a.py").write_text(EAGER)
    (here / "large.py").write_text("# Enough to be read by other processes.\n" * 20_000)
    program = (
        "import sys\nfrom dynamo_lint import cli\n"
        f"status = cli.run({args!r})\n"
        "loaded = {'libcst', 'torch'} & set(sys.modules)\n"
        "assert status == 0 and not loaded, loaded\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_cached_run_imports_nothing_that_only_its_own_cache_would_need(
    here: Path, folder_for_caches: Path
) -> None:
    (here / "a.py").write_text(EAGER)
    program = (
        "import sys\nfrom dynamo_lint import cli\n"
        "cli.run(['.'])\n"
        "late = {'libcst', 'pathspec', 'shutil', 'lzma', 'dynamo_lint.index.ir', 'dynamo_lint.values.model'}\n"
        "print(sorted(late & set(sys.modules)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
    assert list(folder_for_caches.rglob("*.pack"))
    assert done.stdout.splitlines()[-1] == "[]"


def test_reader_that_leaves_early_gets_no_complaint(here: Path) -> None:
    process = spawn("--output-format", "json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 141


def test_full_disk_and_closed_output_are_no_defects_of_ours(here: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = spawn("-q", stdout=full)
        _, err = process.communicate()
    assert err == "dynamo-lint: the output cannot be written: No space left on device\n"
    assert process.returncode == 2
    closed = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m dynamo_lint -q >&-"],
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)},
        check=False,
    )
    assert closed.returncode == 1


def test_interrupt_is_one_line_and_exit_130(here: Path) -> None:
    os.mkfifo(here / "pipe")
    # Reading a pipe that nobody writes to blocks until the signal arrives.
    process = spawn("pipe", "--config", "dynamo-lint.toml", "--isolated")
    with (here / "pipe").open("w"):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert err.splitlines()[-1] == "dynamo-lint: interrupted"
    assert "Traceback" not in err
    assert process.returncode == 130


def test_odd_file_names_and_text_do_not_break_the_output(here: Path) -> None:
    (here / "a.py").rename(os.fsdecode(os.fsencode(here) + b"/caf\xe9\n.py"))
    process = spawn("--output-format", "concise", "-q")
    out, err = process.communicate()
    assert err == ""
    (line,) = out.splitlines()
    assert "DYN101" in line
