import os

import torch
from torch import nn

DEBUG = False


class Router(nn.Module):
    def __init__(self, top_k: int):
        super().__init__()
        self.gate = nn.Linear(4, 4)
        self.top_k = top_k
        self.mask = None
        self.register_buffer("load", torch.zeros(4))
# %% an attribute, a global and a variable
# contract: guard-surface = ["Router.mask"]
class Net(Router):
    def forward(self, x):
        if self.mask is None and DEBUG:  # expect: DYN527
            return x
        if os.environ.get("TRACE"):  # expect: DYN527
            return x
        return self.gate(x).topk(self.top_k).values  # expect: DYN527

net = torch.compile(Net(2))
# %% quiet: all are listed
# contract: guard-surface = ["Router.mask", "Router.top_k", "program:DEBUG", "TRACE"]
class Net(Router):
    def forward(self, x):
        if self.mask is None and DEBUG:
            return x
        return self.gate(x).topk(self.top_k).values

net = torch.compile(Net(2))
# %% quiet: there is no list
class Net(Router):
    def forward(self, x):
        return self.gate(x).topk(self.top_k).values

net = torch.compile(Net(2))
# %% quiet: modules, tensors and methods
# contract: guard-surface = []
class Net(Router):
    def scale(self, x):
        return x * 2

    def forward(self, x):
        size = x.shape[0]
        return self.scale(self.gate(x)) * self.load * self.gate.weight * size

net = torch.compile(Net(2))
