"""One program per row of the cost table of DYN107; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)
DEPTH = 12


def chained(blocks):
    """A call that compiles each block and runs them one after another."""
    for block in blocks:
        block.compile()

    def call(x):
        for block in blocks:
            x = block(x)
        return x

    return call, [(X,)]


class Index(nn.Module):
    """Indexes a list with its own number."""

    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x):
        biases = [x + i for i in range(DEPTH)]
        return x * 0.5 + biases[self.layer_idx]  # expect: DYN107 per-instance


def probe_index():
    """int as an index, 12 blocks"""
    # effect: per-instance
    return chained([Index(i) for i in range(DEPTH)])


class Name(nn.Module):
    """Compares its name."""

    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        return x * 2 if self.name == "layer0" else x * 0.5  # expect: DYN107 per-instance


def probe_name():
    """str in a comparison, 12 blocks"""
    # effect: per-instance
    return chained([Name(f"layer{i}") for i in range(DEPTH)])


class Scale(nn.Module):
    """Multiplies by a factor of its own."""

    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return x * self.scale  # expect: DYN107 once


def probe_scale():
    """float in tensor math, 12 blocks"""
    # effect: once
    return chained([Scale(0.5 + 0.1 * i) for i in range(DEPTH)])


class Window(nn.Module):
    """Every second block looks further."""

    def __init__(self, layer_idx):
        super().__init__()
        self.wide = layer_idx % 2 == 0

    def forward(self, x):
        return x * 2 if self.wide else x * 0.5  # expect: DYN107 per-instance


def probe_window():
    """bool, two values among 12 blocks"""
    # effect: per-instance
    return chained([Window(i) for i in range(DEPTH)])


class Part(nn.Module):
    """Drops more the deeper it stands."""

    def __init__(self, rate):
        super().__init__()
        self.drop = nn.Dropout(rate)  # expect: DYN107 per-instance

    def forward(self, x):
        return self.drop(x) * 2


def probe_part():
    """`p` of an `nn.Dropout`, in `eval()`, 12 blocks"""
    # effect: per-instance
    return chained([Part(0.01 * i).eval() for i in range(DEPTH)])


class Unused(nn.Module):
    """Knows its number and does not use it."""

    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x):
        return x * 0.5


def probe_unused():
    """int that is not used, 12 blocks"""
    # effect: -
    return chained([Unused(i) for i in range(DEPTH)])


class Mapped(nn.Module):
    """Uses a number of its own, kept in a buffer."""

    def __init__(self, layer_idx):
        super().__init__()
        self.register_buffer("scale", torch.tensor(1.0 / (1 + layer_idx)), persistent=False)

    def forward(self, x):
        return x * self.scale


def probe_buffer():
    """the number in a buffer, 12 blocks"""
    # effect: -
    return chained([Mapped(i) for i in range(DEPTH)])
