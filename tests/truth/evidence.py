"""What is compiled and what changes, told apart from what only might be: callers, scripts, candidates, tests."""

import os

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a replacement that is compiled only where a mode is given, and none is
HITS = {"norm": 0}


class Norm(nn.Module):
    def forward(self, x):
        return x


class Scale(nn.Module):
    def forward(self, x):
        return x


def norm(self, x):
    HITS["norm"] += 1
    return x / x.norm()


def scale(self, x):
    return x * 2


def replace(owner, method, mode=None):
    if mode is not None and isinstance(mode, str):
        method = torch.compile(method, mode=mode)
    owner.forward = method


replace(Norm, norm)
replace(Scale, scale, mode="default")


def drive():
    first, second = Norm(), Scale()
    for _ in range(12):
        yield second(first(X))


# %% a replacement that is compiled because a mode is handed on
HITS = {"norm": 0}


class Norm(nn.Module):
    def forward(self, x):
        return x


def norm(self, x):
    HITS["norm"] += 1  # expect: DYN106 storm
    return x / x.norm()


def unwrapped(method):
    if hasattr(method, "__wrapped__"):
        method = method.__wrapped__
    return method


def replace(owner, method, mode=None):
    if mode is not None:
        method = unwrapped(method)
        method = torch.compile(method, mode=mode)
    owner.forward = method


def replace_all(owners, method, mode=None):
    for owner in owners:
        replace(owner, method, mode=mode)


replace_all([Norm], norm, mode="default")


def drive():
    module = Norm()
    for _ in range(12):
        yield module(X)


# %% a width that another script changes for a model of its own
from encoder import Encoder


def drive():
    encoder = Encoder()
    run = torch.compile(encoder)
    for _ in range(12):
        yield run(X)


# file: encoder.py
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 3

    def forward(self, x):
        return x[:, : self.width] * 2


# file: serve.py
import torch

from encoder import Encoder


def serve(requests):
    encoder = Encoder()
    for size in requests:
        encoder.width = size
        encoder(torch.zeros(2, 4))


if __name__ == "__main__":
    serve(range(1, 5))


# %% a walk over nested data that is given one function here and another there
SEEN = {"items": 0}


def walk(function, data):
    if isinstance(data, list):
        return [walk(function, item) for item in data]
    return function(data)


def doubled(data):
    return walk(lambda item: item * 2, data)


def counted(data):
    def count(item):
        SEEN["items"] += 1
        return item

    return walk(count, data)


class Net(nn.Module):
    def forward(self, x):
        return doubled([x, x + 1])[0]


def drive():
    run = torch.compile(Net())
    for _ in range(12):
        yield counted([run(X)])[0]


# %% a pipeline that has only its network compiled
class Network(nn.Module):
    def forward(self, x):
        return x * 2


class Pipeline(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network
        self.calls = 0

    def prepare(self):
        self.network = accelerated(self.network)
        return self

    def forward(self, x):
        self.calls += 1
        return self.network(x) + self.calls


def accelerated(module):
    try:
        module = torch.compile(module)
    except RuntimeError:
        return module
    return module


def drive():
    pipeline = Pipeline(Network()).prepare()
    for _ in range(12):
        yield pipeline(X)


# %% a table that only a longer input extends
class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.sizes = [2, 4]

    def forward(self, x):
        longest = x.shape[1]
        if longest > self.sizes[-1]:
            self.sizes.append(longest)  # expect: DYN105 storm note
        return x * len(self.sizes)


def drive():
    run = torch.compile(Table())
    for _ in range(12):
        yield run(X)


# %% the size of the first input, kept for the next ones
class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = None

    def forward(self, x):
        if self.size != x.shape[1]:
            self.size = x.shape[1]  # expect: DYN104 once
        return x * 2


def drive():
    run = torch.compile(Kept())
    for _ in range(12):
        yield run(X)


# %% a round that nothing but the loop gives the model
class Net(nn.Module):
    def forward(self, x):
        return x * (3 if self.round > 4 else self.round + 1)  # expect: DYN102 storm


def drive():
    net = Net()
    run = torch.compile(net)
    for number in range(12):
        net.round = number
        yield run(X)


# %% parts that a test on their class picks out of all
class Block(nn.Module):
    def forward(self, x):
        return x * 2


class Shift(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, x):
        return torch.roll(x, self.by, 1) if self.by else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.shifts = nn.ModuleList(Shift(i) for i in range(12))
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x):
        for part in [*self.shifts, *self.blocks]:
            x = part(x)
        return x


def blocks_of(net):
    return [(name, part) for name, part in net.named_modules() if isinstance(part, Block)]


def drive():
    net = Net()
    for _, block in blocks_of(net):
        block.compile()
    for _ in range(12):
        yield net(X)


# %% a compiled method of a base that one subclass inherits
class Base(nn.Module):
    @torch.compile
    def mix(self, x):
        return torch.tanh(x) * x

    def forward(self, x):
        raise NotImplementedError


class Only(Base):
    def forward(self, x):
        return self.mix(x)


def drive():
    layers = [Only(), Only()]
    for _ in range(12):
        yield layers[1](layers[0](X))


