"""Boundaries: where tracing stops, by `disable` and other decorators, in libraries and operators."""

import torch
from torch import nn

# %% a non-recursive disable hides the function but not its callees
@torch.compiler.disable(recursive=False)
def outer(x): return inner(x)
def inner(x): return x  # compiled: certain
@torch.compile
def f(x): return outer(x)  # compiled: certain

# %% calls under `not is_compiling()` are cold
def log(x): ...
@torch.compile
def f(x):  # compiled: certain
    if not torch.compiler.is_compiling():
        log(x)
    return x

# %% what a decorator with `disable=True` is on is traced where compiled code calls it
@torch.compile(disable=True)
def f(x): return x  # compiled: certain
@torch.compile
def g(x): return f(x)  # compiled: certain

# %% a function that an operator is made of is not traced
from torch.library import infer_schema
def kernel(x): return helper(x)
def helper(x): return x
@torch.compile
def run(x):  # compiled: certain
    infer_schema(kernel, mutates_args=())
    return x

# %% a function that is given to another library than torch is traced
from torch.utils.checkpoint import infer_schema
def kernel(x): return helper(x)  # compiled: likely
def helper(x): return x  # compiled: likely
@torch.compile
def run(x):  # compiled: certain
    infer_schema(kernel, mutates_args=())
    return x

# %% what is disabled where it is called is cold
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
    @classmethod
    def unused(cls): ...
def helper(x): return x
def cold(x): return x
@torch.compile
def f(x): return torch.compiler.disable(helper)(x)  # compiled: certain

# %% an instance that a test keeps eager leaves those of the program compiled
class A(nn.Module):
    def forward(self, x): return x  # compiled: certain
m = torch.compile(A())
# file: test_a.py
import torch
from m import A
def test_eager():
    a = A()
    a.forward = torch.compiler.disable(a.forward)

# %% an instance that a test keeps eager and compiles around
class A(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = A()
    def forward(self, x): return self.a(x)  # compiled: likely
# file: test_a.py
import torch
from m import Model
def test_eager():
    model = Model()
    model.a.forward = torch.compiler.disable(model.a.forward)
    torch.compile(model)(0)
