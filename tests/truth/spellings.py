"""Counters of compiled code in statements and expressions that are rarely written."""

import torch
from torch import nn

X = torch.ones(4)


# %% a counter that a case captures
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        match {"count": self.n, "kind": "train"}:
            case {"kind": "eval"}:
                pass
            case {"count": int(k), **rest}:
                self.n = k + len(rest)  # expect: DYN101 storm
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% quiet: a case that captures and keeps
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 3

    def forward(self, x):
        match [self.n, 1, 2]:
            case [k, *rest] if len(rest) == 2:
                self.n = k
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter behind super and a computed name
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        super().__setattr__("ca" + "lls", self.calls + 1)  # expect: DYN101 storm
        return x * self.calls


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter in the else of a loop that an assert feeds
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def more(self):
        self.n += 1  # expect: DYN101 storm
        return self.n

    def forward(self, x):
        k = 2
        while k:
            k -= 1
        else:
            assert self.more() > 0
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter that a starred target takes from a merged dict
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        merged = {**{"a": 1}, **{"b": self.n + 1}}
        _, *rest = merged.values()
        self.n = rest[0]  # expect: DYN101 storm
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter that a lambda in a comprehension sets
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        [step() for step in [lambda: setattr(self, "n", self.n + 1)]]  # expect: DYN101 storm
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter whose object adds by a method of its own
class Count:
    def __init__(self):
        self.n = 0

    def __add__(self, other):
        self.n += other  # expect: DYN101 storm
        return self


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = Count()

    def forward(self, x):
        return x * (self.count + 1).n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% quiet: an object that adds and keeps nothing
class Count:
    def __init__(self, n=0):
        self.n = n

    def __add__(self, other):
        return Count(self.n + other)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = Count()

    def forward(self, x):
        return x * (self.count + 1).n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter behind a function of operator
import operator


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n = operator.add(self.n, 1)  # expect: DYN101 storm
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter behind a special method of a number
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n = self.n.__add__(1)  # expect: DYN101 storm
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter that a context manager hands out
import contextlib


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        with contextlib.nullcontext(self.n + 1) as self.n:  # expect: DYN101 storm
            pass
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter in the update of what an object holds
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        vars(self).update(n=self.n + 1)  # expect: DYN101 storm
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% quiet: a number that functions and updates keep
import operator


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 3

    def forward(self, x):
        self.n = operator.mul(self.n, 1)
        vars(self).update(n=self.n.__add__(0))
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter with much eager work before it
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    words = {}
    for first in range(60):
        for second in range(60):
            words.setdefault((first, second), len(words))
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)
