"""The process environment."""

import functools
import os
import sys

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a variable read with get and flipped by the loop
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if os.environ.get("TRUTH_FAST") == "1" else x * 3  # expect: DYN201 per-value


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_FAST"] = str(i % 2)
        yield run(X)


# %% a variable read by its key and flipped by the loop
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if os.environ["TRUTH_FAST"] == "1" else x * 3  # expect: DYN201 per-value


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_FAST"] = str(i % 2)
        yield run(X)


# %% a variable read with getenv and flipped by the loop
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if os.getenv("TRUTH_FAST", "0") == "1" else x * 3  # expect: DYN301 stale


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_FAST"] = str(i % 2)
        yield run(X)


# %% a number in the environment
class Model(nn.Module):
    def forward(self, x):
        return x * int(os.environ.get("TRUTH_STEP", "0"))  # expect: DYN201 per-value


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_STEP"] = str(i)
        yield run(X)


# %% a number read with getenv
class Model(nn.Module):
    def forward(self, x):
        return x * int(os.getenv("TRUTH_STEP", "0"))  # expect: DYN301 stale


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_STEP"] = str(i)
        yield run(X)


# %% a variable that nobody changes
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if os.environ.get("TRUTH_QUIET") == "1" else x * 3  # expect: DYN201 per-value note


def drive():
    return torch.compile(Model()), [(X,)]


# %% a variable read with getenv that nobody changes
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if os.getenv("TRUTH_QUIET", "0") == "1" else x * 3  # expect: DYN301 stale note


def drive():
    return torch.compile(Model()), [(X,)]


# %% other variables that change
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if os.environ.get("TRUTH_QUIET") == "1" else x * 3  # expect: DYN201 per-value note


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_OTHER"] = str(i)
        yield run(X)


# %% a variable read in a helper
def fast():
    return os.environ.get("TRUTH_FAST") == "1"  # expect: DYN201 per-value


class Model(nn.Module):
    def forward(self, x):
        return x * 2 if fast() else x * 3


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_FAST"] = str(i % 2)
        yield run(X)


# %% a variable read with getenv in another module
from knobs import fast


class Model(nn.Module):
    def forward(self, x):
        return x * 2 if fast() else x * 3


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_FAST"] = str(i % 2)
        yield run(X)


# file: knobs.py
from os import getenv


def fast():
    return getenv("TRUTH_FAST") == "1"  # expect: DYN301 stale


# %% a variable read in __init__
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fast = os.environ.get("TRUTH_FAST") == "1"

    def forward(self, x):
        return x * 2 if self.fast else x * 3


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_FAST"] = str(i % 2)
        yield run(X)


# %% a variable read at import
FAST = os.environ.get("TRUTH_FAST", "0") == "1"


class Model(nn.Module):
    def forward(self, x):
        return x * 2 if FAST else x * 3


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_FAST"] = str(i % 2)
        yield run(X)


# %% a variable that appears later
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if os.environ.get("TRUTH_LATE") else x * 3  # expect: DYN301 stale


def drive():
    os.environ.pop("TRUTH_LATE", None)
    run = torch.compile(Model())
    for i in range(12):
        if i == 4:
            os.environ["TRUTH_LATE"] = "1"
        yield run(X)


# %% a variable that appears later, read with a default
class Model(nn.Module):
    def forward(self, x):
        return x * int(os.environ.get("TRUTH_LATE", "1"))  # expect: DYN301 stale


def drive():
    os.environ.pop("TRUTH_LATE", None)
    run = torch.compile(Model())
    for i in range(12):
        if i == 4:
            os.environ["TRUTH_LATE"] = "3"
        yield run(X)


# %% a variable whose presence is tested and that goes away
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if "TRUTH_FAST" in os.environ else x * 3  # expect: DYN201 per-value


def drive():
    os.environ["TRUTH_FAST"] = "1"
    run = torch.compile(Model())
    for i in range(12):
        if i == 4:
            del os.environ["TRUTH_FAST"]
        yield run(X)


# %% a variable with a default that is stored
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if os.environ.setdefault("TRUTH_FAST", "0") == "1" else x * 3  # expect: DYN201 per-value


def drive():
    os.environ["TRUTH_FAST"] = "0"
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_FAST"] = str(i % 2)
        yield run(X)


# %% a variable behind a memo
@functools.lru_cache
def fast():  # expect: DYN304 stale note
    return os.environ.get("TRUTH_FAST") == "1"  # expect: DYN201 per-value


class Model(nn.Module):
    def forward(self, x):
        return x * 2 if fast() else x * 3


def drive():
    os.environ["TRUTH_FAST"] = "0"
    run = torch.compile(Model())
    for i in range(12):
        if i == 6:
            os.environ["TRUTH_FAST"] = "1"
        yield run(X).shape


# %% the platform
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if sys.platform == "linux" else x * 3


def drive():
    return torch.compile(Model()), [(X,)]


# %% a variable in a property
class Model(nn.Module):
    @property
    def fast(self):
        return os.environ["TRUTH_FAST"] == "1"  # expect: DYN201 per-value

    def forward(self, x):
        return x * 2 if self.fast else x * 3


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_FAST"] = str(i % 2)
        yield run(X)


# %% a variable read only while not compiling
class Model(nn.Module):
    def forward(self, x):
        if not torch.compiler.is_compiling():
            os.environ.get("TRUTH_DEBUG")
        return x * 2


def drive():
    run = torch.compile(Model())
    for i in range(12):
        os.environ["TRUTH_DEBUG"] = str(i)
        yield run(X)
