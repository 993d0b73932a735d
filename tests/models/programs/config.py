"""Configurations: what a program builds of the YAML and JSON files beside it, and of hydra's stored choices."""

import torch
from torch import nn

# %% JSON says as much as YAML
# file: nets.py
class Small(nn.Module):
    def forward(self, x): return x
class Large(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Unsaid(nn.Module):
    def forward(self, x): return x
def smooth(x): return x
def sharp(x): return x
# file: main.py
import nets
def main(cfg): getattr(nets, cfg.model.name)().compile()
# file: conf/base.json
{"model": {"name": "Large", "depth": 2}}

# %% words of a configuration under other keys are not looked up
# file: nets.py
class Small(nn.Module):
    def forward(self, x): return x
class Large(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Unsaid(nn.Module):
    def forward(self, x): return x
def smooth(x): return x
def sharp(x): return x
# file: main.py
import nets
def main(cfg): getattr(nets, cfg.model.name)().compile()
# file: conf/base.yaml
name: Large
other: Small

# %% what a file builds is never certain
# file: nets.py
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Other(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self, net: nn.Module, width=1):
        super().__init__()
        self.net = net
    def forward(self, x): return self.net(x)  # compiled: likely
class Plain:
    def forward(self, x): return x
def make(net): return Model(net)
# file: main.py
import hydra
from hydra.utils import instantiate
def main(cfg): compiled = torch.compile(instantiate(cfg.model))
# file: conf/base.yaml
model:
  _target_: nets.Model
  width: 2
  net:
    _target_: nets.Net

# %% a function is looked up by the word of a configuration as a class is
# file: nets.py
class Small(nn.Module):
    def forward(self, x): return x
class Large(nn.Module):
    def forward(self, x): return x
class Unsaid(nn.Module):
    def forward(self, x): return x
def smooth(x): return x  # compiled: likely
def sharp(x): return x
# file: main.py
import nets
def main(cfg):
    loss = getattr(nets, cfg.loss.kind)
    @torch.compile
    def step(x): return loss(x)  # compiled: certain
# file: conf/base.yaml
model:
  name: Small
loss: {kind: smooth, scale: 2}
