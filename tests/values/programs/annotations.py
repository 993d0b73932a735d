"""Annotations: what a declared class or protocol says of a parameter, and what callers say against it."""

import torch
from torch import nn

# %% what is injected against the annotation of a constructor is likely
class Attention(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Other(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Never(nn.Module):
    def forward(self, x): return x
class Block(nn.Module):
    def __init__(self, attn: Attention):
        super().__init__()
        self.attn = attn
    def forward(self, x): return self.attn(x)  # compiled: certain
b = Block(Other())
b.compile()

# %% what is passed to an annotated function is no evidence against its annotation
class Model(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Adapted(Model):
    def forward(self, x): return x
@torch.compile
def step(model: Model, x): return model(x)  # compiled: certain
def eager_only(x): return step(Adapted(), x)

# %% a parameter that is declared as a protocol is what callers pass
from typing import Protocol
class Compilable(Protocol):
    layers: nn.ModuleDict
class Block(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"0": Block()})
def apply(model: Compilable):
    for name, block in model.layers.items():
        model.layers[name] = torch.compile(block)
apply(Model())

# %% a parameter that is declared as a class is what that says
from typing import Protocol
class Compilable(Protocol):
    layers: nn.ModuleDict
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"0": Block()})
class Head(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({'0': Head()})
def apply(model: Other):
    for name, block in model.layers.items():
        model.layers[name] = torch.compile(block)
apply(Model())

# %% a protocol that nobody is passed for names no code
from typing import Protocol
class Compilable(Protocol):
    layers: nn.ModuleDict
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"0": Block()})
def apply(model: Compilable):
    model.layers['0'].compile()

# %% a constructor that declares a base nobody makes is given what callers pass
class Encoder:
    def turn(self, x): return x  # compiled: likely
class Rotary(Encoder):
    def turn(self, x): return -x  # compiled: likely
class Unused(Encoder):
    def turn(self, x): return x * 2
class Block(nn.Module):
    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder
    def forward(self, x): return self.encoder.turn(x)  # compiled: certain
Block(Rotary()).compile()
