"""Hooks: which forward and backward hooks of a compiled module are traced."""

import torch
from torch import nn

# %% a hook that is taken off again belongs to whoever looks into the model
class Net(nn.Module):
    def forward(self, x): return x  # compiled: certain
def sizes(net: Net, x):
    found = []
    handle = net.register_forward_hook(lambda m, a, o: found.append(o.shape))
    net(x)
    handle.remove()
    return found
m = torch.compile(Net())

# %% a hook that is taken off after what is compiled beneath it has run is traced
class Net(nn.Module):
    def forward(self, x): return x  # compiled: certain
def sizes(net: Net, x):
    found = []
    handle = net.register_forward_hook(lambda m, a, o: found.append(o.shape))  # compiled: likely
    compiled = torch.compile(net)(x)
    handle.remove()
    return found
