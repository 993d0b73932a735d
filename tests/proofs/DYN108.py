"""One program per row of the cost table of DYN108; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8, requires_grad=True)


def chained(blocks):
    """A call that compiles each block and runs them one after another."""
    for block in blocks:
        block.compile()

    def call(x):
        for block in blocks:
            x = block(x)
        return x

    return call, [(X,)]


class Dense(nn.Module):
    """One kind of mixer."""

    def forward(self, x):
        return x * 2


class Sparse(nn.Module):
    """The other kind."""

    def forward(self, x):
        return x * 0.5


class Typed(nn.Module):
    """Every fourth block has another mixer."""

    def __init__(self, layer_idx):
        super().__init__()
        self.mixer = Sparse() if layer_idx % 4 == 3 else Dense()  # expect: DYN108 per-instance

    def forward(self, x):
        return self.mixer(x) + 1


def probe_typed():
    """submodule of one of two types, 12 blocks"""
    # effect: per-instance
    return chained([Typed(i) for i in range(12)])


class Optional(nn.Module):
    """Only the first block has a norm."""

    def __init__(self, layer_idx):
        super().__init__()
        self.norm = None
        if layer_idx == 0:
            self.norm = nn.LayerNorm(8)  # expect: DYN108 per-instance

    def forward(self, x):
        return x * 2 if self.norm is None else self.norm(x)


def probe_optional():
    """submodule or None, 12 blocks"""
    # effect: per-instance
    return chained([Optional(i) for i in range(12)])


class Function(nn.Module):
    """Calls what it was given."""

    def __init__(self, activation):
        super().__init__()
        self.activation = activation  # expect: DYN108 per-instance

    def forward(self, x):
        return self.activation(x) * 2


def probe_function():
    """one of two functions, 12 blocks"""
    # effect: per-instance
    return chained([Function(torch.relu if i % 2 else torch.tanh) for i in range(12)])


class Closure(nn.Module):
    """Calls a function that closes over the number of the block."""

    def __init__(self, layer_idx):
        super().__init__()
        self.scale = lambda x: x * layer_idx  # expect: DYN108 per-instance

    def forward(self, x):
        return self.scale(x) + 1


def probe_closure():
    """a lambda over the number of the block, 12 blocks"""
    # effect: per-instance
    return chained([Closure(i) for i in range(12)])


class Wrapping(nn.Module):
    """Puts one wrapper around the forward of every heir."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        forward = cls.forward

        def wrapper(self, x):  # expect: DYN108 per-instance
            return forward(self, x)

        cls.forward = wrapper


class Doubling(Wrapping):
    """One heir."""

    def forward(self, x):
        return x * 2


class Halving(Wrapping):
    """Another one."""

    def forward(self, x):
        return x * 0.5


def probe_wrapped():
    """a wrapper from `__init_subclass__` around two classes"""
    # effect: per-instance
    return chained([Doubling(), Halving()])


class Unlike(nn.Module):
    """One class for each kind, behind one interface."""

    def __init__(self, layer_idx):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return x * self.factor


def probe_alike():
    """submodules and parameters of the same types, 12 blocks"""
    # effect: -
    return chained([Unlike(i) for i in range(12)])
