"""What cuts the graph or sends the frame to the interpreter, and the near twins that do neither."""

import contextlib
import ctypes
import functools
import hashlib
import itertools
import json
import logging
import os
import random
import re
import sys
import threading
import time
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

warnings.simplefilter("ignore")
logger = logging.getLogger("quiet")
logger.setLevel(logging.CRITICAL)
X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)
IDS = torch.tensor([[1, 2, 0, 2], [0, 1, 1, 3]])


# %% a shape that is printed between two layers
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 4)

    def forward(self, x):
        x = self.up(x)
        print("hidden", x.shape, end="", file=sys.stderr)  # expect: DYN401 break
        return self.down(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print in the loop over the rounds
class Model(nn.Module):
    def forward(self, x):
        for number in range(3):
            x = x * 2 + number
            print(end="")  # expect: DYN401 eager
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print after the loop over the rounds
class Model(nn.Module):
    def forward(self, x):
        for number in range(3):
            x = x * 2 + number
        print(end="")  # expect: DYN401 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print in a list comprehension over modules
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

    def forward(self, x):
        x = x * 2
        [print(end="") for _ in self.heads]  # expect: DYN401 eager
        return self.heads[0](x) + self.heads[1](x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print that only happens outside the compiler
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if not torch.compiler.is_compiling():
            print(end="")
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print in the evaluation branch of a model that only trains
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if not self.training:
            print(end="")  # expect: DYN401 break note
        return x + 1


def drive():
    run = torch.compile(Model().train())
    for _ in range(12):
        yield run(X)


# %% a print in the evaluation branch of a model that is evaluated
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if not self.training:
            print(end="")  # expect: DYN401 break
        return x + 1


def drive():
    run = torch.compile(Model().eval())
    for _ in range(12):
        yield run(X)


# %% a print while the model is built
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        print(end="")

    def forward(self, x):
        return self.linear(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print that a switch of Dynamo moves behind the graph
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        print("halfway")
        return x + 1


def drive():
    with contextlib.redirect_stdout(None), torch._dynamo.config.patch(reorderable_logging_functions={print}):
        run = torch.compile(Model())
        for _ in range(12):
            yield run(X)


# %% a print three calls deep in another file
from tools import normalise


class Model(nn.Module):
    def forward(self, x):
        return normalise(x) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# file: tools.py
from checks import checked


def normalise(x):
    return checked(x) / 2


# file: checks.py
def report(x):
    print(end="")  # expect: DYN401 break
    return x


def checked(x):
    return report(x * 3)


# %% a print under fullgraph, an error there, after which the caller does without
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        print(end="")  # expect: DYN401 break
        return x + 1


def drive():
    model = Model()
    run = torch.compile(model, fullgraph=True)
    try:
        run(X)
    except Exception:
        run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% a log line between two operations
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        logger.info("hidden %s", x.shape)  # expect: DYN401 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a log line that is dropped while compiled
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        logger.info("hidden %s", x.shape)
        return x + 1


def drive():
    with torch._dynamo.config.patch(ignore_logging_functions={logger.info}):
        run = torch.compile(Model())
        for _ in range(12):
            yield run(X)


# %% a log that is asked whether it is on
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if logger.isEnabledFor(logging.DEBUG):  # expect: DYN401 break
            logger.debug("hidden %s", x.shape)
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a log line behind a flag that is off
class Model(nn.Module):
    def __init__(self, verbose=False):
        super().__init__()
        self.verbose = verbose

    def forward(self, x):
        x = x * 2
        if self.verbose:
            logger.info("hidden %s", x.shape)
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a warning about a short input
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if x.shape[-1] < 8:
            warnings.warn("short input", stacklevel=2)  # expect: DYN401 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a warning about a long input that never comes
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if x.shape[-1] > 8:
            warnings.warn("long input", stacklevel=2)  # expect: DYN401 break note
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a sleep between two operations
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        time.sleep(0)  # expect: DYN401 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% the time taken around the compiled call
class Model(nn.Module):
    def forward(self, x):
        return x * 2 + 1


def drive():
    run = torch.compile(Model())
    spent = 0.0
    for _ in range(12):
        began = time.perf_counter()
        out = run(X)
        spent += time.perf_counter() - began
        yield out


# %% a layer that a Python coin skips
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if random.random() < 2.0:  # expect: DYN401 break
            x = x + 1
        return x * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a layer that a coin in the graph skips
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        keep = (torch.rand(()) < 2.0).to(x.dtype)
        return (x + keep) * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% noise from numpy's global generator
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        noise = np.random.rand()  # expect: DYN401 break
        return x + noise


def drive():
    np.random.seed(0)
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a file that is asked for before a branch
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if os.path.exists("no-such-file"):  # expect: DYN401 break
            x = x * 3
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a path that is put together
class Model(nn.Module):
    def forward(self, x, stats):
        name = os.path.join("block", "mlp")
        stats[name] = x.mean()
        return x * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        stats = {}
        yield run(X, stats), stats["block/mlp"]


# %% a file that is opened in the region
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        out = open(os.devnull, "w")  # expect: DYN401 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a breakpoint that was left in
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        breakpoint()  # expect: DYN401 break
        return x + 1


def drive():
    sys.breakpointhook = lambda *args, **kwargs: None
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)
    sys.breakpointhook = sys.__breakpointhook__


# %% a loss that is asked for its value
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        scale = loss.item()  # expect: DYN402 break
        return x * 2 if scale >= 0 else x  # expect: DYN109 once note


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a loss that is asked for its value with scalars captured
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()


def drive():
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        run = torch.compile(Model())
        for _ in range(12):
            yield run(X)


# %% a loss that is kept as a tensor
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean().detach()
        return x * loss


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a length that a tensor tells
class Model(nn.Module):
    def forward(self, x, lengths):
        longest = int(lengths.max())  # expect: DYN402 break
        return x[:, :longest] * 2  # expect: DYN109 per-value note


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.tensor([2, 3]))


# %% a length that a shape tells
class Model(nn.Module):
    def forward(self, x):
        half = int(x.shape[-1] / 2)
        return x[:, :half] * float(x.size(0))


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% split sizes that come as a tensor
class Model(nn.Module):
    def forward(self, x, sizes):
        x = x * 2
        left, right = x.split(sizes.tolist(), dim=-1)  # expect: DYN402 break
        return left.sum() - right.sum()


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.tensor([1, 3]))


# %% split sizes that come as a list
class Model(nn.Module):
    def forward(self, x, sizes):
        x = x * 2
        left, right = x.split(sizes, dim=-1)
        return left.sum() - right.sum()


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, [1, 3])


# %% numpy between two operations
class Model(nn.Module):
    def forward(self, x):
        table = (x * 2).numpy()
        return torch.from_numpy(np.tanh(table)) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a number out of numpy
class Model(nn.Module):
    def forward(self, x):
        peak = (x * 2).max().numpy().item()  # expect: DYN402 break
        return x + 1 if peak >= 0 else x  # expect: DYN109 once note


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a row that a tensor picks
class Model(nn.Module):
    def forward(self, x, where):
        x = x * 2
        return x[where] + 1  # expect: DYN402 eager


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.tensor(1))


# %% a row that an index operation picks
class Model(nn.Module):
    def forward(self, x, where):
        x = x * 2
        return x.index_select(0, where) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.tensor([1]))


# %% a slice up to a tensor
class Model(nn.Module):
    def forward(self, x, end):
        x = x * 2
        return x[:, :end] + 1  # expect: DYN402 eager


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.tensor(2))


