"""Containers: what lists, dictionaries and objects of the project hold under which key."""

import torch
from torch import nn

# %% a table that is filled by what it holds itself ends
class Net(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Table:
    kept = {}
    def fill(self, model):
        for name, module in model.named_modules():
            if name in Table.kept["names"]:
                Table.kept[name] = module
def build():
    model = nn.Sequential(Net(), Net())
    Table().fill(model)
    for name, module in model.named_modules():
        if name in Table.kept["names"]:
            module.compile()

# %% containers by key and wrappers are looked through
import copy
class A(nn.Module):
    def forward(self, x): return x  # compiled: certain
class B(nn.Module):
    def forward(self, x): return x
class C(nn.Module):
    def forward(self, x): return x  # compiled: certain
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"a": A(), "b": B()})
        self.seq = nn.Sequential(nn.Linear(2, 2), C())
    def forward(self, x): return self.seq(self.parts["a"](x))  # compiled: certain
m = torch.compile(copy.deepcopy(M()).to("cpu"))

# %% local lists and module containers of their own class are looked into
class A(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Stack(nn.Sequential):
    def __init__(self):
        super().__init__()
        for i in range(3):
            self.add_module(f"layer{i}", A())
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for _ in range(2):
            layers.append(B())
        self.layers = nn.ModuleList(layers)
        self.stack = Stack()
    def forward(self, x):  # compiled: certain
        for layer in self.stack:
            x = layer(x)
        return self.layers[0](x)
class B(nn.Module):
    def forward(self, x): return x  # compiled: certain
m = torch.compile(Model())

# %% a table seen through another file holds the same
# file: registry.py
TABLE = {}
def register(name):
    def put(f):
        TABLE[name] = f
        return f
    return put
# file: quant.py
from registry import TABLE
def fill(): TABLE['fast'] = fast
def fast(x): return x  # compiled: likely
# file: use.py
from again import TABLE
def run(name):
    f = torch.compile(TABLE[name])
    return f(1)
# file: again.py
from registry import TABLE

# %% a key says which function of a table is meant
# file: registry.py
TABLE = {}
def register(name):
    def put(f):
        TABLE[name] = f
        return f
    return put
# file: quant.py
from registry import TABLE
def fill():
    TABLE['fast'] = fast
    TABLE['slow'] = slow
def slow(x): return x
def fast(x): return x  # compiled: likely
# file: use.py
from registry import TABLE
def run():
    f = torch.compile(TABLE['fast'])
    return f(1)
