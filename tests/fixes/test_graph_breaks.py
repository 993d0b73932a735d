"""Rewrites of lines that end a graph: what is safe, what is unsafe, and what is left to the reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.fixing import fix_text

FUNCTION = """\
import logging
import time
import warnings
import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger(__name__)
NAMES = ["a", "b", "c"]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)
        self.seen = []

    def forward(self, x, y, flag=False):
        {body}

    def note(self, value):
        self.seen.append(value)
        return value


run = torch.compile(Model())
"""


def program(body: str) -> str:
    return FUNCTION.replace("{body}", body.replace("\n", "\n        "))


SAFE = {
    "a peak that scales": ("return x * x.abs().max().item()", "return x * x.abs().max().detach()"),
    "a peak through a name": (
        "peak = x.amax().item()\nreturn x - peak",
        "peak = x.amax().detach()\nreturn x - peak",
    ),
    "a mean, of which a number is made": ("return x - float(x.mean())", "return x - x.mean().detach()"),
    "a mean of a product": (
        "return (x * 0.5) * (x * x).mean().item()",
        "return (x * 0.5) * (x * x).mean().detach()",
    ),
    "a mean that is negated": ("return x + -x.mean().item()", "return x + -x.mean().detach()"),
    "a mean of a layer's result": (
        "h = self.lin(x)\nreturn h - h.mean().item()",
        "h = self.lin(x)\nreturn h - h.mean().detach()",
    ),
    "a choice of two factors": (
        "return x * 2 if x.mean() > 0 else x * 3",
        "return torch.where(x.mean() > 0, x * 2, x * 3)",
    ),
    "a choice by statements": (
        "if x.max() > 1:\n    h = x + 2\nelse:\n    h = x - 2\nreturn h",
        "h = torch.where(x.max() > 1, x + 2, x - 2)\nreturn h",
    ),
    "a choice of two returns": (
        "if x.mean() < 0.5:  # small\n    return x * 2.0\nreturn -x",
        "return torch.where(x.mean() < 0.5, x * 2.0, -x)  # small",
    ),
}

UNSAFE = {
    "a sum of another tensor": "return x * y.sum().item()",
    "a sum, which has another type for ints": "return x * x.sum().item()",
    "a quotient, which rounds": "return x / x.mean().item()",
    "a number that is computed with first": "return x * (0.5 * x.mean().item())",
    "a number that is limited": "return x * max(x.mean().item(), 0.1)",
    "a name that somebody else may change in place": "m = x.mean()\nh = x * m.item()\nreturn h, m",
    "a tensor of one element": "return x * y.item() + y.shape[0]",
    "an int of a tensor": "return x * int(x.mean())",
    "a float of ints": "return x * float(x.argmax())",
    "a power": "return x * (x**2).mean().item()",
    "a choice of the tensor itself": "return x * 2 if x.mean() > 0 else x",
    "a choice that a gradient notices": "return x * 2 if x.mean() > 0 else x.sqrt()",
    "a choice of two shapes": "return x.sum() * 1 if x.mean() > 0 else x * 2",
    "a choice between types": "return x * 2 if x.max() > 0 else x * 2.5",
    "a choice by another tensor": "return x * 2 if y.mean() > 0 else x * 3",
    "a choice with a value from before": "h = x * 2\nif torch.isnan(h).any():\n    h = torch.zeros_like(h)\nreturn h",
    "a message": "print('x', x.shape)\nreturn x * 2",
    "a message with a value": "logger.info('mean %f', x.mean().item())\nreturn x * 2",
    "a warning": "if x.shape[0] > 2:\n    warnings.warn('long', stacklevel=2)\nreturn x * 2",
}

QUIET = {
    "a number in a branch": "return x * 2 if x.mean().item() > 0 else x * 3",
    "a number in a loop": "for _ in range(int(x.sum())):\n    x = x * 2\nreturn x",
    "a number that repeats a list": "return torch.stack([x] * int(x.sum()))",
    "a number that repeats a list by name": "rows = [x]\nreturn torch.stack(rows * int(x.sum()))",
    "a number that repeats a text": "h = '-' * int(x.sum())\nreturn x, h",
    "a number that indexes": "return x[int(x.argmax())]",
    "a number that slices": "return x[:, : int(x.sum())]",
    "a number that is a size": "return x.new_zeros(int(x.sum()))",
    "a number that is returned": "return x, x.mean().item()",
    "a number that is kept": "self.last = x.mean().item()\nreturn x",
    "a number that is handed on": "return x * self.note(x.mean().item())",
    "a number in a text": "return x, f'{x.mean().item()}'",
    "a number in a dict": "return x, {'mean': x.mean().item()}",
    "a number that is both": "m = x.mean().item()\nself.last = m\nreturn x * m",
    "a number that meets no tensor": "m = x.mean().item()\nh = m * 2\nreturn x",
    "a number that a function of Python takes": "import math\nreturn x * math.sqrt(x.mean().item())",
    "a number with a limit that is another one": "return x * min(x.mean().item(), y.mean().item())",
    "a list of numbers": "a, b = x.sum(0).tolist()[:2]\nreturn x * a",
    "a number of an array": "return x * x.numpy().mean().item()",
    "a number that came from another device": "return x * y.cpu().sum().item()",
    "a number that is added up": "total = 0.0\ntotal += x.mean().item()\nreturn x * total",
    "a branch with layers": "return self.lin(x) if x.mean() > 0 else self.other(x)",
    "a branch that drops": "return F.dropout(x) if x.mean() > 0 else x * 2",
    "a branch that draws": "return torch.rand_like(x) if x.mean() > 0 else x * 2",
    "a branch that writes": "return x.mul_(2) if x.mean() > 0 else x * 2",
    "a branch that calls a method": "return self.note(x) if x.mean() > 0 else x * 2",
    "a branch that raises": "if x.mean() > 0:\n    raise ValueError\nreturn x",
    "a branch that picks numbers": "h = 1 if x.mean() > 0 else 2\nreturn x * h",
    "a branch that picks a tensor or nothing": "h = x * 2 if x.mean() > 0 else None\nreturn x if h is None else h",
    "a branch that does two things": "if x.mean() > 0:\n    x = x * 2\n    y = y * 2\nreturn x + y",
    "a branch on two tensors": "if torch.isnan(x).any() or torch.isinf(x).any():\n    x = x.nan_to_num()\nreturn x",
    "a branch on a number in a tensor": "if x.sum():\n    x = x * 2\nreturn x",
    "a branch on a branch": "if flag:\n    x = x + 1\nelif x.mean() > 0:\n    x = x * 2\nreturn x",
    "a branch with a comment inside": "if x.mean() > 0:\n    # why\n    x = x * 2\nreturn x",
    "a branch on one line": "if x.mean() > 0: x = x * 2; y = y + 1\nreturn x + y",
    "a branch that indexes": "return x[0] * 2 if x.mean() > 0 else x[1] * 3",
    "a branch that sets an attribute": "if x.mean() > 0:\n    self.last = x * 2\nreturn x",
    "a branch that returns different things": "if x.mean() > 0:\n    return x\nreturn x, y",
    "a loop": "while x.abs().max() > 0.5:\n    x = x / 2\nreturn x",
    "an assertion": "assert (x > 0).all(), f'{x.shape}'\nreturn x * 2",
    "a test in a comprehension": "return [t * 2 for t in (x, y) if t.mean() > 0]",
    "a message whose argument does something": "print(self.note(x.shape[0]))\nreturn x * 2",
    "a message whose argument takes from an iterator": "h = iter(NAMES)\nprint(next(h))\nreturn x * 2",
    "a message beside something": "print(1); x = x * 2\nreturn x",
    "a message that is a value": "h = print(1)\nreturn x * 2",
    "a message in a comprehension": "[print(end='') for _ in range(2)]\nreturn x * 2",
    "a message with a text of several lines": "print('''a\nb''',\n      1)\nreturn x * 2",
    "a question whether messages are wanted": "if logger.isEnabledFor(10):\n    x = x * 2\nreturn x",
    "a clock": "began = time.time()\nreturn x * 2",
    "a pause": "time.sleep(0)\nreturn x * 2",
    "a file": "open('log').close()\nreturn x * 2",
    "a break by hand": "torch._dynamo.graph_break()\nreturn x * 2",
}


def test_there_are_more_programs_without_a_fix_than_with_one() -> None:
    assert len(QUIET) > len(SAFE) + len(UNSAFE)


@pytest.mark.parametrize("name", SAFE)
def test_what_changes_no_result_is_safe(name: str, tmp_path: Path) -> None:
    old, new = SAFE[name]
    assert fix_text(tmp_path, program(old), unsafe=False) == program(new)


@pytest.mark.parametrize("name", UNSAFE)
def test_what_may_change_a_result_is_unsafe(name: str, tmp_path: Path) -> None:
    text = program(UNSAFE[name])
    assert fix_text(tmp_path, text, unsafe=False) == text
    assert fix_text(tmp_path, text) != text


@pytest.mark.parametrize("name", QUIET)
def test_everything_else_is_left_to_the_reader(name: str, tmp_path: Path) -> None:
    text = program(QUIET[name])
    assert fix_text(tmp_path, text) == text


ISLAND = """\
import torch
from torch import nn


