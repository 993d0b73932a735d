"""Positions of nodes agree with libcst's own, on real code and on odd layouts."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from dynamo_lint.state.source import Offsets

ROOT = Path(__file__).parent.parent.parent
FILES = [*sorted((ROOT / "dynamo_lint" / "state").glob("*.py")), *sorted((ROOT / "tests/cases").glob("*.py"))]
ODD = {
    "decorators": "@a\n# comment\n@b(\n    1,\n)\n\nasync def f(x, /, y=1, *, z: int = 2, **k) -> int: ...\n",
    "tabs and form feeds": "if x:\n\ty = (1 +\n\t     2)\n\x0c\nz = 1\n",
    "continuations": "x = \\\n    1 + \\\n    2\nassert x, \\\n  y\n",
    "semicolons": "a = 1; b = 2 ;c = 3\nif a: b; c\n",
    "wide characters": 'é = "日本"; self.ключ = é + "𝔘"\n',
    "strings over lines": 'x = """a\n  b\n""" + f"""{\n  y}"""\n',
    "empty lines and comments": "\n\n# one\n\n\ndef f():\n    # two\n    pass\n    # three\n\n# four\n",
    "no newline at the end": "x = [\n  1]",
    "parentheses": "x = ((a).b)((c), *(d), **(e))[(f):(g)]\n",
    "try and match": "try:\n    a\nexcept* E as e:\n    b\nmatch x:\n    case [1, *_] if y: c\n",
}


def agree(text: str) -> None:
    module = cst.parse_module(text)
    own = Offsets(module, text)
    theirs = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    for node, span in theirs.items():
        if not isinstance(node, cst.Module):
            start, end = (own.place(offset) for offset in own.spans[node])
            assert start == (span.start.line, span.start.column + 1), node
            assert end == (span.end.line, span.end.column + 1), node


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_real_code(path: Path) -> None:
    agree(path.read_text())


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_layouts(text: str) -> None:
    agree(text)
