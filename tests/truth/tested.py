"""State of an argument whose class nothing but a test in the compiled code names."""

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


class Pair:
    def __init__(self):
        self.parts = []
        self.seen = {}
        for index in range(2):
            self.seen[index] = bool(len(self.parts) > 1)


# %% a flag in a dict of an object that is asked for its class
class Block(nn.Module):
    def forward(self, x, cache=None):
        seen = False
        if isinstance(cache, Pair):
            seen = cache.seen.get(0)
        if seen:
            return x * 2
        if isinstance(cache, Pair):
            cache.seen[0] = True  # expect: DYN104 once
        return x + 1


def drive():
    block = Block()
    block.compile()
    cache = Pair()
    for _ in range(4):
        yield block(X, cache=cache)


# %% a flag in a dict that compiled code only reads
class Block(nn.Module):
    def forward(self, x, cache=None):
        seen = False
        if isinstance(cache, Pair):
            seen = cache.seen.get(0)
        return x * 2 if seen else x + 1


def drive():
    block = Block()
    block.compile()
    cache = Pair()
    for _ in range(4):
        yield block(X, cache=cache)


# %% an object that is asked for its class, and a local one of another class
class Counter:
    def __init__(self):
        self.seen = {}


class Block(nn.Module):
    def forward(self, x, cache=None):
        if isinstance(cache, Pair):
            x = x + 1
        cache = Counter()
        cache.seen[0] = True
        return x * 2 if cache.seen.get(0) else x


def drive():
    block = Block()
    block.compile()
    for _ in range(4):
        yield block(X, cache=Pair())


# %% a number of an object that is asked for its class
class Tally:
    def __init__(self):
        self.count = 0


class Block(nn.Module):
    def forward(self, x, cache=None):
        if isinstance(cache, Tally):
            cache.count += 1  # expect: DYN101 once
            x = x * cache.count
        return x


def drive():
    block = Block()
    block.compile()
    cache = Tally()
    for _ in range(6):
        yield block(X, cache=cache)
