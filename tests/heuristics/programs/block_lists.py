"""Guess: the one family of modules that has a list of this name is the model whose blocks are compiled."""

import torch
from torch import nn

# %% a list that two families have says nothing
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
        self.head = nn.Linear(2, 2)
    def forward(self, x): return x

class Refiner(nn.Module):
    def forward(self, x): return x
class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Refiner()])
    def forward(self, x): return x
def apply(model):
    for b in model.blocks: b.compile(fullgraph=True)
