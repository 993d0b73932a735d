"""One program per row of the cost table of DYN502; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


def stack():
    """Layers of torch alone."""
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU())


def probe_sequential():
    """`.compile()` on an `nn.Sequential` of torch's layers"""
    # effect: eager
    model = stack()
    model.compile()  # expect: DYN502 eager
    return model, [(X,)]


def probe_layers():
    """`.compile()` on each layer of torch"""
    # effect: eager
    model = stack()
    for layer in model:
        layer.compile()  # expect: DYN502 eager
    return model, [(X,)]


class Named(nn.Sequential):
    """A class of its own without a `forward`."""


def probe_subclass():
    """`.compile()` on a subclass without a `forward`"""
    # effect: eager
    model = Named(nn.Linear(8, 8), nn.Tanh())
    model.compile()  # expect: DYN502 eager
    return model, [(X,)]


class Residual(nn.Sequential):
    """Has a `forward` that Dynamo compiles."""

    def forward(self, x):
        return x + super().forward(x)


def probe_own_forward():
    """`.compile()` on a subclass with a `forward`"""
    # effect: -
    model = Residual(nn.Linear(8, 8), nn.Tanh())
    model.compile()
    return model, [(X,)]


def probe_wrapped():
    """`torch.compile(model)`"""
    # effect: -
    return torch.compile(stack()), [(X,)]


class Around(nn.Module):
    """A block of its own around them."""

    def __init__(self):
        super().__init__()
        self.body = stack()

    def forward(self, x):
        return self.body(x) * 2


def probe_around():
    """`.compile()` on a module of one's own around them"""
    # effect: -
    model = Around()
    model.compile()
    return model, [(X,)]


def probe_mixed():
    """`.compile()` on an `nn.Sequential` that holds a module of one's own"""
    # effect: -
    model = nn.Sequential(Around(), nn.ReLU())
    model.compile()
    return model, [(X,)]
