"""Environment reads in a method, a helper and a property; none of the variables changes."""

import os
from os import environ

import torch
from torch import nn


def scale():
    return float(environ.get("FIXES_SCALE", "2.0"))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    @property
    def fast(self):
        return os.getenv("FIXES_FAST", "no").lower() in ("1", "yes")

    def forward(self, x):
        x = self.lin(x) * scale()
        if self.fast or "FIXES_SLOW" in os.environ:
            return x
        return x + int(os.environ.get("FIXES_SHIFT", "3"))


def state(model):
    return 0


def start():
    return torch.compile(Model())
