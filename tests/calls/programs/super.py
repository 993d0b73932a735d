"""What a class hands up by `super()` is for its own instances, and not for its siblings."""

import torch
from torch import nn

# %% what a base hands to the method of an heir is what that heir makes
class Block(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block()])
    def forward(self, x): return x
class Row(nn.Module):
    def forward(self, x): return x
class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Row()])
    def forward(self, x): return x
class Trainer:
    def load(self): raise NotImplementedError
    def prepare(self, net): raise NotImplementedError
    def run(self):
        net = self.load()
        self.prepare(net)
class OfSmall(Trainer):
    def load(self): return Small()
    def prepare(self, net):
        net.blocks[0].compile()
class OfLarge(Trainer):
    def load(self): return Large()
    def prepare(self, net): pass

# %% what a base hands to the method of another object may be of any heir
class Block(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block()])
    def forward(self, x): return x
class Row(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Row()])
    def forward(self, x): return x
class Trainer:
    other = None
    def load(self): raise NotImplementedError
    def prepare(self, net): raise NotImplementedError
    def run(self):
        net = self.load()
        self.other.prepare(net)
class OfSmall(Trainer):
    def load(self): return Small()
    def prepare(self, net):
        net.blocks[0].compile()
class OfLarge(Trainer):
    def load(self): return Large()
    def prepare(self, net): pass

trainer = OfLarge()
trainer.other = OfSmall()
trainer.run()
