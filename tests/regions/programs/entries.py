"""Entries: which spellings of torch.compile compile what they name, and which only look like it."""

import torch
from torch import nn

# %% a decorated method and a decorated class are compiled
class A(nn.Module):
    @torch.compile
    def step(self, x): return self.inner(x)  # compiled: certain
    def inner(self, x): return x  # compiled: certain
    def forward(self, x): return self.step(x)
@torch.compile
class B(nn.Module):
    def forward(self, x): return x  # compiled: certain

# %% an alias assigned in a function is a decorator too
jit_fuser = torch.jit.script
def enable():
    global jit_fuser
    jit_fuser = torch.compile
@jit_fuser
def f(x): return x  # compiled: certain

# %% circular imports end and resolve
# file: a.py
from b import g
def f(x): return g(x)  # compiled: certain
h = torch.compile(f)
# file: b.py
from a import f
def g(x): return f(x)  # compiled: certain

# %% a replaced torch.compile compiles what the original did and not its replacement
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
    @classmethod
    def unused(cls): ...
def helper(x): return x  # compiled: certain
def cold(x): return x

original = torch.compile
def patched(*args, **kwargs):
    cold(1)
    return original(*args, **kwargs)
torch.compile = patched
@torch.compile
def f(x): return helper(x)  # compiled: certain

# %% star imports of missing modules hide nothing
from missing import *
from .gone import *
def g(x): return x  # compiled: certain
@torch.compile
def f(x): return g(h(x))  # compiled: certain

# %% duplicate module names resolve to the nearest
# file: x/util.py
def g(x): return x  # compiled: certain
# file: y/util.py
def g(x): return x
# file: x/run.py
from util import g
@torch.compile
def f(x): return g(x)  # compiled: certain

# %% modules of a library that are handed one another are followed once
from library import Sequential
class Inner(nn.Module):
    def forward(self, x): return x  # compiled: likely
class First(Sequential, nn.Module): ...
class Second(Sequential, nn.Module): ...
first = First(Inner())
second = Second(first)
first = First(second)
m = torch.compile(first)
