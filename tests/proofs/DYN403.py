"""One program per row of the cost table of DYN403; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)
BATCHES = [(X,), (X * 2,), (-X,)]


class Head(nn.Module):
    """A linear layer."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.proj = nn.Linear(dim, dim)


class Outlier(Head):
    """Treats batches with a large loss differently."""

    def forward(self, x):
        loss = self.proj(x).pow(2).mean()
        if loss > 0.5:  # expect: DYN403 break
            return loss.log1p()
        return loss * 2


def probe_outlier():
    """`if loss > 0.5`"""
    return torch.compile(Outlier()), BATCHES


class Repaired(Head):
    """Repairs scores that are not finite."""

    def forward(self, x):
        scores = self.proj(x)
        if torch.isnan(scores).any() or torch.isinf(scores).any():  # expect: DYN403 break
            scores = torch.nan_to_num(scores)
        return scores.softmax(-1)


def probe_repaired():
    """`if torch.isnan(scores).any() or ...`"""
    return torch.compile(Repaired()), BATCHES


class Shrunk(nn.Module):
    """Halves its input until it is small."""

    def forward(self, x):
        while x.abs().max() > 0.5:  # expect: DYN403 break
            x = x / 2
        return x + 1


def probe_while():
    """`while x.abs().max() > 0.5`"""
    return torch.compile(Shrunk()), BATCHES


class Checked(Head):
    """Asserts, with the shape in the message."""

    def forward(self, x):
        weights = self.proj(x).softmax(-1)
        assert (weights >= 0).all(), f"negative weights in {tuple(x.shape)}"  # expect: DYN403 break
        return weights * 2


def probe_checked():
    """`assert (weights >= 0).all(), f"..."`, a message that is put together"""
    return torch.compile(Checked()), BATCHES


class Worst(Head):
    """Orders two losses."""

    def forward(self, x):
        out = self.proj(x)
        low, high = sorted([out.pow(2).mean(), out.abs().mean()])  # expect: DYN403 break
        return high - 0.5 * low


def probe_sorted():
    """`sorted` of two losses"""
    return torch.compile(Worst()), BATCHES


class Early(nn.Module):
    """Leaves its loop when it has converged."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, dim))

    def forward(self, x):
        for _ in range(4):
            after = torch.tanh(x @ self.weight)
            if (after - x).abs().max() < 1e-3:  # expect: DYN403 eager
                break
            x = after
        return x


def probe_early():
    """`if change < 1e-3: break` in a loop"""
    return torch.compile(Early()), BATCHES


class Chosen(Head):
    """Treats batches with a large loss differently, without a branch."""

    def forward(self, x):
        loss = self.proj(x).pow(2).mean()
        return torch.where(loss > 0.5, loss.log1p(), loss * 2)


def probe_where():
    """`torch.where(loss > 0.5, ...)`"""
    return torch.compile(Chosen()), BATCHES


class Fixed(Head):
    """Asserts, with a fixed message."""

    def forward(self, x):
        weights = self.proj(x).softmax(-1)
        assert (weights >= 0).all(), "negative weights"
        return weights * 2


def probe_fixed_message():
    """the same assertion with a fixed message"""
    return torch.compile(Fixed()), BATCHES


class Larger(Head):
    """Takes the larger of two losses."""

    def forward(self, x):
        out = self.proj(x)
        return max(out.pow(2).mean(), out.abs().mean())


def probe_max():
    """`max` of two losses"""
    return torch.compile(Larger()), BATCHES