# %% an expert that a tensor picks out of a list
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = [1.0, 2.0, 3.0]

    def forward(self, x):
        best = (x * 2).sum(0).argmax()
        return x * self.scales[best % 3]  # expect: DYN402 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% two tensors that are compared as a whole
class Model(nn.Module):
    def forward(self, x, other):
        x = x * 2
        same = torch.equal(x, other)  # expect: DYN402 break
        return x + 1 if same else x - 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, X)


# %% a number made of a tensor of a constant
class Model(nn.Module):
    def forward(self, x):
        steps = torch.tensor(3).item()  # expect: DYN402 break
        return x * steps  # expect: DYN109 once note


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a branch on the sign of a sum
class Model(nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # expect: DYN403 break
            return x * 2
        return x * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a choice by where
class Model(nn.Module):
    def forward(self, x):
        return torch.where(x.sum() > 0, x * 2, x * 3)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a choice by cond
class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda t: t * 2, lambda t: t * 3, (x,))


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a branch on shape, type and device
class Model(nn.Module):
    def forward(self, x, mask=None):
        if mask is not None:
            x = x * mask
        if x.dim() == 2 and x.is_floating_point() and not x.is_cuda:
            x = x + 1
        return x * 2 if x.dtype == torch.float32 and x.numel() > 4 else x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.ones(2, 4))


# %% a search for values that are not finite
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if torch.isnan(x).any() or torch.isinf(x).any():  # expect: DYN403 break
            x = torch.nan_to_num(x)
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% values that are not finite made so without a question
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        x = torch.nan_to_num(x)
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a loop until the values are small
class Model(nn.Module):
    def forward(self, x):
        while x.abs().max() > 0.5:  # expect: DYN403 break
            x = x / 2
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an assertion about values with its text put together
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        assert (x > 0).all(), f"negative values in {tuple(x.shape)}"  # expect: DYN403 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an assertion about values with a fixed text
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        assert (x > 0).all(), "negative values"
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an assertion about a shape with its text put together
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        assert x.shape[-1] == 4, f"expected 4 channels, got {x.shape[-1]}"
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% the larger of two losses
class Model(nn.Module):
    def forward(self, x):
        return x * max((x * x).mean(), x.abs().mean())


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% losses that are sorted
class Model(nn.Module):
    def forward(self, x):
        least, most = sorted([(x * x).mean(), x.abs().mean()])  # expect: DYN403 break
        return x * (most - least)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% tokens that a mask picks
class Model(nn.Module):
    def forward(self, x, mask):
        x = x * 2
        return x[mask].mean() + 1  # expect: DYN404 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, X > 0.5)


# %% tokens that a mask picks with shapes captured
class Model(nn.Module):
    def forward(self, x, mask):
        x = x * 2
        return x[mask].mean() + 1


def drive():
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        run = torch.compile(Model())
        for _ in range(12):
            yield run(X, X > 0.5)


# %% tokens that a mask weighs
class Model(nn.Module):
    def forward(self, x, mask):
        x = x * 2
        return (x * mask).sum() / mask.sum() + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, X > 0.5)


# %% values that are stored where a mask says
class Model(nn.Module):
    def forward(self, x, mask):
        x = x * 2
        x[mask] = -1.0
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, X > 0.5)


# %% tokens of each expert by where with one argument
class Model(nn.Module):
    def forward(self, x, ids):
        rows, columns = torch.where(ids == 1)  # expect: DYN404 break
        return x[rows, columns].sum() * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, IDS)


# %% tokens repeated as a tensor says
class Model(nn.Module):
    def forward(self, x, counts):
        x = x * 2
        return x.repeat_interleave(counts, dim=0) + 1  # expect: DYN404 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.tensor([1, 2]))


# %% tokens repeated as a tensor says to a known length
class Model(nn.Module):
    def forward(self, x, counts):
        x = x * 2
        return x.repeat_interleave(counts, dim=0, output_size=3) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.tensor([1, 2]))


# %% classes that nobody counted
class Model(nn.Module):
    def forward(self, ids):
        return F.one_hot(ids).float() * 2  # expect: DYN404 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(IDS)


# %% classes that are counted
class Model(nn.Module):
    def forward(self, ids):
        return F.one_hot(ids, num_classes=4).float() * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(IDS)


# %% a launcher that hands an address to a library
LIBRARY = ctypes.CDLL(None)


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        LIBRARY.memset(ctypes.c_void_p(x.data_ptr()), 0, 0)  # expect: DYN405 eager
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a launcher behind a custom operator
LIBRARY = ctypes.CDLL(None)


@torch.library.custom_op("graph_breaks::clear", mutates_args=())
def clear(x: torch.Tensor) -> torch.Tensor:
    out = x.clone()
    LIBRARY.memset(ctypes.c_void_p(out.data_ptr()), 0, 0)
    return out


@clear.register_fake
def _(x):
    return torch.empty_like(x)


class Model(nn.Module):
    def forward(self, x):
        return clear(x * 2) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an alignment that is computed from an address
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        aligned = x.data_ptr() % 16 == 0  # expect: DYN405 eager
        return x * 2 if aligned in (True, False) else x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Model(nn.Module):
    def forward(self, x):
        return Scale.apply(x + 1) * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a function with a backward of its own
class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * torch.sigmoid(beta * x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        gate = torch.sigmoid(ctx.beta * x)
        return grad * (gate + x * gate * (1 - gate)), None


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return Swish.apply(self.linear(x), 1.0)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a helper that is disabled
@torch.compiler.disable
def clip(x):
    return x.clamp(max=0.5)


class Model(nn.Module):
    def forward(self, x):
        return clip(x * 2) + 1  # expect: DYN406 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% quiet: a helper that is disabled for a reason that stands beside it
@torch.compiler.disable(reason="clamps through a library that cannot be traced")
def clip(x):
    return x.clamp(max=0.5)


class Model(nn.Module):
    def forward(self, x):
        return clip(x * 2) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a disabled method in a loop
class Model(nn.Module):
    @torch.compiler.disable
    def record(self, x):
        return x

    def forward(self, x):
        for number in range(2):
            x = self.record(x * 2 + number)  # expect: DYN406 eager
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a disabled method that only the loop outside calls
class Model(nn.Module):
    @torch.compiler.disable
    def record(self, x):
        print(end="")
        return x.mean().item()

    def forward(self, x):
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for _ in range(12):
        out = run(X)
        model.record(out)
        yield out


# %% a break by hand
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        torch._dynamo.graph_break()  # expect: DYN406 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a setting of Dynamo patched in the region
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        with torch._dynamo.config.patch(capture_scalar_outputs=True):  # expect: DYN406 break
            x = x + 1
        return x * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a layer that is built in forward
class Model(nn.Module):
    def forward(self, x):
        norm = nn.LayerNorm(x.shape[-1])  # expect: DYN407 break
        return norm(x * 2) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% layers without weights that are built in forward
class Model(nn.Module):
    def forward(self, x, target):
        gate = nn.Softmax(dim=-1)
        return nn.MSELoss()(nn.ReLU()(gate(x)), target) + nn.Identity()(x).sum()


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, X)


# %% a weight that forward makes a parameter
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        shift = nn.Parameter(torch.ones(4))  # expect: DYN407 break
        return x + shift


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an input that is made to need a gradient
class Model(nn.Module):
    def forward(self, x):
        x = x.detach().clone()
        x.requires_grad = True  # expect: DYN408 break
        return (x * x).sum()


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an input made to need a gradient before the call
class Model(nn.Module):
    def forward(self, x):
        if x.requires_grad:
            x = x * 3
        return (x * x).sum()


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X.clone().requires_grad_())


