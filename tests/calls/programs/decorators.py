"""Decorators of the project: what compiles what it decorates, keeps it out, or wraps it."""

import torch
from torch import nn

# %% an imported name of a decorator that compiles later is one too
# file: jit.py
def lazily(fn):
    fast = None
    def run(*given):
        nonlocal fast
        if fast is None: fast = torch.compile(fn)
        return fast(*given)
    return run
fuse = lambda fn: fn
if torch.cuda.is_available(): fuse = lazily
# file: ops.py
from jit import fuse
@fuse
def step(x): return x  # compiled: likely

# %% a wrapper that compiles at the first call is not what it compiles
def later(model):
    compiled = None
    def run(x):
        nonlocal compiled
        if compiled is None: compiled = torch.compile(model)
        return compiled(x)
    return run
def inner(x): return x * 2  # compiled: likely
fast = later(inner)
def outer(x): return fast(x) + 1  # compiled: likely
faster = later(outer)

# %% a method that compiles another may be traced in a module of its own class
class Tree(nn.Module):
    def __init__(self, child=None):
        super().__init__()
        self.child = child or Tree(self)
    def forward(self, x): return torch.compile(self.inner)(x)  # compiled: certain
    def inner(self, x): return self.child(x)  # compiled: certain

# %% the closure of a decorator runs for what it decorates alone
def timed(fn):
    def run(*a):  # compiled: likely
        note()
        return fn(*a)
    return run
def note(): ...  # compiled: likely
@timed
def used(x): return x  # compiled: certain
@timed
def unused(x): return x
@torch.compile
def f(x): return used(x)  # compiled: certain

# %% a project helper that compiles what it decorates is an entry
def fast(fn): return torch.compile(fn, dynamic=True)
def fast_with(mode):
    def wrap(fn): return torch.compile(fn, mode=mode)
    return wrap
@fast
def a(x): return x  # compiled: certain
@fast_with("max")
def b(x): return x  # compiled: certain
@other
def c(x): return x

# %% a decorator that may be called with options leads to nothing but what it decorates
import functools
def guard(fn=None, *, strict=False):
    def decorator(fn):
        @functools.wraps(fn)
        def wrapper(*args): return fn(*check(args))  # compiled: likely
        return wrapper
    return decorator if fn is None else decorator(fn)
def check(args): return args  # compiled: likely
@guard
def used(x): return x  # compiled: certain
@guard(strict=True)
def unused(x): return deep(x)
def deep(x): return x
@torch.compile
def f(x): return used(x)  # compiled: certain

# %% a decorator that gives back what it is given compiles nothing
from typing import Callable
def fuse(fn: Callable): return fn
@fuse
def step(x): return x

# %% a decorator that compiles something else compiles nothing that it is given
from typing import Callable
def fuse(fn: Callable):
    fast = torch.compile(print)
    return fn
@fuse
def step(x): return x

# %% a decorator that only wraps what it is given compiles nothing
from typing import Callable
def fuse(fn: Callable):
    def run(*given): return fn(*given)
    return run
@fuse
def step(x): return x

# %% a decorator that compiles another parameter compiles nothing that it decorates
from typing import Callable
def fuse(fn: Callable, then: Callable = print):
    def run(*given): return torch.compile(then)(fn(*given))
    return run
@fuse
def step(x): return x
