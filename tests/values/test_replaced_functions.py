"""Functions of the project that it puts in the place of a library's."""

from __future__ import annotations

from unittest import mock

import pytest

pytest.importorskip("torch")

import torch

from tests.programs import hot
from tests.translated import Translated

NET = """
import torch.nn.functional as F
class Net(nn.Module):
    def forward(self, x): return {called}(x)
def helper(x): return x + 1
def mine(x): return helper(kept(x))
kept = F.gelu
"""
MAIN = """
fast = torch.compile(Net(), backend="eager")
def main(x): return fast(x)
"""
PUT = ["F.gelu = mine", "torch.nn.functional.gelu = mine", "def patch(): F.gelu = mine\npatch()"]
OURS = {"mine", "helper"}


def found(put: str, called: str = "F.gelu") -> set[str]:
    return set(hot(NET.format(called=called) + put + MAIN)) & OURS


@pytest.mark.parametrize("put", PUT)
@pytest.mark.parametrize("called", ["F.gelu", "torch.nn.functional.gelu", "nn.functional.gelu"])
def test_what_is_put_in_the_place_of_a_library_s_function_runs_for_it(put: str, called: str) -> None:
    assert found(put, called) == OURS


@pytest.mark.parametrize(
    ("put", "called"),
    [
        ("F.gelu = mine", "F.relu"),
        ("F.gelu = mine", "torch.relu"),
        ("F.gelu = F.relu", "F.gelu"),
        ("F.gelu = torch.compiler.disable(mine)", "F.gelu"),
        ("class F2: pass\nF2.gelu = mine", "F.gelu"),
        ("import other\nother.gelu = mine", "F.gelu"),
        ("F.gelu = mine", "kept"),
        ("import importlib\nimportlib.import_module = mine", "importlib.import_module"),
    ],
)
def test_what_is_put_elsewhere_does_not_run(put: str, called: str) -> None:
    assert found(put, called) == set()


def test_what_is_put_there_for_a_while_does_not_run_outside_of_it() -> None:
    put = "def timed(step):\n    before = F.gelu\n    F.gelu = mine\n    step()\n    F.gelu = before\n"
    assert found(put) == set()


def test_what_a_test_puts_there_does_not_run_for_others() -> None:
    test = "import torch.nn.functional as F\nfrom m import mine\nF.gelu = mine\n"
    files = {"m.py": NET.format(called="F.gelu") + MAIN, "tests/test_m.py": test}
    assert not {name.partition("::")[2] for name in hot(files)} & OURS


@pytest.mark.parametrize("put", PUT)
@pytest.mark.parametrize("called", ["F.gelu", "F.relu", "kept"])
def test_dynamo_translates_what_is_put_there(put: str, called: str, translated: Translated) -> None:
    source = NET.format(called=called) + put + MAIN
    with mock.patch.object(torch.nn.functional, "gelu", torch.nn.functional.gelu):
        assert translated(source) & OURS == found(put, called)
