"""One program per row of the cost table of DYN302; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Net(nn.Module):
    """Has a part that can be hooked."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        return self.proj(x) * 2


def halved(module, args, out):
    """A hook."""
    return out * 0.5


def probe_late():
    """forward hook on a part, after three calls"""
    # effect: stale
    model = Net()
    run = torch.compile(model)
    calls = [0]

    def call(x):
        if calls[0] == 3:
            model.proj.register_forward_hook(halved)  # expect: DYN302 stale
        calls[0] += 1
        return run(x)

    return call, [(X,)]


def probe_one_of_many():
    """forward hook on a part of the last of 12 blocks, compiled one by one"""
    # effect: stale
    blocks = nn.ModuleList([Net() for _ in range(12)])
    for block in blocks:
        block.compile()
    blocks[11].proj.register_forward_hook(halved)  # expect: DYN302 stale

    def call(x):
        for block in blocks:
            x = block(x.detach())
        return x

    return call, [(X,)]


def probe_early():
    """forward hook on a part, before the first call"""
    # effect: -
    model = Net()
    run = torch.compile(model)
    model.proj.register_forward_hook(halved)
    return run, [(X,)]
