"""Regions: what is put around a compiled function runs outside of it, and so does what is called where it is made."""

from __future__ import annotations

import pytest

from tests.programs import hot

AROUND = """
def helper(x): return x
def logged(f, keep=()):
    def outer(*args): return helper(f(*args))
    return outer
def quick(f, mode=None):
    fast = torch.compile(f, mode=mode)
    def outer_of_quick(*args): return helper(fast(*args))
    return outer_of_quick
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def decode(self, x): return x
    def forward(self, x): return self.decode(self.block(x))
"""


@pytest.mark.parametrize(
    "put",
    [
        "model.block.forward = logged(torch.compile(model.block.forward))",
        "model.block.forward = logged(torch.compile(model.block.forward, dynamic=True), keep=['x'])",
        "model.block.forward = logged(logged(torch.compile(model.block.forward)))",
        "model.block.forward = logged(torch.compile(dynamic=True)(model.block.forward))",
        "model.block.forward = quick(model.block.forward)",
        "model.block.forward = logged(quick(model.block.forward, mode='max-autotune'))",
        "model.block = logged(torch.compile(model.block))",
    ],
)
def test_a_wrapper_around_what_is_put_back_compiled_is_quiet(put: str) -> None:
    assert set(hot(f"{AROUND}def prepare(model: Model):\n    {put}\n")) == {"Block.forward"}


@pytest.mark.parametrize("made", ["logged(torch.compile(self.decode))", "logged(quick(self.decode))"])
@pytest.mark.parametrize("method", ["__init__", "prepare"])
def test_a_wrapper_around_a_compiled_method_of_its_own_class_is_quiet(made: str, method: str) -> None:
    code = f"class Mine(Model):\n    def {method}(self):\n        self.decode = {made}\n"
    assert set(hot(AROUND + code)) == {"Model.decode"}


def test_a_wrapper_from_one_place_is_not_what_another_place_compiles() -> None:
    code = """
class Quick(Block):
    def __init__(self, fast):
        super().__init__()
        if fast: self.forward = torch.compile(self.forward)
    def forward(self, x): return x
class Holder:
    def __init__(self): self.net = Quick(False)
    def prepare(self): self.net.forward = logged(torch.compile(self.net.forward))
"""
    assert set(hot(AROUND + code)) == {"Quick.forward"}


@pytest.mark.parametrize(
    "put",
    [
        "model.block.forward = torch.compile(logged(model.block.forward))",
        "model.block.forward = logged(model.block.forward)\n    torch.compile(model.block.forward)(1)",
        "model.block.forward = logged(print)\n    torch.compile(model.block.forward)(1)",
        "model.block.forward = logged(torch.compile(model.decode))\n    torch.compile(model.block.forward)(1)",
    ],
)
def test_a_wrapper_within_what_is_compiled_runs_compiled(put: str) -> None:
    assert {"logged.<locals>.outer", "helper"} <= set(hot(f"{AROUND}def prepare(model: Model):\n    {put}\n"))


# --- closures that are called where they are made -------------------------------------------------------

MADE = """
import inspect
from torch.utils.checkpoint import checkpoint
def kept(part):
    def run(x): return {body}
    return run
class One(nn.Module):
    def forward(self, x): return x
class Two(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = One()
        self.later = kept(self.part)
    def forward(self, x): return {call}
"""
NET = "fast = torch.compile(Net())\n"
TWO = "two = Two()\n"


@pytest.mark.parametrize("body", ["part(x)", "checkpoint(part, x)"])
@pytest.mark.parametrize(
    "eager",
    [
        "kept(Two())(1)",
        "def eager(x): return kept(Two())(x)",
        "class Eager:\n    def __init__(self): self.two = Two()\n    def ask(self, x): return kept(self.two)(x)",
    ],
)
def test_what_eager_code_gives_a_closure_that_it_calls_at_once_is_quiet(body: str, eager: str) -> None:
    found = set(hot(MADE.format(body=body, call="kept(self.part)(x)") + NET + eager))
    assert "One.forward" in found
    assert "Two.forward" not in found


@pytest.mark.parametrize(
    "more",
    [
        "run = kept(Two())\n@torch.compile\ndef step(x): return run(x)\n",
        "@torch.compile\ndef step(x): return kept(Two())(x)\n",
        "def deeper(part, x): return kept(part)(x)\n@torch.compile\ndef step(x): return deeper(Two(), x)\n",
        "run = kept(Two())\nkept(Two())(1)\n@torch.compile\ndef step(x): return run(x)\n",
        "torch.compile(kept(Two()))(1)\n",
    ],
)
def test_what_a_closure_keeps_runs_where_compiled_code_calls_it(more: str) -> None:
    assert "Two.forward" in set(hot(MADE.format(body="part(x)", call="self.later(x)") + NET + more))


@pytest.mark.parametrize("asked", ["signature", "getsource", "isfunction", "unwrap"])
def test_what_inspect_is_given_is_not_called(asked: str) -> None:
    code = f"import inspect\ndef helper(x): return x\n@torch.compile\ndef step(x): return inspect.{asked}(helper)"
    assert set(hot(code)) == {"step"}
