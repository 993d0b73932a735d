import torch


@torch.compile
def scale(x):
    return x * 2
# %% quiet: the one place that resets
def rebuild(make):
    torch._dynamo.reset()
    return torch.compile(make())
# %% quiet: one reset, by another name
from torch.compiler import reset as fresh

def start():
    fresh()
# %% the reset beside the one that compiles anew
def rebuild(make):
    torch._dynamo.reset()
    return torch.compile(make())

def between(x):
    torch.compiler.reset()  # expect: DYN510 note
    return scale(x)
# %% of two resets that compile nothing the second is one too many
def before(x):
    torch._dynamo.reset()
    return scale(x)

def after(x):
    y = scale(x)
    torch._dynamo.reset()  # expect: DYN510 note
    return y
# %% quiet: two programs, each with its reset
# file: one.py
import torch

def main():
    torch._dynamo.reset()

if __name__ == "__main__":
    main()
# file: two.py
import torch

def main():
    torch._dynamo.reset()

if __name__ == "__main__":
    main()
# %% a contract names the place
# file: job.py
# contract: reset-sites = ["job:Trainer.restart"]
import torch


class Trainer:
    def restart(self):
        torch._dynamo.reset()

    def step(self):
        torch._dynamo.reset()  # expect: DYN510
# %% where the file is imported
import os

torch._dynamo.reset()  # expect: DYN510 note
# %% quiet: something else that is reset
class Clock:
    def reset(self):
        self.now = 0

def again(clock, env):
    clock.reset()
    env.reset()
    Clock().reset()
# %% quiet: a test resets where it likes
# file: tests/test_scale.py
import torch

def test_one():
    torch._dynamo.reset()

def test_two():
    torch._dynamo.reset()
# %% quiet: the same function resets twice
def rebuild(make, twice):
    torch._dynamo.reset()
    if twice:
        torch._dynamo.reset()
# %% after an out of memory error, and once more in a callback
def recover(model):
    torch.cuda.empty_cache()
    torch._dynamo.reset()
    return torch.compile(model)

class Callback:
    def on_epoch_end(self, trainer):
        torch._dynamo.reset()  # expect: DYN510 note
# %% quiet: a cache of our own is reset
from functools import lru_cache

@lru_cache
def table(n):
    return torch.arange(n)

class Sampler:
    def reset(self):
        table.cache_clear()

sampler = Sampler()
sampler.reset()
run = torch.compile(lambda x: x * 2)
