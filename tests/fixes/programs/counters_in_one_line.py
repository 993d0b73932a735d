"""Two counters that share the lines that set them."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.calls, self.rows = 0, 0
        self.seen = self.kept = 0

    def forward(self, x):
        self.calls += 1
        self.rows += x.shape[0]
        self.seen += 2
        self.kept += 1
        return self.lin(x)

    def reset(self):
        calls, self.calls, self.rows = self.calls, 0, 5
        self.seen = self.kept = 0
        return calls


def between(model, call):
    if call % 5 == 4:
        assert type(model.reset()) is int


def state(model):
    return (model.calls, model.rows, model.seen, model.kept)


def start():
    return torch.compile(Model())
