"""Selection: which modules a test of names, classes and keys chooses in a loop."""

import torch
from torch import nn

# %% a loop over a table of the file chooses no module that somebody hands in
TABLE = {}
def run(model, key):
    for name, part in TABLE.items():
        if is_wanted(part, key):
            part.compile()
            return torch.compile(part)

# %% a method bound in a loop is bound to the module that has it
import types
class Stepping(nn.Module):
    def step(self, x): return x  # compiled: likely
    def forward(self, x): return self.step(x)  # compiled: likely
class Still(nn.Module):
    def step(self, x): return x
    def forward(self, x): return x  # compiled: likely
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Stepping(), Still()
        for part in self.children(): part.run = types.MethodType(part.forward.__func__, part)
fast = torch.compile(Pair().first.run)

# %% a list of class names chooses below the class that has it
class Attn(nn.Module):
    def forward(self, x): return x  # compiled: likely
class MLP(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.mlp = Attn(), MLP()
    def forward(self, x): return self.mlp(self.attn(x))  # compiled: likely
class Head(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(n)])
        self.head = Head()
    def forward(self, x): return self.head(x)
class Named(Model):
    repeated = ["Block"]

def apply(model):
    repeated = getattr(model, "repeated", None)
    for part in model.modules():
        if part.__class__.__name__ in repeated:
            part.compile()
