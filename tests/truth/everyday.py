"""Ordinary code that costs nothing, and the rewrites that end a hazard."""

import contextlib
import copy
import math
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% an attribute that is written and never read
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n = 7
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% the last input, kept for others to see
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        self.last = x.detach()
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% an average in a buffer
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(()))

    def forward(self, x):
        self.mean.mul_(0.9).add_(0.1)
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a count in a buffer, in place
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros((), dtype=torch.long), persistent=False)

    def forward(self, x):
        self.n += 1
        return x * self.n


def drive():
    return torch.compile(Model()), [(X,)]


# %% a count in a buffer, rebound
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros((), dtype=torch.long), persistent=False)

    def forward(self, x):
        self.n = self.n + 1
        return x * self.n


def drive():
    return torch.compile(Model()), [(X,)]


# %% a count in a plain tensor
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = torch.zeros(())

    def forward(self, x):
        self.n.add_(1)
        return x * self.n


def drive():
    return torch.compile(Model()), [(X,)]


# %% a count in a plain tensor, rebound
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = torch.zeros(())

    def forward(self, x):
        self.n = self.n + 1
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a count that chooses by torch.where
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.n += 1
        return torch.where(self.n % 4 == 0, x * 2, x * 3)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a schedule computed from a buffer
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def forward(self, x):
        self.n += 1
        return x * torch.clamp(self.n / 10, max=1.0)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a count kept by an eager wrapper
class Inner(nn.Module):
    def forward(self, x):
        return x * 2


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.compile(Inner())
        self.n = 0

    def forward(self, x):
        self.n += 1
        return self.inner(x) if self.n % 2 else self.inner(x) + 1


def drive():
    return Outer(), [(X,)]


# %% a count kept by the training loop
class Trainer:
    def __init__(self, model):
        self.model = torch.compile(model)
        self.global_step = 0

    def step(self, x):
        self.global_step += 1
        return self.model(x)


class Model(nn.Module):
    def forward(self, x):
        return x * 2


def drive():
    trainer = Trainer(Model())
    for _ in range(12):
        yield trainer.step(X)


# %% a numpy array that counts
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.counts = np.zeros(1)

    def forward(self, x):
        self.counts += 1
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a codebook updated through .data
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("codebook", torch.ones(4))

    def forward(self, x):
        self.codebook.data.mul_(0.9)
        return x * self.codebook


def drive():
    return torch.compile(Model()), [(X,)]


# %% a codebook copied into through .data
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("codebook", torch.ones(4))

    def forward(self, x):
        self.codebook.data.copy_(x.mean(0))
        return x * self.codebook


def drive():
    return torch.compile(Model()), [(X,)]


# %% batch normalisation in training
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(x)


def drive():
    return torch.compile(Model().train()), [(X,)]


# %% an assertion about a tensor
class Model(nn.Module):
    def forward(self, x):
        assert (x > -100).all(), "far too small"
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% an exception that is raised and caught
class Model(nn.Module):
    def forward(self, x):
        try:
            raise ValueError("never mind")
        except ValueError:
            return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a context manager of one's own
class Scaled:
    def __enter__(self):
        return 2

    def __exit__(self, *exc):
        return False


class Model(nn.Module):
    def forward(self, x):
        with Scaled() as scale:
            return x * scale


def drive():
    return torch.compile(Model()), [(X,)]


# %% a generator as a context manager
@contextlib.contextmanager
def scaled(factor):
    yield factor * 2


class Model(nn.Module):
    def forward(self, x):
        with scaled(2) as scale:
            return x * scale


def drive():
    return torch.compile(Model()), [(X,)]


# %% suppressed exceptions
class Model(nn.Module):
    def forward(self, x):
        with contextlib.suppress(KeyError):
            x = x + 1
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% constants from numpy
class Model(nn.Module):
    def forward(self, x):
        return x * torch.from_numpy(np.ones(4, dtype=np.float32))


def drive():
    return torch.compile(Model()), [(X,)]


# %% a random integer
class Model(nn.Module):
    def forward(self, x):
        return (x * random.randint(0, 1000)).shape[0] + x


def drive():
    return torch.compile(Model()), [(X,)]


# %% the id of the model
class Model(nn.Module):
    def forward(self, x):
        return x * (id(self) > 0)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a copy of a constant list
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.sizes = [1, 2]

    def forward(self, x):
        sizes = copy.deepcopy(self.sizes)
        sizes.append(3)
        return x * sum(sizes)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a check of types
