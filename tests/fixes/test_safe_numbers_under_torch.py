"""`--fix` alone under torch, on the idiom of a training script: each class compiles once, and counts as before."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from tests.fixes.fixing import fix_files

MODEL = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.calls, self.tokens = 0, 0

    def forward(self, x):
        self.calls += 1
        if self.training:
            self.tokens += x.shape[0]
        return x + self.proj(x)


class Mlp(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.warm = False
        self.steps = 0

    def forward(self, x):
        self.warm = True
        self.steps = self.steps + 1
        return x + self.fc(x).relu()

    def reset(self):
        steps, self.steps = self.steps, 0
        return steps


class Model(nn.Module):
    def __init__(self, dim=4, depth=3):
        super().__init__()
        self.blocks = nn.ModuleList(kind(dim) for _ in range(depth) for kind in (Attention, Mlp))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""
HELPER = """\
def regional_compile(model, **options):
    for block in model.blocks:
        block.compile(**options)
    return model
"""
TRAIN = """\
import json

from helper import regional_compile
from model import Model

import torch


def train(**options):
    torch.manual_seed(0)
    model = Model()
    if options:
        regional_compile(model, **options)
    log = []
    for step in range(12):
        out = model(torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_())
        out.sum().backward()
        first, second = model.blocks[0], model.blocks[1]
        log.append([first.calls, first.tokens, second.warm, second.steps])
        if step % 5 == 4:
            log.append(second.reset())
    return out.detach(), json.dumps(log), sorted(model.state_dict())


if __name__ == "__main__":
    train(backend="inductor")
"""


def ran(files: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """What `train` of a folder with these files returns."""
    import importlib
    import sys

    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    for name in files:
        monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    return importlib.import_module("train").train(**options)


@pytest.mark.parametrize("ranks", ["", "import torch.distributed as dist\n"], ids=["one process", "ranks"])
def test_counters_of_blocks_that_a_helper_compiles_are_fixed_safely_and_each_class_compiles_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: str
) -> None:
    files = {"model": MODEL, "helper": HELPER, "train": ranks + TRAIN}
    after = {
        name.removesuffix(".py"): text for name, text in fix_files(tmp_path / "lint", False, **files).items()
    }
    count = 0

    def counting(graph: Any, inputs: Any) -> Any:
        nonlocal count
        count += 1
        return graph.forward

    assert ("register_buffer" in after["model"]) == (not ranks)
    before = ran(files, tmp_path / "before", monkeypatch)
    torch._dynamo.reset()
    fixed = ran({**files, **after}, tmp_path / "after", monkeypatch, backend=counting)
    assert count == 2
    assert torch.allclose(fixed[0], before[0])
    assert fixed[1:] == before[1:]


@pytest.mark.parametrize("kind", [torch.float32, torch.int64, torch.bool], ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod"])
def test_math_of_tensors_with_a_count_gives_what_it_gives_with_a_tensor_of_the_count(
    name: str, kind: torch.dtype
) -> None:
    values = torch.tensor([1.7, 0.3, 2.0, -5.1, 9.9e3]).to(kind)
    if kind == torch.int64:
        values[1] = 4
    do = getattr(operator, name)
    for tensor in (values, *values):
        for count in (1, 2, 3, 7, 255, 1000, 65537, 2**24 + 1, -3):
            for left in (True, False):
                if name == "truediv" and not left:
                    continue  # through the reciprocal

                def done(number: Any, left: bool = left, tensor: Any = tensor) -> Any:
                    try:
                        return do(tensor, number) if left else do(number, tensor)
                    except (RuntimeError, TypeError) as why:
                        return type(why)

                ours, theirs = done(torch.tensor(count)), done(count)
                if isinstance(theirs, torch.Tensor):
                    assert ours.dtype == theirs.dtype
                    assert torch.equal(ours, theirs)
                else:
                    assert ours == theirs


@pytest.mark.parametrize("count", [0, 1, 2, 9, 49, 99, 12345, 2**24 - 11])
def test_one_division_of_counts_comes_out_the_same_in_float32(count: int) -> None:
    tensor, x = torch.tensor(count), torch.linspace(-1, 1, 7)
    assert torch.equal(x * (1.0 / (1 + count)), x * (1.0 / (1 + tensor)))
    assert torch.equal(x * ((1 + count) / (10 + count)), x * ((1 + tensor) / (10 + tensor)))
