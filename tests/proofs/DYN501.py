"""One program per row of the cost table of DYN501; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Net(nn.Module):
    """Something to compile."""

    def forward(self, x):
        return x * 2


def probe_bare():
    """`torch.compile(model)` as a statement"""
    # effect: eager
    model = Net()
    torch.compile(model)  # expect: DYN501 eager
    return model, [(X,)]


def prepare(model):
    """Compiles what it was given, for nobody."""
    model = torch.compile(model)  # expect: DYN501 eager


def probe_parameter():
    """`model = torch.compile(model)` in a function that does not return it"""
    # effect: eager
    model = Net()
    prepare(model)
    return model, [(X,)]


class Loads(nn.Module):
    """Means to compile itself."""

    def load(self):
        self = torch.compile(self)  # expect: DYN501 eager

    def forward(self, x):
        return x * 2


def probe_self():
    """`self = torch.compile(self)`"""
    # effect: eager
    model = Loads()
    model.load()
    return model, [(X,)]


class Generates(Net):
    """Has a method that calls the module itself."""

    def generate(self, x):
        return self(self(x))


def probe_past():
    """`model = torch.compile(model)`, and only `model.generate` is called"""
    # effect: eager
    model = Generates()
    model = torch.compile(model)  # expect: DYN501 eager
    return model.generate, [(X,)]


def probe_past_in_place():
    """`model.compile()`, and only `model.generate` is called"""
    # effect: -
    model = Generates()
    model.compile()
    return model.generate, [(X,)]


def probe_in_place():
    """`model.compile()`"""
    # effect: -
    model = Net()
    model.compile()
    return model, [(X,)]


def probe_kept():
    """`run = torch.compile(model)`, and `run` is called"""
    # effect: -
    run = torch.compile(Net())
    return run, [(X,)]
