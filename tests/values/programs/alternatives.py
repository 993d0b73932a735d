"""Alternatives: when many possible values are one choice, and when they are a slot for anything."""

import torch
from torch import nn

# %% a subclass that another file imports is named
from abc import ABC, abstractmethod
class Base(nn.Module, ABC):
    @abstractmethod
    def run(self, x): ...
    def forward(self, x): return self.run(x)  # compiled: certain, likely, likely
class Used(Base):
    def run(self, x): return x  # compiled: likely
class Never(Base):
    def run(self, x): return x  # compiled: likely
def go(part: Base): return torch.compile(part)
go(Used())
# file: use.py
from m import Never
