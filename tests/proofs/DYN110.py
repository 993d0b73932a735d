"""One program per row of the cost table of DYN110; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Net(nn.Module):
    """Has parameters and drops something."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return self.drop(self.proj(x))


def probe_no_grad():
    """`torch.no_grad()` around every second call"""
    # effect: once
    run = torch.compile(Net())

    def call(x):
        for _ in range(2):
            y = run(x)
            with torch.no_grad():  # expect: DYN110 once
                y = run(x)
        return y

    return call, [(X,)]


def probe_requires_grad():
    """`requires_grad_` of a parameter flips"""
    # effect: once
    model = Net()
    run = torch.compile(model)

    def call(x):
        for i in range(2):
            model.proj.weight.requires_grad_(i % 2 == 0)  # expect: DYN110 once
            y = run(x)
        return y

    return call, [(X,)]


def probe_autocast():
    """`autocast(enabled=...)` flips"""
    # effect: once
    run = torch.compile(Net())

    def call(x):
        for i in range(2):
            with torch.autocast("cpu", torch.bfloat16, enabled=i % 2 == 0):  # expect: DYN110 once
                y = run(x)
        return y

    return call, [(X,)]


def probe_training():
    """`train()` and `eval()` take turns around a dropout"""
    # effect: once
    model = Net()
    run = torch.compile(model)

    def call(x):
        for i in range(2):
            model.train(i % 2 == 0)  # expect: DYN110 once
            y = run(x)
        return y

    return call, [(X,)]


def probe_all():
    """`torch.no_grad()` around all calls"""
    # effect: -
    run = torch.compile(Net())

    def call(x):
        for _ in range(2):
            with torch.no_grad():
                y = run(x)
        return y

    return call, [(X,)]
