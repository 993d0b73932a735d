"""Ways by which models come to where they are compiled, each as Dynamo sees it, and what must stay quiet."""

import torch
from torch import nn

# %% what a hook for heirs does with one is not what it does with another
def helper(x): return x * 2  # compiled: certain
def other(x): return x + 1

class Net(nn.Module):
    def forward(self, x): return helper(x)
class Other(nn.Module):
    def forward(self, x): return other(x)

class Base(nn.Module):
    def __init_subclass__(cls):
        inner = cls.forward
        def forward(self, x): return inner(self, x)  # compiled: likely
        cls.forward = forward
class Used(Base):
    def forward(self, x): return helper(x)  # compiled: certain
class Unused(Base):
    def forward(self, x): return other(x)
fast = torch.compile(Used())
