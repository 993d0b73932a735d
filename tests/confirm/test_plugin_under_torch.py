"""The pytest fixture that asserts a budget of compiles."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

pytest_plugins = ["dynamo_lint.confirm.plugin"]

BATCHES = [(torch.ones(2),)]


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * 2


def test_a_model_that_compiles_once_is_within_its_budget(compile_receipt):
    receipt = compile_receipt(nn.ReLU(), BATCHES, calls=4, max_recompiles=0, max_graph_breaks=0, max_graphs=1)
    assert len(receipt.compiles) == 1


def test_a_counter_is_over_its_budget_and_the_failure_names_its_guard(compile_receipt):
    with pytest.raises(pytest.fail.Exception, match="2 recompiles, but the budget is 0") as failure:
        compile_receipt(Counter(), BATCHES, calls=3, max_recompiles=0)
    assert "call 2 recompiles Counter.forward: `self.n == 0` met 1" in str(failure.value)


def test_a_call_may_compile_what_it_likes(compile_receipt):
    part, whole = Counter(), []

    def call(x):
        if not whole:
            part.compile()
            whole.append(part)
        return part(x)

    assert len(compile_receipt(call, BATCHES, calls=3, compile=False).recompiles) == 2


def test_a_break_is_over_its_budget(compile_receipt):
    def call(x):
        print(end="")
        return x + 1

    with pytest.raises(pytest.fail.Exception, match="1 graph breaks, but the budget is 0"):
        compile_receipt(call, BATCHES, max_graph_breaks=0)
