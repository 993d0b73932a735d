"""Imports: which file of the project a dotted name means, of scripts, packages, stubs and lazy packages."""

import torch
from torch import nn

# %% what lies beside a script is imported by what the script imports
# file: lib/__init__.py
# file: lib/run.py
from conf.net import build
def main(): build()
if __name__ == '__main__':
    main()
# file: lib/nets.py
class Net(nn.Module):
    def forward(self, x): return x  # compiled: certain
# file: lib/conf/net.py
import nets
fast = torch.compile(nets.Net())

# %% a package has no more than it binds
# file: nets/__init__.py
from nets.more import net
# file: nets/more.py
net = None
# file: nets/net.py
class Net(nn.Module):
    def forward(self, x): return x
# file: conf/use.py
import nets
fast = torch.compile(nets.net.Net())

# %% what a package binds itself is not the module beside it
# file: a/b/parts.py
class Block(nn.Module):
    def forward(self, x): return x
# file: a/parts.py
class Block(nn.Module):
    def forward(self, x): return x
# file: a/b/__init__.py
class parts:
    class Block: ...
# file: a/b/use.py
from . import parts
compiled = torch.compile(parts.Block())

# %% regions cross files by import
# file: pkg/__init__.py
from .model import Model as Net
# file: pkg/blocks/__init__.py
from pkg.blocks.moe import *
# file: pkg/blocks/moe.py
from ..ops import gate
class MoE(nn.Module):
    def forward(self, x): return gate(x)  # compiled: certain
# file: pkg/ops.py
def gate(x): return x  # compiled: certain
def unused(x): return x
# file: pkg/model.py
from pkg.blocks import MoE
class Model(nn.Module):
    def __init__(self):
        self.moe = MoE()
    def forward(self, x): return self.moe(x)  # compiled: certain
# file: train.py
import pkg
model = torch.compile(pkg.Net())

# %% of two modules with one name the sibling wins
# file: a/model.py
class Net(nn.Module):
    def forward(self, x): return self.a(x)  # compiled: certain
    def a(self, x): return x  # compiled: certain
# file: b/model.py
class Net(nn.Module):
    def forward(self, x): return self.b(x)
    def b(self, x): return x
# file: a/run.py
from model import Net
n = torch.compile(Net())

# %% what a script of a package imports finds what lies beside the script as well
# file: td3/__init__.py
# file: td3/nets.py
class Net(nn.Module):
    def forward(self, x): return x  # compiled: certain
# file: td3/build.py
from nets import Net
def main():
    return torch.compile(Net())
# file: td3/train.py
from build import main
if __name__ == "__main__":
    main()

# %% a package without a script imports no sibling by its bare name
# file: pkg/__init__.py
# file: pkg/nets.py
class Net(nn.Module):
    def forward(self, x): return x
# file: pkg/train.py
from nets import Net
def main():
    return torch.compile(Net())

# %% a sibling that imports its own name is made for a library
# file: pkg/__init__.py
# file: pkg/wandb.py
import wandb
class Net(nn.Module):
    def forward(self, x): return x
# file: pkg/log.py
from wandb import Net
def main():
    return torch.compile(Net())
# file: pkg/tool.py
def main(): pass
if __name__ == "__main__":
    main()

# %% a script in a package takes types and torch from where all do
# file: pkg/__init__.py
# file: pkg/types.py
class Net(nn.Module):
    def forward(self, x): return x
# file: pkg/train.py
from types import Net
def main():
    return torch.compile(Net())
if __name__ == "__main__":
    main()

# %% a module of a lazy package is asked for by attribute
# file: models/__init__.py
import importlib
_known = {"Net": ".nets"}
def __getattr__(name):
    return getattr(importlib.import_module(_known[name], __name__), name)
# file: models/nets.py
class Net(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Other(nn.Module):
    def forward(self, x): return x
# file: train.py
import models
fast = torch.compile(models.Net())

# %% a lazy package that binds a name itself is taken at its word
# file: models/__init__.py
import importlib
_known = {"Net": ".nets"}
def __getattr__(name):
    return getattr(importlib.import_module(_known[name], __name__), name)
from .own import Net
# file: models/nets.py
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
# file: models/own.py
class Net(nn.Module):
    def forward(self, x): return self.part(x)  # compiled: certain
    def part(self, x): return x  # compiled: certain
# file: train.py
from models import Net
fast = torch.compile(Net())

# %% what a package imports by star hides the submodule of the same name
# file: pkg/__init__.py
# file: pkg/loss/__init__.py
from .entropy import *
# file: pkg/loss/entropy.py
def entropy(x): return x  # compiled: certain
# file: pkg/loss/other.py
def unused(x): return x
# file: pkg/train.py
from .loss import entropy, other
@torch.compile
def step(x): return entropy(x)  # compiled: certain

# %% leading dots count folders whatever these are called
# file: My-Node 1.0/__init__.py
# file: My-Node 1.0/nodes.py
from .parts.model import Block
from . import other
compiled = torch.compile(Block())
# file: My-Node 1.0/other.py
class Block(nn.Module):
    def forward(self, x): return x
# file: My-Node 1.0/parts/model.py
from ..lib.deep import Inner
class Block(nn.Module):
    def __init__(self): self.inner = Inner()
    def forward(self, x): return self.inner(x)  # compiled: certain
# file: My-Node 1.0/lib/deep.py
class Inner(nn.Module):
    def forward(self, x): return x  # compiled: certain
# file: parts/model.py
class Block(nn.Module):
    def forward(self, x): return x
