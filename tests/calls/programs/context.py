"""Call context: what a function is handed by the caller that is compiled, and not by others."""

import torch
from torch import nn

# %% the closure of a helper that compiles later is not what it compiles
def later(*args, **options):
    model = args[0] if args else options.pop("model", None)
    if model is None:
        return lambda model: later(model, **options)
    fast = model
    def first(*given):
        nonlocal fast
        fast = torch.compile(model)
        return fast(*given)
    return first
class Loop:
    def __init__(self, step): self.step = self.prepare(step)
    def prepare(self, step): return later(step)
    def again(self): return Loop(self.step)
def step(x): return x  # compiled: likely
Loop(step).again()

# %% a closure that a helper compiles as it gives it back is compiled
def decorate(fn):
    def inner(x): return fn(x)  # compiled: certain
    return torch.compile(inner)
def step(x): return x  # compiled: likely
fast = decorate(step)

# %% a closure that a helper compiles under its own name is compiled
def decorate(fn):
    def inner(x): return fn(x)  # compiled: certain
    inner = torch.compile(inner)
    return inner
def step(x): return x  # compiled: likely
fast = decorate(step)

# %% a closure that a helper compiles after it has wrapped it is compiled
def decorate(fn, fast):
    def inner(x): return fn(x)  # compiled: certain
    if fast:
        inner = wrap(inner, fast)
        inner = torch.compile(inner)
    return inner
decorate(print, True)

# %% a closure that a helper compiles as a partial is compiled
from functools import partial
def decorate(fn):
    def inner(x): return fn(x)  # compiled: certain
    ready = partial(inner)
    return torch.compile(ready)
def step(x): return x  # compiled: likely
fast = decorate(step)

# %% a closure that an argument picks from a tuple is compiled
def first(x): return x  # compiled: certain
def second(x): return x  # compiled: certain
def runner(i):
    run = ((lambda x: first(x)), (lambda x: second(x)))[i]  # compiled: certain, certain
    return torch.compile(run)

# %% a closure that an argument picks by a condition is likely
def first(x): return x  # compiled: likely
def second(x): return x  # compiled: likely
def runner(i):
    run = (lambda x: first(x)) if i else (lambda x: second(x))  # compiled: likely, likely
    return torch.compile(run)

# %% a closure that an argument picks from a table is compiled
def first(x): return x  # compiled: certain
def second(x): return x  # compiled: certain
def runner(i):
    run = {0: (lambda x: first(x)), 1: (lambda x: second(x))}[i]  # compiled: certain, certain
    return torch.compile(run)
