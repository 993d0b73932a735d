"""Numbers, flags and strings that a compiled module keeps on itself."""

import enum
import itertools

import torch
from torch import nn


class CallCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # expect: DYN101 storm
        return x * 2


class CounterThatStartsAtAnArgument(nn.Module):
    def __init__(self, start: int = 5):
        super().__init__()
        self.step = start

    def forward(self, x):
        self.step = self.step + 1  # expect: DYN101 storm
        return x + self.step


class CounterThroughALocal(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        n = self.n + 1
        self.n = n  # expect: DYN101 storm
        return x * 2


class CountedInAHelperMethod(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def _tick(self):
        self.n += 1  # expect: DYN101 storm

    def forward(self, x):
        self._tick()
        return x * 2


class CountingMixin:
    n = 0

    def count(self):
        self.n += 1  # expect: DYN101 storm


class CountedByAMixin(CountingMixin, nn.Module):
    def forward(self, x):
        self.count()
        return x * 2


class AlsoCountedByAMixin(CountingMixin, nn.Module):
    def forward(self, x):
        self.count()
        return x * 3


class CountedInAProperty(nn.Module):
    def __init__(self):
        super().__init__()
        self._n = 0

    @property
    def count(self):
        self._n += 1  # expect: DYN101 storm
        return self._n

    def forward(self, x):
        return x * self.count


class TwoIncrements(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def forward(self, x):
        self.seen += 1
        x = x * 2
        self.seen += 2  # expect: DYN101 storm
        return x


class SamplesSeen(nn.Module):
    def __init__(self):
        super().__init__()
        self.samples = 0

    def forward(self, x):
        self.samples += x.shape[0]  # expect: DYN101 storm
        return x * 2


class Cycle(nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = 0

    def forward(self, x):
        self.turn = (self.turn + 1) % 4  # expect: DYN101 per-value entries=4
        return x * self.turn


class LongCycle(nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = 0

    def forward(self, x):
        self.turn = (self.turn + 1) % 100  # expect: DYN101 storm
        return x * self.turn


class Saturating(nn.Module):
    def __init__(self):
        super().__init__()
        self.warm = 0

    def forward(self, x):
        self.warm = min(self.warm + 1, 3)  # expect: DYN101 per-value entries=4
        return x * self.warm


class Toggle(nn.Module):
    def __init__(self):
        super().__init__()
        self.flip = False

    def forward(self, x):
        self.flip = not self.flip  # expect: DYN101 once entries=2
        return x * 2 if self.flip else x * 3


class OneShotFlag(nn.Module):
    def __init__(self):
        super().__init__()
        self.done = False

    def forward(self, x):
        if not self.done:
            x = x + 1
            self.done = True  # expect: DYN104 once
        return x * 2


class FirstCallFlag(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = True

    def forward(self, x):
        y = x + 1 if self.first else x * 2
        self.first = False  # expect: DYN101 once entries=2
        return y


class LongestSoFar(nn.Module):
    def __init__(self):
        super().__init__()
        self.longest = 0

    def forward(self, x):
        self.longest = max(self.longest, x.shape[0])  # expect: DYN101 once
        return x * 2


class CachedLength(nn.Module):
    def __init__(self):
        super().__init__()
        self.cached = 0
        self.table = torch.zeros(1)

    def forward(self, x):
        n = x.shape[0]
        if n != self.cached:
            self.table = torch.arange(n, dtype=torch.float32)
            self.cached = n  # expect: DYN101 once
        return x + self.table


class NoneThenInt(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = None

    def forward(self, x):
        if self.n is None:
            self.n = 3  # expect: DYN104 once
        return x * self.n


class TaggedByStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.tag = ""

    def forward(self, x):
        self.tag = self.tag + "x"  # expect: DYN101 storm
        return x * 2


class TwoModes(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "a"

    def forward(self, x):
        y = x * 2 if self.mode == "a" else x * 3
        self.mode = "b" if self.mode == "a" else "a"  # expect: DYN101 per-value entries=2
        return y


class Phase(enum.Enum):
    WARM = 0
    RUN = 1


class EnumPhase(nn.Module):
    def __init__(self):
        super().__init__()
        self.phase = Phase.WARM

    def forward(self, x):
        y = x * 2 if self.phase is Phase.WARM else x * 3
        self.phase = Phase.RUN  # expect: DYN101 per-value entries=2
        return y


class TupleHistory(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = (0, 0)

    def forward(self, x):
        self.history = (self.history[1], self.history[1] + 1)  # expect: DYN101 storm
        return x * self.history[0]


class IteratorCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.counter = itertools.count()

    def forward(self, x):
        self.step = next(self.counter)  # expect: DYN101 storm
        return x * 2


class CreatedOnFirstUse(nn.Module):
    def forward(self, x):
        if not hasattr(self, "n"):
            self.n = 0
        self.n += 1  # expect: DYN101 storm
        return x * 2


class FloatUsedInMath(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = 1.0

    def forward(self, x):
        self.temperature = self.temperature * 0.9  # expect: DYN101 storm
        return x / self.temperature


class FloatAsExponent(nn.Module):
    def __init__(self):
        super().__init__()
        self.power = 1.0

    def forward(self, x):
        self.power = self.power * 0.9  # expect: DYN101 storm
        return x**self.power


class FloatAsDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = 0.5

    def forward(self, x):
        self.rate = self.rate * 0.9  # expect: DYN101 storm
        return nn.functional.dropout(x, p=self.rate)


for case in (
    CallCounter,
    CounterThatStartsAtAnArgument,
    CounterThroughALocal,
    CountedInAHelperMethod,
    CountedByAMixin,
    AlsoCountedByAMixin,
    CountedInAProperty,
    TwoIncrements,
    SamplesSeen,
    Cycle,
    LongCycle,
    Saturating,
    Toggle,
    OneShotFlag,
    FirstCallFlag,
    LongestSoFar,
    CachedLength,
    NoneThenInt,
    TaggedByStep,
    TwoModes,
    EnumPhase,
    TupleHistory,
    IteratorCounter,
    CreatedOnFirstUse,
    FloatUsedInMath,
    FloatAsExponent,
    FloatAsDropout,
):
    compiled = torch.compile(case())
