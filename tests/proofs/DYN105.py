"""One program per row of the cost table of DYN105; a probe's docstring is the label of its row."""

from collections import deque

import torch
from torch import nn

X = torch.randn(4, 8)


class Append(nn.Module):
    """Keeps every loss."""

    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.append(x.mean())  # expect: DYN105 storm
        return x * 2


def probe_append():
    """a list grows: `self.losses.append(loss)`"""
    return torch.compile(Append()), [(X,)]


class Window(nn.Module):
    """Keeps the last three losses."""

    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.append(x.mean())  # expect: DYN105 per-value
        if len(self.losses) > 3:
            self.losses.pop(0)
        return x * 2


def probe_window():
    """a list of at most 3: `if len(self.losses) > 3: self.losses.pop(0)`"""
    return torch.compile(Window()), [(X,)]


class Ring(nn.Module):
    """Keeps the last 32 losses."""

    def __init__(self):
        super().__init__()
        self.losses = deque(maxlen=32)

    def forward(self, x):
        self.losses.append(x.mean())  # expect: DYN105 storm
        return x * 2


def probe_long_deque():
    """`deque(maxlen=32)`"""
    return torch.compile(Ring()), [(X,)]


class Cache(nn.Module):
    """Keeps one table per length."""

    def __init__(self):
        super().__init__()
        self.tables = {}

    def forward(self, x):
        n = x.shape[0]
        if n not in self.tables:
            self.tables[n] = torch.arange(float(n))  # expect: DYN105 storm
        return x + self.tables[n][:, None]


def probe_one_length():
    """a dict keyed by a size, always the same size"""
    return torch.compile(Cache()), [(X,)]


def probe_many_lengths():
    """a dict keyed by a size, 12 sizes"""
    return torch.compile(Cache()), [(torch.randn(length, 8),) for length in range(3, 15)]


class Named(nn.Module):
    """Notes a value under a new name."""

    def __init__(self):
        super().__init__()
        self.log = {}

    def forward(self, x):
        self.log["loss"] = x.mean()  # expect: DYN105 once
        return x * 2


def probe_new_key():
    """a key that is not there at first: `self.log["loss"] = loss`"""
    return torch.compile(Named()), [(X,)]


class Preset(nn.Module):
    """Notes a value under a name that is there."""

    def __init__(self):
        super().__init__()
        self.log = {"loss": None}

    def forward(self, x):
        self.log["loss"] = x.mean()
        return x * 2


def probe_preset_key():
    """the same, with the key there from the start"""
    return torch.compile(Preset()), [(X,)]


class Rebuilt(nn.Module):
    """Starts a new list in every call."""

    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses = []
        self.losses.append(x.mean())
        return x * 2


def probe_rebuilt():
    """a list that every call builds anew"""
    return torch.compile(Rebuilt()), [(X,)]