# %% a copy that needs a gradient and goes out
class Model(nn.Module):
    def forward(self, x):
        probe = (x * 2).detach().requires_grad_()  # expect: DYN408 break
        return probe, probe * probe


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a copy that needs a gradient and stays in
class Model(nn.Module):
    def forward(self, x):
        probe = (x * 2).detach().requires_grad_()
        return (probe * probe).detach()


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a name made of the step
class Model(nn.Module):
    def forward(self, x, step, stats):
        stats[f"loss/{step}"] = x.mean()  # expect: DYN409 eager
        return x * 2


def drive():
    run = torch.compile(Model())
    for step in range(2, 14):
        yield run(X, step, {})


# %% a name made of what stays the same
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.index = 3

    def forward(self, x, stats):
        stats[f"loss/{self.index}/{type(self).__name__}/{x.shape[-1]}"] = x.mean()
        return x * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, {})


# %% a changing step that is formatted for an error that never comes
class Model(nn.Module):
    def forward(self, x, step):
        if x.dim() != 2:
            raise ValueError(f"bad input at step {step}")
        return x * 2


def drive():
    run = torch.compile(Model())
    for step in range(2, 14):
        yield run(X, step)


# %% a cached property that forward touches first
class Model(nn.Module):
    @functools.cached_property
    def scale(self):
        return 2.0

    def forward(self, x):
        return x * self.scale  # expect: DYN410 eager


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a cached property that the constructor touched
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale

    @functools.cached_property
    def scale(self):
        return 2.0

    def forward(self, x):
        return x * self.scale


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a plain property
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 4

    @property
    def scale(self):
        return self.width**-0.5

    def forward(self, x):
        return x * self.scale


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a function that remembers its results
@functools.lru_cache(maxsize=None)
def table(length):  # expect: DYN304 stale note
    return [number / length for number in range(length)]


class Model(nn.Module):
    def forward(self, x):
        return x * table(x.shape[-1])[1]


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a cache that is emptied in the region
@functools.lru_cache(maxsize=None)
def table(length):
    return [number / length for number in range(length)]


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        table.cache_clear()  # expect: DYN411 eager
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a key that is written as JSON
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        key = json.dumps({"rows": 2})  # expect: DYN411 break
        return x + len(key)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a name that is matched with an expression
PATTERN = re.compile(r"layer\.(\d+)")


class Model(nn.Module):
    def forward(self, x):
        number = int(PATTERN.match("layer.3").group(1))
        return x * number


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a digest of the configuration
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        digest = hashlib.sha256(b"config")  # expect: DYN411 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a digest that the constructor took
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.digest = hashlib.sha256(b"config").hexdigest()
        self.note = json.dumps({"rows": 2})

    def forward(self, x):
        return x * 2 + len(self.note)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a list that is copied by the copy module
import copy


class Model(nn.Module):
    def forward(self, x, states):
        x = x * 2
        states = copy.copy(states)  # expect: DYN411 break
        states.append(x)
        return sum(states)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, [X])


# %% a list that is copied by itself
class Model(nn.Module):
    def forward(self, x, states):
        x = x * 2
        states = states.copy()
        states.append(x)
        return sum(states)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, [X])


# %% a tensor that is copied deeply
import copy


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        before = copy.deepcopy(x)  # expect: DYN411 break
        return x.add_(1) - before


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% numbers that are copied deeply
import copy


class Model(nn.Module):
    def forward(self, x):
        weights = copy.deepcopy({"a": [1, 2]})
        weights["a"].append(3)
        return x * sum(weights["a"])


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a frame that is looked at
import inspect


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        frame = sys._getframe()  # expect: DYN411 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% the interpreter that is asked for its version
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if sys.version_info >= (3, 8) and "torch" in sys.modules and sys.platform:
            x = x + 1
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% garbage that is collected in the region
import gc


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        gc.collect()  # expect: DYN401 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a priority queue of numbers
import heapq


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        queue = [3, 1, 2]
        heapq.heapify(queue)  # expect: DYN411 break
        return x + queue[0]


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% the tools of itertools, functools and collections
class Model(nn.Module):
    def forward(self, x):
        pairs = list(itertools.product([1, 2], [3])) + list(itertools.pairwise([1, 2, 3]))
        last = deque([x], maxlen=2)
        last.append(x * 2)
        groups = defaultdict(list)
        for number, pair in enumerate(itertools.chain(pairs, [(5, 6)])):
            groups[pair[0]].append(number)
        counts = Counter(groups)
        order = OrderedDict(a=x, b=x + 1)
        order.move_to_end("a")
        return functools.reduce(torch.add, last) * len(counts) + next(iter(order.values()))


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% results in a simple namespace
import types


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        out = types.SimpleNamespace(hidden=x)  # expect: DYN411 break
        return out.hidden + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% results in a dataclass, a tuple with names and a dict
from typing import NamedTuple


@dataclass
class Output:
    hidden: torch.Tensor
    parts: list = field(default_factory=list)

    def __post_init__(self):
        self.parts.append(self.hidden)


class Pair(NamedTuple):
    one: torch.Tensor
    other: torch.Tensor


class Kind(Enum):
    WIDE = 1
    DEEP = 2


class Model(nn.Module):
    def forward(self, x):
        out = replace(Output(x * 2), hidden=x * 3)
        pair = Pair(out.hidden, out.parts[0])._replace(other=x)
        return pair.one + pair.other if Kind(1) is Kind["WIDE"] else x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% the fields of a dataclass that are listed
from dataclasses import fields


@dataclass
class Output:
    hidden: object
    gate: object


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        names = [one.name for one in fields(Output)]  # expect: DYN411 break
        return x + len(names)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a class that is written in the region
class Model(nn.Module):
    def forward(self, x):
        x = x * 2

        class Holder:  # expect: DYN416 storm
            value = 3

        return x + Holder.value


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a class that is written in the region, and that nothing there uses
class Model(nn.Module):
    def forward(self, x):
        x = x * 2

        class Holder:  # expect: DYN416 break
            value = 3

        return x + 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% functions that are written in the region
