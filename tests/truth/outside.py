"""State that other code changes between the calls."""

import dataclasses
import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a float that a schedule divides by
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = 1.0

    def forward(self, x):
        return x / self.temperature  # expect: DYN102 once


def drive():
    model = Model()
    step = torch.compile(model)
    for i in range(12):
        model.temperature = 1 / (i + 1)
        yield step(X)


# %% an int that the loop sets
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        return x * self.step  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.step = i
        yield run(X)


# %% an int that the loop increments through the compiled model
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        if self.step > 5:  # expect: DYN102 storm
            return x * 2
        return x * 3


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        model.step += 1
        yield model(X)


# %% an int that a setter sets
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def forward(self, x):
        return x * self.epoch  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for epoch in range(12):
        model.set_epoch(epoch)
        yield run(X)


# %% a dropout rate that a schedule sets
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = 0.0

    def forward(self, x):
        return F.dropout(x, p=self.rate)  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.rate = i / 20
        yield run(X).shape


# %% the rate of a dropout module that a schedule sets
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(x)  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.drop.p = i / 20
        yield run(X).shape


# %% a float as a bound of clamp
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.floor = 0.0

    def forward(self, x):
        return x.clamp(min=self.floor)  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.floor = i / 20 + 0.01
        yield run(X)


# %% a float in a function of math
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = 0.0

    def forward(self, x):
        return x * math.exp(self.rate)  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.rate = i / 10
        yield run(X)


# %% a float as an exponent
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.power = 1.0

    def forward(self, x):
        return x**self.power  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.power = 1.1 + i / 10
        yield run(X)


# %% a float as the scale of attention
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 0.5

    def forward(self, q):
        return F.scaled_dot_product_attention(q, q, q, scale=self.scale)  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.scale = 0.5 + i
        yield run(torch.ones(1, 2, 4))


# %% a float compared with a tensor
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.threshold = 0.5

    def forward(self, x):
        return (x > self.threshold).float()  # expect: DYN102 once


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.threshold = 0.5 + i / 10
        yield run(X)


# %% a float as the alpha of add
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = 0.5

    def forward(self, x):
        return torch.add(x, x, alpha=self.weight)  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.weight = 0.5 + i
        yield run(X)


# %% a float that fills a new tensor
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fill = 0.5

    def forward(self, x):
        return x + torch.full((4,), self.fill)  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.fill = 0.5 + i
        yield run(X)


# %% a chain of float arithmetic
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 0.5

    def forward(self, x):
        return F.softmax(x / self.gain, dim=-1) * (self.gain * 2 + 1)  # expect: DYN102 once


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.gain = 0.5 + i
        yield run(X)


# %% a string that takes many values
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.name = ""

    def forward(self, x):
        return x * 2 if self.name == "s3" else x * 3  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.name = f"s{i}"
        yield run(X)


# %% a string that switches between two values
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind = "relu"

    def forward(self, x):
        return torch.relu(x) if self.kind == "relu" else torch.tanh(x)  # expect: DYN102 per-value


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.kind = "relu" if i % 2 else "tanh"
        yield run(X)


# %% a string set by two methods
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "dense"

    def use_dense(self):
        self.mode = "dense"

    def use_sparse(self):
        self.mode = "sparse"

    def forward(self, x):
        return x * 2 if self.mode == "dense" else x * 3  # expect: DYN102 per-value


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i % 2:
            model.use_dense()
        else:
            model.use_sparse()
        yield run(X)


# %% a flag that the loop computes
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.extra = False

    def forward(self, x):
        return x * 2 if self.extra else x * 3  # expect: DYN102 once


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.extra = i % 4 == 0
        yield run(X)


# %% an int on a plain config
class Config:
    def __init__(self):
        self.window = 1


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * self.config.window  # expect: DYN102 storm


def drive():
    config = Config()
    run = torch.compile(Model(config))
    for i in range(12):
        config.window = i
        yield run(X)


# %% an int in a dict
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.knobs = {"k": 1}

    def forward(self, x):
        return x * self.knobs["k"]  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.knobs["k"] = i
        yield run(X)


# %% another key of the same dict
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.knobs = {"k": 3}

    def forward(self, x):
        return x * self.knobs["k"]


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.knobs["other"] = i
        yield run(X)


