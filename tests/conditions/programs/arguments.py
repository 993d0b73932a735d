"""Conditions on arguments: what runs or is made only where calls ask for it by a switch or an optional argument."""

import torch
from torch import nn

# %% which of two functions a flag picks that only the run knows is likely at best
def plain(x): return x  # compiled: likely
def fast(x): return x  # compiled: likely
def pick(x, quick=False):  # compiled: certain
    if quick:
        step = fast
    else:
        step = plain
    return step(x)
@torch.compile
def run(x, cfg): return pick(x, quick=cfg.quick)  # compiled: certain

# %% what a helper compiles of self is that of its own class whatever others leave off
class Net(nn.Module):
    def prepare(self, fast=False):
        if fast: self.run = torch.compile(self.run)
    def run(self, x): return x  # compiled: certain
class Below(Net):
    def run(self, x): return x  # compiled: likely
Net().prepare(True)
Net().prepare()
Below().prepare(True)

# %% what a model calls with or without what it need not be given is not certain
def cached(x, cache): return x  # compiled: likely
def plain(x, scale): return x  # compiled: likely
class Model(nn.Module):
    def forward(self, x, cache=None, scale=1.0):  # compiled: certain
        if cache is None:
            return plain(x, scale)
        else:
            return cached(x, cache)
model = torch.compile(Model())

# %% the model of an object is compiled whole if it has no part to compile
class Actor(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Critic(nn.Module):
    def __init__(self, actor):
        super().__init__()
        self.actor = actor
    def forward(self, x): return x
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Agent:
    def __init__(self, model):
        self.model = model
def prepare(agent):
    actor = getattr(agent.model, "actor", None)
    if actor is not None:
        actor.compile()
    else:
        agent.model.compile()
prepare(Agent(Net()))
prepare(Agent(Critic(Actor())))

# %% a part that may be None leaves the whole in doubt
class Actor(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Critic(nn.Module):
    def __init__(self, actor=None):
        super().__init__()
        self.actor = actor
    def forward(self, x): return x  # compiled: likely
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Agent:
    def __init__(self, model):
        self.model = model
def prepare(agent):
    actor = getattr(agent.model, "actor", None)
    if actor is not None:
        actor.compile()
    else:
        agent.model.compile()
prepare(Agent(Net()))
prepare(Agent(Critic(Actor())))