{decorators}
def clip(x):
    return x.clamp(0, 1)


class Model(nn.Module):
    def forward(self, x):
        return clip(x * 2) + clip(x * 3)


run = torch.compile(Model())
"""
STUB = "# TODO: say why this stays out of the graph.\n"


@pytest.mark.parametrize(
    "decorators",
    [
        "@torch.compiler.disable",
        "@torch.no_grad()\n@torch.compiler.disable()",
        "@torch.compiler.disable(recursive=False)",
    ],
)
def test_an_island_without_a_reason_gets_a_stub_of_one(decorators: str, tmp_path: Path) -> None:
    text = ISLAND.replace("{decorators}", decorators)
    assert fix_text(tmp_path, text, unsafe=False) == text
    assert fix_text(tmp_path, text) == ISLAND.replace("{decorators}", STUB + decorators)


@pytest.mark.parametrize(
    "decorators",
    [
        "@torch.compiler.disable(reason='calls a library')",
        "@torch.compiler.disable(recursive=False, reason='calls a library')",
        "# a library\n@torch.compiler.disable",
        "@torch.compiler.disable  # a library",
    ],
)
def test_an_island_with_a_reason_gets_none(decorators: str, tmp_path: Path) -> None:
    text = ISLAND.replace("{decorators}", decorators)
    assert fix_text(tmp_path, text) == text


def test_torch_by_another_name_is_not_guessed(tmp_path: Path) -> None:
    text = program("print(1)\nreturn x * 2").replace("import torch\n", "import torch as t\n")
    text = text.replace("torch.compile(", "t.compile(")
    assert fix_text(tmp_path, text) == text
