"""Protocols: methods that syntax runs, such as `__getattr__`, `__iter__`, `__call__` and properties."""

import torch
from torch import nn

# %% the context of an autograd function is set up inside the region
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

class F(torch.autograd.Function):
    @staticmethod
    def forward(x): return x  # compiled: certain
    @staticmethod
    def setup_context(ctx, inputs, output): helper(1)  # compiled: certain
    @staticmethod
    def other(x): return cold(x)
@torch.compile
def f(x): return F.apply(x)  # compiled: certain

# %% properties, nested functions and function arguments are traced
from torch.utils.checkpoint import checkpoint
class A(nn.Module):
    @property
    def scale(self): return self._scale()  # compiled: certain
    def _scale(self): return 2  # compiled: certain
    @scale.setter
    def scale(self, v): rebuild()
    def forward(self, x):  # compiled: certain
        def inner(y): return deep(y)  # compiled: certain
        return checkpoint(self.body, inner(x) * self.scale)
    def body(self, x): return x  # compiled: likely
def deep(y): return y  # compiled: certain
def rebuild(): ...
m = torch.compile(A())

# %% a property setter is traced only where the property is set
class A(nn.Module):
    @property
    def n(self): return self._n
    @n.setter
    def n(self, v): check(v)  # compiled: certain
    def forward(self, x):  # compiled: certain
        self.n = 3
        return x
def check(v): ...  # compiled: certain
m = torch.compile(A())

# %% autograd functions are traced through apply
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return up(x)  # compiled: certain
    @staticmethod
    def backward(ctx, g): return down(g)  # compiled: certain
def up(x): return x  # compiled: certain
def down(x): return x  # compiled: certain
@torch.compile
def f(x): return F.apply(x)  # compiled: certain