# %% a gradient to which a tensor is added
@torch.compile
def normalized(gradient, rounds):
    for _ in range(rounds):
        gradient = gradient / (gradient.norm() + 1e-6)
    return gradient


def drive():
    weights = torch.ones(2, 4)
    moment = torch.zeros(2, 4)
    for _ in range(12):
        gradient = weights * 0.5
        gradient = gradient.add(moment, alpha=0.9)
        yield normalized(gradient, rounds=2)


# %% a setter that is there for users, and that nobody calls
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.classes = 2

    def set_classes(self, names):
        self.classes = len(names)
        self(torch.zeros(2, 4))

    def forward(self, x):
        return x[:, : self.classes]


def drive():
    run = torch.compile(Net())
    for _ in range(12):
        yield run(X)


# %% a variable that is set before anything runs
os.environ["EVIDENCE_FAST"] = "1"


class Net(nn.Module):
    def forward(self, x):
        return x * 2 if os.environ["EVIDENCE_FAST"] == "1" else x * 3  # expect: DYN201 per-value note


def drive():
    run = torch.compile(Net())
    for _ in range(12):
        yield run(X)


# %% numbers that a loop gives to the layers that it makes
class Layer(nn.Module):
    def forward(self, x):
        return x * (2 if self.number > 1 else 3)


def build(count):
    layers = []
    for number in range(count):
        layer = Layer()
        layer.number = number
        layer(X)
        layers.append(layer)
    return nn.Sequential(*layers)


def drive():
    run = torch.compile(build(3))
    for _ in range(12):
        yield run(X)


# %% a width that only a longer request raises
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 4

    def forward(self, x):
        return x[:, : self.width] * 2


def drive():
    net = Net()
    run = torch.compile(net)
    for size in (2, 3, 4, 2, 3, 4):
        if size > net.width:
            net.width = size  # expect: DYN102 per-value note
        yield run(X)


# %% a hook that another script registers
from counting import Net


def drive():
    run = torch.compile(Net())
    for _ in range(12):
        yield run(X)


if __name__ == "__main__":
    list(drive())
# file: counting.py
from torch import nn


class Counter:
    def __init__(self):
        self.calls = 0


class Net(nn.Module):
    def forward(self, x):
        return x * 2


COUNTER = Counter()


def count(model):
    def hook(module, args, output):
        COUNTER.calls += 1
        return output

    model.register_forward_hook(hook)
    return model


# file: calibrate.py
import torch
from counting import COUNTER, Net, count

if __name__ == "__main__":
    count(Net())(torch.ones(2))
    print(COUNTER.calls)

# %% a hook that a function of the same program registers
from counting import Net, count


def drive():
    run = torch.compile(count(Net()))
    for _ in range(12):
        yield run(X)


if __name__ == "__main__":
    list(drive())
# file: counting.py
from torch import nn


class Counter:
    def __init__(self):
        self.calls = 0


class Net(nn.Module):
    def forward(self, x):
        return x * 2


COUNTER = Counter()


def count(model):
    def hook(module, args, output):
        COUNTER.calls += 1  # expect: DYN106 storm
        return output * (COUNTER.calls > 100)

    model.register_forward_hook(hook)
    return model


# %% an encoder that a flag would compile, which every call leaves off
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


class Tracker(nn.Module):
    def __init__(self, encoder, compile_encoder=False):
        super().__init__()
        self.encoder = encoder
        if compile_encoder:
            self.encoder.forward = torch.compile(self.encoder.forward)

    def forward(self, x):
        return self.encoder(x)


class LongTracker(Tracker):
    def __init__(self, encoder, compile_encoder=False):
        super().__init__(encoder, compile_encoder)


def build():
    return LongTracker(Encoder(), compile_encoder=False)


def drive():
    run, after = build(), torch.compile(torch.sin)
    for _ in range(12):
        yield after(run(X))


# %% a decorator that compiles, or keeps out of the compiler where a variable says so
from functools import partial


def off(function):
    return torch.compiler.disable(function)


if os.environ.get("WITHOUT_COMPILING") == "1":
    compiled = off
else:
    compiled = partial(torch.compile, dynamic=False)


@compiled
def norm(x):
    return x * 2


@torch.compile
def step(x):
    return norm(x) + 1


def drive():
    for _ in range(3):
        yield step(X)


# %% a function that only a test has profiled
from profiling import profile


def drive():
    run = profile(lambda x: x * 2)
    for _ in range(12):
        yield run(X)


# file: profiling.py
import torch

CALLS = {"n": 0}


def profile(function):
    return torch.compile(function)


def counted(x):
    CALLS["n"] += 1  # expect: DYN106 storm note
    return x * CALLS["n"]


# file: test_profiling.py
import torch
from profiling import counted, profile


def test_counted():
    run = profile(counted)
    for _ in range(3):
        run(torch.ones(2))


# %% a method that is compiled by another name, and called as it is
class Masks(nn.Module):
    def mask(self, x, width):
        return x[:, :width] * 2 if width > 2 else x

    def fast(self):
        return torch.compile(self.mask)

    def all(self, x):
        return [self.mask(x, width) for width in range(12)]


def drive():
    masks = Masks()
    run = masks.fast()
    for _ in range(3):
        masks.all(X)
        yield run(X, 3)
