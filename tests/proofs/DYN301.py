"""One program per row of the cost table of DYN301; a probe's docstring is the label of its row."""

import os

import torch
from torch import nn

X = torch.randn(4, 8)


class Getenv(nn.Module):
    """Reads through the function of the os module."""

    def forward(self, x):
        return x * float(os.getenv("GAIN", "1"))  # expect: DYN301 stale


def probe_getenv():
    """`os.getenv(K)`, two values"""
    # effect: stale
    run = torch.compile(Getenv())

    def call(x, value):
        os.environ["GAIN"] = value
        return run(x)

    return call, [(X, "2"), (X, "3")]


def probe_getenv_constant():
    """`os.getenv(K)`, never changes"""
    # effect: -
    os.environ["GAIN"] = "2"
    return torch.compile(Getenv()), [(X,)]


class Get(nn.Module):
    """Reads with a default."""

    def forward(self, x):
        return x * float(os.environ.get("LATE_GAIN", "2"))  # expect: DYN301 stale


def probe_get_late():
    """`os.environ.get(K)`, unset at first and set later"""
    # effect: stale
    run = torch.compile(Get())
    calls = [0]

    def call(x):
        if calls[0] == 3:
            os.environ["LATE_GAIN"] = "3"
        calls[0] += 1
        return run(x)

    return call, [(X,)]


class Membership(nn.Module):
    """Asks whether the variable exists."""

    def forward(self, x):
        return x * 2 if "LATE_FLAG" in os.environ else x * 3  # expect: DYN301 stale


def probe_membership_late():
    """`K in os.environ`, unset at first and set later"""
    # effect: stale
    run = torch.compile(Membership())
    calls = [0]

    def call(x):
        if calls[0] == 3:
            os.environ["LATE_FLAG"] = "1"
        calls[0] += 1
        return run(x)

    return call, [(X,)]
