"""Narrowing: what tests by `hasattr` and `isinstance` leave of what a name may hold."""

import torch
from torch import nn

# %% an isinstance test leaves only what passes it
class A(nn.Module):
    def forward(self, x): return x
class B(nn.Module):
    def forward(self, x): return x  # compiled: likely
def speed_up(model):
    if isinstance(model, A):
        return model
    compiled = torch.compile(model)
speed_up(A())
speed_up(B())
