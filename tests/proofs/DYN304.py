"""One program per row of the cost table of DYN304; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Eager(nn.Module):
    """Updates only while not compiling."""

    def __init__(self):
        super().__init__()
        self.scale = torch.ones(())

    def forward(self, x):
        if not torch.compiler.is_compiling():
            self.scale = self.scale * 0.9  # expect: DYN304 stale
        return x * self.scale


def probe_eager():
    """written under `if not torch.compiler.is_compiling()`"""
    # effect: stale
    return torch.compile(Eager()), [(X,)]


class Constant(nn.Module):
    """Counts in code whose result counts as a constant."""

    def __init__(self):
        super().__init__()
        self.n = 0

    @torch._dynamo.assume_constant_result
    def count(self):
        self.n += 1  # expect: DYN304 stale
        return self.n

    def forward(self, x):
        return x * self.count()


def probe_constant():
    """written in `assume_constant_result` code"""
    # effect: stale
    return torch.compile(Constant()), [(X,)]


class Both(nn.Module):
    """Updates whether compiling or not."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(()), persistent=False)

    def forward(self, x):
        self.scale = self.scale * 0.9
        return x * self.scale


def probe_both():
    """written in compiled code too, in a buffer"""
    # effect: -
    return torch.compile(Both()), [(X,)]
