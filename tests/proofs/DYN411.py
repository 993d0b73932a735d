"""One program per row of the cost table of DYN411; a probe's docstring is the label of its row."""

import copy
import functools
import hashlib
import itertools
import json
import math
import re
import types
from collections import deque
from dataclasses import dataclass, replace

import torch
from torch import nn

X = torch.randn(4, 8)


class Block(nn.Module):
    """A layer."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)


class KeyOfSettings(Block):
    """Makes a key of the settings of the call."""

    def forward(self, x):
        x = self.proj(x)
        key = json.dumps({"rows": 4, "kind": "dense"})  # expect: DYN411 break
        return x.relu(), key


def probe_json():
    """`json.dumps` of a dict of settings"""
    return torch.compile(KeyOfSettings()), [(X,)]


class Beams(Block):
    """Copies the list of states before it adds one."""

    def forward(self, x, states):
        x = self.proj(x)
        states = copy.copy(states)  # expect: DYN411 break
        states.append(x)
        return torch.stack(states).mean(0)


def probe_copy():
    """`copy.copy` of a list of tensors"""
    return torch.compile(Beams()), [(X, [X, X])]


class Twin(Block):
    """Runs a copy of its layer, as a frozen teacher."""

    def forward(self, x):
        y = self.proj(x).relu()
        teacher = copy.deepcopy(self.proj)  # expect: DYN411 break
        return y - teacher(x).detach()


def probe_deepcopy():
    """`copy.deepcopy` of a module"""
    return torch.compile(Twin()), [(X,)]


class Outputs(Block):
    """Gathers what it gives in a namespace."""

    def forward(self, x):
        x = self.proj(x).relu()
        out = types.SimpleNamespace(hidden=x, pooled=x.mean(0))  # expect: DYN411 break
        return out.hidden - out.pooled


def probe_namespace():
    """`types.SimpleNamespace` for results"""
    return torch.compile(Outputs()), [(X,)]


class Scheduled(Block):
    """Takes its rate from an iterator that the constructor made."""

    def __init__(self):
        super().__init__()
        self.rates = iter([0.5] * 100)

    def forward(self, x):
        x = self.proj(x).relu()
        rate = next(self.rates)  # expect: DYN411 break
        return x * rate


def probe_iterator():
    """`next` of an iterator that the module keeps"""
    return torch.compile(Scheduled()), [(X,)]


class Stacked(Block):
    """Makes a key for each of its rounds."""

    def forward(self, x):
        keys = []
        for index in range(2):
            keys.append(json.dumps({"layer": index}))  # expect: DYN411 eager
            x = self.proj(x).relu()
        return x, keys


def probe_loop():
    """`json.dumps` in a loop"""
    return torch.compile(Stacked()), [(X,)]


class Stages(Block):
    """Hands out the result of each stage as soon as it is there."""

    def forward(self, x):  # expect: DYN411 eager
        for _ in range(2):
            x = self.proj(x).relu()
            yield x


def probe_generator():
    """a generator function that is compiled itself"""
    model = torch.compile(Stages())
    return lambda x: list(model(x)), [(X,)]


@dataclass
class Output:
    """What a layer gives."""

    hidden: torch.Tensor
    gate: torch.Tensor


class Tools(Block):
    """Uses what Dynamo does follow in the standard library."""

    def stages(self, x):
        yield x
        yield self.proj(x)

    def forward(self, x):
        number = int(re.match(r"layer\.(\d+)", "layer.3").group(1))
        last = deque(self.stages(x), maxlen=2)
        pairs = list(itertools.pairwise([1, 2, 3]))
        total = functools.reduce(torch.add, last) * number / math.sqrt(x.shape[-1])
        out = replace(Output(total, x), gate=x.sigmoid())
        return out.hidden * out.gate * len(pairs)


def probe_traced():
    """`re`, `math`, `itertools`, `collections`, a dataclass, a generator that is used up"""
    return torch.compile(Tools()), [(X,)]


class Before(Block):
    """Takes the digest and the key once, in the constructor."""

    def __init__(self):
        super().__init__()
        self.digest = hashlib.sha256(b"prompt").hexdigest()
        self.key = json.dumps({"rows": 4, "kind": "dense"})

    def forward(self, x):
        return self.proj(x).relu() * len(self.key), self.digest


def probe_constructor():
    """`json.dumps` and `hashlib.sha256` in `__init__`"""
    return torch.compile(Before()), [(X,)]
