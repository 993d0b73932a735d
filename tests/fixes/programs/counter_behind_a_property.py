"""A counter that a property moves on and gives to compiled code."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._n = 0

    @property
    def _turn(self):
        self._n += 1
        return self._n

    def forward(self, x):
        return self.lin(x) * self._turn


def state(model):
    return (model._n,)


def start():
    return torch.compile(Model())
