"""What is taken for compiled: whose compile is called, by which class, with which arguments."""

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


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
