"""Blocks of a list whose parts are chosen by tests, flags and factories: what differs in the end, and what not."""

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


def run(model):
    for block in model.blocks:
        block.compile()
    for _ in range(3):
        with torch.no_grad():
            yield model(X)


# %% a part with a setting that the test around it leaves no choice
class Block(nn.Module):
    def __init__(self, rate=None):
        super().__init__()
        self.scale = nn.Linear(4, 4)
        self.drop = nn.Dropout(rate) if rate is not None else None  # expect: DYN108 per-instance

    def forward(self, x):
        x = self.scale(x)
        return x if self.drop is None else self.drop(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(0.5 if i % 2 else None) for i in range(6))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    yield from run(Model().eval())


# %% a flag of the model that some blocks are not given
class Block(nn.Module):
    def __init__(self, fused=False):
        super().__init__()
        self.scale = nn.Linear(4, 4)
        self.fused = fused
        self.other = nn.Linear(4, 4) if fused else None

    def forward(self, x):
        if self.fused:
            return self.other(x)
        return self.scale(x)


class Model(nn.Module):
    def __init__(self, fused=False):
        super().__init__()
        self.blocks = nn.ModuleList([Block(fused=fused), Block(), Block(fused=fused)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    yield from run(Model())


# %% a factory that returns early where nothing is wanted
class Pool(nn.Module):
    def __init__(self, stride):
        super().__init__()
        self.stride = stride

    def forward(self, x):
        return x * self.stride


def make_pool(kind, stride, enable):
    if not kind or not enable:
        return None
    return Pool(stride)


class Block(nn.Module):
    def __init__(self, stride, kind=None):
        super().__init__()
        self.scale = nn.Linear(4, 4)
        self.pool = make_pool(kind, stride, enable=stride > 1)

    def forward(self, x):
        x = self.scale(x)
        return x if self.pool is None else self.pool(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(stride) for stride in (1, 2, 3, 4))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    yield from run(Model())


# %% a factory that returns a part for some
class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def forward(self, x):
        return x * self.scale


def make_pool(enable):
    if not enable:
        return None
    return Pool()


class Block(nn.Module):
    def __init__(self, enable):
        super().__init__()
        self.scale = nn.Linear(4, 4)
        self.pool = make_pool(enable)  # expect: DYN108 per-instance

    def forward(self, x):
        x = self.scale(x)
        return x if self.pool is None else self.pool(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(i % 2 == 0) for i in range(4))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    yield from run(Model())


# %% a part of whatever class the model was given
class Block(nn.Module):
    def __init__(self, norm_layer, last):
        super().__init__()
        self.scale = nn.Linear(4, 4)
        self.norm = norm_layer(4) if last else nn.Identity()  # expect: DYN108 per-instance

    def forward(self, x):
        return self.norm(self.scale(x))


class Model(nn.Module):
    def __init__(self, norm_layer):
        super().__init__()
        self.blocks = nn.ModuleList(Block(norm_layer, last=i == 3) for i in range(4))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    yield from run(Model(nn.LayerNorm))


# %% a window in some blocks, and a table for it that a flag leaves out
class Block(nn.Module):
    def __init__(self, dim, window=0, tabled=False):
        super().__init__()
        self.window = window  # expect: DYN107 per-instance
        self.mix = nn.Linear(dim, dim)
        if tabled:
            self.table = nn.Parameter(torch.zeros(window or 4, dim))
        else:
            self.table = None

    def forward(self, x):
        x = self.mix(x)
        if self.window > 0:
            x = x.view(-1, self.window, 2).flatten(1)
        return x if self.table is None else x + self.table.sum(0)


class Model(nn.Module):
    def __init__(self, dim, depth, window, whole=(2, 5), tabled=False):
        super().__init__()
        self.blocks = nn.ModuleList(
            Block(dim, window=window if i not in whole else 0, tabled=tabled) for i in range(depth)
        )

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    yield from run(Model(4, 6, 2))


# %% an optional part, whose own size is all that the test for it asks for
class Block(nn.Module):
    def __init__(self, width, ratio):
        super().__init__()
        self.up = nn.Linear(4, width)
        self.down = nn.Linear(width, 4)
        self.gate = nn.Linear(width, int(width * ratio)) if ratio > 0 else None  # expect: DYN108 per-instance

    def forward(self, x):
        x = self.up(x)
        if self.gate is not None:
            x = x * self.gate(x).mean()
        return self.down(x)


class Model(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, ratio) for width, ratio in rows)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    yield from run(Model([(8, 0.0), (8, 0.5), (8, 0.0)]))


# %% rounds that are as many in every block, unless a caller says otherwise
class Block(nn.Module):
    def __init__(self, rounds=3):
        super().__init__()
        self.rounds = rounds

    def forward(self, x):
        for _ in range(self.rounds - 1):
            x = x * 2
        return x


class Net(nn.Module):
    def __init__(self, rounds=None):
        super().__init__()
        if rounds is None:
            rounds = [5, 5, 5, 5]
        self.rounds = rounds
        self.blocks = nn.ModuleList()
        for number in range(4):
            self.blocks.append(Block(self.rounds[number]))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def build(**options):
    net = Net(**options)
    for block in net.blocks:
        block.compile()
    return net


def drive():
    net = build()
    for _ in range(3):
        with torch.no_grad():
            yield net(X)


# %% a layer that is left out where its width is none
from argparse import Namespace


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        if width > 0:
            self.norm = nn.LayerNorm(width)
        else:
            self.norm = nn.Identity()

    def forward(self, x):
        return self.norm(x) * 2


class Net(nn.Module):
    def __init__(self, data, width, depth):
        super().__init__()
        self.first = Layer(data.features)
        self.layers = nn.ModuleList([Layer(width) for _ in range(depth)])

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return x


def build(data, width, depth):
    net = Net(data, width, depth)
    for layer in (net.first, *net.layers):
        layer.compile()
    return net


def drive():
    net = build(Namespace(features=X.shape[-1]), X.shape[-1], 2)
    for _ in range(3):
        with torch.no_grad():
            yield net(X)
