"""`torch.compile` as a value: a call of whatever holds it compiles what it is given."""

import torch
from torch import nn

# %% what a wrapper gives back is not what it was given under the same name
def warm(*args):
    model = args[0]
    compiled = torch.compile(model)
    def run(*a): return compiled(*a)
    return run
def main():
    def update(x): return x + 1  # compiled: likely
    update = warm(update)
    return update(torch.ones(2))

# %% names that are wrapped twice end
def same(f): return f
def main():
    def update(x): return x  # compiled: likely
    update = same(update)
    update = torch.compile(same(update))
    update = same(update)
