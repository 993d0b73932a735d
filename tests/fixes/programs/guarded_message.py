"""Messages on the way: compiled calls leave them out."""

import logging
import sys
import warnings

import torch
from torch import nn

logger = logging.getLogger("quiet")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        x = self.lin(x)
        logger.debug("mean %f", x.mean().item())
        if x.shape[0] > 8:
            warnings.warn(
                "many rows: this is slow",
                stacklevel=2,
            )
        for _ in range(2):
            print(f"{x.shape}", file=sys.stderr, end="")  # in a loop
            x = x * 2
        return x


def state(model):
    return model.training


def start():
    return torch.compile(Model())
