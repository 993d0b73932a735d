"""Counters that live elsewhere than directly on the compiled module."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    step: int = 0
    scale: float = 1.0


class CountsOnADataclass(nn.Module):
    def __init__(self):
        super().__init__()
        self.settings = Settings()

    def forward(self, x):
        self.settings.step += 1  # expect: DYN101 storm
        return x * self.settings.step


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        return x * 2


class CountsOnItsChild(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        self.child.n += 1  # expect: DYN101 storm
        return self.child(x)


class CountsInADict(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = {"n": 0}

    def forward(self, x):
        self.stats["n"] += 1  # expect: DYN101 storm
        return x * 2


class CountsInAnAliasedDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = {"n": 0}

    def forward(self, x):
        stats = self.stats
        stats["n"] += 1  # expect: DYN101 storm
        return x * 2


class CountsOnItsClass(nn.Module):
    n = 0

    def forward(self, x):
        CountsOnItsClass.n += 1  # expect: DYN101 storm
        return x * 2


class CountsOnTheTypeOfSelf(nn.Module):
    n = 0

    def forward(self, x):
        type(self).n += 1  # expect: DYN101 storm
        return x * self.__class__.n


class CountsInItsNamespace(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.__dict__["n"] += 1  # expect: DYN101 storm
        return x * 2


def bump(module: "CountedByAFunction"):
    module.n += 1  # expect: DYN101 storm


class CountedByAFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        bump(self)
        return x * 2


class Cache:
    def __init__(self):
        self.length = 0

    def update(self, x):
        self.length += 1  # expect: DYN101 storm
        return x * self.length


class CacheBelowTheModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = Cache()

    def forward(self, x):
        return self.cache.update(x)


class Stepper:
    def __init__(self):
        self.step = 0


class CountsOnAnArgument(nn.Module):
    def forward(self, x, settings: Stepper = Stepper()):
        settings.step += 1  # expect: DYN101 once
        return x * settings.step


class CountsThroughASetter(nn.Module):
    def __init__(self):
        super().__init__()
        self._steps = 0

    @property
    def steps(self):
        return self._steps

    @steps.setter
    def steps(self, value):
        self._steps = value  # expect: DYN101 storm

    def forward(self, x):
        self.steps = self.steps + 1
        return x * 2


for case in (
    CountsThroughASetter,
    CountsOnADataclass,
    CountsOnItsChild,
    CountsInADict,
    CountsInAnAliasedDict,
    CountsOnItsClass,
    CountsOnTheTypeOfSelf,
    CountsInItsNamespace,
    CountedByAFunction,
    CacheBelowTheModule,
    CountsOnAnArgument,
):
    compiled = torch.compile(case())
