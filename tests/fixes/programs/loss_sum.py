"""An auxiliary loss, summed over micro-batches and trained on: the zeros take a gradient too."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 4)
        self.aux_loss = None

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        loss = probs.mean(0).pow(2).sum()
        self.aux_loss = loss if self.aux_loss is None else self.aux_loss + loss
        return probs


def between(model, call):
    if call % 3 == 2:
        model.aux_loss.backward()
        model.aux_loss = None


def state(model):
    grad = model.gate.weight.grad
    return 0 if grad is None else grad, model.aux_loss if model.aux_loss is not None else 0


def start():
    return torch.compile(Model())