class Model(nn.Module):
    def forward(self, x):
        shift = 3

        def moved(y, *rest, scale=2):
            return y * scale + shift + len(rest)

        return (lambda y: moved(y, 1, scale=5))(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a lock around an update
LOCK = threading.Lock()


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        with LOCK:  # expect: DYN413 eager
            x = x + 1
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% managers that Dynamo knows
@contextlib.contextmanager
def scaled(by):
    yield by


class Span:
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


class Model(nn.Module):
    def forward(self, x):
        with torch.no_grad(), torch.autocast("cpu", enabled=False), contextlib.nullcontext():
            x = x * 2
        with torch.profiler.record_function("block"), torch.enable_grad(), scaled(3) as by:
            x = x * by
        with Span(), contextlib.suppress(ValueError), torch.inference_mode():
            return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print under a manager of torch
class Model(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x = x * 2
            print(end="")  # expect: DYN401 break
            x = x + 1
        return x * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print under a manager of the project
@contextlib.contextmanager
def timed():
    yield


class Model(nn.Module):
    def forward(self, x):
        with timed():
            x = x * 2
            print(end="")  # expect: DYN401 eager
            x = x + 1
        return x * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a device that is set for a block
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        with torch.device("cpu"):  # expect: DYN413 eager
            x = x + torch.ones(4)
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a device that is named where the tensor is made
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        return x + torch.ones(4, device=x.device)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a seed that is kept for a block
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        with torch.random.fork_rng(devices=[]):  # expect: DYN414 break
            x = x + 1
        return x * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a seed that is set in the region
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        torch.manual_seed(0)  # expect: DYN414 break
        return x + torch.rand(4) * 0


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a seed that is set before the call
class Model(nn.Module):
    def forward(self, x):
        return x * 2 + torch.rand(4) * 0 + F.dropout(x, 0.5) * 0


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        torch.manual_seed(0)
        yield run(X)


# %% a generator of random numbers that is handed in
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = torch.Generator()

    def forward(self, x):
        x = x * 2
        return x + 0 * torch.rand(4, generator=self.source)  # expect: DYN414 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print under try
class Model(nn.Module):
    def forward(self, x):
        try:
            x = x * 2
            print(end="")  # expect: DYN401 eager
        finally:
            x = x + 1
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a print in a handler that is never reached
class Model(nn.Module):
    def forward(self, x):
        try:
            x = x * 2
        except RuntimeError:
            print("failed")
            raise
        finally:
            x = x + 1
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% errors that are raised and caught
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = {"a": 1}

    def forward(self, x):
        try:
            x = x * self.table["b"]
        except KeyError:
            x = x * 2
        try:
            raise ValueError("no")
        except ValueError as error:
            x = x + len(error.args)
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an error that leaves the region
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if x.shape[-1] == 4:
            raise ValueError("four")  # expect: DYN418 eager
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        try:
            out = run(X)
        except ValueError:
            out = X
        yield out


# %% a package that is not there
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        try:
            import no_such_package  # expect: DYN418 eager
        except ImportError:
            x = x + 1
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a package that is imported in the region
class Model(nn.Module):
    def forward(self, x):
        import math
        from operator import mul

        return mul(x, math.sqrt(4.0))


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a generator that is compiled
@torch.compile
def halves(x):  # expect: DYN411 eager
    yield x * 2
    yield x * 3


def drive():
    for _ in range(12):
        yield list(halves(X))


# %% a generator that the region uses up
def halves(x):
    yield x * 2
    yield from (x * number for number in range(2))


class Model(nn.Module):
    def forward(self, x):
        first, *rest = halves(x)
        return first + sum(rest) + next(halves(x))


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% names that are put together of constants
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer_0 = nn.Linear(4, 4)
        self.layer_1 = nn.Linear(4, 4)
        self.scale = 2.0

    def forward(self, x):
        for number in range(2):
            x = getattr(self, f"layer_{number}")(x)
        if hasattr(self, "scale"):
            x = x * getattr(self, "scale", 1.0)
        del number
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% calls to the parent in every form
class Base(nn.Module):
    gain = 2.0

    def forward(self, x):
        return x * self.gain

    def extra_scale(self):
        return 3.0


class Model(Base):
    def forward(self, x):
        x = super().forward(x) + super(Model, self).extra_scale()
        return Base.forward(self, x) * super().gain


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a module that intercepts every attribute
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def __getattribute__(self, name):
        return super().__getattribute__(name)

    def forward(self, x):
        return self.linear(x * 2)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a module that answers for attributes of another
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("inner"), name)

    def forward(self, x):
        return self.inner(x) * self.in_features


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a backward in the region
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        loss = self.linear(x).sum()
        loss.backward()  # expect: DYN412 break
        return loss.detach() * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a backward after the region
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).sum()


def drive():
    model = Model()
    run = torch.compile(model)
    for _ in range(12):
        loss = run(X)
        loss.backward()
        model.zero_grad(set_to_none=False)
        yield loss.detach()


# %% a penalty on gradients taken in the region
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        loss = self.linear(x).square().sum()
        (grad,) = torch.autograd.grad(loss, self.linear.weight, create_graph=True)  # expect: DYN412 break
        return grad.norm() * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a penalty on gradients by the functional interface
class Model(nn.Module):
    def forward(self, x):
        return torch.func.grad(lambda t: t.square().sum())(x).norm() * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% storage that is swapped for another dtype
class Model(nn.Module):
    def forward(self, x):
        y = x * 2
        y.data = y.data.half()  # expect: DYN415 break
        return y + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% values of a parameter that are replaced in place
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        self.weight.data.mul_(1.0)
        self.weight.data.copy_(torch.ones(4))
        return x * self.weight


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a sparse matrix
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        return x.to_sparse().to_dense() + 1  # expect: DYN417 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a recurrent layer
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x):
        x = x[None] * 2
        out, _ = self.rnn(x)  # expect: DYN417 break
        return out + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a recurrent layer that Dynamo is allowed to take
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x):
        x = x[None] * 2
        out, _ = self.rnn(x)
        return out + 1


def drive():
    with torch.no_grad(), torch._dynamo.config.patch(allow_rnn=True):
        run = torch.compile(Model())
        for _ in range(12):
            yield run(X)


# %% a layer in a list that prints, under a loop in the whole model
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        x = x * self.scale
        print(end="")  # expect: DYN401 break
        return x + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% layers in a list that print, compiled one by one
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        x = x * self.scale
        print(end="")  # expect: DYN401 break
        return x + 1


def drive():
    layers = nn.ModuleList(Layer() for _ in range(3))
    for layer in layers:
        layer.compile()
    for _ in range(12):
        x = X
        for layer in layers:
            x = layer(x)
        yield x


