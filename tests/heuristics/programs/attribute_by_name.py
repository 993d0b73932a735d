"""Guess: an attribute or a method that the whole project has only once is the one that is meant."""

import torch
from torch import nn

# %% the only helper of its name is what an unknown object calls
class Block(nn.Module):
    def forward(self, x): return helper(x)  # compiled: likely
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x):  # compiled: likely
        for layer in self.layers:
            x = layer(x)
        return x
    @classmethod
    def unused(cls): ...
def helper(x): return x  # compiled: likely
def cold(x): return x

from library import Arguments
class Options(Arguments):
    def compile_model(self, model): return torch.compile(model)
options = Options().parse()
fast = options.compile_model(Model())

# %% one of two helpers of a name is not what an unknown object calls
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
def helper(x): return x
def cold(x): return x

from library import Arguments
class Options(Arguments):
    def compile_model(self, model): return torch.compile(model)
options = Options().parse()
class Other:
    def compile_model(self, model): return model
fast = options.compile_model(Model())
