"""One program per row of the cost table of DYN305; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


def later(model, change):
    """A call that changes the model before the fourth call."""
    run = torch.compile(model)
    calls = [0]

    def call(x):
        if calls[0] == 3:
            change(model)
        calls[0] += 1
        return run(x)

    return call, [(X,)]


class Caught(nn.Module):
    """Catches what is not there."""

    def arrive(self):
        self.gain = torch.tensor(3.0)

    def forward(self, x):
        try:
            gain = self.gain  # expect: DYN305 stale
        except AttributeError:
            gain = 1.0
        return x * gain


def probe_caught():
    """`try: self.gain` / `except AttributeError`, set later"""
    # effect: stale
    return later(Caught(), Caught.arrive)


class Namespace(nn.Module):
    """Looks into its dictionary."""

    def arrive(self):
        self.gain = torch.tensor(3.0)

    def forward(self, x):
        return x * 3 if "gain" in self.__dict__ else x * 2  # expect: DYN305 stale


def probe_namespace():
    """`"gain" in self.__dict__`, set later"""
    # effect: stale
    return later(Namespace(), Namespace.arrive)


class Key(nn.Module):
    """Catches a key that is not there."""

    def __init__(self):
        super().__init__()
        self.gains = {}

    def arrive(self):
        self.gains["x"] = 3.0

    def forward(self, x):
        try:
            gain = self.gains["x"]  # expect: DYN305 stale
        except KeyError:
            gain = 1.0
        return x * gain


def probe_key():
    """`try: self.gains["x"]` / `except KeyError`, set later"""
    # effect: stale
    return later(Key(), Key.arrive)


class Never(nn.Module):
    """Catches what never comes."""

    def forward(self, x):
        try:
            gain = self.gain
        except AttributeError:
            gain = 2.0
        return x * gain


def probe_never():
    """`try: self.gain` / `except AttributeError`, never set"""
    # effect: -
    return torch.compile(Never()), [(X,)]