# %% a print in a function with a backward of its own
class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        print(end="")  # expect: DYN401 break
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.sigmoid(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return Swish.apply(self.linear(x)) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a function with a backward and a forward derivative
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return Double.apply(self.linear(x)) + 1  # expect: DYN405 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a module that TorchScript compiled before
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.jit.script(nn.Linear(4, 4))

    def forward(self, x):
        return self.inner(x * 2) + 1  # expect: DYN405 eager


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% classes of every common kind that the region uses
class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Tagged(type):
    def __getitem__(cls, key):
        return key


class Made(metaclass=Tagged):
    def __new__(cls, value):
        made = super().__new__(cls)
        made.value = value
        return made


class Answering:
    def __getattr__(self, name):
        return 3


class Described:
    def __get__(self, owner, kind=None):
        return 2


class Holder:
    described = Described()


class Model(nn.Module):
    def forward(self, x):
        x = x * Slotted(2).value + Made(3).value * Made[2]
        return x + Answering().anything + Holder().described


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an object that intercepts every attribute
class Guarded:
    def __init__(self):
        self.value = 3

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        guarded = Guarded()  # expect: DYN411 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a configuration that is a dict with attributes
class Config(dict):
    __getattr__ = dict.__getitem__


CONFIG = Config(scale=2.0)


class Model(nn.Module):
    def forward(self, x):
        return x * CONFIG.scale  # expect: DYN411 eager


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a configuration that is a dict with a method for attributes
class Config(dict):
    def __getattr__(self, name):
        return self[name]


CONFIG = Config(scale=2.0)


class Model(nn.Module):
    def forward(self, x):
        return x * CONFIG.scale


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a tensor class with its own way of calling
class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


class Wrapped:
    def __init__(self, tensor):
        self.tensor = tensor

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        args = [one.tensor if isinstance(one, Wrapped) else one for one in args]
        return func(*args, **(kwargs or {}))


class Model(nn.Module):
    def forward(self, x):
        return torch.add(Wrapped(x), Wrapped(x * 2))


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% sets and dicts that are filled and emptied within the call
class Model(nn.Module):
    def forward(self, x):
        seen = {"a", "b"}
        seen.discard("a")
        seen |= {"c"}
        parts = {"one": x, "other": x * 2}
        parts.setdefault("third", x * 3)
        parts.update(fourth=x)
        del parts["one"]
        both = {**parts, "fifth": x} | {"sixth": x}
        return sum(both.values()) * len(seen) + both.pop("fifth")


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a queue that is turned
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.queue = deque([1.0, 1.0])

    def forward(self, x):
        x = x * 2
        self.queue.rotate(1)  # expect: DYN411 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an iterator that outlives the call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.order = iter([2.0] * 100)

    def forward(self, x):
        x = x * 2
        rate = next(self.order)  # expect: DYN411 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a decorator that enters a manager
class Span(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


@Span()
def scaled(x):
    return x * 3


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        return scaled(x) + 1  # expect: DYN413 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% decorators of torch that enter a manager
@torch.no_grad()
def frozen(x):
    return x * 3


@torch.autocast("cpu", enabled=False)
def full(x):
    return x * 2


class Model(nn.Module):
    @torch.inference_mode()
    def forward(self, x):
        return frozen(full(x)) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a hook that was registered at set-up and prints
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.register_forward_hook(self.note)

    def note(self, module, args, out):
        print(end="")  # expect: DYN401 break

    def forward(self, x):
        return self.linear(x * 2) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a checkpointed block that prints
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def inner(self, x):
        x = self.linear(x)
        print(end="")  # expect: DYN401 break
        return x + 1

    def forward(self, x):
        return checkpoint(self.inner, x * 2, use_reentrant=False) * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a checkpointed block that says nothing
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def inner(self, x):
        return self.linear(x) + 1

    def forward(self, x):
        return checkpoint(self.inner, x * 2, use_reentrant=False) * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a penalty on gradients with a switch that lets Dynamo trace it
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        loss = self.linear(x).square().sum()
        (grad,) = torch.autograd.grad(loss, self.linear.weight)
        return grad.norm() * 2


def drive():
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        run = torch.compile(Model())
        for _ in range(12):
            yield run(X)


# %% the square root of a tensor by the math module
import math


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        root = math.sqrt(x.sum())  # expect: DYN402 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% the square root of a size by the math module
import math


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        return x / math.sqrt(x.size(-1)) + x.sum().sqrt()


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% whether gradients are recorded and whether inference mode is on
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        if torch.is_grad_enabled() and not torch.is_autocast_enabled():
            x = x + 1
        if torch.is_inference_mode_enabled():  # expect: DYN411 break
            x = x + 1
        return x * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a source of random numbers that the model keeps
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = random.Random(0)

    def forward(self, x):
        return x * 2 + self.source.random()  # expect: DYN306 stale


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a source of random numbers that is asked outside
class Model(nn.Module):
    def forward(self, x, shift):
        return x * 2 + shift


def drive():
    source = random.Random(0)
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.tensor(source.random()))


# %% a loss that changes and is asked for its value
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        scale = loss.item()  # expect: DYN402 break
        return x * scale  # expect: DYN109 once note


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield run(X * (number + 1))


# %% a number of rounds that a tensor tells
class Model(nn.Module):
    def forward(self, x, rounds):
        x = x * 2
        count = int(rounds)  # expect: DYN402 storm
        for _ in range(count):  # expect: DYN109 storm note
            x = x + 1
        return x


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield run(X, torch.tensor(number + 2))


# %% a lock behind operations that are worth a graph
LOCK = threading.Lock()


class Model(nn.Module):
    def forward(self, x):
        h = x * 2
        h = h + 1
        with LOCK:  # expect: DYN413 break
            h = h + 1
        return h


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a recurrent layer that comes first
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 4, batch_first=True)

    def forward(self, x):
        out, _ = self.rnn(x)  # expect: DYN417 eager
        return out + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X[None])


# %% a nested tensor with a jagged layout
class Model(nn.Module):
    def forward(self, x, y):
        both = torch.nested.nested_tensor([x, y], layout=torch.jagged)
        return both.values() * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X[0], X[1])


# %% a dense tensor that is made dense
class Model(nn.Module):
    def forward(self, x):
        return x.to_dense() * 2 + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a source of random numbers that the region makes
class Model(nn.Module):
    def forward(self, x):
        return x * 2 + random.Random(0).random()


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a function that runs eagerly, but what it calls does not
@torch.compiler.disable(recursive=False)
def scaled(x):
    return x * 3


class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        return scaled(x) + 1  # expect: DYN406 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a slice up to the largest of some lengths
class Model(nn.Module):
    def forward(self, x, lengths: torch.Tensor):
        return x[:, : lengths.max()] + 1  # expect: DYN402 eager


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, torch.tensor([2, 3]))


# %% a generator that was seeded where it was made
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = torch.Generator().manual_seed(0)

    def forward(self, x):
        x = x * 2
        return x + 0 * torch.rand(4, generator=self.source)  # expect: DYN414 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a size that comes where a tensor is declared
class Model(nn.Module):
    def half(self, size: torch.Tensor):
        return int(size[-1]) // 2

    def forward(self, x):
        return x[:, : self.half(x.shape)] * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a batch that is a dictionary
class Model(nn.Module):
    def forward(self, batch):
        x = batch["x"] * 2
        if "mask" in batch:
            x = x * batch["mask"]
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run({"x": X})


# %% a function that keeps a table is left out on purpose, as its text says
@torch.compiler.disable
def clip(x):
    """Clamp the values; eager, since the table outside of it changes."""
    return x.clamp(max=0.5)


class Model(nn.Module):
    def forward(self, x):
        return clip(x * 2) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% scalars captured around the calls of a model that was compiled before
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()


def drive():
    run = torch.compile(Model())
    with torch._dynamo.config.patch("capture_scalar_outputs", True):
        for _ in range(12):
            yield run(X)


# %% scalars captured around another model alone
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()  # expect: DYN402 break


class Other(nn.Module):
    def forward(self, x):
        return x * 2


def drive():
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        torch.compile(Other())(X)
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% scalars captured around the last calls alone
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()  # expect: DYN402 break


def drive():
    run = torch.compile(Model())
    for _ in range(6):
        yield run(X)
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        for _ in range(6):
            yield run(X)


# %% scalars captured around what compiles alone
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()  # expect: DYN402 break


def drive():
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% scalars captured around the caller of the caller
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()


def run_all(run):
    for _ in range(12):
        yield step(run)


def step(run):
    return run(X)


def drive():
    with torch._dynamo.config.patch({"capture_scalar_outputs": True}):
        yield from run_all(torch.compile(Model()))


# %% scalars captured in a function that is decorated
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()


@torch._dynamo.config.patch(capture_scalar_outputs=True)
def step(run):
    return run(X)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield step(run)


# %% scalars captured in another function that is decorated
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()  # expect: DYN402 break


@torch._dynamo.config.patch(capture_scalar_outputs=True)
def other(run):
    return run(X)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% scalars captured until a stack is left
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()


def drive():
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch._dynamo.config.patch(capture_scalar_outputs=True))
        run = torch.compile(Model())
        for _ in range(12):
            yield run(X)


# %% scalars captured in a function that nobody calls
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()  # expect: DYN402 break


def other(run):
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        return run(X)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% scalars captured by a test
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()  # expect: DYN402 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# file: test_other.py
import torch

torch._dynamo.config.capture_scalar_outputs = True


# %% scalars captured by the setting of something else
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()  # expect: DYN402 break


class Config:
    capture_scalar_outputs = False


def drive():
    config = Config()
    config.capture_scalar_outputs = True
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% scalars captured under another name of the configuration
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()


