"""A sum that is only looked at: detached, so that nothing keeps the graphs of old calls alive."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.total = None
        self.norm = 0.0

    def reset(self):
        self.total = None

    def forward(self, x):
        y = self.lin(x)
        if self.total is None:
            self.total = F.mse_loss(y, x)
        else:
            self.total += F.mse_loss(y, x)
        self.norm += 0.5 * y.norm()
        return y


def between(model, call):
    if call % 4 == 3:
        model.reset()


def state(model):
    return float(model.total) if model.total is not None else 0.0, float(model.norm)


def start():
    return torch.compile(Model())
