"""Classes: which are modules by their bases, and which a base that is made at run time makes modules."""

import torch
from torch import nn

# %% the static forward of an autograd function makes no module
from library import Function
class Twice(Function):
    @staticmethod
    def forward(ctx, x): return x
Twice().compile()

# %% classes that inherit from themselves through aliases end
# file: a.py
from b import B as Base
class A(Base, nn.Module):
    def forward(self, x): return x  # compiled: certain
# file: b.py
from a import A
B = A
m = torch.compile(B())