from torch._dynamo import config as options


def drive():
    before = options.capture_scalar_outputs
    options.capture_scalar_outputs = True
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)
    options.capture_scalar_outputs = before


# %% scalars captured by a configuration that is looked up
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()


def drive():
    dynamo_config = getattr(torch._dynamo, "config", None)
    dynamo_config.capture_scalar_outputs = True
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)
    dynamo_config.capture_scalar_outputs = False


# %% scalars captured around a function that runs a layer that is compiled elsewhere
class Layer(nn.Module):
    def forward(self, x):
        return x * 2


def drive():
    layer = Layer()
    run_layer, run_step = torch.compile(layer), None
    if X.numel() == 0:
        yield run_layer(X)
    with torch._dynamo.config.patch(capture_scalar_outputs=True):

        def step(x):
            y = layer(x)
            return y * y.sum().item()

        run_step = torch.compile(step)
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        for _ in range(12):
            yield run_step(X)


# %% scalars captured by another script
class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()  # expect: DYN402 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


if __name__ == "__main__":
    print(list(drive()))


# file: other.py
import torch

if __name__ == "__main__":
    torch._dynamo.config.capture_scalar_outputs = True


# %% scalars captured by a file that a script imports
import options


class Model(nn.Module):
    def forward(self, x):
        loss = (x * x).mean()
        return x * loss.item()


def drive():
    options.begin()
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)
    options.end()


if __name__ == "__main__":
    print(list(drive()))


# file: options.py
import torch


def begin():
    torch._dynamo.config.capture_scalar_outputs = True


def end():
    torch._dynamo.config.capture_scalar_outputs = False


# %% a frozen head that is thawed
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)
        self.head.requires_grad_(False)

    def forward(self, x):
        x = x * 2 + 1
        self.head.requires_grad_(True)  # expect: DYN408 break
        return self.head(x) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a head that is thawed and never was frozen
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)

    def forward(self, x):
        x = x * 2 + 1
        self.head.requires_grad_(True)
        return self.head(x) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a head that is frozen in each call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)

    def forward(self, x):
        x = x * 2 + 1
        self.head.requires_grad_(False)  # expect: DYN408 break
        return self.head(x) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a head that is frozen in each call and was before
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)

    def forward(self, x):
        x = x * 2 + 1
        self.head.requires_grad_(False)
        return self.head(x) + 1


def drive():
    model = Model()
    model.head.requires_grad_(False)
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% a head that is frozen in each call and was before, with all of its model
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)

    def forward(self, x):
        x = x * 2 + 1
        self.head.requires_grad_(False)
        return self.head(x) + 1


def drive():
    model = Model()
    for parameter in model.parameters():
        parameter.requires_grad = False
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% a critic that is frozen for one use
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Linear(4, 4)

    def forward(self, x):
        x = x * 2 + 1
        self.critic.requires_grad_(False)  # expect: DYN408 break
        score = self.critic(x)
        self.critic.requires_grad_(True)  # expect: DYN408 break
        return score


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a module of the project with a layer that forward builds
class Head(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x):
        return self.linear(x)


class Model(nn.Module):
    def forward(self, x):
        x = x * 2 + 1
        head = Head(4)  # expect: DYN407 break
        return head(x).detach() * 0 + x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a module of the project with a parameter that forward builds
class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x * self.weight


class Model(nn.Module):
    def forward(self, x):
        x = x * 2 + 1
        return Scale(4)(x) + 1  # expect: DYN407 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a module of the project that forward builds, with a layer in one of its own
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.ReLU(), nn.LayerNorm(4))

    def forward(self, x):
        return self.layers(x)


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x) + 1


class Model(nn.Module):
    def forward(self, x):
        x = x * 2 + 1
        return Outer()(x)  # expect: DYN407 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a subclass of a layer that forward builds
class Norm(nn.LayerNorm):
    pass


class Model(nn.Module):
    def forward(self, x):
        x = x * 2 + 1
        return Norm(4)(x) + 1  # expect: DYN407 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a module of the project without parameters that forward builds
class Scale(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor
        self.act = nn.ReLU()
        self.register_buffer("shift", torch.ones(4))

    def forward(self, x):
        return self.act(x) * self.factor + self.shift


class Model(nn.Module):
    def forward(self, x):
        x = x * 2 + 1
        return Scale(4)(x) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a module of the project whose layer is built only if it is asked for
class Scale(nn.Module):
    def __init__(self, learned=False):
        super().__init__()
        self.linear = nn.Linear(4, 4) if learned else nn.Identity()

    def forward(self, x):
        return self.linear(x) * 2


class Model(nn.Module):
    def forward(self, x):
        x = x * 2 + 1
        return Scale()(x) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a backward hook on a layer
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.register_full_backward_hook(self.watch)
        self.norm = 0.0

    def watch(self, module, into, outof):
        self.norm = 1.0

    def forward(self, x):
        x = x * 2 + 1
        return self.linear(x) + 1  # expect: DYN412 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a backward hook on a layer that the driver puts there
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)

    def forward(self, x):
        x = self.other(x * 2 + 1)
        return self.linear(x) + 1  # expect: DYN412 break


def drive():
    model = Model()
    model.linear.register_full_backward_pre_hook(lambda module, outof: outof)
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% a backward hook on the model itself
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_full_backward_hook(lambda module, into, outof: None)

    def forward(self, x):
        x = x * 2 + 1
        return self.linear(x) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a forward hook on a layer that scales
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.register_forward_hook(lambda module, given, out: out * 2)

    def forward(self, x):
        x = x * 2 + 1
        return self.linear(x) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a backward hook on a block of the project
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x) * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.block.register_full_backward_hook(lambda module, into, outof: None)

    def forward(self, x):
        x = x * 2 + 1
        return self.block(x) + 1  # expect: DYN412 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a hook on a parameter
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.weight.register_hook(lambda gradient: gradient)

    def forward(self, x):
        x = x * 2 + 1
        return self.linear(x) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a backward hook that a method would put on a layer
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def debug(self):
        self.linear.register_full_backward_hook(lambda module, into, outof: None)

    def forward(self, x):
        x = x * 2 + 1
        return self.linear(x) + 1  # expect: DYN412 break note


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% rounds that a coin tells
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        rounds = random.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])  # expect: DYN401 storm
        for _ in range(rounds):
            x = x + 1
        return x


def drive():
    random.seed(0)
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% rounds that a coin picks out of two
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        for _ in range(random.choice([1, 2])):  # expect: DYN401 break
            x = x + 1
        return x


def drive():
    random.seed(0)
    run = torch.compile(Model())
    for number in range(12):
        yield run(X)


# %% a list as long as a coin tells
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        parts = [x] * random.choice(range(1, 40))  # expect: DYN401 storm
        return torch.stack(parts)


def drive():
    random.seed(0)
    run = torch.compile(Model())
    for number in range(12):
        yield run(X)


# %% rounds that NumPy draws
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        rounds = np.random.randint(1, 40)  # expect: DYN401 storm
        for _ in range(rounds):
            x = x + 1
        return x


def drive():
    np.random.seed(0)
    run = torch.compile(Model())
    for number in range(12):
        yield run(X)


# %% rounds that the clock tells
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        rounds = int(time.time_ns() % 31)  # expect: DYN401 storm
        for _ in range(rounds):
            x = x + 1
        return x * 0


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield run(X)


# %% a factor that a coin picks
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        coin = random.choice([0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5])  # expect: DYN401 break
        return x * coin  # expect: DYN109 once note


