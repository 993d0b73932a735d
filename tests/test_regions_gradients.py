"""Regions: the backward of an autograd function is compiled only where gradients are on."""

from __future__ import annotations

import pytest

from tests.programs import hot

CODE = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return twice(g)
def twice(x): return x * 2
class Net(nn.Module):
    def forward(self, x): return Twice.apply(x)
net = Net()
"""
BACKWARD = {"Twice.backward", "twice"}


def compiled(use: str) -> set[str]:
    found = set(hot(CODE + use))
    assert found >= {"Net.forward", "Twice.forward"}
    return found & BACKWARD


@pytest.mark.parametrize(
    "decorators",
    [
        "@torch.compile\n@torch.no_grad()",
        "@torch.no_grad()\n@torch.compile",
        "@torch.compile\n@torch.no_grad",
        "@torch.compile\n@torch.inference_mode()",
        "@torch.compile\n@torch.inference_mode(True)",
        "from torch import no_grad\n@torch.compile\n@no_grad()",
    ],
)
def test_a_backward_below_what_turns_gradients_off_is_cold(decorators: str) -> None:
    assert compiled(f"{decorators}\ndef step(x): return net(x)\n") == set()


def test_a_backward_below_a_method_that_turns_gradients_off_is_cold() -> None:
    method = "    @torch.no_grad()\n    def encode(self, x): return net(x)\n"
    outer = f"class Outer(nn.Module):\n{method}    def forward(self, x): return self.encode(x)\n"
    assert compiled(f"{outer}fast = torch.compile(Outer())") == set()


@pytest.mark.parametrize(
    "use",
    [
        "fast = torch.compile(net)",
        "@torch.compile\n@torch.inference_mode(False)\ndef step(x): return net(x)\n",
        "@torch.compile\n@torch.inference_mode(mode=quick)\ndef step(x): return net(x)\n",
        "@torch.compile\n@no_grad()\ndef step(x): return net(x)\n",  # not known to be that of torch
        "@torch.compile\n@torch.no_grad()\ndef step(x): return net(x)\nfast = torch.compile(net)\n",
        "@torch.compile\n@torch.no_grad()\ndef step(x):\n    with torch.enable_grad(): return net(x)\n",
        "@torch.compile\n@torch.no_grad()\ndef step(x):\n    torch.set_grad_enabled(True)\n    return net(x)\n",
        "@torch.enable_grad()\ndef on(x): return net(x)\n"
        "@torch.compile\n@torch.no_grad()\ndef step(x): return on(x)\n",
        "@torch.no_grad()\ndef eager(x): return net(x)\nfast = torch.compile(net)\n",
        "@torch.no_grad()\ndef step(x): return fast(x)\nfast = torch.compile(net)\n",  # others may call it too
    ],
)
def test_a_backward_where_gradients_may_be_on_is_hot(use: str) -> None:
    assert compiled(use) == BACKWARD


def test_what_a_backward_has_in_common_with_a_forward_stays_hot() -> None:
    step = "@torch.compile\n@torch.no_grad()\ndef step(x): return twice(net(x))\n"
    assert compiled(step) == {"twice"}


def test_a_backward_that_is_called_by_its_name_is_hot() -> None:
    step = "@torch.compile\n@torch.no_grad()\ndef step(x): return Twice.backward(None, net(x))\n"
    assert compiled(step) == BACKWARD
