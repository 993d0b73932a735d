"""Frameworks that compile for their users: accelerate, trainers, Composer, diffusers, vLLM, Megatron, DeepSpeed."""

import torch
from torch import nn

# %% a trainer of Composer that something else makes is not known
from elsewhere import instantiate
class Net(nn.Module):
    def forward(self, x): return x
def main(cfg):
    trainer = instantiate(cfg.trainer, model=Net(), compile_config={})

# %% repeated blocks are cold until someone compiles them
class Block(nn.Module):
    def forward(self, x): return x
class Extra(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    _repeated_blocks = ["Block"]
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(4)])
        self.extra = Extra()
    def forward(self, x): return self.extra(x)
model = Model()

# %% an engine that is compiled compiles the model it was given
import deepspeed
class Critic(nn.Module):
    def forward(self, x): return x  # compiled: likely
def prepare(model):
    engine, *_ = deepspeed.initialize(model=model, config={})
    engine.compile()
    return engine
prepare(Critic())

# %% an Accelerator that a test makes is for that test
# file: tools/__init__.py
# file: tests/__init__.py
# file: tests/make.py
from accelerate import Accelerator
def make(args):
    backend = "NO"
    if args.compile:
        backend = args.backend
    accelerator = Accelerator(log_with=args.log, dynamo_backend=backend)
    return accelerator
# file: main.py
class Net(nn.Module):
    def forward(self, x): return x
from accelerate import Accelerator
def run(acc: Accelerator): net = acc.prepare_model(Net())