def drive():
    random.seed(0)
    run = torch.compile(Model())
    for number in range(12):
        yield run(X)


# %% the time as a text and nothing else
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        now = time.time()  # expect: DYN401 break
        label = f"{now:.3f}"
        return x + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% the time in a text that is returned
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        now = time.time()  # expect: DYN401 break
        return x + 1, f"at {now}"  # expect: DYN409 break


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield run(X + number)[0]


# %% the time in the text of a key
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        now = time.time()  # expect: DYN401 break
        out = {}
        out[f"at/{now}"] = x + 1  # expect: DYN409 break
        return out


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield list(run(X).values())


# %% the time as a key
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        now = time.time()  # expect: DYN401 storm
        return {str(now): x + 1}  # expect: DYN409 break


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield list(run(X).values())


# %% a mean in the text of a metric
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        mean = x.mean().item()  # expect: DYN402 break
        return x + 1, {"mean": mean, "label": f"{mean:.2f} in all"}  # expect: DYN409 break


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield run(X + number)[0]


# %% the time in a text in a loop
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        now = time.time()  # expect: DYN401 break
        for number in range(2):
            label = f"at {now:.3f} s"  # expect: DYN409 break
            x = x + 1
        return x


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield run(X + number)


# %% a mean in the text of an error that is not raised
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        mean = x.mean().item()  # expect: DYN402 break
        if mean < -100:  # expect: DYN109 once note
            raise ValueError(f"mean is {mean}")
        return x + 1


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield run(X + number)


# %% a mean in the text of a message
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        logger.info(f"mean {x.mean().item()}")  # expect: DYN401 break # expect: DYN402 break
        return x + 1


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield run(X + number)


# %% quiet: a number out of a tensor that is calculated with under fullgraph
class Model(nn.Module):
    def forward(self, x):
        mean = x.mean().item()
        return x * mean + abs(mean) + int(x.sum())


def drive():
    run = torch.compile(Model(), fullgraph=True)
    for _ in range(12):
        yield run(X)


# %% quiet: a number out of a tensor that is asserted under fullgraph
class Model(nn.Module):
    def forward(self, x):
        count = int(x.sum().abs()) + 1
        assert count > 0
        return x * count


def drive():
    run = torch.compile(Model(), fullgraph=True)
    for _ in range(12):
        yield run(X)


# %% quiet: a decision that a check vouches for under fullgraph
class Model(nn.Module):
    def forward(self, x):
        count = int(x.sum().abs()) + 1
        torch._check(count > 0)
        if count > 0:
            return x * 2
        return x


def drive():
    run = torch.compile(Model(), fullgraph=True)
    for _ in range(12):
        yield run(X)


# %% quiet: a number out of a tensor that is compared with nothing under fullgraph
class Model(nn.Module):
    def forward(self, x):
        mean = x.mean().item()
        if mean is None or not isinstance(mean, float):
            return x
        return x * mean if x.shape[0] > 1 else x


def drive():
    run = torch.compile(Model(), fullgraph=True)
    for _ in range(12):
        yield run(X)


# %% an operator that changes an argument which it does not name
@torch.library.custom_op("graph_breaks::wipe", mutates_args=())
def wipe(x: torch.Tensor) -> torch.Tensor:
    x.zero_()  # expect: DYN526 stale
    return x.clone()


@wipe.register_fake
def _(x):
    return torch.empty_like(x)


def wiped(x):
    x = x * 2
    wipe(x)
    return x + 1


def drive():
    run = torch.compile(wiped)
    for _ in range(4):
        yield run(X)


# %% quiet: an operator that names the argument that it changes
@torch.library.custom_op("graph_breaks::wipe_named", mutates_args=("x",))
def wipe(x: torch.Tensor) -> torch.Tensor:
    x.zero_()
    return x.clone()


@wipe.register_fake
def _(x):
    return torch.empty_like(x)


def wiped(x):
    x = x * 2
    wipe(x)
    return x + 1


def drive():
    run = torch.compile(wiped)
    for _ in range(4):
        yield run(X)


# %% a fake that makes a size of a value
@torch.library.custom_op("graph_breaks::above", mutates_args=())
def above(x: torch.Tensor, limit: float) -> torch.Tensor:
    return x[x > limit]


@above.register_fake
def _(x, limit):
    return x.new_empty(int((x > limit).sum()))  # expect: DYN526 break


def drive():
    run = torch.compile(lambda x: above(x * 2, 0.5) + 1)
    for _ in range(12):
        yield run(X)


