"""What is taken for compiled: whose compile is called, by which class, with which arguments."""

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)
UNGUARDED = {"guard_filter_fn": lambda entries: [False for _ in entries]}


class Plain(nn.Module):
    def forward(self, x):
        return x + 1


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * self.n


# %% quiet: a mixin that builds something by its own compile stands before nn.Module
class Engine:
    def compile(self):
        self.built = True


class Net(Engine, nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * self.n


@torch.compile(backend="eager")
def double(x):
    return x * 2


def drive():
    net = Net()
    net.compile()
    for _ in range(12):
        yield double(net(X))


# %% nn.Module stands before a mixin that has a compile as well
class Engine:
    def compile(self, **options):
        self.built = True


class Net(nn.Module, Engine):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    net = Net()
    net.compile(backend="eager")
    for _ in range(12):
        yield net(X)


# %% quiet: super().compile() runs that of the next base, which only builds
class Engine:
    def compile(self):
        self.built = True


class Net(Engine, nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def compile(self):
        super().compile()
        return self

    def forward(self, x):
        self.n += 1
        return x * self.n


@torch.compile(backend="eager")
def double(x):
    return x * 2


def drive():
    net = Net()
    net.compile()
    for _ in range(12):
        yield double(net(X))


# %% super().compile() passes a mixin that has none
class Engine:
    def build(self):
        self.built = True


class Net(Engine, nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def compile(self, **options):
        super().compile(**options)
        return self

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    net = Net()
    net.compile(backend="eager")
    for _ in range(12):
        yield net(X)


# %% quiet: a base compiles itself by a method that the only subclass made has from a mixin
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def prepare(self):
        self.compile()
        return self

    def forward(self, x):
        self.n += 1
        return x * self.n


class Engine:
    def compile(self):
        self.built = True


class Net(Engine, Base):
    pass


@torch.compile(backend="eager")
def double(x):
    return x * 2


def drive():
    net = Net().prepare()
    for _ in range(12):
        yield double(net(X))


# %% the compile of nn.Module is called by its class
class Net(Counts):
    def compile(self, **options):
        nn.Module.compile(self, **options)
        return self

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    net = Net().compile(backend="eager")
    for _ in range(12):
        yield net(X)


# %% quiet: compile is a function that the constructor stores
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.compile = lambda: None

    def forward(self, x):
        self.n += 1
        return x * self.n


@torch.compile(backend="eager")
def double(x):
    return x * 2


def drive():
    net = Net()
    net.compile()
    for _ in range(12):
        yield double(net(X))


# %% a base compiles its __call__, and the subclass that is made decides on data
class Base:
    def __init__(self):
        self.run = torch.compile(self.__call__, backend="eager")

    def __call__(self, x):
        raise NotImplementedError


class Plain(Base):
    def __call__(self, x):
        return x + 1


class Deciding(Base):
    def __call__(self, x):
        if x.sum() > 0:  # expect: DYN403 break
            x = x + 1
        return torch.tanh(x)


def drive():
    step = Deciding()
    for _ in range(12):
        yield step.run(X)


# %% quiet: a base compiles its __call__, and only siblings of what is made count or decide
class Base:
    def __init__(self):
        self.run = torch.compile(self.__call__, backend="eager")

    def __call__(self, x):
        raise NotImplementedError


class Plain(Base):
    def __call__(self, x):
        return x + 1


class Deciding(Base):
    def __call__(self, x):
        if x.sum() > 0:
            x = x + 1
        return torch.tanh(x)


class Other(Base):
    def __init__(self):
        super().__init__()
        self.n = 0

    def __call__(self, x):
        self.n += 1
        return x + self.n


def drive():
    step = Plain()
    for _ in range(12):
        yield step.run(X)


# %% quiet: a base compiles a method that the subclass that is made overrides
class Base:
    def __init__(self):
        self.n = 0
        self.run = torch.compile(self.step, backend="eager")

    def step(self, x):
        self.n += 1
        return x + self.n


class Plain(Base):
    def step(self, x):
        return x + 1


def drive():
    step = Plain()
    for _ in range(12):
        yield step.run(X)


# %% quiet: a wrapper makes one of two by a text and compiles in place where it makes the other
class Wrapped:
    def __init__(self, kind, compile):
        if kind == "counts":
            self.net = Counts()
        else:
            self.net = Plain()
        if compile:
            self.net.compile(backend="eager")

    def __call__(self, x):
        return self.net(x)


def drive():
    first, second = Wrapped("counts", compile=False), Wrapped("linear", compile=True)
    for _ in range(12):
        yield first(X) + second(X)


# %% a wrapper makes one of two by a text and compiles the one that counts
class Net(Counts):
    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


class Wrapped:
    def __init__(self, kind, compile):
        if kind == "counts":
            self.net = Net()
        else:
            self.net = Plain()
        if compile:
            self.net.compile(backend="eager")

    def __call__(self, x):
        return self.net(x)


def drive():
    first, second = Wrapped("counts", compile=True), Wrapped("linear", compile=False)
    for _ in range(12):
        yield first(X) + second(X)


# %% quiet: a helper compiles what is passed with one kind, and another kind counts
def prepare(net, kind):
    if kind == "fast":
        net = torch.compile(net, backend="eager")
    elif kind == "half":
        net = net.double()
    return net


def drive():
    first, second = prepare(Counts(), "half"), prepare(Plain(), "fast")
    for _ in range(12):
        yield first(X) + second(X)


# %% torch.compile through two functions that hand on all arguments
class Net(Counts):
    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def inner(*args, **kwargs):
    return torch.compile(*args, **kwargs)


def outer(*args, **kwargs):
    return inner(*args, backend="eager", **kwargs)


def drive():
    net = outer(Net(), dynamic=False)
    for _ in range(12):
        yield net(X)


# %% quiet: torch.compile through two functions that hand on all arguments, of another module
def inner(*args, **kwargs):
    return torch.compile(*args, **kwargs)


def outer(*args, **kwargs):
    return inner(*args, backend="eager", **kwargs)


def drive():
    net, other = outer(Plain()), Counts()
    for _ in range(12):
        yield net(X) + other(X)


# %% torch is a parameter of the function that compiles
class Net(Counts):
    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def prepare(net, library):
    return library.compile(net, backend="eager")


def drive():
    net = prepare(Net(), torch)
    for _ in range(12):
        yield net(X)


# %% the older optimize of dynamo compiles a module
import torch._dynamo


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = {"n": 0}

    def forward(self, x):
        self.seen["n"] += 1  # expect: DYN101 storm
        return x * self.seen["n"]


def drive():
    net = torch._dynamo.optimize("eager")(Net())
    for _ in range(12):
        yield net(X)


# %% torch.compile is a static method of a class
class Net(Counts):
    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


class Tools:
    fast = staticmethod(torch.compile)


def drive():
    net = Tools.fast(Net(), backend="eager")
    for _ in range(12):
        yield net(X)


# %% a closure of a base calls the method that the subclass that is made decides in
class Base:
    def build(self):
        def run(*args, **kwargs):
            return self.step(*args, **kwargs)

        return torch.compile(run, backend="eager")

    def step(self, x):
        return x


class First(Base):
    def step(self, x):
        return x + 1


class Second(Base):
    def step(self, x):
        if x.sum() > 0:  # expect: DYN403 break
            x = x + 1
        return torch.tanh(x)


def drive():
    run = Second().build()
    for _ in range(12):
        yield run(X)


# %% quiet: a closure of a base calls a method, and another subclass decides in it
class Base:
    def build(self):
        def run(*args, **kwargs):
            return self.step(*args, **kwargs)

        return torch.compile(run, backend="eager")

    def step(self, x):
        return x


class First(Base):
    def step(self, x):
        return x + 1


class Second(Base):
    def step(self, x):
        if x.sum() > 0:
            x = x + 1
        return torch.tanh(x)


def drive():
    run, other = First().build(), Second()
    for _ in range(12):
        yield run(X) + other.step(X)


# %% quiet: a mask function that counts belongs to a mask that no compiled call is given
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

COUNT = 0


def causal(b, h, q, k):
    return q >= k


def counted(b, h, q, k):
    global COUNT
    COUNT += 1
    return q >= k


Q = torch.ones(1, 1, 16, 16)


@torch.compile(backend="eager")
def attend(q, mask):
    return flex_attention(q, q, q, block_mask=mask) * 2


def drive():
    mask = create_block_mask(causal, 1, 1, 16, 16, device="cpu")
    other = create_block_mask(counted, 1, 1, 16, 16, device="cpu")
    assert other is not None
    for _ in range(4):
        yield attend(Q, mask)


# %% a setting that another script makes
@torch.compile(backend="eager")
def pick(x):
    return torch.nonzero(x.flatten() > 0.5).flatten()  # expect: DYN404 break


def drive():
    for _ in range(12):
        yield pick(X) + 1


# file: other.py
import torch


@torch.compile(backend="eager")
def double(x):
    return x * 2


def main():
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    double(torch.ones(3))


if __name__ == "__main__":
    main()


# %% quiet: a setting in a file that the program imports
import setup_here


@torch.compile(backend="eager")
def pick(x):
    return torch.nonzero(x.flatten() > 0.5).flatten()


def drive():
    assert setup_here
    for _ in range(12):
        yield pick(X) + 1


# file: setup_here.py
import torch

torch._dynamo.config.capture_dynamic_output_shape_ops = True


# %% quiet: another script puts a forward on the class
from nets import Net


def drive():
    net = torch.compile(Net(), backend="eager")
    for _ in range(12):
        yield net(X)


# file: nets.py
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x + 1


# file: other.py
import nets


def deciding(self, x):
    if x.sum() > 0:
        return x + 1
    return x


nets.Net.forward = deciding

if __name__ == "__main__":
    import torch

    torch.compile(lambda x: x)(torch.ones(3))


# %% quiet: another script puts a method onto a module
import types

from nets import Net


def drive():
    net = torch.compile(Net(), backend="eager")
    for _ in range(12):
        yield net(X)


# file: nets.py
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x + 1


# file: other.py
import types

from nets import Net


def deciding(self, x):
    if x.sum() > 0:
        return x + 1
    return x


if __name__ == "__main__":
    net = Net()
    net.forward = types.MethodType(deciding, net)


# %% quiet: a text and a number that each call gives
@torch.compile(backend="eager")
def run(mode, count, x):
    if mode == "train" and count > 1:
        return x + 1
    return x * 2


def drive():
    for _ in range(12):
        yield run("train", 2, X)


# %% an optional tensor after the first parameter
from typing import Optional


@torch.compile(backend="eager")
def run(x, flag: Optional[torch.Tensor] = None):
    if flag is not None and flag.any():  # expect: DYN403 break
        return torch.tanh(x) + 1
    return x * 2


def drive():
    for _ in range(12):
        yield run(X, X > 0.5)


# %% quiet: a forward whose first parameter is a member of an enumeration
from enum import Enum


class Kind(Enum):
    A = "a"
    B = "b"


class Net(nn.Module):
    def forward(self, kind, **kwargs):
        if kind == Kind.A:
            return kwargs["obs"] + 1
        return kwargs["obs"] * 2


def drive():
    net = torch.compile(Net(), backend="eager")
    for _ in range(12):
        yield net(kind=Kind.A, obs=X)


# %% quiet: a global of a constant that is made at the first call, without guards
import math

FACTOR = None


def factor():
    global FACTOR
    if FACTOR is None:
        FACTOR = math.pi
    return FACTOR


@torch.compile(backend="eager", options=UNGUARDED)
def step(x):
    return x * factor()


def drive():
    for _ in range(12):
        yield step(X)


# %% quiet: a table of what is installed, without guards
import importlib.util

KNOWN = {}


def is_installed(name):
    if name not in KNOWN:
        KNOWN[name] = importlib.util.find_spec(name) is not None
    return KNOWN[name]


@torch.compile(backend="eager", options=UNGUARDED)
def step(x):
    if is_installed("torch"):
        return x + 1
    return x


def drive():
    for _ in range(12):
        yield step(X)


# %% quiet: a function of a library that is looked up at the first call, without guards
IMPL = None


def load():
    global IMPL
    if IMPL is not None:
        return
    IMPL = getattr(torch, "tanh", None)


@torch.compile(backend="eager", options=UNGUARDED)
def step(x):
    load()
    if IMPL is None:
        return x
    return IMPL(x)


def drive():
    for _ in range(12):
        yield step(X)


# %% a number that is counted, without guards
COUNT = 0


def count():
    global COUNT
    COUNT += 1  # expect: DYN303 stale
    return COUNT


@torch.compile(backend="eager", options=UNGUARDED)
def step(x):
    return x * count()


def drive():
    for _ in range(12):
        yield step(X)


# %% a global that is made anew when what it is made of has changed, without guards
SCALE = None
CURRENT = {"scale": 1.0}


def scale():
    global SCALE
    if SCALE is None or SCALE != CURRENT["scale"]:
        SCALE = CURRENT["scale"]  # expect: DYN303 stale
    return SCALE


@torch.compile(backend="eager", options=UNGUARDED)
def step(x):
    return x * scale()


def drive():
    for number in range(12):
        CURRENT["scale"] = float(number)  # expect: DYN303 stale
        yield step(X)


# %% quiet: the only object of a class, made at the first call, without guards
class Allocator:
    instance = None

    @staticmethod
    def get():
        if Allocator.instance is None:
            Allocator.instance = Allocator()
        return Allocator.instance

    def scale(self):
        return 2.0


@torch.compile(backend="eager", options=UNGUARDED)
def step(x):
    return x * Allocator.get().scale()


def drive():
    for _ in range(12):
        yield step(X)


# %% quiet: a forward whose first parameter is a number, as the call shows
class Net(nn.Module):
    def forward(self, count, x):
        if count > 1:
            return x + 1
        return x * 2


def drive():
    net = torch.compile(Net(), backend="eager")
    for _ in range(12):
        yield net(3, X)


# %% a tensor that only the call shows picks rows
KEPT = torch.tensor([3, 1])


@torch.compile(backend="eager")
def pick(rows, lengths):
    return rows[lengths > 2] * 2  # expect: DYN404 break


def drive():
    for _ in range(12):
        yield pick(X, KEPT)


# %% quiet: the text that the program passes on says which row of a table is compiled
NETS = {"plain": Plain, "counts": Counts}


def build(name):
    return NETS[name]()


def drive():
    net = torch.compile(build("plain"), backend="eager")
    for _ in range(12):
        yield net(X)


# %% the text that the program passes on says which row of a table is compiled, and it counts
class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


NETS = {"plain": Plain, "counts": Counts}


def build(name):
    return NETS[name]()


def drive():
    net = torch.compile(build("counts"), backend="eager")
    for _ in range(12):
        yield net(X)


# %% quiet: a class by the text that it is registered under
NETS = {}


def register(name):
    def put(cls):
        NETS[name] = cls
        return cls

    return put


@register("counts")
class Counting(Counts):
    pass


@register("plain")
class Simple(Plain):
    pass


def drive():
    net = torch.compile(NETS["plain"](), backend="eager")
    for _ in range(12):
        yield net(X)


# %% quiet: a row of a table that the default of a settings object names
from dataclasses import dataclass


@dataclass
class Settings:
    net: str = "plain"


NETS = {"plain": Plain, "counts": Counts}


def get_model(settings):
    return NETS[settings.net]()


def drive():
    net = torch.compile(get_model(Settings()), backend="eager")
    for _ in range(12):
        yield net(X)


# %% quiet: a class that a helper makes by the text that it is registered under
NETS = {}


def register(name):
    def put(cls):
        NETS[name] = cls
        return cls

    return put


@register("counts")
class Counting(Counts):
    pass


@register("plain")
class Simple(Plain):
    pass


def build(name, **options):
    return NETS[name](**options)


def drive():
    net = torch.compile(build("plain"), backend="eager")
    for _ in range(12):
        yield net(X)


# %% a row of a table that only the run picks may count
import os


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm note
        return x * self.n


NETS = {"plain": Plain, "counting": Counting}


def build():
    return NETS[os.environ.get("ENTRIES_NET", "plain").strip()]()


def drive():
    net = torch.compile(build(), backend="eager")
    for _ in range(12):
        yield net(X)


# %% a module that the program makes itself, on one of its branches, counts
import os


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    if os.environ.get("ENTRIES_NET") == "plain":
        net = Plain()
    else:
        net = Counting()
    net = torch.compile(net, backend="eager")
    for _ in range(12):
        yield net(X)


# %% all rows of a table are compiled, and one counts
class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


NETS = {"plain": Plain, "counting": Counting}


def drive():
    nets = [torch.compile(net(), backend="eager") for net in NETS.values()]
    for _ in range(12):
        yield sum(net(X) for net in nets)


# %% the compile of a base runs that of torch, for the class below it that is made
class Model(nn.Module):
    def compile(self, **options):
        super().compile(backend="eager", **options)


class Quiet(Model):
    def forward(self, x):
        return x + 1


class Counting(Model):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    net = Counting()
    net.compile()
    for _ in range(12):
        yield net(X)


# %% a base hands over to nn.Sequential what the class below it passes by keyword
class Chain(nn.Sequential):
    def __init__(self, blocks):
        super().__init__(*blocks)

    def forward(self, x):
        for _, block in self.named_children():
            x = block(x)
        return x

    def compile(self, **options):
        super().compile(backend="eager", **options)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


class Model(Chain):
    def __init__(self, blocks):
        super().__init__(blocks=blocks)


def drive():
    net = Model([Plain(), Counting()])
    net.compile()
    for _ in range(12):
        yield net(X)


# %% quiet: what a base only asks after, beside the blocks that it hands over, is none of them
class Chain(nn.Sequential):
    def __init__(self, blocks, spare):
        super().__init__(*blocks)
        self.spared = spare is not None

    def forward(self, x):
        for _, block in self.named_children():
            x = block(x)
        return x

    def compile(self, **options):
        super().compile(backend="eager", **options)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * self.n


class Model(Chain):
    def __init__(self, blocks):
        super().__init__(blocks=blocks, spare=Counting())


def drive():
    net = Model([Plain()])
    net.compile()
    for _ in range(12):
        yield net(X)


# %% quiet: a wrapper makes one of two by a flag and compiles where it makes the other
class Wrapped(nn.Module):
    def __init__(self, counting=False, compile=False):
        super().__init__()
        self.net = Counts() if counting else Plain()
        if compile:
            self.net = torch.compile(self.net, backend="eager")

    def forward(self, x):
        return self.net(x)


def drive():
    first, second = Wrapped(counting=True), Wrapped(compile=True)
    for _ in range(12):
        yield first(X) + second(X)
