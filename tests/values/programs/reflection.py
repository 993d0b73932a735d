"""Reflection: modules, classes and methods that a text names, wholly or in part."""

import torch
from torch import nn

# %% a text table names the classes that getattr looks up
import m
class GLU(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Plain(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Unused(nn.Module):
    def forward(self, x): return x
class Config:
    mlp_name: str
TABLE = [dict(name="a", mlp_name="GLU"), {"name": "b", "mlp_name": "Plain"}]
class Model(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.mlp = getattr(m, cfg.mlp_name)()
    def forward(self, x): return self.mlp(x)  # compiled: certain
model = torch.compile(Model(Config()))

# %% a literal annotation names the classes that getattr looks up
import m
from typing import Literal
class A(nn.Module):
    def forward(self, x): return x  # compiled: certain
class B(nn.Module):
    def forward(self, x): return x
class Config:
    kind: Literal["A"] = "A"
class Model(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.inner = getattr(m, cfg.kind)()
    def forward(self, x): return self.inner(x)  # compiled: certain
model = torch.compile(Model(Config()))
