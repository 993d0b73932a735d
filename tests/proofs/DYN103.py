"""One program per row of the cost table of DYN103; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Router(nn.Module):
    """Sums its balance loss over calls."""

    def __init__(self):
        super().__init__()
        self.aux = None

    def forward(self, x):
        loss = x.pow(2).mean()
        self.aux = loss if self.aux is None else self.aux + loss  # expect: DYN103 once
        return x * 2


def probe_never_reset():
    """starts as None, never reset"""
    router = Router()
    return torch.compile(router), [(X,)]


def probe_reset_every_third_call():
    """starts as None, reset to None every third call"""
    router = Router()
    compiled = torch.compile(router)
    done = [0]

    def call(x):
        if done[0] % 3 == 0:
            router.aux = None
        done[0] += 1
        return compiled(x), router.aux

    return call, [(X,)]


def probe_reset_before_every_call():
    """starts as None, reset to None before every call"""
    router = Router()
    compiled = torch.compile(router)

    def call(x):
        router.aux = None
        return compiled(x), router.aux

    return call, [(X,)]


class Total(nn.Module):
    """A sum that starts as the number 0."""

    def __init__(self):
        super().__init__()
        self.total = 0

    def forward(self, x):
        self.total = self.total + x.mean()  # expect: DYN103 once
        return x * 2


def probe_starts_as_a_number():
    """starts as the number 0: `self.total = self.total + x.mean()`"""
    return torch.compile(Total()), [(X,)]


class Gate(nn.Module):
    """A loss with a gradient, summed in a buffer."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.register_buffer("aux", torch.zeros(()), persistent=False)

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        loss = probs.mean(0).pow(2).sum()
        self.aux = self.aux + loss  # expect: DYN110 once
        return probs


def probe_buffer_with_gradient():
    """starts as a zero buffer, the sum keeps its gradient: `self.aux = self.aux + loss`"""
    return torch.compile(Gate()), [(X,)]


class WatchedGate(Gate):
    """The same, for the log only."""

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        loss = probs.mean(0).pow(2).sum()
        self.aux = self.aux + loss.detach()
        return probs


def probe_buffer_detached():
    """starts as a zero buffer, the sum is detached: `self.aux = self.aux + loss.detach()`"""
    return torch.compile(WatchedGate()), [(X,)]


class LastGate(nn.Module):
    """Only the loss of the last call, in a plain attribute."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.aux = torch.zeros(())

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        self.aux = probs.mean(0).pow(2).sum()
        return probs


def probe_overwritten():
    """a plain attribute, overwritten by every call and summed by the caller"""
    gate = LastGate()
    compiled = torch.compile(gate)
    total = torch.zeros(())

    def call(x):
        nonlocal total
        probs = compiled(x)
        total = total + gate.aux
        return probs, total

    return call, [(X,)]
