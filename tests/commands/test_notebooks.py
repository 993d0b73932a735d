"""Notebooks on the command line: named, in folders, on stdin, fixed, and broken."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dynamo_lint import cli
from dynamo_lint.index.notebooks import read
from tests.notebooks import COUNTER, notebook


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = cli.run([*arguments, "--no-cache"])
    said = capsys.readouterr()
    return status, said.out, said.err


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    _, out, _ = run(capsys, *arguments, "--output-format", "json")
    return json.loads(out)["findings"]  # type: ignore[no-any-return]


def test_a_notebook_has_the_findings_of_the_same_code_in_a_file(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.ipynb").write_text(notebook(*COUNTER))
    (here / "b.py").write_bytes(read(notebook(*COUNTER).encode()).code)
    (one,), (other,) = found(capsys, "a.ipynb"), found(capsys, "b.py")
    assert (one["code"], one["severity"], one["effect"]) == ("DYN101", "error", "storm")
    for key in ("code", "message", "cost", "severity", "effect", "confidence", "line", "column", "subject"):
        assert one[key] == other[key]
    assert (one["cell"], one["cell_line"]) == (3, 8)
    assert (other["cell"], other["cell_line"]) == (None, None)
    assert [(step["cell"], step["cell_line"]) for step in one["chain"]] == [(5, 2), (3, 8)]
    assert [(place["cell"], place["cell_line"]) for place in one["related"]] == [(3, 4), (5, 4)]
    assert (one["region"]["cell"], one["region"]["cell_line"]) == (5, 2)


def test_a_notebook_whose_number_never_changes_has_no_findings(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    still = COUNTER[2].replace("        self.n += 1\n", "")  # type: ignore[union-attr]
    (here / "a.ipynb").write_text(notebook(*COUNTER[:2], still, *COUNTER[3:]))
    status, out, _ = run(capsys, ".")
    assert status == 0
    assert out.startswith("No findings: 1 compiled function from 1 compile entry in 1 file.\n")


def test_people_are_told_the_cell_and_its_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.ipynb").write_text(notebook(*COUNTER))
    status, out, _ = run(capsys, ".")
    assert status == 1
    assert "a.ipynb:cell 3:8:9: error DYN101" in out
    assert "     8 |         self.n += 1" in out
    assert "  cell 5:2  compiled here" in out
    assert "1 error in 1 of 1 file" in out
    assert run(capsys, ".", "--output-format", "concise")[1].startswith("a.ipynb:cell 3:8:9: error DYN101 ")
    assert "\n  cell 3:8:9  DYN101 " in run(capsys, ".", "--output-format", "grouped")[1]
    assert "a.ipynb:cell 3:8" in run(capsys, ".", "--output-format", "html")[1]
    assert "a.ipynb:cell 5:2" in run(capsys, "regions", ".")[1]


def test_services_are_told_the_line_of_the_file_and_the_cell_in_words(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = notebook(*COUNTER)
    (here / "a.ipynb").write_text(text)
    line = next(number for number, row in enumerate(text.split("\n"), 1) if "self.n += 1" in row)
    _, out, _ = run(capsys, ".", "--output-format", "github")
    assert f"file=a.ipynb,line={line},endLine={line},title=" in out
    assert "::Cell 3, line 8: `self.n` is a Python int" in out
    _, out, _ = run(capsys, ".", "--output-format", "gitlab")
    assert json.loads(out)[0]["location"]["lines"] == {"begin": line, "end": line}
    _, out, _ = run(capsys, ".", "--output-format", "rdjson")
    (diagnostic,) = json.loads(out)["diagnostics"]
    assert diagnostic["location"]["range"] == {"start": {"line": line}, "end": {"line": line}}
    assert diagnostic["suggestions"] == []
    _, out, _ = run(capsys, ".", "--output-format", "sarif")
    (result,) = json.loads(out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": line, "endLine": line}
    assert "fixes" not in result
    _, out, _ = run(capsys, ".", "--output-format", "junit")
    assert "at cell 3:8:9" in out
    assert f'line="{line}"' in out


def test_fix_changes_the_lines_of_the_cell_and_diff_shows_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = notebook(*COUNTER)
    (here / "a.ipynb").write_text(text)
    status, out, _ = run(capsys, ".", "--diff", "--unsafe-fixes")
    assert (status, out.split("\n")[:2]) == (1, ["--- a.ipynb:cell 3", "+++ a.ipynb:cell 3"])
    assert "\n-        self.n += 1\n+        self.n = self.n + 1\n" in out
    assert "No newline" not in out
    assert (here / "a.ipynb").read_text() == text
    status, _, err = run(capsys, ".", "--fix", "--unsafe-fixes")
    assert (status, err.split("\n")[0]) == (0, "Fixed 1 finding in 1 file.")
    rows = text.split("\n")
    changed = [row for row in (here / "a.ipynb").read_text().split("\n") if row not in rows]
    assert [row.strip()[1:16] for row in changed] == ["        self.re", "        self.n "]
    assert json.loads((here / "a.ipynb").read_text())["metadata"] == json.loads(text)["metadata"]


def test_text_on_stdin_with_the_name_of_a_notebook_is_one(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = notebook(*COUNTER)
    for arguments, begins in (
        (("--output-format", "concise"), "x.ipynb:cell 3:8:9: error DYN101"),
        (("--fix", "--unsafe-fixes"), '{\n "cells": [\n'),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        _, out, _ = run(capsys, "-", "--stdin-filename", "x.ipynb", *arguments)
        assert out.startswith(begins)
    assert json.loads(out)["cells"][3] == json.loads(text)["cells"][3]


def test_comments_silence_findings_within_their_cell(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    silenced = COUNTER[2].replace("self.n += 1", "self.n += 1  # dynamo-lint: ignore[DYN101] counted")  # type: ignore[union-attr]
    (here / "a.ipynb").write_text(notebook(*COUNTER[:2], silenced, *COUNTER[3:]))
    status, out, _ = run(capsys, ".")
    assert status == 0
    assert out.startswith("No findings: ")
    assert "1 finding silenced by comments" in out
    idle = "x = 1\n# dynamo-lint: ignore[DYN201] gone"
    (here / "a.ipynb").write_text(notebook(*COUNTER[:2], silenced, *COUNTER[3:], idle, "y = 1"))
    assert "a.ipynb:cell 6:2:1: note DYN903" in run(capsys, ".", "--output-format", "concise")[1]
    run(capsys, ".", "--fix")
    assert json.loads((here / "a.ipynb").read_text())["cells"][5]["source"] == ["x = 1"]


def test_magics_and_await_are_no_errors(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = ("%pip install torch\n!ls\nfiles = !ls", "await main()", "%%bash\nif [ 1 ]", "Net?")
    (here / "a.ipynb").write_text(notebook(*cells))
    status, out, _ = run(capsys, ".")
    assert status == 0
    assert out.startswith("Nothing was checked: no compiled code found in 1 file.")


def test_a_syntax_error_names_the_cell_and_its_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.ipynb").write_text(notebook("x = 1", ("markdown", "text"), "y = 2\nif x:\nz = 3"))
    status, out, _ = run(capsys, ".", "--output-format", "concise")
    assert status == 1
    assert out.startswith(
        "a.ipynb:cell 3:3:1: error DYN901 this file was not linted: expected an indented block"
    )
    assert "on line 2 of cell 3" in out


def test_what_cannot_be_read_is_told_and_another_language_is_a_note(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "r.ipynb").write_text(notebook("x <- 3", language_info={"name": "R"}))
    status, out, _ = run(capsys, ".")
    assert status == 0
    assert "r.ipynb:1:1: note DYN901" in out
    assert "it is a notebook in R, not in Python" in " ".join(out.split())
    assert "No findings" not in out
    (here / "v3.ipynb").write_text('{"nbformat": 3, "worksheets": []}')
    (here / "broken.ipynb").write_text(notebook("x = 1")[:-9])
    status, out, _ = run(capsys, ".", "--output-format", "json")
    document = json.loads(out)
    assert status == 1
    assert [(one["path"], one["severity"]) for one in document["findings"]] == [
        ("broken.ipynb", "error"),
        ("r.ipynb", "note"),
        ("v3.ipynb", "error"),
    ]
    assert [one["path"] for one in document["errors"]] == ["broken.ipynb", "r.ipynb", "v3.ipynb"]


def test_a_file_over_the_size_limit_is_counted_and_fails_the_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.ipynb").write_text(notebook(*COUNTER[:-1], "net = torch.compile(nn.Linear(4, 4))"))
    (here / "big.py").write_text("x = 1\n" * 170_000)
    status, out, err = run(capsys, ".", "--output-format", "json")
    assert status == 1
    assert json.loads(out)["errors"] == [
        {"path": "big.py", "line": 1, "cell": None, "cell_line": None, "message": "it is larger than 1 MB"}
    ]
    assert json.loads(out)["summary"]["files"] == 2
    assert "Found 1 warning in 1 of 2 files" in err
    assert "No findings" not in err
    status, out, _ = run(capsys, ".", "--ignore", "DYN901")
    assert status == 0
    assert "1 file was not read (see `--select DYN901`)" in out
    assert "1 file could not be read" in run(capsys, "regions", ".")[2]
    (here / "sub").mkdir()
    (here / "big.py").rename(here / "sub" / "big.py")
    assert "1 warning in 1 of 1 file" in run(capsys, "sub")[1]
    assert run(capsys, "sub/big.py")[0] == 0
    assert run(capsys, ".", "--exclude", "sub")[0] == 0


def test_sentences_that_name_lines_name_cells(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late = (
        "import os\nimport torch\n%load_ext autoreload",
        "model = torch.compile(torch.nn.Linear(2, 2))\nos.environ['TORCH_LOGS'] = 'recompiles'",
    )
    (here / "a.ipynb").write_text(notebook(*late))
    (finding,) = [one for one in found(capsys, ".") if one["code"] == "DYN513"]
    assert "in line 2 of cell 1" in finding["message"]


def test_a_notebook_imports_what_lies_beside_it_and_nothing_imports_a_notebook(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "net.py").write_text(f"{COUNTER[1]}\n{COUNTER[2]}\n")
    (here / "net.ipynb").write_text(notebook("class Net:\n    pass"))
    (here / "run.ipynb").write_text(notebook("import torch\nfrom net import Net", COUNTER[4]))
    (finding,) = found(capsys, ".")
    assert (finding["path"], finding["cell"]) == ("net.py", None)
    assert [(step["path"], step["cell"]) for step in finding["chain"]] == [("run.ipynb", 2), ("net.py", None)]


def test_a_notebook_that_moves_cells_is_told_anew_although_its_code_is_known(
    here: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for cells, place in ((COUNTER, "cell 3:8:9"), ((("markdown", "new"), *COUNTER), "cell 4:8:9")):
        (here / "a.ipynb").write_text(notebook(*cells))
        cli.run([".", "--output-format", "concise", "--cache-dir", str(tmp_path / "cache")])
        assert capsys.readouterr().out.startswith(f"a.ipynb:{place}")
