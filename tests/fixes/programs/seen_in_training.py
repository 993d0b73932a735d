"""Samples seen while training, under a test of the mode; reset from outside."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._seen: int = 0

    def reset(self):
        self._seen = 0

    def forward(self, x):
        if self.training:
            self._seen += x.shape[0]
        return self.lin(x).relu()


def between(model, call):
    if call % 4 == 3:
        model.reset()
    model._seen += 2


def state(model):
    return int(model._seen), print(model._seen)


def start():
    return torch.compile(Model())
