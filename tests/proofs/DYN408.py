"""One program per row of the cost table of DYN408; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Energy(nn.Module):
    """The energy of a state, with the state made ready for a force."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 16)
        self.out = nn.Linear(16, 1)

    def energy(self, x):
        return self.out(self.hidden(x).tanh()).sum()


class AssignedCopy(Energy):
    """Sets the attribute of a copy."""

    def forward(self, x):
        x = x.detach().clone()
        x.requires_grad = True  # expect: DYN408 break
        return self.energy(x)


def probe_assigned():
    """`x.requires_grad = True` on a copy of the input"""
    return torch.compile(AssignedCopy()), [(X,)]


class ReturnedCopy(Energy):
    """Returns the copy that needs a gradient with what was computed of it."""

    def forward(self, x):
        state = (x * 2).detach().requires_grad_()  # expect: DYN408 break
        return state, self.energy(state)


def probe_returned():
    """`state = x.detach().requires_grad_()`, and `state` is returned"""
    return torch.compile(ReturnedCopy()), [(X,)]


class ReturnedResult(nn.Module):
    """Returns only what was computed of the copy."""

    def forward(self, x):
        state = (x * 2).detach().requires_grad_()  # expect: DYN408 break
        return state * state


def probe_result_returned():
    """the same, and only a product of it is returned"""
    return torch.compile(ReturnedResult()), [(X,)]


class FreshNoise(nn.Module):
    """Makes noise that is to be optimised."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        x = self.proj(x)
        shift = torch.zeros(8, requires_grad=True)  # expect: DYN408 break
        return x + shift


def probe_constructor():
    """`torch.zeros(8, requires_grad=True)` in `forward`"""
    return torch.compile(FreshNoise()), [(X,)]


class Rounds(nn.Module):
    """Starts each round from a copy without a history."""

    def forward(self, x):
        for _ in range(2):
            x = (x * 0.5).detach()
            x.requires_grad = True  # expect: DYN408 eager
            x = x * x
        return x


def probe_loop():
    """`x.requires_grad = True` in a loop"""
    return torch.compile(Rounds()), [(X,)]


class Inside(nn.Module):
    """The copy that needs a gradient stays in the region."""

    def forward(self, x):
        state = (x * 2).detach().requires_grad_()
        return (state * state).detach()


def probe_inside():
    """`state = x.detach().requires_grad_()`, and what is returned is detached"""
    return torch.compile(Inside()), [(X,)]


class Given(Energy):
    """The caller made the input need a gradient; the region only asks."""

    def forward(self, x):
        if x.requires_grad:
            x = x * 3
        return self.energy(x)


def probe_given():
    """set by the caller; `forward` only asks for `x.requires_grad`"""
    return torch.compile(Given()), [(X.clone().requires_grad_(),)]


class Frozen(nn.Module):
    """Freezes what is frozen."""

    def __init__(self):
        super().__init__()
        self.teacher = nn.Linear(8, 8)
        self.teacher.requires_grad_(False)

    def forward(self, x):
        self.teacher.requires_grad_(False)
        return self.teacher(x).softmax(-1)


def probe_frozen():
    """`self.teacher.requires_grad_(False)` for a teacher that is frozen"""
    return torch.compile(Frozen()), [(X,)]


class Target(nn.Module):
    """The target carries no gradient: it is detached, or computed under `no_grad`."""

    def __init__(self):
        super().__init__()
        self.online = nn.Linear(8, 8)
        self.target = nn.Linear(8, 8)

    def forward(self, x):
        with torch.no_grad():
            target = self.target(x)
        return (self.online(x) - target.detach()).square().mean()


def probe_detached():
    """`detach()` and `torch.no_grad()` for a target"""
    return torch.compile(Target()), [(X,)]


class Thawed(nn.Module):
    """Trains the head that `__init__` froze."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 8)
        self.head.requires_grad_(False)

    def forward(self, x):
        x = self.body(x).relu()
        self.head.requires_grad_(True)  # expect: DYN408 break
        return self.head(x)


def probe_thawed():
    """`self.head.requires_grad_(True)` for a head that is frozen"""
    return torch.compile(Thawed()), [(X,)]
