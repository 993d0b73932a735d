"""Regions: decorators of the project that compile what they decorate, or keep it out, by whatever name."""

from __future__ import annotations

import pytest

from tests.programs import hot

LAZY = """
def lazily(fn):
    fast = None
    def run(*given):
        nonlocal fast
        if fast is None: fast = torch.compile(fn)
        return fast(*given)
    return run
"""
USED = "@fuse\ndef step(x): return x\n"
PLAIN = "fuse = lambda fn: fn\n"


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("fuse = lazily\n", "certain"),
        (PLAIN + "if torch.cuda.is_available(): fuse = lazily\n", "likely"),
        ("fuse = lazily if torch.cuda.is_available() else torch.jit.script\n", "likely"),
        ("fuse = torch.jit.script\nif torch.cuda.is_available(): fuse = lazily\n", "likely"),
    ],
)
def test_a_decorator_that_compiles_later_is_one_by_its_other_names_too(name: str, tier: str) -> None:
    assert hot(LAZY + name + USED) == {"step": tier}


def test_an_imported_name_of_such_a_decorator_is_one_too() -> None:
    files = {"jit.py": LAZY + PLAIN + "if torch.cuda.is_available(): fuse = lazily\n"}
    files["ops.py"] = "from jit import fuse\n" + USED
    assert hot(files) == {"ops.py::step": "likely"}


@pytest.mark.parametrize(
    "name",
    [
        PLAIN,
        PLAIN + "other = lazily\n",
        "fuse = torch.jit.script\n",
        "def fuse(fn): return fn\nused = lazily(print)\n",
        "def fuse(fn):\n    def run(*given): return fn(*given)\n    return run\nother = lazily\n",
    ],
)
def test_a_decorator_of_a_name_that_never_means_it_compiles_nothing(name: str) -> None:
    assert hot(LAZY + name + USED) == {}
