"""A counter that scales the output: rebound, so that two forwards may come before a backward."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, first=3):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._step = first

    def forward(self, x):
        self._step += 1
        return self.lin(x) * self._step


def between(model, call):
    if call % 5 == 4:
        model._step = 7


def state(model):
    return model._step


def start():
    return torch.compile(Model())