# %% a list of ints replaced by the loop
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.range = [0, 1]

    def forward(self, x):
        return x * self.range[0]  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.range = [i, i + 1]
        yield run(X)


# %% a dtype that alternates
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dtype = torch.float32

    def forward(self, x):
        return x.to(self.dtype)  # expect: DYN102 per-value


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.dtype = torch.float64 if i % 2 else torch.float32
        yield run(X)


# %% a lambda that closes over the step
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = None

    def forward(self, x):
        return self.scale(x)  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.scale = lambda y, i=i: y * i
        yield run(X)


# %% a lambda without a closure, anew each time
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = None

    def forward(self, x):
        return self.act(x)


def drive():
    model = Model()
    run = torch.compile(model)
    for _ in range(12):
        model.act = lambda y: y * 2
        yield run(X)


# %% an int behind a property
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 0

    @property
    def late(self):
        return self.v > 100  # expect: DYN102 storm

    def forward(self, x):
        return x * 2 if self.late else x * 3


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = i
        yield run(X)


# %% a threshold decided outside
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.late = False

    def forward(self, x):
        return x * 2 if self.late else x * 3  # expect: DYN102 once


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.late = i > 6
        yield run(X)


# %% an int in an assertion
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 0

    def forward(self, x):
        assert self.v >= 0  # expect: DYN102 storm
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = i
        yield run(X)


# %% an int read for nothing
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 0

    def forward(self, x):
        _ = self.v
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = i
        yield run(X)


# %% a float read for nothing
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 0.0

    def forward(self, x):
        _ = self.v
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = i / 2
        yield run(X)


# %% a bool read for nothing
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = False

    def forward(self, x):
        _ = self.v
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = bool(i % 2)
        yield run(X)


# %% a string read for nothing
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = ""

    def forward(self, x):
        _ = self.v
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = f"s{i}"
        yield run(X)


# %% a float copied to another attribute
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 0.5
        self.w = 0.5

    def forward(self, x):
        self.w = self.v  # expect: DYN102 once
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = 0.5 + i
        yield run(X)


# %% a bool copied to another attribute
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = False
        self.w = False

    def forward(self, x):
        self.w = self.v  # expect: DYN102 once
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = bool(i % 2)
        yield run(X)


# %% a string copied to another attribute
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = ""
        self.w = ""

    def forward(self, x):
        self.w = self.v  # expect: DYN102 storm
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = f"s{i}"
        yield run(X)


# %% an int in an error message that never comes
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 0

    def forward(self, x):
        if x.shape[0] > 100:
            raise ValueError(f"step {self.v}: too many rows")
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = i
        yield run(X)


# %% an epoch that holds for three calls
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.epoch = 0

    def forward(self, x):
        return x * (self.epoch + 1)  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for epoch in range(12):
        model.epoch = epoch
        for _ in range(3):
            yield run(X)


# %% an int that keys a memo
@functools.lru_cache
def table(n):  # expect: DYN304 stale note
    return torch.arange(n + 1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 0

    def forward(self, x):
        return x * table(self.v)[0]  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = i
        yield run(X)


# %% an int read by getattr
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 0

    def forward(self, x):
        return x * getattr(self, "v")  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.v = i
        yield run(X)


# %% a field of a frozen config that is not read
@dataclasses.dataclass(frozen=True)
class Config:
    scale: int = 2
    name: str = ""


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.config = Config()

    def forward(self, x):
        return x * self.config.scale


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.config = Config(name=f"run{i}")
        yield run(X)


# %% new attributes that forward does not read
class Model(nn.Module):
    def forward(self, x):
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        setattr(model, f"extra{i}", i)
        yield run(X)


# %% a plain tensor replaced by the loop
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = torch.ones(4)

    def forward(self, x):
        return x * self.mask


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.mask = torch.ones(4) * i
        yield run(X)


# %% a submodule replaced by one of the same shape
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)

    def forward(self, x):
        return self.head(x)


def drive():
    model = Model()
    run = torch.compile(model)
    for _ in range(12):
        model.head = nn.Linear(4, 4)
        yield run(X)


# %% a buffer replaced by the loop
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("gain", torch.ones(()))

    def forward(self, x):
        return x * self.gain


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.gain = torch.tensor(float(i))
        yield run(X)


