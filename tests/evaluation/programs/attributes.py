"""Attributes: how modules get their parts, one spelling each beside those that give none."""

import torch
from torch import nn

# %% a module passed to the constructor is likely
class Mixer(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Block(nn.Module):
    def __init__(self, mixer):
        super().__init__()
        self.mixer = mixer
    def forward(self, x): return self.mixer(x)  # compiled: certain
m = torch.compile(Block(Mixer()))

# %% what a compiled function is called with under another name is likely
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
def train_step(model, x): return model(x)  # compiled: certain
step = torch.compile(train_step)
def main():
    model = Net()
    step(model, 1)

# %% a wrapped model is found behind `module`
from torch.nn.parallel import DistributedDataParallel as DDP
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
model = DDP(Net())
model.module.compile()
