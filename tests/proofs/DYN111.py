"""One program per row of the cost table of DYN111; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


def twice(x):
    """Something to compile."""
    return x * 2


def probe_reset():
    """`torch.compiler.reset()` before each call"""
    # effect: storm

    def call(x):
        for _ in range(1):
            torch.compiler.reset()  # expect: DYN111 storm
            y = torch.compile(twice)(x)
        return y

    return call, [(X,)]


def probe_isolated():
    """`torch.compile(f, isolate_recompiles=True)` before each call"""
    # effect: storm

    def call(x):
        for _ in range(1):
            y = torch.compile(twice, isolate_recompiles=True)(x)  # expect: DYN111 storm
        return y

    return call, [(X,)]


def probe_closure():
    """a function over the loop's variable"""
    # effect: once

    def call(x):
        for k in range(2, 4):

            def scaled(x):
                return x * k  # noqa: B023  # expect: DYN111 once

            y = torch.compile(scaled)(x)
        return y

    return call, [(X,)]


class Net(nn.Module):
    """A fresh one for every call."""

    def forward(self, x):
        return x * 2


def probe_same_code():
    """another instance of the same class, compiled for each call"""
    # effect: -

    def call(x):
        for _ in range(2):
            y = torch.compile(Net())(x)
        return y

    return call, [(X,)]
