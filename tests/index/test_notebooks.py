"""Notebooks: which Python is in them, and where it stands."""

from __future__ import annotations

import ast
import json

import pytest

from dynamo_lint.index.notebooks import OtherLanguage, as_python, code_of, is_notebook, read
from tests.notebooks import COUNTER, notebook

MAGICS = (
    ("%matplotlib inline\nx = 1", "pass\nx = 1"),
    ("!pip install torch \\\n  numpy\nx = 1", "pass\n\nx = 1"),
    ("pip install torch\ncd ../data\nls in x", "pass\npass\nls in x"),
    ("if x:\n    !ls {folder}\n    y = 1", "if x:\n    pass\n    y = 1"),
    (
        "files = !ls *.py\na, b = %who\nx.y[0] = !!ls",
        "files = get_ipython()\na, b = get_ipython()\nx.y[0] = get_ipython()",
    ),
    ("model?\n?model\nmodel.forward??", "pass\npass\npass"),
    ("%time out = model(x)", "0;    out = model(x)"),
    ("if x:\n    %timeit -n 10 -r3 -q model(x)", "if x:\n    0;                   model(x)"),
    ("\n    @timed\n    def f(x):\n        return x\ny = 1", "\n@timed\ndef f(x):\n    return x\ny = 1"),
    ("  %%time\n  x = 1", "\nx = 1"),
    ("\tif x:\n\t\t!ls", "if x:\n\tpass"),
    ("%time for x in y: z(x)", "pass"),
    ("%%time\nx = 1", "\nx = 1"),
    ("\n%%capture out\n%%time\n!ls\nx = 1", "\n\n\npass\nx = 1"),
    ("%%bash\nls\necho 'x", "\n\n"),
    ("%%writefile model.py\nx = 1", "\n"),
    ("# first\n%%time\nx", "# first\npass\nx"),
)
"""Cells, and the Python that they are."""

PYTHON = (
    "x = (a\n  % b\n  != c)",
    's = """\n%matplotlib\n!ls\nwhat?\n"""\nt = \'\'\'\n?\'\'\'',
    'print("what?")  # really?',
    "x %= 3\ny = x != 3\nw = a \\\n  % b",
    "ls = cd = pip = 1\nls in (cd, pip)\npip if ls else cd",
    "await f(x)\nasync for y in x: pass",
    's = "\\"?"',
    "def f():\n    return '%d' % 3",
    "",
    "\n\n",
)  # fmt: skip


@pytest.mark.parametrize(("cell", "python"), MAGICS)
def test_what_only_ipython_understands_does_nothing(cell: str, python: str) -> None:
    assert as_python(cell) == python
    assert as_python(cell).count("\n") == cell.count("\n")


@pytest.mark.parametrize("text", PYTHON)
def test_python_stays_as_it_is(text: str) -> None:
    ast.parse(text)
    assert as_python(text) == text


def test_code_cells_are_one_module_whose_lines_know_their_cell() -> None:
    found = read(notebook(*COUNTER).encode())
    lines = found.code.decode().split("\n")
    assert [cell.number for cell in found.cells] == [2, 3, 5]  # of all cells, as Jupyter counts none of them
    assert lines[:3] == ["import torch", "from torch import nn", "class Net(nn.Module):"]
    assert found.place(1) == (2, 1)
    assert found.place(lines.index("        self.n += 1") + 1) == (3, 8)
    assert found.place(lines.index("model = torch.compile(Net())") + 1) == (5, 2)
    assert found.place(999)[0] == 5  # type: ignore[index]
    ast.parse(found.code)


