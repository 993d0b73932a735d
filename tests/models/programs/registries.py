"""Registries of libraries: what they build of what the project registers, and which a configuration picks."""

import torch
from torch import nn

# %% what a test gives a library is for tests
# file: tests/test_a.py
class A(nn.Module):
    def forward(self, x): return x
class B(nn.Module):
    def forward(self, x): return x
class Loss(nn.Module):
    def forward(self, x): return x

import timm
from timm import create_model
from timm.models import registry
from timm.models.registry import register_model
@register_model
def a(pretrained=False, **kwargs): return A(**kwargs)
@registry.register_model
def b(pretrained=False, **kwargs):
    model = B(**kwargs)
    return model
@registry.register_notrace_function
def loss(): return Loss()
# file: m.py
import timm
net = torch.compile(timm.create_model(args.model))
