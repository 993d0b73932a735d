"""Construction: what making an object runs, at once or where it is called later."""

import torch
from torch import nn

# %% an own copy of lazy calls tells what each of them makes
class Lazy:
    def __init__(self, target, **given): self.target, self.given = target, given
    def instantiate(self, **more): return self.target(**self.given, **more)
class LazyCall:
    def __init__(self, target): self.target = target
    def __call__(self, **given): return Lazy(self.target, **given)
def instantiate(config, **more): return config.instantiate(**more)
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Coder(nn.Module):
    def forward(self, x): return x
class Config:
    def __init__(self, model): self.model = model
net = Config(model=LazyCall(Net)(width=2))
coder = Config(model=LazyCall(Coder)(width=2))
class Pipeline:
    def __init__(self):
        self.coder = instantiate(coder.model)
        self.net = torch.compile(instantiate(LazyCall(Net)(), depth=2))

# %% a lazy call that a configuration holds is made by instantiate
class Lazy:
    def __init__(self, target, **given): self.target, self.given = target, given
    def instantiate(self, **more): return self.target(**self.given, **more)
class LazyCall:
    def __init__(self, target): self.target = target
    def __call__(self, **given): return Lazy(self.target, **given)
def instantiate(config, **more): return config.instantiate(**more)
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Coder(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Config:
    def __init__(self, model): self.model = model
net = Config(model=LazyCall(Net)(width=2))
coder = Config(model=LazyCall(Coder)(width=2))
class Pipeline:
    def __init__(self):
        self.coder = instantiate(coder.model)
        self.net = torch.compile(instantiate(net.model, depth=2))

# %% what is made of no description of a lazy call is nothing
class Lazy:
    def __init__(self, target, **given): self.target, self.given = target, given
    def instantiate(self, **more): return self.target(**self.given, **more)
class LazyCall:
    def __init__(self, target): self.target = target
    def __call__(self, **given): return Lazy(self.target, **given)
def instantiate(config, **more): return config.instantiate(**more)
class Net(nn.Module):
    def forward(self, x): return x
class Coder(nn.Module):
    def forward(self, x): return x
class Config:
    def __init__(self, model): self.model = model
net = Config(model=LazyCall(Net)(width=2))
coder = Config(model=LazyCall(Coder)(width=2))
class Pipeline:
    def __init__(self):
        self.coder = instantiate(coder.model)
        self.net = torch.compile(instantiate(load(), depth=2))
