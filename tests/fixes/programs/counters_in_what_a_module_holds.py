"""Counts in a counter, in a list and in a namespace of a module."""

import collections
import types

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._hits = collections.Counter()
        self._rows = [0, 7]
        self._more = types.SimpleNamespace(calls=0, scale=2.0)

    def forward(self, x):
        self._hits["calls"] += 1
        self._rows[1] += x.shape[0]
        self._more.calls += 1
        return self.lin(x) * self._hits["calls"] * self._more.scale


def between(model, call):
    if call == 7:
        model._rows[1] = 0
        model._hits["resets"] += 1


def state(model):
    return model._hits["calls"], model._hits["resets"], model._rows[1] + 1, model._more.calls


def start():
    return torch.compile(Model())
