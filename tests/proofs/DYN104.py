"""One program per row of the cost table of DYN104; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Lazy(nn.Module):
    """Builds its table when it first needs it."""

    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None:
            self.table = torch.arange(8.0)  # expect: DYN104 once
        return x + self.table


def probe_is_none():
    """`if self.table is None: self.table = ...`"""
    return torch.compile(Lazy()), [(X,)]


class Asked(nn.Module):
    """Asks for an attribute that nobody sets at first."""

    def forward(self, x):
        if not hasattr(self, "table"):
            self.table = torch.arange(8.0)  # expect: DYN104 once
        return x + self.table


def probe_hasattr():
    """`if not hasattr(self, "table"): self.table = ...`"""
    return torch.compile(Asked()), [(X,)]


class Registered(nn.Module):
    """Registers a buffer from forward."""

    def forward(self, x):
        self.register_buffer("last", x.detach().mean())  # expect: DYN104 once
        return x * self.last


def probe_register_buffer():
    """`self.register_buffer("last", ...)` in `forward`"""
    return torch.compile(Registered()), [(X,)]


class Moved(nn.Module):
    """Keeps a plain tensor and converts it where it is used."""

    def __init__(self):
        super().__init__()
        self.table = torch.arange(8)

    def forward(self, x):
        self.table = self.table.to(x.dtype)
        return x + self.table


def probe_moved():
    """a plain tensor is replaced by its converted self: `self.table = self.table.to(x.dtype)`"""
    return torch.compile(Moved()), [(X,)]


class Grows(nn.Module):
    """Rebuilds its table when a longer input comes."""

    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        n = x.shape[0]
        if self.table is None or self.table.shape[0] < n:
            self.table = torch.arange(float(n))  # expect: DYN103 once
        return x + self.table[:n, None]


def probe_rebuilt():  # expect: DYN507 once
    """rebuilt for a longer input: `if self.table.shape[0] < x.shape[0]`, 12 lengths"""
    return torch.compile(Grows()), [(torch.randn(length, 8),) for length in range(3, 15)]


class Local(nn.Module):
    """Converts into a local."""

    def __init__(self):
        super().__init__()
        self.table = torch.arange(8)

    def forward(self, x):
        table = self.table.to(x.dtype)
        return x + table


def probe_local():
    """the converted tensor stays in a local"""
    return torch.compile(Local()), [(X,)]


class Left(nn.Module):
    """Leaves a tensor behind for whoever looks."""

    def forward(self, x):
        self.last = x.detach()
        return x * 2


def probe_left_behind():
    """an attribute that compiled code only writes"""
    return torch.compile(Left()), [(X,)]
