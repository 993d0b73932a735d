"""Registries of the project: what is registered is what comes out, as one choice or as a library of many."""

import torch
from torch import nn

# %% a registry is known in the files that import it
# file: pkg/__init__.py
# file: pkg/registry.py
from mmengine.registry import Registry
MODELS = Registry('model')
LOSSES = Registry('loss')
# file: pkg/a.py
from pkg.registry import MODELS
@MODELS.register_module()
class A(nn.Module):
    def forward(self, x): return x  # compiled: likely
# file: train.py
from pkg import registry
model = registry.MODELS.build(cfg)
compiled = torch.compile(model)

# %% a registry object holds what its method registers
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
def helper(x): return x  # compiled: likely
def cold(x): return x

class Registry:
    def __init__(self): self._known = {}
    def register(self, cls):
        self._known[cls.__name__] = cls
        return cls
    def get(self, name): return self._known[name]
MODELS = Registry()
@MODELS.register
class Net(nn.Module):
    def forward(self, x): return helper(x)  # compiled: likely
class Unregistered(nn.Module):
    def forward(self, x): return cold(x)

compiled = torch.compile(MODELS.get(name)())

# %% a registry row pairs a model with the function that compiles it
from dataclasses import dataclass
class LlamaBlock(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([LlamaBlock()])
class FluxBlock(nn.Module):
    def forward(self, x): return x
class Flux(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([FluxBlock()])
def parallelize_llama(model: nn.Module):
    for layer in model.layers:
        layer.compile()
def parallelize_flux(model: nn.Module): ...
@dataclass
class Spec:
    cls: type[nn.Module]
    parallelize: object
SPECS = {}
def register(spec: Spec): SPECS[spec.cls] = spec
register(Spec(cls=Llama, parallelize=parallelize_llama))
register(Spec(cls=Flux, parallelize=parallelize_flux))
def get_spec(name) -> Spec: return SPECS[name]
def train(name):
    spec = get_spec(name)
    model = spec.cls()
    spec.parallelize(model)
