"""A base class counts, a subclass starts elsewhere and counts as well."""

import torch
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self._count = 0

    def tick(self):
        self._count += 1


class Model(Base):
    def __init__(self):
        super().__init__()
        self._count = 10
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        self.tick()
        self._count -= 3
        return self.lin(x)


def state(model):
    return model._count


def start():
    return torch.compile(Model())
