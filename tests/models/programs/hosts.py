"""What frameworks hand to methods of ours, keep of what our classes are made with, or unwrap."""

import torch
from torch import nn

# %% a method of the class of a module is found by its instance
class Net(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Other(nn.Module):
    def forward(self, x): return x
import types
net, other = Net(), Other()
m = net
m.forward = types.MethodType(torch.compile(m.__class__.forward), m)

# %% a compiled update runs the networks of a loss of torchrl
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Other(nn.Module):
    def forward(self, x): return x

from tensordict.nn import TensorDictModule
from torchrl.modules import ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
actor = ProbabilisticActor(TensorDictModule(module=Net(), in_keys=["a"], out_keys=["b"]), in_keys=["b"])
loss = ClipPPOLoss(actor_network=actor, critic_network=None)
other = ProbabilisticActor(TensorDictModule(module=Other(), in_keys=["a"], out_keys=["b"]), in_keys=["b"])
@torch.compile
def update(batch): return loss(batch)  # compiled: certain

# %% a callback of lightning gets the module that is trained
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Other(nn.Module):
    def forward(self, x): return x

import lightning.pytorch as pl
class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net, self.other = Net(), Other()
    def training_step(self, batch, index): return self.net(batch)

class Fast(pl.Callback):
    def on_fit_start(self, trainer, pl_module):
        pl_module.net = torch.compile(pl_module.net)

# %% a callback gets the model that a configuration describes
class Net(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Other(nn.Module):
    def forward(self, x): return x

import lightning.pytorch as pl
class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net, self.other = Net(), Other()
    def training_step(self, batch, index): return self.net(batch)

from detectron2.config import LazyCall as L
from library import Callback
config = dict(model=L(Lit)(net=None), other=L(Other)())
class Compiling(Callback):
    def on_step_start(self, model, batch):
        model.net = torch.compile(model.net)
