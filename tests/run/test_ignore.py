"""`check --add-ignore`: a comment for each finding, where it silences, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.suppressions import line_for_comment
from tests.commands.test_cli import COUNTER, here
from tests.notebooks import COUNTER as CELLS
from tests.notebooks import notebook

__all__ = ["here"]

REASON = "slow anyway, see #12"
COMMENT = f"  # dynamo-lint: ignore[DYN101] {REASON}"


def lint(*args: str) -> int:
    return cli.run(["check", "--no-cache", "--output-format", "concise", *args])


def silence(capsys: pytest.CaptureFixture[str], *args: str, reason: str = REASON) -> str:
    """What stderr says; a second run has nothing to say and nothing to do."""
    assert lint("--add-ignore", reason, *args) == 0
    said = capsys.readouterr()
    texts = {path: path.read_bytes() for path in Path().rglob("*.*") if path.is_file()}
    assert lint("--add-ignore", reason, "--fail-level", "note", *args) == 0
    assert {path: path.read_bytes() for path in texts} == texts
    assert "No findings" in capsys.readouterr().out
    return said.err


def test_a_comment_with_the_reason_silences_what_was_reported(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert silence(capsys) == "Silenced 1 finding in 1 file.\n"
    assert (here / "a.py").read_text() == COUNTER.replace("calls += 1", f"calls += 1{COMMENT}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.calls += 1  # counted", f"self.calls += 1  # counted{COMMENT}"),
        ("self.calls += 1  # noqa: E501", f"self.calls += 1  # noqa: E501{COMMENT}"),
        ("self.calls += 1   ", f"self.calls += 1{COMMENT}"),
        ('self.calls += len("""a\nb""")', f'self.calls += len("""a\nb"""){COMMENT}'),
        ("self.calls += \\\n            1", f"self.calls += \\\n            1{COMMENT}"),
        ("self.calls += (\n            1\n        )", f"self.calls += ({COMMENT}\n            1\n        )"),
        (
            "self.calls += 1  # dynamo-lint: ignore[DYN102] another",
            f"self.calls += 1  # dynamo-lint: ignore[DYN102] another{COMMENT}",
        ),
    ],
)
def test_it_stands_where_a_comment_can_and_covers_the_statement(
    here: Path, capsys: pytest.CaptureFixture[str], before: str, after: str
) -> None:
    (here / "a.py").write_text(COUNTER.replace("self.calls += 1", before))
    silence(capsys, "--ignore", "DYN903")
    assert (here / "a.py").read_text() == COUNTER.replace("self.calls += 1", after)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_encodings_and_a_last_line_without_an_end_stay(
    here: Path, capsys: pytest.CaptureFixture[str], end: str
) -> None:
    text = "# coding: latin-1\n# ü\n" + COUNTER + "\nif True:\n    other = torch.compile(Counter())"
    (here / "a.py").write_bytes(text.replace("\n", end).encode("latin-1"))
    silence(capsys)
    wanted = text.replace("calls += 1", f"calls += 1{COMMENT}")
    assert (here / "a.py").read_bytes() == wanted.replace("\n", end).encode("latin-1")
    (here / "a.py").write_bytes(text.replace("\n", end).encode("latin-1"))
    assert lint("--add-ignore", "→ slow") == 1
    assert "DYN101 was not silenced: the new text cannot be written in iso-8859-1" in capsys.readouterr().err


def test_several_rules_on_a_line_share_a_comment(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = COUNTER.replace("self.calls += 1", "self.calls += 1; print(time.time())").replace(
        "import torch", "import time\nimport torch"
    )
    (here / "a.py").write_text(text)
    silence(capsys)
    assert f"time())  # dynamo-lint: ignore[DYN101, DYN401] {REASON}\n" in (here / "a.py").read_text()


def test_a_notebook_is_changed_in_its_cell_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").unlink()
    (here / "n.ipynb").write_text(notebook(*CELLS))
    silence(capsys)
    before, after = (
        [cell["source"] for cell in json.loads(text)["cells"]]
        for text in (notebook(*CELLS), (here / "n.ipynb").read_text())
    )
    changed = [number for number, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    assert changed == [2]
    assert "".join(after[2]) == "".join(before[2]).replace("self.n += 1", f"self.n += 1{COMMENT}")


def test_what_no_comment_silences_is_said_and_reported(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "bad.py").write_text("def f(:\n")
    (here / "b.py").write_text("x = 1  # dynamo-lint: ignore[DYN999]\n")
    assert lint("--add-ignore", REASON) == 1
    said = capsys.readouterr()
    assert "bad.py:1 DYN901 was not silenced: what cannot be read has no comments; `exclude`" in said.err
    assert "b.py:1 DYN904 was not silenced: mend or remove the comment" in said.err
    assert "Silenced 1 finding in 1 file." in said.err
    assert "bad.py:1:7: error DYN901" in said.out
    assert (here / "bad.py").read_text() == "def f(:\n"


def test_a_rule_that_any_comment_satisfies_gets_no_comment_that_is_unused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.py").write_text(
        COUNTER.replace("        self.calls += 1\n", "        self.log()\n").replace(
            "    def forward",
            "    @torch.compiler.disable\n    def log(self):\n        pass\n\n    def forward",
        )
    )
    lint("--add-ignore", REASON, "--pedantic", "--fail-level", "note")
    capsys.readouterr()
    lint("--pedantic")
    assert "DYN903" not in capsys.readouterr().out


def test_a_file_that_was_not_named_is_left_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, _, entry = COUNTER.partition("model = ")
    (here / "a.py").write_text(model)
    (here / "train.py").write_text("import torch\nfrom a import Counter\n\nmodel = " + entry)
    assert lint("--add-ignore", REASON, "train.py") == 1
    assert "a.py:10 DYN101 was not silenced: name a.py to have it changed" in capsys.readouterr().err
    assert (here / "a.py").read_text() == model


def test_only_what_is_reported_is_silenced(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.py").write_text(COUNTER)
    (here / "p.diff").write_text("--- b.py\n+++ b.py\n@@ -10 +10 @@\n-x\n+y\n")
    silence(capsys, "--diff-file", "p.diff")
    assert (here / "a.py").read_text() == COUNTER
    silence(capsys, "--select", "DYN2")
    assert (here / "a.py").read_text() == COUNTER


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--add-ignore", " "], "needs a reason in one line"),
        (["--add-ignore", "one\ntwo"], "needs a reason in one line"),
        (["--add-ignore", "why # noqa"], "would begin another comment"),
        (["--add-ignore", "x", "--fix"], "goes with no --fix"),
        (["--add-ignore", "x", "--update-baseline"], "goes with no --fix"),
    ],
)
def test_a_reason_that_is_none_and_options_that_do_not_go_together(
    here: Path, capsys: pytest.CaptureFixture[str], args: list[str], message: str
) -> None:
    assert lint(*args) == 2
    assert message in capsys.readouterr().err
    assert (here / "a.py").read_text() == COUNTER


def test_the_line_for_a_comment() -> None:
    text = 'x = """a\nb"""\ny = (1,\n  2)\nz = 1 + \\\n  2\nt = f"""{\n x\n}"""\n'
    assert [line_for_comment(text, line) for line in range(1, 11)] == [2, 2, 3, 4, 6, 6, 9, 9, 9, None]
