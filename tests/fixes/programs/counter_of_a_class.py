"""A counter of the class itself, which a class method moves on and a subclass inherits."""

import torch
from torch import nn


class Counting(nn.Module):
    _served = 0

    @classmethod
    def _bump(cls):
        cls._served += 1
        return cls._served


class Model(Counting):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x) * self._bump()


def between(model: Model, call):
    if call % 5 == 4:
        type(model)._served = 2


def state(model):
    return Model._served + 1, Counting._served


def start():
    return torch.compile(Model())