@pytest.mark.parametrize("form", ["lines", "text", "pieces", "one line"])
def test_a_line_is_found_in_the_json_however_its_source_is_written(form: str) -> None:
    document = json.loads(notebook(("markdown", "x"), "a = 1\nb = 2\nc = 3", "d = 4"))
    source = document["cells"][1]["source"]
    if form == "text":
        document["cells"][1]["source"] = "".join(source)
    if form == "pieces":
        document["cells"][1]["source"] = ["a = 1\nb = 2\n", "c", " = 3"]
    text = json.dumps(document, indent=None if form == "one line" else 2)
    found = read(text.encode())
    assert found.code == b"a = 1\nb = 2\nc = 3\nd = 4\n"
    rows = text.split("\n")
    for line, word in ((1, "a = 1"), (2, "b = 2"), (4, "d = 4")):
        assert word in rows[found.line_of_json(line) - 1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", r"it is not JSON: Expecting value \(line 1\)"),
        ('{"cells": [\n  <<<<<<< HEAD\n', r"it is not JSON: .* \(line 2\)"),
        ("[]", "it is not a notebook: it says no `nbformat`"),
        ('{"nbformat": 3, "worksheets": []}', "a notebook of format 3, .*nbconvert"),
        ('{"nbformat": 4}', "it has no list of `cells`"),
        ('{"nbformat": 4, "cells": [1]}', "it has no list of `cells`"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": 7}]}', "the source of cell 1 is no text"),
        ("[" * 200_000, "it is nested too deeply"),
        ('{"nbformat": ' + "4" * 6_000 + "}", "a number of too many digits"),
        ('{"nbformat": 4, "\udce4": 1}', "it is not UTF-8"),
    ],
)
def test_what_is_no_notebook_says_so(text: str, why: str) -> None:
    with pytest.raises(OSError, match=why):
        read(text.encode("utf-8", "surrogateescape"))


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"language_info": {"name": "R"}}, "R"),
        ({"language_info": {}, "kernelspec": {"name": "julia-1.9", "language": "julia"}}, "julia"),
    ],
)
def test_a_notebook_in_another_language_is_told_apart(metadata: dict[str, object], language: str) -> None:
    with pytest.raises(OtherLanguage, match=f"it is a notebook in {language}, not in Python"):
        read(notebook("x <- 3", **metadata).encode())


def test_a_notebook_that_names_no_language_is_python_and_metadata_of_any_kind_does_no_harm() -> None:
    for metadata in ("{}", "null", "[]", '{"kernelspec": 3, "language_info": null}'):
        cell = '{"cell_type": "code", "metadata": null, "source": "x = 1"}'
        text = f'{{"nbformat": 4, "metadata": {metadata}, "cells": [{cell}]}}'
        assert read(text.encode()).code == b"x = 1\n"


def test_cells_in_other_languages_and_without_source_hold_no_python() -> None:
    document = json.loads(notebook("x = 1", "SELECT 1", "y = 2", ("raw", "z")))
    document["cells"][1]["metadata"] = {"vscode": {"languageId": "sql"}}
    del document["cells"][2]["source"]
    assert read(json.dumps(document).encode()).code == b"x = 1\n"


def test_text_that_is_no_file_of_its_own_declares_no_encoding() -> None:
    code = read(notebook("# text encoding: how it is read\ns = 'ü'").encode()).code
    assert "s = 'ü'" in code.decode()
    ast.parse(code)


def test_a_byte_order_mark_other_line_ends_and_half_characters_are_read() -> None:
    text = "\ufeff " + notebook("a = 1\r\nb = 2\rc = 3", "d = 'x'").replace("'x'", "'\\ud800'")
    found = read(text.encode())
    assert found.code == b"a = 1\nb = 2\nc = 3\nd = '?'\n"
    assert found.place(4) == (2, 1)


def test_only_the_name_makes_a_notebook() -> None:
    assert is_notebook("a/b.ipynb")
    assert not is_notebook("b.ipynb.py")
    assert code_of("a.py", b"{}") == b"{}"
    assert code_of("a.ipynb", notebook("x = 1").encode()) == b"x = 1\n"


@pytest.mark.parametrize("line", ["(" * 100_000, " " * 300_000, "a = " * 50_000, '"' * 99_999, "%time " + "-a " * 99_999, "x." * 99_999, "\\" * 99_999])  # fmt: skip
def test_no_line_takes_longer_than_its_length_deserves(line: str) -> None:
    assert as_python(line).count("\n") == 0
