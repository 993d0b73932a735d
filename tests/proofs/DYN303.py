"""One program per row of the cost table of DYN303; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)
UNSAFE = {"guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe}


class Counter(nn.Module):
    """Counts its calls."""

    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        return x * self.n


def probe_counter():
    """int attribute `+= 1`, guards on modules skipped"""
    # effect: stale
    return torch.compile(Counter(), options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe}), [
        (X,)
    ]


class Flag(nn.Module):
    """Takes turns."""

    def __init__(self):
        super().__init__()
        self.odd = False

    def forward(self, x):
        self.odd = not self.odd  # expect: DYN303 stale
        return x * 2 if self.odd else x * 3


def probe_flag():
    """bool attribute that flips, guards on modules skipped"""
    # effect: stale
    return torch.compile(Flag(), options=UNSAFE), [(X,)]


class Buffer(nn.Module):
    """Counts in a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()), persistent=False)

    def forward(self, x):
        self.n = self.n + 1
        return x * self.n


def probe_buffer():
    """the counter in a buffer, guards on modules skipped"""
    # effect: -
    return torch.compile(Buffer(), options=UNSAFE), [(X,)]
