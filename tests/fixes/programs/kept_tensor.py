"""Numbers that are taken out of tensors only to meet tensors again: they stay tensors."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        peak = x.abs().max().item()
        count = int((x > 0).sum())
        scale = 0.5 * float(x.mean() + 2.0)
        x = self.lin(x) * peak / max(count, 1)
        return x + x.mean().item() - scale * x


def state(model):
    return model.training


def start():
    return torch.compile(Model())
