"""Containers that compiled code may change: none of these ever recompiles."""

import torch
from torch import nn


class KeyThatIsThere(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {"loss": None}

    def forward(self, x):
        self.log["loss"] = x.mean()
        return x * 2


class KeyThatIsThereByDictCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = dict(loss=None)

    def forward(self, x):
        self.log["loss"] = x.mean()
        return x * 2


class RebuiltInEveryCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses = []
        self.losses.append(x.mean())
        return x * 2


class EmptiedAtTheEnd(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.append(x.mean())
        x = x + self.losses[0]
        self.losses.clear()
        return x * 2


class ItemOfAList(nn.Module):
    def __init__(self):
        super().__init__()
        self.ring = [None] * 4

    def forward(self, x):
        self.ring[0] = x.mean()
        return x * 2


class LocalList(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 3

    def forward(self, x):
        losses = []
        for _ in range(self.n):
            losses.append(x.mean())
        x = x + sum(losses)
        return x * 2


class LocalDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 3

    def forward(self, x):
        log = {}
        log["loss"] = x.mean()
        x = x + log["loss"]
        return x * 2


class TensorMethodOfTheSameName(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.ones(4)

    def forward(self, x):
        x = x + self.bias.add(x.mean())
        return x * 2


class OnlyRead(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {}

    def forward(self, x):
        x = x * len(self.log) + x
        return x * 2


class AppendedOnlyInEager(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        if not torch.compiler.is_compiling():
            self.losses.append(x.mean())
        return x * 2


class GivenAFreshList(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 2

    def _fill(self, out, x):
        out.append(x.mean())
        return out

    def forward(self, x):
        return x * self._fill([], x)[0]


class AttributeOfAFreshObject(nn.Module):
    def forward(self, x):
        log = Log()
        log.items.append(x.mean())
        return x * log.items[0]


class Log:
    def __init__(self):
        self.items = []


class FilledInSetUp(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = []
        for name in ("a", "b"):
            self.add(name)

    def add(self, name):
        self.names.append(name)

    def forward(self, x):
        return x * len(self.names)


for case in (
    KeyThatIsThere,
    KeyThatIsThereByDictCall,
    RebuiltInEveryCall,
    EmptiedAtTheEnd,
    ItemOfAList,
    LocalList,
    LocalDict,
    TensorMethodOfTheSameName,
    OnlyRead,
    AppendedOnlyInEager,
    GivenAFreshList,
    AttributeOfAFreshObject,
    FilledInSetUp,
):
    compiled = torch.compile(case())