# %% a buffer filled by the loop
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rate", torch.zeros(()))

    def forward(self, x):
        return x**self.rate


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.rate.fill_(i / 10)
        yield run(X)


# %% an int that only the loop reads
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for _ in range(12):
        model.step += 1
        yield run(X), model.step


# %% an int that bounds a loop and stays
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rounds = 3

    def forward(self, x):
        for _ in range(self.rounds):
            x = torch.relu(x)
        return x


def drive():
    return torch.compile(Model()), [(X,)]


# %% a size that an eager parent writes into a compiled child
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.height = 0

    def forward(self, x):
        return x.reshape(self.height, -1)  # expect: DYN102 storm


class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        self.child.height = x.shape[0]
        return self.child(x)


def drive():
    parent = Parent()
    parent.child.compile()
    for n in range(2, 14):
        yield parent(torch.ones(n, 4))


# %% a size that a parent writes into its child within the call
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.height = 0

    def forward(self, x):
        return x.reshape(self.height, -1)


class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        self.child.height = x.shape[0]
        return self.child(x)


def drive():
    run = torch.compile(Parent(), dynamic=True)
    for n in range(2, 14):
        yield run(torch.ones(n, 4))


# %% a method replaced after the first calls
class Model(nn.Module):
    def helper(self, x):
        return x * 2

    def forward(self, x):
        return self.helper(x)  # expect: DYN102 once


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.helper = lambda x: x - 1
        yield run(X)


# %% a step counted inside a disabled method and read by forward
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    @torch.compiler.disable
    def tick(self):
        self.n += 1

    def forward(self, x):
        self.tick()  # expect: DYN406 break
        return x * self.n  # expect: DYN102 storm


def drive():
    return torch.compile(Model()), [(X,)]


# %% a step counted inside a disabled method only
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    @torch.compiler.disable
    def tick(self):
        self.n += 1

    def forward(self, x):
        self.tick()  # expect: DYN406 break
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a configuration that is set before another model is made from it
@dataclasses.dataclass
class Config:
    scale: float = 1.0


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * self.config.scale


def compare(config, x):
    config.scale = 2.0
    return Block(config)(x)


def drive():
    run = torch.compile(Block(Config()))
    for _ in range(4):
        yield run(X) - compare(Config(), X)


# %% a configuration that is set after a model was made from it
@dataclasses.dataclass
class Config:
    scale: float = 1.0


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * self.config.scale  # expect: DYN102 once


def drive():
    config = Config()
    run = torch.compile(Block(config))
    for i in range(12):
        config.scale = 1 / (i + 1)
        yield run(X)


# %% a length that a program sets once, in the function that it calls to train the model that it made
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.longest = 8

    def forward(self, x):
        return x * self.longest


def fit(model, run, longest):
    model.longest = longest
    for _ in range(4):
        yield run(X)


def drive():
    model = Model()
    yield from fit(model, torch.compile(model), 6)


# %% quiet: a static method counts on the object that it is given, which is not the model
class Log:
    def __init__(self):
        self.calls = 0


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 1

    @staticmethod
    def note(log):
        log.calls += 1

    def forward(self, x):
        return x * self.calls  # quiet


def drive():
    log, step = Log(), torch.compile(Model())
    for _ in range(12):
        Model.note(log)
        yield step(X)


# %% a static method counts on the model itself
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 1

    @staticmethod
    def note(model):
        model.calls += 1

    def forward(self, x):
        return x * self.calls  # expect: DYN102 storm


def drive():
    model = Model()
    step = torch.compile(model)
    for _ in range(12):
        Model.note(model)
        yield step(X)


# %% a method that counts on another object of its class
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 1

    def note(self, other):
        other.calls += 1

    def forward(self, x):
        return x * self.calls  # expect: DYN102 storm


def drive():
    model, other = Model(), Model()
    step = torch.compile(model)
    for _ in range(12):
        other.note(model)
        yield step(X)


# %% quiet: a class method sets up what it has made
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 1

    @classmethod
    def with_calls(cls, calls):
        model = cls()
        model.calls = calls
        return model

    def forward(self, x):
        return x * self.calls  # quiet


def drive():
    step = torch.compile(Model.with_calls(3))
    for _ in range(12):
        yield step(X)
