"""Patches: functions, methods and modules that are put in the place of others."""

import torch
from torch import nn

# %% a test of what a module is put into does not say what it replaces
class Tree(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Leaf(Tree): ...
class Extra(nn.Module):
    def forward(self, x): return x
class Root(Tree):
    def __init__(self):
        super().__init__()
        self.child = Leaf()
    def forward(self, x): return self.child(x)  # compiled: certain
def put(tree: nn.Module, name):
    if isinstance(tree, Tree):
        setattr(tree, name, Extra())
root = Root()
put(root, "extra")
compiled = torch.compile(root)

# %% a method that is chosen as forward is compiled
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
    @classmethod
    def unused(cls): ...
def helper(x): return x  # compiled: likely
def cold(x): return x

class Chosen(nn.Module):
    def __init__(self, fast):
        super().__init__()
        self.forward = self.fast if fast else self.slow
    def fast(self, x): return helper(x)  # compiled: likely
    def slow(self, x): return x  # compiled: likely
    def unused(self, x): return cold(x)
compiled = torch.compile(Chosen(True))

# %% what a test puts on a class is compiled for no other code
# file: lib.py
def quick(self, x): return inner(self, x)
def inner(self, x): return x
class Block(nn.Module):
    def mix(self, x): return x  # compiled: certain
    def forward(self, x): return self.mix(x)  # compiled: certain
class Heir(Block):
    pass
class Own(Block):
    def mix(self, x): return x
class Other(nn.Module):
    def mix(self, x): return x
    def forward(self, x): return self.mix(x)
fast = torch.compile(Block())
# file: test_lib.py
from lib import Block
def test_it():
    def fake(self, x): return x
    Block.mix = fake

# %% a wrapper from one place is not what another place compiles
def helper(x): return x
def logged(f, keep=()):
    def outer(*args): return helper(f(*args))
    return outer
def quick(f, mode=None):
    fast = torch.compile(f, mode=mode)
    def outer_of_quick(*args): return helper(fast(*args))
    return outer_of_quick
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def decode(self, x): return x
    def forward(self, x): return self.decode(self.block(x))

class Quick(Block):
    def __init__(self, fast):
        super().__init__()
        if fast: self.forward = torch.compile(self.forward)
    def forward(self, x): return x  # compiled: certain
class Holder:
    def __init__(self): self.net = Quick(False)
    def prepare(self): self.net.forward = logged(torch.compile(self.net.forward))

# %% a module that is put in the place of another is likely
class Int8Linear(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(2, 2)
        self.norm = nn.LayerNorm(2)
    def forward(self, x): return self.norm(self.proj(x))  # compiled: certain
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()
    def forward(self, x): return self.head(x)  # compiled: certain
def quantize(module):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Int8Linear())
        else:
            quantize(child)
net = Net()
quantize(net)
net = torch.compile(net)

# %% a swap of modules that the model does not have is cold
class Int8Linear(nn.Module):
    def forward(self, x): return x
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(2, 2)
        self.norm = nn.LayerNorm(2)
    def forward(self, x): return self.norm(self.proj(x))  # compiled: certain
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()
    def forward(self, x): return self.head(x)  # compiled: certain
def quantize(module):
    for name, child in module.named_children():
        if isinstance(child, nn.Conv2d):
            setattr(module, name, Int8Linear())
        else:
            quantize(child)
net = Net()
quantize(net)
net = torch.compile(net)
