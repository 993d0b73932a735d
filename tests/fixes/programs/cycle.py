"""A slot that goes round, a warm-up that ends, and a flag that toggles; all of them enter the math."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._slot = 0
        self._warm = 1
        self._odd = False

    def forward(self, x):
        self._slot = (self._slot + 1) % 4
        self._warm = min(self._warm + 1, 5)
        self._odd = not self._odd
        return self.lin(x) * self._slot + x * (self._warm > 3) - x * self._odd


def state(model):
    return model._slot, model._warm, model._odd


def start():
    return torch.compile(Model())
