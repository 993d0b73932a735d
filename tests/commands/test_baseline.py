"""The baseline: it survives edits, counts repetitions, and notices what it does not need any more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.baseline import read
from dynamo_lint.trouble import Trouble
from tests.commands.test_cli import CLEAN, COUNTER, here

__all__ = ["here"]

ENTRY = '{"path": "a.py", "code": "DYN101", "symbol": "Counter.forward", "subject": "Counter.calls"}'
READS = COUNTER.replace("self.calls += 1", "if os.environ.get('A'):\n            x = x + 1").replace(
    "import torch", "import os, torch"
)
TWICE = READS.replace("return x", "return x if os.environ.get('A') else -x")


def run(*args: str) -> int:
    return cli.run([*args, "--baseline", "known.json", "--output-format", "concise"])


def entries(here: Path) -> list[dict[str, object]]:
    return json.loads((here / "known.json").read_text())["findings"]


def test_what_is_in_the_baseline_is_counted_and_not_reported(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--update-baseline") == 0
    assert capsys.readouterr() == ("", "known.json: accepts 1 finding from now on.\n")
    assert (here / "known.json").read_text() == (
        f'{{\n  "schema_version": 1,\n  "findings": [\n    {ENTRY}\n  ]\n}}\n'
    )
    assert run() == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("No findings")
    assert "1 finding accepted by the baseline." in out


def test_edits_elsewhere_and_another_working_folder_change_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("--update-baseline")
    (here / "a.py").write_text("# one\n\n# two\n" + COUNTER)
    assert run() == 0
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    assert cli.run(["..", "--baseline", "../known.json"]) == 0


def test_a_new_finding_of_the_same_kind_is_reported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "known.json").write_text(f'{{"schema_version": 1, "findings": [{ENTRY}]}}')
    (here / "b.py").write_text(COUNTER)
    assert run("-q") == 1
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["b.py"]


def test_repetitions_are_counted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(TWICE)
    run("--update-baseline")
    (entry,) = entries(here)
    assert entry["count"] == 2
    assert run() == 0
    (here / "a.py").write_text(READS)
    capsys.readouterr()
    assert run("--fail-level", "note") == 1
    assert capsys.readouterr().out.startswith("known.json:4:1: note DYN905 1 of the 2 accepted DYN201 on ")


def test_entry_that_stands_for_nothing_is_a_note_and_an_update_drops_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("--update-baseline")
    (here / "a.py").write_text(CLEAN)
    capsys.readouterr()
    assert run("--fail-level", "note") == 1
    assert capsys.readouterr().out.startswith("known.json:4:1: note DYN905 ")
    assert run() == 0
    assert run("--ignore", "DYN905") == 0
    run("--update-baseline")
    assert entries(here) == []


def test_entry_of_a_file_that_is_gone_is_unused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("--update-baseline")
    (here / "a.py").rename(here / "c.py")
    capsys.readouterr()
    assert run("-q") == 1
    assert [line.split(" ")[2] for line in capsys.readouterr().out.splitlines()] == ["DYN101", "DYN905"]


def test_what_a_run_cannot_see_is_neither_called_unused_nor_dropped(here: Path) -> None:
    (here / "other").mkdir()
    (here / "other/b.py").write_text(COUNTER)
    run("--update-baseline")
    assert [entry["path"] for entry in entries(here)] == ["a.py", "other/b.py"]
    assert run("other") == 0
    assert run("--select", "DYN2,DYN9") == 0
    run("--update-baseline", "other")
    run("--update-baseline", "--select", "DYN2")
    assert [entry["path"] for entry in entries(here)] == ["a.py", "other/b.py"]


def test_what_an_entry_in_a_named_file_compiles_elsewhere_is_accepted_once(here: Path) -> None:
    model, _, entry = COUNTER.partition("model = ")
    (here / "a.py").write_text(model)
    (here / "train.py").write_text("import torch\nfrom a import Counter\n\nmodel = " + entry)
    for named in ("train.py", ".", "train.py", "a.py"):
        run("--update-baseline", named)
        assert [(one["path"], one.get("count", 1)) for one in entries(here)] == [("a.py", 1)]
        assert run("train.py") == run("a.py") == run(".") == 0


def test_configuration_names_a_baseline_beside_itself(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("--update-baseline")
    (here / "dynamo-lint.toml").write_text('baseline = "known.json"\n')
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    assert cli.run([".."]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "known.json: no such file; create it with `--update-baseline`"),
        ("{", "known.json: is not a baseline: Expecting property name"),
        ("[]", 'known.json: is not a baseline: needs "schema_version": 1 and "findings"'),
        ('{"schema_version": 2, "findings": []}', 'known.json: is not a baseline: needs "schema_version": 1'),
        (
            '{"schema_version": 1, "findings": [{}]}',
            "known.json: is not a baseline: entry 1 needs path, code",
        ),
        (
            f'{{"schema_version": 1, "findings": [{ENTRY[:-1]}, "count": 0}}]}}',
            "known.json: is not a baseline: entry 1 needs",
        ),
        ("\udcff", "known.json: is not a baseline: 'utf-8' codec"),
    ],
)
def test_baseline_that_cannot_be_used_is_one_line_and_exit_2(
    here: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    if text is not None:
        (here / "known.json").write_bytes(text.encode(errors="surrogateescape"))
    assert run() == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"dynamo-lint: {message}")
    assert len(err.splitlines()) == 1


def test_update_without_a_file_says_what_is_missing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--update-baseline"]) == 2
    assert "--update-baseline needs --baseline FILE" in capsys.readouterr().err


def test_broken_baseline_is_not_replaced_by_an_update(here: Path) -> None:
    (here / "known.json").write_text("{")
    assert run("--update-baseline") == 2
    assert (here / "known.json").read_text() == "{"


def test_entries_on_one_line_are_understood_too(tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    file.write_text(f'{{"schema_version": 1, "findings": [{ENTRY}, {ENTRY}]}}')
    assert [entry.line for entry in read(file).entries] == [1, 1]
    with pytest.raises(Trouble, match="no such file"):
        read(tmp_path / "nowhere.json")
