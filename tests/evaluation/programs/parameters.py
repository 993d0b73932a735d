"""Parameters: what flows into them out of tables, partials and calls."""

import torch
from torch import nn

# %% a factory gives each call what it passed
class A(nn.Module):
    def forward(self, x): return x  # compiled: likely
class B(nn.Module):
    def forward(self, x): return x
def prepare(model):
    model.eval()
    return model
a = torch.compile(prepare(A()))
b = prepare(B())

# %% a caller that turns out to be compiled later counts too
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
def helper(x): return x  # compiled: likely
def cold(x): return x  # compiled: likely

def apply(fn, x): return fn(x)  # compiled: certain
@torch.compile
def first(x): return apply(helper, x)  # compiled: certain
@torch.compile
def second(x): return third(x)  # compiled: certain
def third(x): return apply(cold, x)  # compiled: certain

# %% a function that is compiled itself gets what eager code passes to it
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
def helper(x): return x  # compiled: likely
def cold(x): return x
@torch.compile
def run(fn, x): return fn(x)  # compiled: certain
def main(x): return run(helper, x)
