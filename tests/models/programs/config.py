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

# %% of all that configurations build, nothing says which a checkpoint names
# file: parts.py
class Folder:
    def __init__(self, root): self.root = root
class Loader:
    def __init__(self, data): self.data = data
class Stopper:
    def __init__(self, patience): self.patience = patience
class Meter:
    def __init__(self, name): self.name = name
class Saver:
    def __init__(self, folder): self.folder = folder
class Scale(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def forward(self, x): return x
# file: main.py
from hydra.utils import instantiate
def main(path):
    saved = torch.load(path)
    compiled = torch.compile(instantiate(saved["info"]["run"]))
# file: conf/base.yaml
run:
  _target_: parts.Folder
  root: data
data:
  run:
    _target_: parts.Loader
    data: train
  transform:
    run:
      _target_: parts.Scale
model:
  run:
    _target_: parts.Net
callbacks:
  run:
    _target_: parts.Stopper
    patience: 3
metrics:
  run:
    _target_: parts.Meter
    name: loss
output:
  run:
    _target_: parts.Saver
    folder: out

# %% what configurations build under one key are the models to pick from
# file: parts.py
class Folder:
    def __init__(self, root): self.root = root
class A(nn.Module):
    def forward(self, x): return x  # compiled: likely
class B(nn.Module):
    def forward(self, x): return x  # compiled: likely
class C(nn.Module):
    def forward(self, x): return x  # compiled: likely
class D(nn.Module):
    def forward(self, x): return x  # compiled: likely
class E(nn.Module):
    def forward(self, x): return x  # compiled: likely
class F(nn.Module):
    def forward(self, x): return x  # compiled: likely
# file: main.py
from hydra.utils import instantiate
def main(cfg): compiled = torch.compile(instantiate(cfg.model))
# file: conf/model/a.yaml
_target_: parts.A
# file: conf/model/b.yaml
_target_: parts.B
# file: conf/model/c.yaml
_target_: parts.C
# file: conf/model/d.yaml
_target_: parts.D
# file: conf/model/e.yaml
_target_: parts.E
# file: conf/model/f.yaml
_target_: parts.F
# file: conf/data/folder.yaml
_target_: parts.Folder
root: data

# %% a model that is called is found among models that have steps alone
# file: parts.py
class Folder:
    def __init__(self, root): self.root = root
class Trained(nn.Module):
    def forward(self, x): return x  # compiled: likely
class A(nn.Module):
    def training_step(self, x): return x
class B(nn.Module):
    def training_step(self, x): return x
class C(nn.Module):
    def training_step(self, x): return x
class D(nn.Module):
    def training_step(self, x): return x
class E(nn.Module):
    def training_step(self, x): return x
# file: main.py
from hydra.utils import instantiate
def main(cfg): compiled = torch.compile(instantiate(cfg.model))
# file: conf/model/trained.yaml
_target_: parts.Trained
# file: conf/model/a.yaml
_target_: parts.A
# file: conf/model/b.yaml
_target_: parts.B
# file: conf/model/c.yaml
_target_: parts.C
# file: conf/model/d.yaml
_target_: parts.D
# file: conf/model/e.yaml
_target_: parts.E
