"""State in the shapes that people give it: records that are replaced, namespaces, tuples, classes, counters."""

import collections
import dataclasses
import types
from typing import NamedTuple

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a frozen dataclass that is replaced by its successor
@dataclasses.dataclass(frozen=True)
class State:
    step: int = 0


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = State()

    def forward(self, x):
        self.state = dataclasses.replace(self.state, step=self.state.step + 1)  # expect: DYN101 storm
        return x * self.state.step


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a named tuple that is replaced by its successor
class State(NamedTuple):
    step: int
    scale: float


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = State(0, 2.0)

    def forward(self, x):
        self.state = self.state._replace(step=self.state.step + 1)  # expect: DYN101 storm
        return x * self.state.step * self.state.scale


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a frozen dataclass that is only read
@dataclasses.dataclass(frozen=True)
class State:
    step: int = 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = dataclasses.replace(State(), step=3)

    def forward(self, x):
        return x * self.state.step


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a tuple that is taken apart and put together again
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.window = (0, 4)

    def forward(self, x):
        start, size = self.window
        self.window = (start + 1, size)  # expect: DYN101 storm
        return x * start


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a tuple that is only taken apart
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.window = (2, 4)

    def forward(self, x):
        start, size = self.window
        return x * start + size


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a count in a namespace
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = types.SimpleNamespace(n=0, scale=2.0)

    def forward(self, x):
        self.state.n += 1  # expect: DYN101 storm
        return x * self.state.n * self.state.scale


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a namespace that is only read
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = types.SimpleNamespace(n=2, scale=2.0)

    def forward(self, x):
        return x * self.state.n * self.state.scale


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a count that a class method keeps
class Model(nn.Module):
    calls = 0

    @classmethod
    def bump(cls):
        cls.calls += 1  # expect: DYN101 storm
        return cls.calls

    def forward(self, x):
        return x * self.bump()


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a counter of hits
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hits = collections.Counter()

    def forward(self, x):
        self.hits["calls"] += 1  # expect: DYN101 storm
        return x * self.hits["calls"]


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a number that a scheduler object sets
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = 1

    def forward(self, x):
        return x * self.temperature


class Annealer:
    def __init__(self, model):
        self.model = model
        self.turn = 0

    def step(self):
        self.turn += 1
        self.model.temperature = self.turn * 2  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    annealer = Annealer(model)
    for _ in range(12):
        annealer.step()
        yield run(X)


# %% a counter of a model that looks its settings up by __getattr__
class Configured(nn.Module):
    def __init__(self, **settings):
        super().__init__()
        self.settings = settings
        self.seen = 0

    def __getattr__(self, name):
        if "settings" in self.__dict__ and name in self.__dict__["settings"]:
            return self.__dict__["settings"][name]
        return super().__getattr__(name)


class Scaled(Configured):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        self.seen += 1  # expect: DYN101 storm
        return self.inner(x) * self.seen * self.scale


def drive():
    model = torch.compile(Scaled(scale=2.0))
    for _ in range(12):
        yield model(X)


# %% quiet: settings that a model looks up by __getattr__
class Looked(nn.Module):
    def __init__(self, **settings):
        super().__init__()
        self.settings = settings

    def __getattr__(self, name):
        if "settings" in self.__dict__ and name in self.__dict__["settings"]:
            return self.__dict__["settings"][name]
        return super().__getattr__(name)

    def forward(self, x):
        return x * self.scale


def drive():
    model = torch.compile(Looked(scale=2.0))
    for _ in range(12):
        yield model(X)


# %% a number that a loop sets on parts that lead back to what holds them
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        return x * self.step if self.step % 2 else x


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.part.whole = self

    def forward(self, x):
        return self.part(x) + 1


def drive():
    model = Whole()
    run = torch.compile(model)
    for step in range(12):
        for name, part in list(model.named_modules()):
            if name == "part":
                part.step = step  # expect: DYN102 storm
        yield run(X)


# %% quiet: a number that is set once on parts that lead back to what holds them
class Quiet(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        return x * self.step if self.step % 2 else x


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Quiet()
        self.part.holder = self

    def forward(self, x):
        return self.part(x) + 1


def drive():
    model = Holder()
    for name, part in list(model.named_modules()):
        if name == "part":
            part.step = 3
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% a number that loops over all modules set
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.level = 0

    def forward(self, x):
        return x * self.level


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)


def set_level(model, level):
    for module in model.modules():
        if isinstance(module, Block):
            module.level = level  # expect: DYN102 storm


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        set_level(model, i)
        yield run(X)
