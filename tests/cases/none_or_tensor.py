"""Attributes that are None or a number at first, and a tensor later."""

import torch
from torch import nn


class LossAccumulator(nn.Module):
    def __init__(self):
        super().__init__()
        self.aux = None

    def forward(self, x):
        loss = x.pow(2).mean()
        self.aux = loss if self.aux is None else self.aux + loss  # expect: DYN103 once
        return x * 2


class LossAccumulatorWithBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.aux = None

    def reset(self):
        self.aux = None

    def forward(self, x):
        loss = x.pow(2).mean()
        if self.aux is None:
            self.aux = loss  # expect: DYN103 once
        else:
            self.aux = self.aux + loss
        return x * 2


class PreviousInput(nn.Module):
    def __init__(self):
        super().__init__()
        self.previous = None

    def forward(self, x):
        previous = self.previous
        self.previous = x  # expect: DYN103 once
        return x * 2 if previous is None else x - previous


class ReturnsWhatWasThere(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        before = self.last
        self.last = x * 2  # expect: DYN103 once
        return x + 1, before


class FadingMemory(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = None

    def forward(self, x):
        if self.keys is not None:
            keys = self.keys * 0.5 + x
        else:
            keys = x + 0
        self.keys = keys  # expect: DYN103 once
        return keys + x


class NumberThenTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = 0

    def forward(self, x):
        self.total = self.total + x.sum()  # expect: DYN103 once
        return x * 2


class PlainLazyCache(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None:
            self.table = torch.arange(4.0)  # expect: DYN104 once
        return x + self.table


class LazyCacheInAHelper(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def _build(self, n):
        self.table = torch.arange(float(n))  # expect: DYN103 once

    def forward(self, x):
        if self.table is None or self.table.shape[0] < x.shape[0]:
            self._build(x.shape[0])
        return x + self.table[: x.shape[0]]


class LazyCacheWithEarlyReturn(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def _table(self):
        if self.table is not None:
            return self.table
        self.table = torch.arange(4.0)  # expect: DYN104 once
        return self.table

    def forward(self, x):
        return x + self._table()


class ResetInsideTheCall(nn.Module):  # quiet: None again before anything reads it
    def __init__(self):
        super().__init__()
        self.aux = None

    def forward(self, x):
        self.aux = None
        loss = x.pow(2).mean()
        self.aux = loss if self.aux is None else self.aux + loss
        return x * 2


class FilledInSetUp(nn.Module):  # quiet: set-up writes it, hot code reads it
    def __init__(self):
        super().__init__()
        self.mask = None

    def set_mask(self, mask: torch.Tensor):
        self.mask = mask

    def forward(self, x):
        return x * 2 if self.mask is None else x * self.mask


class WriteOnlyAuxiliary(nn.Module):  # quiet
    def __init__(self):
        super().__init__()
        self.aux = None

    def forward(self, x):
        self.aux = x.mean()
        return x * 2


class WrittenThenReturned(nn.Module):  # quiet
    def __init__(self):
        super().__init__()
        self.aux = None

    def forward(self, x):
        self.aux = x.mean()
        return x * 2, self.aux


class ZeroBufferAccumulator(nn.Module):  # quiet: the fix
    def __init__(self):
        super().__init__()
        self.register_buffer("aux", torch.zeros(()))

    def forward(self, x):
        self.aux = self.aux + x.detach().mean()
        return x * 2


class FilledByAnotherHalf(nn.Module):  # quiet: what is called on it or asserted says it is never None there
    def __init__(self):
        super().__init__()
        self.scores = None
        self.counts = None

    def dispatch(self, x, first: bool = True):
        if first:
            self.scores = x.softmax(-1)
            self.counts = x.sum(0)
        return x * 2

    def combine(self, x):
        assert self.scores is not None
        return x * self.scores + self.counts.float()

    def forward(self, x):
        return self.combine(self.dispatch(x))


class BufferOrNoneByChoice(nn.Module):  # quiet: one of two in `__init__`, never both
    def __init__(self, count=True):
        super().__init__()
        if count:
            self.register_buffer("load", torch.zeros(4), persistent=False)
        else:
            self.load = None

    def forward(self, x):
        if self.load is not None:
            self.load = self.load + x.sum(0)
        return x * 2


for case in (
    FilledByAnotherHalf,
    BufferOrNoneByChoice,
    LossAccumulator,
    LossAccumulatorWithBranches,
    PreviousInput,
    ReturnsWhatWasThere,
    FadingMemory,
    NumberThenTensor,
    PlainLazyCache,
    LazyCacheInAHelper,
    LazyCacheWithEarlyReturn,
    ResetInsideTheCall,
    FilledInSetUp,
    WriteOnlyAuxiliary,
    WrittenThenReturned,
    ZeroBufferAccumulator,
):
    compiled = torch.compile(case())
