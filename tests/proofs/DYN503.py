"""One program per row of the cost table of DYN503; a probe's docstring is the label of its row."""

import copy

import torch
from torch import nn

X = torch.randn(4, 8)


class Net(nn.Module):
    """Something to compile."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x).relu()


def probe_forward():
    """`model.forward(x)` after `model.compile()`"""
    # effect: eager
    model = Net()
    model.compile()

    def call(x):
        return model.forward(x)  # expect: DYN503 eager

    return call, [(X,)]


def probe_copy():
    """a copy of a model that is compiled in place"""
    # effect: eager
    model = Net()
    model.compile()
    average = copy.deepcopy(model)  # expect: DYN503 eager
    return average, [(X,)]


@torch.compiler.disable
class Kept(nn.Module):
    """Dynamo is kept from it."""

    def forward(self, x):
        return x * 2


def probe_disabled():
    """`.compile()` on an instance of a disabled class"""
    # effect: eager
    model = Kept()
    model.compile()  # expect: DYN503 eager
    return model, [(X,)]


def probe_wrapper_forward():
    """`run.forward(x)` on what `torch.compile` returned"""
    # effect: -
    run = torch.compile(Net())

    def call(x):
        return run.forward(x)

    return call, [(X,)]


def probe_original():
    """the original, after it was copied"""
    # effect: -
    model = Net()
    model.compile()
    copy.deepcopy(model)
    return model, [(X,)]


def probe_copied_first():
    """a copy that is compiled itself"""
    # effect: -
    model = copy.deepcopy(Net())
    model.compile()
    return model, [(X,)]


def probe_copied_wrapper():
    """a copy of what `torch.compile` returned"""
    # effect: -
    return copy.deepcopy(torch.compile(Net())), [(X,)]


def probe_weights():
    """`run._orig_mod.state_dict()`"""
    # effect: -
    run = torch.compile(Net())
    weights = run._orig_mod.state_dict()
    return run, [(X + 0 * len(weights),)]
