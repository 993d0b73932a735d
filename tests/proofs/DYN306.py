"""One program per row of the cost table of DYN306; a probe's docstring is the label of its row."""

import random

import torch
from torch import nn

X = torch.randn(4, 8)
SOURCE = random.Random(0)


class Block(nn.Module):
    """A residual layer with a source of random numbers of its own."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.source = random.Random(0)
        self.proj = nn.Linear(dim, dim)


class Weighted(Block):
    """Weighs the residual by chance."""

    def forward(self, x):
        return x + self.proj(x) * self.source.random()  # expect: DYN306 stale


def probe_weighted():
    """`x * self.source.random()`"""
    return torch.compile(Weighted()), [(X,)]


class Jittered(Block):
    """Draws from a range, in a method."""

    def forward(self, x):
        return x + self.proj(x) * self.gain()

    def gain(self):
        return self.source.uniform(0.8, 1.2)  # expect: DYN306 stale


def probe_jittered():
    """`self.source.uniform(0.8, 1.2)` in a method that `forward` calls"""
    return torch.compile(Jittered()), [(X,)]


class GlobalSource(Block):
    """Draws from a source that the whole file shares."""

    def forward(self, x):
        return x + self.proj(x) * SOURCE.random()  # expect: DYN306 stale


def probe_global_source():
    """`SOURCE.random()` of a global `random.Random(0)`"""
    return torch.compile(GlobalSource()), [(X,)]


class Scaled(Block):
    """Scales the residual by a small whole number."""

    def forward(self, x):
        times = self.source.randint(1, 3)  # expect: DYN306 stale
        return x + self.proj(x) * times


def probe_scaled():
    """`self.source.randint(1, 3)`"""
    return torch.compile(Scaled()), [(X,)]


class Skipped(Block):
    """Leaves the layer out now and then: stochastic depth."""

    def forward(self, x):
        if self.source.random() < 0.5:  # expect: DYN306 stale
            return x * 1
        return x + self.proj(x)


def probe_skipped():
    """`if self.source.random() < 0.5:`"""
    return torch.compile(Skipped()), [(X,)]


class ModuleLevel(Block):
    """Draws from the functions of the module `random`, which Dynamo knows."""

    def forward(self, x):
        return x + self.proj(x) * random.randint(1, 3) * random.uniform(0.8, 1.2)


def probe_module_level():
    """`random.uniform` and `random.randint` of the module `random`"""
    return torch.compile(ModuleLevel()), [(X,)]


class InGraph(Block):
    """Tosses the coin in the graph."""

    def forward(self, x):
        keep = torch.rand((), device=x.device) < 0.5
        return x + self.proj(x) * keep


def probe_in_graph():
    """`torch.rand(()) < 0.5` in the graph"""
    return torch.compile(InGraph()), [(X,)]


class Given(Block):
    """Gets the number as a tensor."""

    def forward(self, x, gain):
        return x + self.proj(x) * gain


def probe_given():
    """the source is asked by the caller, who passes a tensor"""
    model, source = torch.compile(Given()), random.Random(0)

    def step(x):
        return model(x, torch.tensor(source.random()))

    return step, [(X,)]
