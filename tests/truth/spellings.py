"""Counters of compiled code in statements and expressions that are rarely written."""

import itertools
import operator
from collections import Counter

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


# %% a counter that a list hands on
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = [0]

    def forward(self, x):
        self.last.insert(0, self.last.pop() + 1)  # expect: DYN101 storm # expect: DYN105 per-value note
        return x * self.last[0]


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% quiet: a list that hands on what it holds
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = [3]

    def forward(self, x):
        self.last.insert(0, self.last.pop())  # expect: DYN105 per-value note
        return x * self.last[0]


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter of itertools
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.numbers = itertools.count()

    def forward(self, x):
        return x * next(self.numbers)  # expect: DYN101 storm


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter that a generator is sent
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def counting(self):
        while True:
            more = yield
            self.n += more  # expect: DYN101 storm

    def forward(self, x):
        running = self.counting()
        next(running)
        running.send(1)
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter of what is seen
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = Counter()

    def forward(self, x):
        self.seen.update(["batch"])  # expect: DYN101 storm # expect: DYN105 once note
        return x * self.seen["batch"]


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter behind a descriptor
class Counted:
    def __get__(self, owner, kind=None):
        return owner.n

    def __set__(self, owner, value):
        owner.n = value  # expect: DYN101 storm


class Model(nn.Module):
    count = Counted()

    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.count += 1
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter that a length counts
class Batches:
    def __init__(self):
        self.n = 0

    def __len__(self):
        self.n += 1  # expect: DYN101 storm
        return self.n


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.batches = Batches()

    def forward(self, x):
        return x * len(self.batches)


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter that a caller of methods asks for
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def bump(self):
        self.n += 1  # expect: DYN101 storm

    def forward(self, x):
        operator.methodcaller("bump")(self)
        return x * self.n


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% a counter in a method of a dict
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = {"n": 0}

    def forward(self, x):
        self.state.__setitem__("n", self.state["n"] + 1)  # expect: DYN101 storm
        return x * self.state["n"]


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
