"""One program per row of the cost table of DYN201; a probe's docstring is the label of its row."""

import os

import torch
from torch import nn

X = torch.randn(4, 8)


def changing(model, values):
    """A call that sets `SCALE` first (None unsets it), cycling through `values`."""
    compiled = torch.compile(model)
    done = [0]

    def call(x):
        value = values[done[0] % len(values)]
        done[0] += 1
        if value is None:
            os.environ.pop("SCALE", None)
        else:
            os.environ["SCALE"] = value
        return compiled(x)

    return call, [(X,)]


class Get(nn.Module):
    """Reads with a default."""

    def forward(self, x):
        return x * float(os.environ.get("SCALE", "1"))  # expect: DYN201 per-value


class Item(nn.Module):
    """Reads a variable that must exist."""

    def forward(self, x):
        return x * float(os.environ["SCALE"])  # expect: DYN201 per-value


class Membership(nn.Module):
    """Asks whether the variable exists."""

    def forward(self, x):
        return x * 2 if "SCALE" in os.environ else x * 3  # expect: DYN201 per-value


def probe_constant():
    """`os.environ.get(K)`, never changes"""
    return changing(Get(), ["2"])


def probe_get():
    """`os.environ.get(K)`, two values"""
    return changing(Get(), ["2", "3"])


def probe_item():
    """`os.environ[K]`, two values"""
    return changing(Item(), ["2", "3"])


def probe_many_values():
    """`os.environ.get(K)`, a new value every call"""
    return changing(Get(), [str(n) for n in range(2, 14)])


def probe_disappears():
    """`K in os.environ`, set at first and unset later"""
    return changing(Membership(), ["2", "2", "2", None, None, None, None, None, None, None, None, None])
