"""One program per row of the cost table of DYN203; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


def arriving(model):
    """A call that gives the model its `scale` before the fourth call."""
    compiled = torch.compile(model)
    done = [0]

    def call(x):
        if done[0] == 3:
            model.scale = torch.tensor(3.0)
        done[0] += 1
        return compiled(x)

    return call, [(X,)]


class Getattr(nn.Module):
    """Asks with a default."""

    def forward(self, x):
        scale = getattr(self, "scale", None)  # expect: DYN203 once
        return x * 2 if scale is None else x * scale


def probe_getattr_appears():
    """`getattr(self, "scale", None)`, set by other code later"""
    return arriving(Getattr())


class Hasattr(nn.Module):
    """Asks first."""

    def forward(self, x):
        return x * self.scale if hasattr(self, "scale") else x * 2  # expect: DYN203 once


def probe_hasattr_appears():
    """`hasattr(self, "scale")`, set by other code later"""
    return arriving(Hasattr())


class Lazy(nn.Module):
    """Makes what it needs on the first call."""

    def forward(self, x):
        if not hasattr(self, "scale"):
            self.scale = torch.full((8,), 2.0)  # expect: DYN104 once
        return x * self.scale


def probe_made_on_first_call():
    """`if not hasattr(self, "scale"): self.scale = ...`"""
    return torch.compile(Lazy()), [(X,)]


class Present(nn.Module):
    """Asks for what `__init__` made."""

    def __init__(self):
        super().__init__()
        self.scale = torch.tensor(3.0)

    def forward(self, x):
        return x * getattr(self, "scale", 1.0) if hasattr(self, "scale") else x


def probe_present():
    """`getattr` and `hasattr` of an attribute made in `__init__`"""
    return torch.compile(Present()), [(X,)]


class Absent(nn.Module):
    """Asks for what nobody makes."""

    def forward(self, x):
        scale = getattr(self, "scale", None)
        return x * 2 if scale is None else x * scale


def probe_absent():
    """`getattr(self, "scale", None)` of an attribute that is never set"""
    return torch.compile(Absent()), [(X,)]
