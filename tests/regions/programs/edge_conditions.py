"""Conditions of whole calls: training, evaluation and gradients."""

import torch
from torch import nn

# %% a library that trains what it compiles may evaluate it too
# file: nets.py
import torch
from torch import nn
class Net(nn.Module):
    def learn(self, x): return x  # compiled: likely
    def predict(self, x): return x  # compiled: likely
    def forward(self, x):  # compiled: likely
        if self.training:
            return self.learn(x)
        return self.predict(x)
# file: train.py
from transformers import Trainer, TrainingArguments
from nets import Net
trainer = Trainer(model=Net(), args=TrainingArguments(torch_compile=True))
trainer.train()

# %% a backward below a method that turns gradients off is cold
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2  # compiled: certain
    @staticmethod
    def backward(ctx, g): return twice(g)
def twice(x): return x * 2
class Net(nn.Module):
    def forward(self, x): return Twice.apply(x)  # compiled: certain
net = Net()
class Outer(nn.Module):
    @torch.no_grad()
    def encode(self, x): return net(x)  # compiled: certain
    def forward(self, x): return self.encode(x)  # compiled: certain
fast = torch.compile(Outer())

# %% what a backward has in common with a forward is compiled
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2  # compiled: certain
    @staticmethod
    def backward(ctx, g): return twice(g)
def twice(x): return x * 2  # compiled: certain
class Net(nn.Module):
    def forward(self, x): return Twice.apply(x)  # compiled: certain
net = Net()
@torch.compile
@torch.no_grad()
def step(x): return twice(net(x))  # compiled: certain

# %% a backward that is called by its name is compiled
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2  # compiled: certain
    @staticmethod
    def backward(ctx, g): return twice(g)  # compiled: certain
def twice(x): return x * 2  # compiled: certain
class Net(nn.Module):
    def forward(self, x): return Twice.apply(x)  # compiled: certain
net = Net()
@torch.compile
@torch.no_grad()
def step(x): return Twice.backward(None, net(x))  # compiled: certain

# %% the mode is set by whoever calls the helper that compiles
# file: nets.py
import torch
from torch import nn
class Net(nn.Module):
    def learn(self, x): return x  # compiled: likely
    def predict(self, x): return x
    def forward(self, x):  # compiled: likely
        if self.training:
            return self.learn(x)
        return self.predict(x)
# file: helper.py
import torch
def faster(net): return torch.compile(net)
# file: train.py
from nets import Net
from helper import faster
net = faster(Net())
net.train()
