"""One program per row of the cost table of DYN415; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Block(nn.Module):
    """A residual layer with a buffer that keeps something of an earlier call."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, dim)
        self.register_buffer("kept", torch.zeros(4, dim))


class Halved(Block):
    """Keeps the hidden state in half precision."""

    def forward(self, x):
        h = self.proj(self.norm(x)).detach()
        h.data = h.data.half()  # expect: DYN415 break
        return x + h.float()


def probe_halved():
    """another dtype for a local tensor: `h.data = h.data.half()`"""
    return torch.compile(Halved()), [(X,)]


class HalvedRows(Block):
    """The same, row by row."""

    def forward(self, x):
        for row in self.proj(x).detach():
            row.data = row.data.half()  # expect: DYN415 eager
            x = x + row.float()
        return x


def probe_halved_rows():
    """the same in a loop"""
    return torch.compile(HalvedRows()), [(X,)]


class HalvedGain(Block):
    """A parameter in half precision from the first call on."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(8))

    def forward(self, x):
        self.gain.data = self.gain.data.bfloat16()  # expect: DYN415 break
        return x + self.norm(x) * self.gain


def probe_halved_gain():
    """another dtype for a parameter: `self.gain.data = self.gain.data.bfloat16()`"""
    return torch.compile(HalvedGain()), [(X,)]


class Resized(Block):
    """An output that is made empty and gets its size later."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        out = torch.empty(0)
        out.resize_(4, 8)  # expect: DYN415 break
        out.copy_(h.detach())
        return x + out


def probe_resized():
    """`resize_` of a local tensor"""
    return torch.compile(Resized()), [(X,)]


class ResizedBuffer(Block):
    """A buffer that takes the size of the input."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        self.kept.resize_(x.shape)  # expect: DYN415 break
        self.kept.copy_(h.detach())
        return x + self.kept


def probe_resized_buffer():
    """`resize_` of a buffer, to the size that it has"""
    return torch.compile(ResizedBuffer()), [(X,)]


class Offset(Block):
    """Asks where a slice begins in its storage."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        rest = h[1:]
        return x[1:] + rest * rest.storage_offset()  # expect: DYN415 break


def probe_offset():
    """`storage_offset()`"""
    return torch.compile(Offset()), [(X,)]


class Shared(Block):
    """Hands the hidden state to the process that draws it."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        self.kept.copy_(h.detach())
        self.kept.share_memory_()  # expect: DYN415 break
        return x + h


def probe_shared():
    """`share_memory_()`"""
    return torch.compile(Shared()), [(X,)]


class Averaged(Block):
    """Writes new values into the storage that is there."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        self.kept.data.mul_(0.9).add_(h.detach(), alpha=0.1)
        return x + self.kept


def probe_averaged():
    """values in place: `self.kept.data.mul_(0.9).add_(h.detach(), alpha=0.1)`"""
    return torch.compile(Averaged()), [(X,)]


class Replaced(Block):
    """Another storage, of the same shape and dtype."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        self.kept.data = h.detach()
        return x + self.kept


def probe_replaced():
    """a storage of the same shape and dtype: `self.kept.data = h.detach()`"""
    return torch.compile(Replaced()), [(X,)]
