"""One program per row of the cost table of DYN402; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)
BATCHES = [(X * factor,) for factor in (1.0, 2.0, 3.0, 4.0)]
LENGTHS = [(X, torch.tensor([1, 2, 2, longest])) for longest in (3, 4, 5, 6)]


class ClippedLoss(nn.Module):
    """Divides a loss by its own size."""

    def forward(self, logits):
        loss = logits.pow(2).mean()
        size = loss.item()  # expect: DYN402 break
        return loss / max(size, 1.0)  # expect: DYN109 once


def probe_item():
    """a loss divided by its `.item()`"""
    return torch.compile(ClippedLoss()), BATCHES


class Longest(nn.Module):
    """Cuts a batch off after its longest sequence."""

    def forward(self, x, lengths: torch.Tensor):
        longest = int(lengths.max())  # expect: DYN402 break
        return x[:, :longest] * 2  # expect: DYN109 per-value


def probe_longest():
    """a slice up to `int(lengths.max())`, four lengths"""
    return torch.compile(Longest()), LENGTHS


class Rounds(nn.Module):
    """Refines its input as often as a tensor says."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, rounds: torch.Tensor):
        x = x * 2
        for _ in range(int(rounds)):  # expect: DYN402 storm
            x = torch.tanh(self.proj(x))
        return x


def probe_rounds():
    """`for _ in range(int(rounds))`, twelve numbers of rounds"""
    return torch.compile(Rounds()), [(X, torch.tensor(rounds)) for rounds in range(1, 13)]


class Split(nn.Module):
    """Splits a batch into the tokens of two experts."""

    def forward(self, x, counts):
        x = x * 2
        sizes = counts.tolist()  # expect: DYN402 break
        left, right = x.split(sizes)  # expect: DYN109 storm
        return left.sum(0) - right.sum(0)


def probe_split():
    """`counts.tolist()` for a split, three lists"""
    return torch.compile(Split()), [(X, torch.tensor(counts)) for counts in ([1, 3], [2, 2], [3, 1])]


class Converged(nn.Module):
    """Does one more step unless nothing changed."""

    def forward(self, x):
        after = x.clamp(-1.0, 1.0)
        if torch.equal(x, after):  # expect: DYN402 break
            return after
        return after * 2


def probe_equal():
    """a branch on `torch.equal`"""
    return torch.compile(Converged()), BATCHES


class Scaled(nn.Module):
    """Takes one of three numbers by the best column."""

    def __init__(self):
        super().__init__()
        self.scales = [1.0, 2.0, 3.0]

    def forward(self, x):
        best = x.sum(0).argmax()
        return x * self.scales[best % 3]  # expect: DYN402 break


def probe_list_index():
    """a list indexed by a tensor"""
    return torch.compile(Scaled()), BATCHES


class Penalised(nn.Module):
    """Adds up a number per layer."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, dim))

    def forward(self, x):
        penalty = 0.0
        for _ in range(3):
            x = torch.tanh(x @ self.weight)
            penalty += x.abs().mean().item()  # expect: DYN402 eager
        return x.mean() + 0.1 * penalty


def probe_loop():
    """`penalty += x.abs().mean().item()` in a loop over the layers"""
    return torch.compile(Penalised()), BATCHES


class KeptLoss(nn.Module):
    """Divides a loss by its own size, as a tensor."""

    def forward(self, logits):
        loss = logits.pow(2).mean()
        return loss / loss.detach().clamp(min=1.0)


def probe_kept():
    """the loss kept as a tensor: `loss.detach().clamp(min=1.0)`"""
    return torch.compile(KeptLoss()), BATCHES


class Half(nn.Module):
    """Cuts off in the middle."""

    def forward(self, x):
        half = int(x.shape[-1] / 2)
        return x[:, :half] * float(x.size(0))


def probe_shape():
    """`int` and `float` of a size"""
    return torch.compile(Half()), [(X,)]
