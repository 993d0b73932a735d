"""Classes as values: what class methods and configuration classes hand to the constructor."""

import torch
from torch import nn

# %% a config nested in a class builds that class
class Buildable:
    class Config: ...
class Block(nn.Module):
    class Config(Buildable.Config): ...
    def forward(self, x): return x  # compiled: likely
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block.Config().build()
    def forward(self, x): return self.block(x)  # compiled: certain
m = torch.compile(Model())

# %% a config that inherits its builder builds the class it is nested in
class Buildable:
    class Config:
        owner = None
        def build(self, **given): return self.owner(config=self, **given)
class Module(nn.Module, Buildable):
    class Config(Buildable.Config):
        def build(self, **given):
            made = Buildable.Config.build(self, **given)
            return made
class Norm(Module):
    class Config(Module.Config): ...
    def forward(self, x): return x  # compiled: likely
class Unused(Module):
    class Config(Module.Config): ...
    def forward(self, x): return x
class Decoder(Module):
    class Config(Module.Config):
        part: Module.Config
    def __init__(self, config: Config):
        super().__init__()
        self.part = config.part.build()
    def forward(self, x): return self.part(x)  # compiled: certain
class Llama(Decoder):
    class Config(Decoder.Config): ...
def make(): return Llama.Config(part=Norm.Config())
def train(model: Llama): compiled = torch.compile(model)

# %% an attribute of a class that is filled from what it holds itself
class Cache:
    entry = None
    def fill(cls): Cache.entry = Cache.entry.next()
    @classmethod
    def start(cls): cls.entry = Step()
class Step(nn.Module):
    def next(self): return self
    def forward(self, x): return x  # compiled: likely
m = torch.compile(Cache.entry)
