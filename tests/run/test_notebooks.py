"""A program is judged alike whether it stands in a file or in the cells of a notebook."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import truths
from tests.notebooks import notebook

EVERY = 30
"""Of so many truth programs of a theme one is cut into cells."""


def cells(text: str) -> Iterator[str]:
    """The text in pieces, each of up to two statements, whose lines are all of it."""
    lines = text.rstrip("\n").split("\n")
    first = [node.lineno - len(getattr(node, "decorator_list", ())) for node in ast.parse(text).body[2::2]]
    for start, end in zip([1, *first], [*first, len(lines) + 1], strict=True):
        yield "\n".join(lines[start - 1 : end - 1])


def judged(folder: Path, name: str, text: str) -> list[tuple[object, ...]]:
    folder.mkdir()
    (folder / name).write_text(text)
    return [
        (one.code, one.span.line, one.severity, one.effect, one.confidence, one.cost)
        for one in truths.findings(folder)
    ]


@pytest.mark.parametrize("theme", truths.THEMES)
def test_a_program_in_cells_has_the_findings_of_the_program_in_a_file(theme: str, tmp_path: Path) -> None:
    for number, case in enumerate(truths.cases(theme)[::EVERY]):
        text = case.files[0][1]
        in_cells = judged(tmp_path / f"n{number}", "program.ipynb", notebook(*cells(text)))
        assert in_cells == judged(tmp_path / f"p{number}", "program.py", text), case.id
