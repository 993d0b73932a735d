"""Declared regions: comments, markers and settings that say what is compiled."""

import torch
from torch import nn

# %% region comments declare and eager comments cut
# dynamo-lint: region
class MoE(nn.Module):
    def forward(self, x):  # compiled: certain
        self.note(x)
        return route(x)
    # dynamo-lint: eager
    def note(self, x): write(x)
def route(x): return x  # compiled: certain
def write(x): ...

# %% what stands between region begin and end is compiled and nothing else
def before(x): return x
# dynamo-lint: region-begin
def inside(x): return called(x)  # compiled: certain
class Block(torch.nn.Module):
    def __init__(self): setup()
    def forward(self, x): return x  # compiled: certain
# dynamo-lint: region-end
def called(x): return x  # compiled: certain
def setup(): ...
def after(x): return inside(x)
