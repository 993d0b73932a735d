"""Class hierarchy: who inherits a compile site, and what runs where a base only declares."""

import torch
from torch import nn

# %% a module that compiles itself in a base class does so in each class that runs that method
class Base(nn.Module):
    def forward(self, x): raise NotImplementedError
    def prepare(self): self.compile(fullgraph=False)
class Plain(Base):
    def forward(self, x): return x  # compiled: likely
class Own(Base):
    def prepare(self): pass
    def forward(self, x): return x
class More(Base):
    def prepare(self): return super().prepare()
    def forward(self, x): return x  # compiled: likely
class Elsewhere(nn.Module):
    def forward(self, x): return x

# %% an override of what the base compiles is compiled and an override of the site is not
class Generator:
    def __init__(self): self.step = torch.compile(self.step)
    def step(self, x): return x  # compiled: certain
    def run(self, x): return self.step(x)
class Other(Generator):
    def step(self, x): return self.mix(x)  # compiled: likely
    def mix(self, x): return x + 1  # compiled: likely
class Eager(Generator):
    def __init__(self): pass
    def step(self, x): return self.mix(x)
    def mix(self, x): return x + 2

# %% a value declared as a class with abstract methods is one of its heirs
from abc import abstractmethod
class Block(nn.Module):
    @abstractmethod
    def forward(self, x): ...
class Wide(Block):
    def forward(self, x): return x  # compiled: likely
class Other(nn.Module):
    def forward(self, x): return x
def apply(block: Block): block.compile()

# %% an abstract method runs what the heirs make of it
from abc import ABC, abstractmethod
class Layer(ABC):
    def reset(self): return 0
    @abstractmethod
    def update(self, x): ...
class Cache:
    layers: list[Layer]
    def update(self, x): return self.layers[0].update(x)  # compiled: certain

class Growing(Layer):
    def update(self, x): return self.init(x)  # compiled: likely, likely
    def init(self, x): return x  # compiled: likely
class Fixed(Growing):
    def init(self, x): return x + 1  # compiled: likely
class Half(Layer):
    @abstractmethod
    def more(self): ...
@torch.compile
def step(cache: Cache, x): return cache.update(x)  # compiled: certain

# %% a method that a base implements runs on a base that can be instantiated
class Cache:
    def update(self, x): return x  # compiled: certain
class Special(Cache):
    def update(self, x): return x + 1
@torch.compile
def step(cache: Cache, x): return cache.update(x)  # compiled: certain

# %% an attribute that only an heir has is that of the heir
class Cache:
    def update(self, x): return x
class Indexed(Cache):
    def update_index(self, x): return x  # compiled: likely
class Other(Cache):
    def elsewhere(self, x): return x
@torch.compile
def step(cache: Cache | None, x): return cache.update_index(x)  # compiled: certain

# %% an attribute that the base has is not looked for in its heirs
class Cache:
    def __init__(self): self.head = None
class Indexed(Cache):
    def __init__(self): self.head = Head()
class Head:
    def run(self, x): return x
@torch.compile
def step(cache: Cache, x): return cache.head.run(x)  # compiled: certain

# %% `super()` and overrides follow the class of self
class Base(nn.Module):
    def forward(self, x): return self.core(x)  # compiled: certain
    def core(self, x): return base_only(x)
class Mid(Base):
    def forward(self, x): return super().forward(x)  # compiled: certain
class Leaf(Mid):
    def core(self, x): return leaf_only(x)  # compiled: certain
def base_only(x): return x
def leaf_only(x): return x  # compiled: certain
m = torch.compile(Leaf())
