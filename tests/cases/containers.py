"""Containers that compiled code changes, and some that it may change as it likes."""

from collections import OrderedDict, defaultdict, deque

import torch
from torch import nn


class Append(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.append(x.mean())  # expect: DYN105 storm
        return x * 2


class Extend(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.extend([x.mean()])  # expect: DYN105 storm
        return x * 2


class Insert(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.insert(0, x.mean())  # expect: DYN105 storm
        return x * 2


class AugmentedByAList(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses += [x.mean()]  # expect: DYN105 storm
        return x * 2


class Sizes(nn.Module):
    def __init__(self):
        super().__init__()
        self.sizes = []

    def forward(self, x):
        self.sizes.append(x.shape[0])  # expect: DYN105 storm
        return x * 2


class Rebound(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = []

    def forward(self, x):
        self.hist = self.hist + [x.mean()]  # expect: DYN105 storm
        return x * 2


class ReboundWindow(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = []

    def forward(self, x):
        self.hist = (self.hist + [x.mean()])[-3:]  # expect: DYN105 per-value entries=4
        return x * 2


class ShrunkWhenLong(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = []

    def forward(self, x):
        self.hist.append(x.mean())  # expect: DYN105 per-value entries=4
        if len(self.hist) > 3:
            self.hist.pop(0)
        return x * 2


class OnlyWhileShort(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = []

    def forward(self, x):
        if len(self.hist) < 3:
            self.hist.append(x.mean())  # expect: DYN105 per-value entries=4
        return x * 2


class Deque(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = deque()

    def forward(self, x):
        self.hist.append(x.mean())  # expect: DYN105 storm
        return x * 2


class ShortDeque(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = deque(maxlen=4)

    def forward(self, x):
        self.hist.append(x.mean())  # expect: DYN105 per-value entries=5
        return x * 2


class LongDeque(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = deque(maxlen=32)

    def forward(self, x):
        self.hist.append(x.mean())  # expect: DYN105 storm
        return x * 2


class AliasedList(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = []

    def forward(self, x):
        hist = self.hist
        hist.append(x.mean())  # expect: DYN105 storm
        return x * 2


class ListInADict(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {"loss": []}

    def forward(self, x):
        self.log["loss"].append(x.mean())  # expect: DYN105 storm
        return x * 2


class DefaultListInADict(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = defaultdict(list)

    def forward(self, x):
        self.log["loss"].append(x.mean())  # expect: DYN105 storm
        return x * 2


class KeyedByItsLength(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {}

    def forward(self, x):
        self.log[len(self.log)] = x.mean()  # expect: DYN105 storm
        return x * 2


class CacheByShape(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x):
        n = x.shape[0]
        if n not in self.cache:
            self.cache[n] = torch.arange(float(n))  # expect: DYN105 once
        x = x + self.cache[n]
        return x * 2


class CacheByDevice(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x):
        if x.device not in self.cache:
            self.cache[x.device] = torch.arange(4.0)
        x = x + self.cache[x.device]
        return x * 2


class NewKey(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {}

    def forward(self, x):
        self.log["loss"] = x.mean()  # expect: DYN105 once
        return x * 2


class NewKeyOfAnOrderedDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = OrderedDict()

    def forward(self, x):
        self.log["loss"] = x.mean()  # expect: DYN105 once
        return x * 2


class KeysOfALoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {}

    def forward(self, x):
        for i, name in enumerate(("a", "b", "c")):
            self.log[name] = x + i  # expect: DYN105 once
        return x * 2


class UpdatedByADict(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {}

    def forward(self, x):
        self.log.update({"loss": x.mean()})  # expect: DYN105 once
        return x * 2


class UpdatedByKeywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {}

    def forward(self, x):
        self.log.update(loss=x.mean())  # expect: DYN105 once
        return x * 2


class ConstantInASet(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def forward(self, x):
        self.seen.add("a")  # expect: DYN105 once
        return x * 2


class KeyedByAnArgument(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {}

    def forward(self, x, name):
        self.log[name] = x.mean()
        return x * 2


class SharedByTheClass(nn.Module):
    losses = []

    def forward(self, x):
        self.losses.append(x.mean())  # expect: DYN105 storm
        return x * 2


class AppendedByAHelper(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def _log(self, value):
        self.losses.append(value)  # expect: DYN105 storm

    def forward(self, x):
        self._log(x.mean())
        return x * 2


for case in (
    Append,
    Extend,
    Insert,
    AugmentedByAList,
    Sizes,
    Rebound,
    ReboundWindow,
    ShrunkWhenLong,
    OnlyWhileShort,
    Deque,
    ShortDeque,
    LongDeque,
    AliasedList,
    ListInADict,
    DefaultListInADict,
    KeyedByItsLength,
    CacheByShape,
    CacheByDevice,
    NewKey,
    NewKeyOfAnOrderedDict,
    KeysOfALoop,
    UpdatedByADict,
    UpdatedByKeywords,
    ConstantInASet,
    KeyedByAnArgument,
    SharedByTheClass,
    AppendedByAHelper,
):
    compiled = torch.compile(case())
