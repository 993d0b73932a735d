"""Regions: what runs in training alone, or for evaluation alone, of a model that is only ever in the other mode."""

from __future__ import annotations

import pytest

from tests.programs import hot

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


def test_a_library_that_trains_what_it_compiles_may_evaluate_it_too() -> None:
    train = (
        "from transformers import Trainer, TrainingArguments\nfrom nets import Net\n"
        "trainer = Trainer(model=Net(), args=TrainingArguments(torch_compile=True))\ntrainer.train()\n"
    )
    assert names({"nets.py": NETS, "train.py": train}) == BOTH


def test_the_mode_is_set_by_whoever_calls_the_helper_that_compiles() -> None:
    helper = "import torch\ndef faster(net): return torch.compile(net)\n"
    train = "from nets import Net\nfrom helper import faster\nnet = faster(Net())\nnet.train()\n"
    assert names({"nets.py": NETS, "helper.py": helper, "train.py": train}) == BOTH - {"Net.predict"}
