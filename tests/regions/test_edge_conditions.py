"""Conditions of whole calls: training, evaluation and gradients."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- training and evaluation ----------------------------------------------------------------------------

NETS = """
import torch
from torch import nn
class Net(nn.Module):
    def learn(self, x): return x
    def predict(self, x): return x
    def forward(self, x):
        if self.training:
            return self.learn(x)
        return self.predict(x)
"""
TRAIN = """
import torch
from nets import Net
class Trainer:
    def __init__(self):
        model = Net()
        if fast:
            model = torch.compile(model)
        self.model = {held}
    def run(self, batches):
        {modes}
        for batch in batches:
            self.model(batch).backward()
"""
BOTH = {"Net.forward", "Net.learn", "Net.predict"}


def names(files: dict[str, str]) -> set[str]:
    """The functions that are compiled, without their files."""
    return {name.partition("::")[2] for name in hot(files)}


@pytest.mark.parametrize("held", ["model", "DDP(model.to(device), device_ids=[0])", "model.module"])
def test_what_only_evaluation_runs_of_a_model_that_is_only_trained_is_quiet(held: str) -> None:
    files = {"nets.py": NETS, "train.py": TRAIN.format(held=held, modes="self.model.train()")}
    assert names(files) == BOTH - {"Net.predict"}


@pytest.mark.parametrize(
    "modes", ["self.model.eval()", "self.model.train(False)", "self.model.train(mode=False)"]
)
def test_what_only_training_runs_of_a_model_that_is_only_evaluated_is_quiet(modes: str) -> None:
    files = {"nets.py": NETS, "train.py": TRAIN.format(held="model", modes=modes)}
    assert names(files) == BOTH - {"Net.learn"}


@pytest.mark.parametrize(
    ("modes", "more"),
    [
        ("pass", ""),
        ("self.model.train(); self.model.eval()", ""),
        ("self.model.train(mode)", ""),
        ("self.model.train()", "net = Net().eval()"),
        ("self.model.train()", "from scores import score"),
        ("other.train()", ""),
    ],
)
def test_a_model_that_may_be_in_both_modes_runs_both_branches(modes: str, more: str) -> None:
    scores = "def score(net, x):\n    net.eval()\n    return net(x)"
    train = TRAIN.format(held="model", modes=modes) + more
    assert names({"nets.py": NETS, "train.py": train, "scores.py": scores}) == BOTH


def test_another_site_that_compiles_the_same_class_for_evaluation_runs_the_other_branch() -> None:
    train = TRAIN.format(held="model", modes="self.model.train()")
    serve = "import torch\nfrom nets import Net\nnet = torch.compile(Net())\nnet.eval()\n"
    assert names({"nets.py": NETS, "train.py": train, "serve.py": serve}) == BOTH


# --- gradients ------------------------------------------------------------------------------------------

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
