"""One program per row of the cost table of DYN410; a probe's docstring is the label of its row."""

import functools

import torch
from torch import nn

X = torch.randn(2, 4, 8)


class Embedded(nn.Module):
    """Scales the tokens by a number that is computed at the first use."""

    def __init__(self):
        super().__init__()
        self.dim = 8
        self.proj = nn.Linear(8, 8)

    @functools.cached_property
    def embed_scale(self):
        return self.dim**0.5

    def forward(self, x):
        x = x * self.embed_scale  # expect: DYN410 eager
        return self.proj(x).relu()


def probe_number():
    """a number of the module: `self.embed_scale`"""
    return torch.compile(Embedded()), [(X,)]


class Positioned(nn.Module):
    """Adds a table of positions that is built at the first use."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    @functools.cached_property
    def positions(self):
        rates = 10_000 ** (-torch.arange(0, 8, 2) / 8)
        angles = torch.arange(16)[:, None] * rates
        return torch.cat([angles.sin(), angles.cos()], dim=-1)

    def forward(self, x):
        x = x + self.positions[: x.shape[1]]  # expect: DYN410 eager
        return self.proj(x).relu()


def probe_tensor():
    """a tensor of the module: `self.positions`"""
    return torch.compile(Positioned()), [(X,)]


class Shapes:
    """Sizes of a model that are derived at the first use."""

    def __init__(self, dim, heads):
        self.dim, self.heads = dim, heads

    @functools.cached_property
    def head_dim(self):
        return self.dim // self.heads


class OfShapes(nn.Module):
    """Asks an object that is no module for a derived size."""

    def __init__(self):
        super().__init__()
        self.shapes = Shapes(8, 2)

    def forward(self, x):
        return x.unflatten(-1, (2, self.shapes.head_dim)).softmax(-1)  # expect: DYN410 eager


def probe_object():
    """a number of an object that is no module: `self.shapes.head_dim`"""
    return torch.compile(OfShapes()), [(X,)]


class Alibi(nn.Module):
    """Attention scores with a bias by distance, whose slope a method asks for."""

    def __init__(self):
        super().__init__()
        self.qk = nn.Linear(8, 16)

    @functools.cached_property
    def slope(self):
        return 2.0**-4

    def bias(self, length):
        distance = torch.arange(length) - torch.arange(length)[:, None]
        return distance * self.slope  # expect: DYN410 break

    def forward(self, x):
        q, k = self.qk(x).chunk(2, dim=-1)
        return (q @ k.mT + self.bias(x.shape[1])).softmax(-1)


def probe_helper():
    """a number, in a helper that `forward` calls"""
    return torch.compile(Alibi()), [(X,)]


class Touched(nn.Module):
    """Scales the tokens by a number that the constructor asked for."""

    def __init__(self):
        super().__init__()
        self.dim = 8
        self.proj = nn.Linear(8, 8)
        _ = self.early_scale

    @functools.cached_property
    def early_scale(self):
        return self.dim**0.5

    def forward(self, x):
        x = x * self.early_scale
        return self.proj(x).relu()


def probe_touched():
    """a cached property that `__init__` asked for"""
    return torch.compile(Touched()), [(X,)]


class Derived(nn.Module):
    """Scales the tokens by a plain property, which Dynamo follows."""

    def __init__(self):
        super().__init__()
        self.dim = 8
        self.proj = nn.Linear(8, 8)

    @property
    def plain_scale(self):
        return self.dim**0.5

    def forward(self, x):
        x = x * self.plain_scale
        return self.proj(x).relu()


def probe_property():
    """a plain `property`"""
    return torch.compile(Derived()), [(X,)]


class SetUp(nn.Module):
    """Adds a table of positions that set-up code asked for."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    @functools.cached_property
    def early_positions(self):
        return torch.arange(16)[:, None] / 16

    def forward(self, x):
        x = x + self.early_positions[: x.shape[1]]
        return self.proj(x).relu()


def probe_set_up():
    """a cached property that set-up code asked for before the first compiled call"""
    model = SetUp()
    assert model.early_positions.shape == (16, 1)
    return torch.compile(model), [(X,)]
