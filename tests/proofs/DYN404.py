"""One program per row of the cost table of DYN404; a probe's docstring is the label of its row."""

import torch
import torch.nn.functional as F
from torch import nn

X = torch.randn(6, 8)
MASK = torch.tensor([True, False, True, True, False, True])
IDS = torch.tensor([0, 2, 1, 1, 0, 2])


class MaskedLoss(nn.Module):
    """The loss of the tokens that count."""

    def forward(self, logits, targets, mask: torch.Tensor):
        loss = F.cross_entropy(logits, targets, reduction="none")
        kept = loss[mask.bool()]  # expect: DYN404 break
        return kept.mean()


def probe_mask():
    """`loss[mask.bool()]`, tokens picked by a mask"""
    return torch.compile(MaskedLoss()), [(X, IDS, MASK), (X, IDS, ~MASK)]


class OneExpert(nn.Module):
    """Runs an expert on its tokens."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.expert = nn.Linear(dim, dim)

    def forward(self, x, ids):
        (rows,) = torch.where(ids == 1)  # expect: DYN404 break
        return x.index_add(0, rows, self.expert(x[rows]))


def probe_where():
    """`torch.where(ids == 1)`, the tokens of an expert"""
    return torch.compile(OneExpert()), [(X, IDS), (X, IDS.clamp(max=1))]


class Experts(nn.Module):
    """Runs each expert on its tokens."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.weights = nn.Parameter(torch.randn(3, dim, dim))

    def forward(self, x, ids: torch.Tensor):
        out = x * 0
        for number in range(3):
            rows = (ids == number).nonzero().flatten()  # expect: DYN404 eager
            out = out.index_add(0, rows, x[rows] @ self.weights[number])
        return out


def probe_loop():
    """`nonzero()` in a loop over the experts"""
    return torch.compile(Experts()), [(X, IDS), (X, IDS.clamp(max=1))]


class Expand(nn.Module):
    """Repeats each token as often as a tensor says."""

    def forward(self, x, counts: torch.Tensor):
        x = x * 2
        return x.repeat_interleave(counts, dim=0) + 1  # expect: DYN404 break


def probe_repeat():
    """`repeat_interleave` with a tensor of counts"""
    return torch.compile(Expand()), [(X, torch.tensor([1, 2, 1, 0, 3, 1]))]


class Classes(nn.Module):
    """Turns class numbers into rows of a matrix."""

    def forward(self, ids):
        return F.one_hot(ids).float() * 2  # expect: DYN404 break


def probe_one_hot():
    """`F.one_hot(ids)` without `num_classes`"""
    return torch.compile(Classes()), [(IDS,)]


class Load(nn.Module):
    """The share of tokens that each expert gets."""

    def forward(self, ids):
        counts = torch.bincount(ids, minlength=3)  # expect: DYN404 break
        return counts / counts.sum()


def probe_bincount():
    """`torch.bincount(ids, minlength=3)`"""
    return torch.compile(Load()), [(IDS,)]


class WeighedLoss(nn.Module):
    """The loss of the tokens that count, by arithmetic."""

    def forward(self, logits, targets, mask):
        loss = F.cross_entropy(logits, targets, reduction="none")
        return (loss * mask).sum() / mask.sum()


def probe_weighed():
    """the loss weighed with the mask: `(loss * mask).sum() / mask.sum()`"""
    return torch.compile(WeighedLoss()), [(X, IDS, MASK), (X, IDS, ~MASK)]


class Stored(nn.Module):
    """Overwrites the scores of padding."""

    def forward(self, scores, mask):
        scores = scores * 2
        scores[mask] = -1e9
        return scores.softmax(-1)


def probe_stored():
    """a store where a mask says: `scores[mask] = -1e9`"""
    return torch.compile(Stored()), [(X, MASK), (X, ~MASK)]


class KnownClasses(nn.Module):
    """Turns class numbers into rows of a matrix of known width."""

    def forward(self, ids):
        return F.one_hot(ids, num_classes=3).float() * 2


def probe_known_classes():
    """`F.one_hot(ids, num_classes=3)`"""
    return torch.compile(KnownClasses()), [(IDS,)]
