"""What counts as a certain graph break in the loop over the layers, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

PROGRAM = """
import gc, logging, os, random, time, warnings
import torch
from torch import nn
{top}
logger = logging.getLogger(__name__)
log = make_log()


class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self, rate, config):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(4))
        self.given, self.config = rate, config
        self.half, self.none, self.on, self.off = 0.5, None, True, False
        self.changing = 0.5

    def reset(self):
        self.changing = 0.0

    def forward(self, x: torch.Tensor, y=None, z: torch.Tensor = None):
        for i, layer in enumerate(self.layers):
            {body}
            x = layer(x)
        return x


compiled = torch.compile(Model(0.1, object()){options})
"""
CERTAIN = [
    "print(i)",
    "_ = [print(i) for layer in self.layers]",
    "warnings.warn('slow')",
    "logger.info('layer')",
    "logger.log(10, 'layer')",
    "logging.warning('layer')",
    "time.perf_counter()",
    "gc.collect()",
    "torch._dynamo.graph_break()",
    "x.sum().item()",
    "float(x.mean())",
    "torch.nonzero(x)",
    "torch.where(x > 0)",
    "if x.max() > 3: x = x / 2",
    "x = x if torch.rand(()) < self.half else -x",
    "drop = not (torch.rand(()) < self.half)",
    "while torch.isnan(x).any(): x = x / 2",
    "if self.training: print(i)",
    "if not self.training: print(i)",
    "if self.training and i > 0: print(i)",
    "if self.on: print(i)",
    "if self.half > 0.1 or y: print(i)",
    "if self.none is None: print(i)",
    "if torch.compiler.is_compiling(): print(i)",
    "for _ in range(2): print(i)",
    "if x.dim() != 2: raise ValueError(i)\n            print(i)",
    "kept, places = x.topk(2)\n            places.tolist()",
    # Nobody calls it: it is what its constructor was given, and called with its defaults.
    "if self.given > 0: print(i)",
    "if self.changing > 0: print(i)",
    "if y: break\n            print(i)",
    "if y: continue\n            print(i)",
    "p = torch.rand(())\n            if y: p = 0.5\n            if p < self.half: x = x / 2",
]
UNCERTAIN = [
    "pass",
    "if y: print(i)",
    "if i == self.given: print(i)",
    "if self.config.verbose: print(i)",
    "if self.off: print(i)",
    "if self.none is not None: print(i)",
    "if self.on and self.off: print(i)",
    "if not self.on or y: print(i)",
    "if torch.jit.is_tracing(): print(i)",
    "if not torch.compiler.is_compiling(): print(i)",
    "if y is None: return x\n            print(i)",
    "try:\n                x = x + 1\n            except RuntimeError: print(i)",
    "for _ in range(y): print(i)",
    "for _ in y: print(i)",
    "_ = [print(i) for _ in y]",
    "_ = [print(i) for layer in self.layers if y]",
    "while y: print(i)",
    "_ = y and print(i)",
    "_ = print(i) if y else None",
    "_ = lambda: print(i)",
    "def report(): print(i)",
    "y.item()",
    "if y > 0: x = x / 2",
    "if z > 0: x = x / 2",
    "if x is not None: x = x / 2",
    "if x.shape[0] > 3: x = x / 2",
    "if len(x) > 3: x = x / 2",
    "x = torch.where(x > 0, x, -x)",
    "assert x.sum() < 3",
    "float(self.half)",
    "flag = torch.is_tensor(x)\n            if flag: x = x / 2",
    "p = torch.rand(())\n            p = 0.5\n            if p < self.half: x = x / 2",
    "log.info('layer')",
    "random.uniform(0, 1)",
    "self.print(i)",
]


def said(folder: Path, body: str, top: str = "", options: str = "") -> list[str]:
    """The messages about the layers."""
    text = PROGRAM.replace("{body}", body).replace("{top}", top).replace("{options}", options)
    (folder / "model.py").write_text(text)
    found = discover((folder,), [], False)
    report = check(Settings(), found, catalogue(), Sources(found.root))
    return [one.message for one in report.findings if one.code == "DYN107"]


@pytest.mark.parametrize("body", CERTAIN)
def test_a_certain_break_in_the_loop_makes_units_of_the_layers(body: str, tmp_path: Path) -> None:
    assert len(said(tmp_path, body)) == 1


@pytest.mark.parametrize("body", UNCERTAIN)
def test_what_may_not_run_or_not_break_is_quiet(body: str, tmp_path: Path) -> None:
    assert not said(tmp_path, body)


@pytest.mark.parametrize(
    ("top", "body"),
    [
        ("torch._dynamo.config.capture_scalar_outputs = True", "x.sum().item()"),
        ("torch._dynamo.config.capture_dynamic_output_shape_ops = True", "torch.nonzero(x)"),
        ("torch._dynamo.config.nested_graph_breaks = True", "x.sum().item()"),
        ("torch._dynamo.config.reorderable_logging_functions.add(print)", "print(i)"),
        ("torch._dynamo.config.ignore_logging_functions.add(print)", "print(i)"),
        ("def print(*words): return words", "print(i)"),
    ],
)
def test_a_setting_that_keeps_the_graph_whole_is_heeded(top: str, body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body)
    assert not said(tmp_path, body, top)


def test_a_break_under_fullgraph_is_an_error_and_makes_no_units(tmp_path: Path) -> None:
    assert not said(tmp_path, "print(i)", options=", fullgraph=True")


ADDRESS = """
import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {body}
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@torch.compile
def scale(x):
    return Scale.apply(x)
"""


@pytest.mark.parametrize(
    ("body", "breaks"),
    [
        ("if x.data_ptr(): x = x + 1", False),
        ("if not x.data_ptr() or x.ndim < 2: return x", False),
        ("there = bool(x.data_ptr())", False),
        ("address = x.data_ptr()\n        if address: x = x + 1", False),
        ("x = x + 1 if x.data_ptr() else x", False),
        ("address = x.data_ptr()", False),
        ("if x.data_ptr() % 16: x = x + 1", True),
        ("x = x + x.data_ptr()", True),
        ("address = x.data_ptr()\n        if address: launch(address)", True),
    ],
)
def test_an_address_that_is_only_a_truth_value_is_no_break(body: str, breaks: bool, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(ADDRESS.format(body=body))
    found = discover((tmp_path,), [], force_exclude=False)
    report = check(Settings(), found, catalogue(), Sources(found.root))
    assert ["DYN405" for one in report.findings if one.code == "DYN405"] == ["DYN405"] * breaks
