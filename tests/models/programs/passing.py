"""Functions of libraries that give back what they are given."""

import torch
from torch import nn

# %% what a call of something else than a context of torch is given is not taken for its result
class Net(nn.Module):
    def forward(self, x): return x
net = Net()
step = torch.compile(torch.device()(net.forward))
