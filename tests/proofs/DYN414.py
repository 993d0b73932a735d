"""One program per row of the cost table of DYN414; a probe's docstring is the label of its row."""

import torch
import torch.nn.functional as F
from torch import nn

X = torch.randn(4, 8)


class Block(nn.Module):
    """A residual layer, to which subclasses add noise."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.proj = nn.Linear(dim, dim)


class Seeded(Block):
    """Every call drops the same features."""

    def forward(self, x):
        h = self.proj(x)
        torch.manual_seed(0)  # expect: DYN414 break
        return x + F.dropout(h, 0.1)


def probe_seeded():
    """`torch.manual_seed(0)` in `forward`"""
    return torch.compile(Seeded()), [(X,)]


class SeededRounds(Block):
    """A seed for each round."""

    def forward(self, x):
        for k in range(3):
            torch.manual_seed(k)  # expect: DYN414 eager
            x = x + F.dropout(self.proj(x), 0.1)
        return x


def probe_seeded_rounds():
    """`torch.manual_seed(k)` in a loop of `forward`"""
    return torch.compile(SeededRounds()), [(X,)]


class Repeated(Block):
    """Two tensors lose the same features."""

    def forward(self, x):
        h = self.proj(x)
        state = torch.get_rng_state()  # expect: DYN414 break
        h = F.dropout(h, 0.1)
        torch.set_rng_state(state)  # expect: DYN414 break
        return h + F.dropout(x, 0.1)


def probe_repeated():
    """`torch.get_rng_state()` and `torch.set_rng_state(state)`"""
    return torch.compile(Repeated()), [(X,)]


class Forked(Block):
    """What is drawn in the block leaves the random numbers of others alone."""

    def forward(self, x):
        h = self.proj(x)
        with torch.random.fork_rng(devices=[]):  # expect: DYN414 break
            h = F.dropout(h, 0.1)
        return x + h


def probe_forked():
    """`with torch.random.fork_rng():`"""
    return torch.compile(Forked()), [(X,)]


class OwnSource(Block):
    """The noise comes from a generator that the layer keeps."""

    def __init__(self):
        super().__init__()
        self.source = torch.Generator()
        self.source.manual_seed(0)

    def forward(self, x):
        noise = torch.rand(4, 8, generator=self.source)  # expect: DYN414 break
        return x + self.proj(x) * noise


def probe_own_source():
    """a generator that the module keeps: `torch.rand(4, 8, generator=self.source)`"""
    return torch.compile(OwnSource()), [(X,)]


class NewSource(Block):
    """The noise comes from a generator that each call makes."""

    def forward(self, x):
        h = self.proj(x)
        source = torch.Generator()  # expect: DYN414 break
        source.manual_seed(0)  # expect: DYN414 break
        noise = torch.rand(4, 8, generator=source)  # expect: DYN414 break
        return x + h * noise


def probe_new_source():
    """a generator that each call makes and seeds"""
    return torch.compile(NewSource()), [(X,)]


class Filled(Block):
    """Random signs, filled in place."""

    def forward(self, x):
        h = self.proj(x)
        sign = torch.empty_like(x).random_(2)  # expect: DYN414 break
        return x + h * (2 * sign - 1)


def probe_filled():
    """`torch.empty_like(x).random_(2)`"""
    return torch.compile(Filled()), [(X,)]


class Plain(Block):
    """Draws from the default generator and leaves its state alone."""

    def forward(self, x):
        keep = torch.rand(x.shape[0], 1, device=x.device) < 0.9
        noise = torch.empty_like(x).uniform_()
        return x + F.dropout(self.proj(x) + noise, 0.1) * keep


def probe_plain():
    """`torch.rand`, `uniform_` and dropout with the default generator"""
    return torch.compile(Plain()), [(X,)]


def probe_seeded_before():
    """the same, with `torch.manual_seed(0)` before each call"""
    model = torch.compile(Plain())

    def step(x):
        torch.manual_seed(0)
        return model(x)

    return step, [(X,)]
