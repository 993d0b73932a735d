"""A float that decays and divides: rebound, and as precise as float32 is."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.temperature = 2.0
        self.power = 1.0

    def forward(self, x):
        self.temperature *= 0.9
        self.power = self.power + 0.25
        return self.lin(x) / self.temperature + x.abs() ** self.power


def between(model, call):
    if call == 6:
        model.temperature = 2.0


def state(model):
    return model.temperature


def start():
    return torch.compile(Model())
