"""One program per row of the cost table of DYN407; a probe's docstring is the label of its row."""

import torch
import torch.nn.functional as F
from torch import nn

X = torch.randn(4, 8)


class NormOfAnyWidth(nn.Module):
    """Normalises by a layer that fits the width of the input."""

    def forward(self, x):
        norm = nn.LayerNorm(x.shape[-1])  # expect: DYN407 break
        return norm(x * 2) + x


def probe_norm():
    """`nn.LayerNorm(x.shape[-1])` in `forward`"""
    return torch.compile(NormOfAnyWidth()), [(X,)]


class Shortcut(nn.Module):
    """A residual block that makes the projection of its shortcut when the widths differ."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16)

    def forward(self, x):
        y = self.up(x).relu()
        return y + self.project(x, y.shape[-1])

    def project(self, x, width):
        return nn.Linear(x.shape[-1], width)(x)  # expect: DYN407 break


def probe_shortcut():
    """`nn.Linear(...)` in a helper that `forward` calls"""
    return torch.compile(Shortcut()), [(X,)]


class Mixer(nn.Module):
    """Mixes tokens by an attention that fits the number of heads it is told."""

    def __init__(self, heads: int = 2):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        x = self.norm(x)
        mix = nn.MultiheadAttention(8, self.heads, batch_first=True)  # expect: DYN407 break
        return x + mix(x, x, x, need_weights=False)[0]


def probe_attention():
    """`nn.MultiheadAttention(...)` in `forward`"""
    return torch.compile(Mixer()), [(X[None],)]


class Positions(nn.Module):
    """Adds an embedding of the positions to the tokens."""

    def forward(self, x):
        x = x * 8**0.5
        table = nn.Embedding(x.shape[0], x.shape[1])  # expect: DYN407 break
        return x + table.weight


def probe_embedding():
    """`nn.Embedding(...)` in `forward`"""
    return torch.compile(Positions()), [(X,)]


class Gated(nn.Module):
    """Scales the output of a layer by a gate that starts at zero."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        y = self.proj(x)
        gate = nn.Parameter(torch.zeros(8))  # expect: DYN407 break
        return x + gate.tanh() * y


def probe_parameter():
    """`nn.Parameter(torch.zeros(8))` in `forward`"""
    return torch.compile(Gated()), [(X,)]


class Stack(nn.Module):
    """Normalises before each round by a layer of its own."""

    def forward(self, x):
        for _ in range(2):
            norm = nn.LayerNorm(8)  # expect: DYN407 eager
            x = x + norm(x).relu()
        return x


def probe_loop():
    """`nn.LayerNorm(8)` in a loop"""
    return torch.compile(Stack()), [(X,)]


class Loss(nn.Module):
    """Builds its loss and its activation where it needs them; neither has a parameter."""

    def forward(self, x, target):
        scores = nn.LogSoftmax(dim=-1)(nn.GELU()(x))
        return nn.KLDivLoss(reduction="batchmean")(scores, target)


def probe_without_parameters():
    """`nn.GELU()`, `nn.LogSoftmax(...)` and `nn.KLDivLoss(...)` in `forward`"""
    return torch.compile(Loss()), [(X, X.softmax(-1))]


class PlainNorm(nn.Module):
    """A normalisation without weights, as before adaptive modulation."""

    def __init__(self):
        super().__init__()
        self.modulate = nn.Linear(8, 16)

    def forward(self, x):
        shift, scale = self.modulate(x).chunk(2, dim=-1)
        return nn.LayerNorm(8, elementwise_affine=False)(x) * (1 + scale) + shift


def probe_not_affine():
    """`nn.LayerNorm(8, elementwise_affine=False)` in `forward`"""
    return torch.compile(PlainNorm()), [(X,)]


class FunctionalNorm(nn.Module):
    """The parameters are made once; the operation is a function."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.weight) + x


def probe_functional():
    """`F.layer_norm` with a parameter that `__init__` made"""
    return torch.compile(FunctionalNorm()), [(X,)]


class Projection(nn.Module):
    """A module of the project, with a layer of its own."""

    def __init__(self, width: int):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x).relu()


class ProjectionOfAnyWidth(nn.Module):
    """Builds such a module in each call."""

    def forward(self, x):
        project = Projection(x.shape[-1])  # expect: DYN407 break
        return project(x * 2) + x


def probe_project_module():
    """a module of the project whose `__init__` makes a layer, in `forward`"""
    return torch.compile(ProjectionOfAnyWidth()), [(X,)]
