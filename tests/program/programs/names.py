"""Names: what one means that is bound anew, written out by callers, or a method of its own class."""

import torch
from torch import nn

# %% a method is looked up by what all callers write out though it is declared as a text
class Layer(nn.Module):
    def norm(self, x): return x  # compiled: likely
    def scale(self, x): return x  # compiled: likely
    def unused(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
    def forward(self, x): return self.run("norm", self.run("scale", x))  # compiled: certain
    def run(self, method: str, x): return getattr(self.layer, method)(x)  # compiled: certain
net = torch.compile(Net())

# %% a method of which one caller only knows the name is not known
class Layer(nn.Module):
    def norm(self, x): return x
    def scale(self, x): return x
    def unused(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
    def forward(self, x): return self.run("norm", self.run(x.name, x))  # compiled: certain
    def run(self, method: str, x): return getattr(self.layer, method)(x)  # compiled: certain
net = torch.compile(Net())

# %% variables of other files hold what those assign
# file: ops.py
from types import SimpleNamespace
def fast(x): return x  # compiled: certain
def slow(x): return x
ops = SimpleNamespace(run=fast)
# file: a.py
from ops import ops
@torch.compile
def f(x): return ops.run(x)  # compiled: certain
# file: b.py
from ops import *
@torch.compile
def f(x): return ops.run(x)  # compiled: certain

# %% an object with a compile of its own compiles what that compiles
class Block(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block()])
    def forward(self, x): return self.blocks[0](x)
class Pipeline:
    def __init__(self):
        self.net: Net = Net()
        self.compile()
    def compile(self):
        for block in self.net.blocks: block.compile()
Pipeline()

# %% an object with a compile of its own that does something else compiles nothing
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block()])
    def forward(self, x): return self.blocks[0](x)
class Pipeline:
    def __init__(self):
        self.net: Net = Net()
        self.compile()
    def compile(self): self.pattern = 1
Pipeline()
