"""The Python that a file needs, told by its syntax where the running Python cannot read it."""

from __future__ import annotations

import sys

import pytest

from dynamo_lint.index.newer_syntax import needed
from dynamo_lint.index.packaging import least_python
from dynamo_lint.index.summarize import summarize


@pytest.mark.parametrize(
    ("source", "version"),
    [
        ("try: pass\nexcept* ValueError: pass\n", (3, 11)),
        ("x = a[*b]\n", (3, 11)),
        ("type X = int\n", (3, 12)),
        ("def f[T](x: T) -> T: return x\n", (3, 12)),
        ("class A[*Ts]:\n    def f(self): pass\n", (3, 12)),
        ('x = f"{a["b"]}"\n', (3, 12)),
        ("x = f'{\"\\n\".join(a)}'\n", (3, 12)),
        ('def f():\n    return f"{f"{a}"}"\n', (3, 12)),
        ("class A[T = int]: pass\n", (3, 13)),
        ('x = t"{a}"\n', (3, 14)),
        ("try: pass\nexcept A, B: pass\n", (3, 14)),
        ("type X = int\ntry: pass\nexcept A, B: pass\n", (3, 14)),
    ],
)
def test_new_syntax_tells_the_version_that_brought_it(source: str, version: tuple[int, int]) -> None:
    assert needed(source.encode()) == (version if version > sys.version_info[:2] else None)


@pytest.mark.parametrize(
    "source",
    [
        "def f(:\n",
        "type X = int\ndef f(:\n",
        "print 'x'\n",
        "x = 0777\n",
        'x = f"{a}" "\\x1"\n',  # libcst does not look at escapes
        "type X = int\nx = '\xff'\n",
        "type X = int\nx = " + "-" * 100_000 + "1\n",  # libcst would take all memory there is
        "type X = int\nx = f'{" + "-" * 100_000 + "1}'\n",
        "type X = int\nx = " + "(" * 100_000 + ")" * 100_000,
    ],
)
def test_what_is_wrong_in_every_version_needs_none(source: str) -> None:
    assert needed(source.encode("latin-1")) is None


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="it is read")
def test_a_file_in_newer_syntax_says_what_it_needs_and_what_runs() -> None:
    file = summarize("m.py", "m", False, b'a = 1\nx = t"{a}"\n')
    running = ".".join(map(str, sys.version_info[:2]))
    assert file.error == (2, f"it needs Python 3.14, and dynamo-lint runs under Python {running}")
    assert file.needs == (3, 14)


def test_a_file_that_is_broken_needs_nothing_newer() -> None:
    assert summarize("m.py", "m", False, b"def f(:\n").needs is None


@pytest.mark.parametrize(
    ("declared", "least"),
    [
        ('">=3.12"', (3, 12)),
        ('">= 3.10, <4, != 3.11.*"', (3, 10)),
        ('"~=3.13"', (3, 13)),
        ('"==3.12.*"', (3, 12)),
        ('"<3.12"', None),
        ('"!=3.12"', None),
        ("3", None),
    ],
)
def test_a_project_declares_its_oldest_python(declared: str, least: tuple[int, int] | None) -> None:
    assert least_python(f"[project]\nrequires-python = {declared}\n") == least


@pytest.mark.parametrize("text", ["", "project = 1\n", "[project]\n", "[project\n"])
def test_other_metadata_declares_no_python(text: str) -> None:
    assert least_python(text) is None