class Model(nn.Module):
    def forward(self, x, y=None):
        if isinstance(y, torch.Tensor):
            return x + y
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a debug flag that is down
class Model(nn.Module):
    def __init__(self, debug=False):
        super().__init__()
        self.debug = debug

    def forward(self, x):
        if self.debug:
            print(x.mean())
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% functions of math on constants
class Model(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return x / math.sqrt(self.dim) * math.exp(0.5)


def drive():
    return torch.compile(Model()), [(X,)]


# %% sizes as numbers
class Model(nn.Module):
    def forward(self, x):
        rows, columns = x.shape
        return x.reshape(columns, rows) * len(x) * x.size(0)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a tensor made from a constant attribute
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 3

    def forward(self, x):
        return x * torch.tensor(self.k)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a generator expression
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x):
        return sum(layer(x) for layer in self.layers)


def drive():
    return torch.compile(Model()), [(X,)]


# %% autocast within the region
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.linear(x)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a device chosen by availability
class Model(nn.Module):
    def forward(self, x):
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return x.to(device) * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% an import within forward
class Model(nn.Module):
    def forward(self, x):
        import math as m

        return x * m.pi


def drive():
    return torch.compile(Model()), [(X,)]


# %% a condition on a tensor by cond
class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y * 2, lambda y: y * 3, (x,))


def drive():
    return torch.compile(Model()), [(X,)]


# %% a dropout decided by a tensor
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rate", torch.zeros(()))

    def forward(self, x):
        keep = (torch.full_like(x, 0.5) >= self.rate).to(x.dtype)
        return x * keep


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.rate.fill_(i / 12)
        yield run(X)


# %% keys and values in buffers, written at a position tensor
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, 4))

    def forward(self, x, position):
        self.keys.index_copy_(0, position, x[:1])
        return x + self.keys.sum(0)


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, torch.tensor([i]))


# %% a schedule of a frozen constant config
class Config:
    hidden = 4
    layers = 2
    dropout = 0.0


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.linear = nn.Linear(config.hidden, config.hidden)

    def forward(self, x):
        for _ in range(self.config.layers):
            x = self.linear(x)
        return F.dropout(x, self.config.dropout, self.training)


def drive():
    return torch.compile(Model(Config())), [(X,)]


# %% a set-up method that nobody calls between calls
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.length = 0
        self.mask = None

    def setup(self, length):
        self.length = length
        self.mask = torch.ones(length)

    def forward(self, x):
        return x * self.mask * self.length


def drive():
    model = Model()
    model.setup(4)
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% a gradient-checkpointing switch
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.checkpointing = False

    def enable_checkpointing(self):
        self.checkpointing = True

    def forward(self, x):
        if self.checkpointing and self.training:
            return torch.utils.checkpoint.checkpoint(self.linear, x, use_reentrant=False)
        return self.linear(x)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a hook that records within the call
class Model(nn.Module):
    def forward(self, x):
        y = x * 2
        outputs = {}
        outputs["y"] = y
        for name in ("a", "b"):
            outputs[name] = y + 1
        return outputs["a"]


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter inside a disabled function
TALLY = {"calls": 0}


@torch.compiler.disable
def tally():
    TALLY["calls"] += 1


class Model(nn.Module):
    def forward(self, x):
        tally()  # expect: DYN406 break
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter inside a custom operator
CALLS = 0


@torch.library.custom_op("truth::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    global CALLS
    CALLS += 1
    return x * 2


@double.register_fake
def _(x):
    return torch.empty_like(x)


class Model(nn.Module):
    def forward(self, x):
        return double(x) + 1


def drive():
    return torch.compile(Model()), [(X,)]


# %% a value that assume_constant_result freezes
@torch._dynamo.assume_constant_result
def factor():
    return 3


class Model(nn.Module):
    def forward(self, x):
        return x * factor()


def drive():
    return torch.compile(Model()), [(X,)]


# %% a cache that only eager code keeps and reads
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None

    def forward(self, x):
        compiling = torch.compiler.is_compiling()
        if not compiling and self.cache is not None:
            return x * self.cache
        table = torch.arange(4.0)
        if not compiling:
            self.cache = table
        return x * table


def drive():
    return torch.compile(Model()), [(X,)]