# %% a fake that decides on a value
@torch.library.custom_op("graph_breaks::either", mutates_args=())
def either(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@either.register_fake
def _(x):
    if x.sum() > 0:  # expect: DYN526 break
        return torch.empty_like(x)
    return x.new_empty(x.shape)


def drive():
    run = torch.compile(lambda x: either(x * 2) + 1)
    for _ in range(12):
        yield run(X)


# %% quiet: a fake whose size nobody knows yet
@torch.library.custom_op("graph_breaks::above_unknown", mutates_args=())
def above(x: torch.Tensor, limit: float) -> torch.Tensor:
    return x[x > limit]


@above.register_fake
def _(x, limit):
    return x.new_empty(torch.library.get_ctx().new_dynamic_size())


def drive():
    run = torch.compile(lambda x: above(x * 2, 0.5) + 1)
    for _ in range(12):
        yield run(X)


# %% quiet: a fake that decides on a size and on a number
@torch.library.custom_op("graph_breaks::sized", mutates_args=())
def sized(x: torch.Tensor, limit: int) -> torch.Tensor:
    return x.clone()


@sized.register_fake
def _(x, limit):
    if x.shape[0] > limit or limit > 3:
        return torch.empty_like(x)
    return x.new_empty(x.shape)


def drive():
    run = torch.compile(lambda x: sized(x * 2, 1) + 1)
    for _ in range(12):
        yield run(X)


# %% gradients that a compiled step empties
def drive():
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile
    def run(x):
        x = model(x) * 2
        optimizer.zero_grad()  # expect: DYN411 break
        return x + 1

    for _ in range(12):
        yield run(X)


# %% quiet: gradients that a compiled step empties through the model
def drive():
    model = nn.Linear(4, 4)

    @torch.compile
    def run(x):
        x = model(x) * 2
        model.zero_grad()
        return x + 1

    for _ in range(12):
        yield run(X)


# %% a step within compiled code that a schedule has wrapped
class Plain(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad, alpha=0.1)


def drive():
    model = nn.Linear(4, 4)
    model(X).sum().backward()
    optimizer = Plain(model.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 100)

    @torch.compile
    def run(x):
        x = x * 2
        optimizer.step()  # expect: DYN411 break
        return x + 1

    for _ in range(12):
        yield run(X)
        schedule.step()


# %% quiet: a step within compiled code that no schedule has wrapped
class Plain(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad, alpha=0.1)


def drive():
    model = nn.Linear(4, 4)
    model(X).sum().backward()
    optimizer = Plain(model.parameters())

    @torch.compile
    def run(x):
        x = x * 2
        optimizer.step()
        return x + 1

    for _ in range(12):
        yield run(X)


# %% quiet: a step of an object that is no optimizer, beside a schedule of another
class Counter:
    def __init__(self, scale):
        self.scale = scale

    def step(self, x):
        return x * self.scale


def drive():
    optimizer = torch.optim.SGD(nn.Linear(4, 4).parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 100)
    counter = Counter(2)

    @torch.compile
    def run(x):
        return counter.step(x) + 1

    for _ in range(12):
        yield run(X)
        optimizer.step()
        schedule.step()


# %% a mask of two comparisons by which a helper picks among what it is handed in a dict
class Range:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def pick(self, found):
        values = found["losses"]
        inside = values > self.low
        inside &= values < self.high
        return (
            values.sum(),
            values[inside],  # expect: DYN404 break
        )


def drive():
    limits = Range(0.2, 0.8)

    @torch.compile
    def run(x):
        total, kept = limits.pick({"losses": x * 2})
        return total + kept.sum()

    for _ in range(12):
        yield run(X)


# %% quiet: a mask by which a helper weighs and writes among what it is handed in a dict
class Range:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def pick(self, found):
        values = found["losses"]
        inside = values > self.low
        inside &= values < self.high
        values[~inside] = 0.0
        return values * inside + torch.where(inside, values, -values)


def drive():
    limits = Range(0.2, 0.8)

    @torch.compile
    def run(x):
        return limits.pick({"losses": x * 2}).sum()

    for _ in range(12):
        yield run(X)


# %% quiet: a mask by which a helper picks under fullgraph
class Range:
    def __init__(self, low):
        self.low = low

    def pick(self, found):
        values = found["losses"]
        return values[values > self.low].sum()


def drive():
    limits = Range(0.2)

    @torch.compile(fullgraph=True)
    def run(x):
        return limits.pick({"losses": x * 2})

    for _ in range(12):
        yield run(X)


# %% quiet: whether a tensor is complex, of one that a helper is handed in a dict
class Real:
    def __init__(self, name):
        self.names = {"key": name}

    def part(self, found):
        value = found.get(self.names["key"])
        if torch.is_complex(value) or not torch.is_floating_point(value):
            return value.real
        return value * 2


def drive():
    real = Real("x")
    run = torch.compile(lambda found: real.part(found))
    for _ in range(12):
        yield run({"x": X})


# %% options that a frame hands on in a dict, and which are the same each time
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def helped(self, x, options):
        print(end="")  # expect: DYN401 break
        return x * options["scale"]

    def forward(self, x):
        options = {"scale": self.scale}
        return self.helped(x, options) + 1


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a way of stepping that no program picks
class Fixed:
    def step(self, x):
        return x * 2


class Adaptive:
    def step(self, x):
        if (x.sum() > 0).item():  # expect: DYN402 break note
            return x * 3
        return x


STEPS = {"fixed": Fixed, "adaptive": Adaptive}


class Model(nn.Module):
    def __init__(self, method="fixed"):
        super().__init__()
        self.stepper = STEPS[method]()

    def forward(self, x):
        return self.stepper.step(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% an option that a dict has not, asked for where that is expected
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.options = {"scale": 2.0}
        self.calls = 0

    def forward(self, x):
        try:
            shift = self.options["shift"]
            self.calls += 1  # expect: DYN101 storm note
        except KeyError:
            shift = 0.5
        return x * self.options["scale"] + shift + self.calls


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a mask behind a function that is handed on by name
@torch.compile
def picked(x):
    return x[x > 0.5].sum()  # expect: DYN404 break


def drive():
    def timed(function, *args):
        return function(*args)

    for _ in range(12):
        yield timed(picked, X * 2)


# %% a mask says where what needs a gradient is written
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        out = torch.zeros_like(x)
        out[x > 0.5] = self.linear(x).sum()  # expect: DYN404 eager
        return out


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% quiet: a mask says where a number is written
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        out = self.linear(x) * 2
        out[x > 0.5] = 0.0
        return out


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% quiet: a mask says where what needs no gradient is written
class Model(nn.Module):
    def forward(self, x):
        out = torch.zeros_like(x)
        out[x > 0.5] = x.sum()
        return out


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% quiet: sizes are compared with those that the constructor got
class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = torch.Size(shape)

    def forward(self, x):
        if x.shape[1:] != self.shape:
            raise ValueError("another shape")
        return x * 2


def drive():
    run = torch.compile(Model([4]))
    for _ in range(12):
        yield run(X)


# %% indices behind a condition that is passed in
def kept(values, condition):
    return values.index_select(0, (~condition(values)).nonzero().squeeze(-1))  # expect: DYN404 break


class Model(nn.Module):
    def __init__(self, cutoff):
        super().__init__()
        self.cutoff = cutoff

    def forward(self, x):
        return kept(x.flatten(), lambda one: one > self.cutoff).sum() + 1


def drive():
    run = torch.compile(Model(0.5))
    for _ in range(12):
        yield run(X)


# %% a message of a logger that a helper is handed
def tell(log, text):
    log.log(logging.DEBUG, text)  # expect: DYN401 break


def with_note(log):
    def call(x):
        x = x * 2
        tell(log, "called")
        return x + 1

    return call


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.make = with_note

    def forward(self, x):
        return self.make(logger)(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a count on a function that gets no tensor
def count():
    count.calls += 1  # expect: DYN411 break
    return count.calls


count.calls = 0


def forward(x):
    return x * 2 + count()


def drive():
    return torch.compile(forward), [(X,)]


# %% a count on a function that gets a tensor
def counted(x):
    counted.calls += 1  # expect: DYN411 break # expect: DYN106 storm
    return x * counted.calls


counted.calls = 0


def forward(x):
    return counted(x) + 1


def drive():
    return torch.compile(forward), [(X,)]


# %% a count on a function that is compiled itself
@torch.compile
def forward(x):
    forward.calls += 1  # expect: DYN411 eager
    return x * forward.calls


forward.calls = 0


def drive():
    return forward, [(X,)]


# %% a method that is partial of another one
class Net(nn.Module):
    def scaled(self, factor, x):
        return x * factor

    doubled = functools.partialmethod(scaled, 2)

    def forward(self, x):
        return self.doubled(x)  # expect: DYN411 break


def drive():
    return torch.compile(Net()), [(X,)]


# %% numbers that a plain object counts between breaks
class Log:
    def __init__(self):
        self.lines = 0

    def add(self, number):
        self.lines += number


LOG = Log()


def forward(x):
    for number in range(2):
        x = x + 1
        time.sleep(0)  # expect: DYN401 eager
        LOG.add(number)
    return x * 2


def drive():
    return torch.compile(forward), [(X,)]


# %% as many classes as the largest label tells
class Model(nn.Module):
    def forward(self, x):
        labels = (x > 0).long()
        return F.one_hot(labels, labels.max() + 1) * 2  # expect: DYN402 break


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% quiet: as many classes as the model was made with
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.classes = 3

    def forward(self, x):
        labels = (x > 0).long()
        return F.one_hot(labels, self.classes) * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% quiet: a backward hook that is taken away again
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x * 2) + 1


def drive():
    model = Model()
    handle = model.linear.register_full_backward_hook(lambda *given: None)
    handle.remove()
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% a print where a function is handed in place of a number
import inspect


class Model(nn.Module):
    def __init__(self, size=None):
        super().__init__()
        self.size = size if not inspect.isfunction(size) else size()

    def forward(self, x):
        if self.size == 4:
            print(end="")  # expect: DYN401 break
        return x * 2


def drive():
    run = torch.compile(Model(lambda: 4))
    for _ in range(12):
        yield run(X)


# %% a decision on a number that is captured
class Model(nn.Module):
    def forward(self, x):
        x = x * 2
        mean = x.mean().item()
        if mean > 0:  # expect: DYN403 break
            return x * 2
        return x * 3


def drive():
    torch._dynamo.config.capture_scalar_outputs = True
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)
