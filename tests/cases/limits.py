"""Counters that stop or start over: as many compiled versions as there are values."""

import torch
from torch import nn


class StopsBelowThree(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if self.n < 3:
            self.n += 1  # expect: DYN101 per-value entries=4
        return x * 2


class StopsAtThree(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if self.n <= 3:
            self.n += 1  # expect: DYN101 per-value entries=5
        return x * 2


class StopsByAnEarlyReturn(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if self.n >= 3:
            return x * 2
        self.n += 1  # expect: DYN101 per-value entries=4
        return x * 3


class StartsOverAtFour(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 per-value entries=4
        if self.n == 4:
            self.n = 0
        return x * 2


class StartsOverAboveFour(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 per-value entries=5
        if self.n > 4:
            self.n = 0
        return x * 2


class StopsAfterTheLimit(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if self.n < 100:
            self.n += 1  # expect: DYN101 storm
        return x * 2


class StopsAtAnAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.warmup = 3

    def forward(self, x):
        if self.n < self.warmup:
            self.n += 1  # expect: DYN101 per-value entries=4
        return x * 2


class StopsAtAParameter(nn.Module):
    def __init__(self, warmup: int = 3):
        super().__init__()
        self.n = 0
        self.warmup = warmup

    def forward(self, x):
        if self.n < self.warmup:
            self.n += 1  # expect: DYN101 per-value
        return x * 2


class AThresholdThatDoesNotStopIt(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * 2 if self.n > 3 else x * 3


class CountsOnlyFromThreeOn(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 3

    def forward(self, x):
        if self.n >= 3:
            self.n += 1  # expect: DYN101 storm
        return x * 2


for case in (
    StopsBelowThree,
    StopsAtThree,
    StopsByAnEarlyReturn,
    StartsOverAtFour,
    StartsOverAboveFour,
    StopsAfterTheLimit,
    StopsAtAnAttribute,
    StopsAtAParameter,
    AThresholdThatDoesNotStopIt,
    CountsOnlyFromThreeOn,
):
    compiled = torch.compile(case())
