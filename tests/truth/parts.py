"""Lists of modules that differ between the blocks that are compiled one by one."""

import copy

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


class Config:
    def __init__(self):
        self.is_decoder = False
        self.depths = [1, 2, 3]
        self.dim = 4


class Plus(nn.Module):
    def forward(self, x):
        return x + 1


class Times(nn.Module):
    def forward(self, x):
        return x * 2


# %% a list that has one part more in the blocks of the decoder
class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.ModuleList()  # expect: DYN108 per-instance
        self.layer.append(Plus())
        if config.is_decoder:
            self.layer.append(Times())
        self.layer.append(Plus())

    def forward(self, x):
        x = self.layer[0](x)
        return self.layer[-1](x)


class Stack(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.block = nn.ModuleList([Block(config) for _ in range(3)])


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        inner = copy.deepcopy(config)
        inner.is_decoder = False
        self.encoder = Stack(inner)
        outer = copy.deepcopy(config)
        outer.is_decoder = True
        self.decoder = Stack(outer)


def drive():
    model = Model(Config())
    blocks = [*model.encoder.block, *model.decoder.block]
    for block in model.encoder.block:
        block.compile()
    for block in model.decoder.block:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a list that has the same parts in every block
class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.ModuleList()
        self.layer.append(Plus())
        if config.dim > 2:
            self.layer.append(Times())
        self.layer.append(Plus())

    def forward(self, x):
        x = self.layer[0](x)
        return self.layer[-1](x)


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.block = nn.ModuleList([Block(config) for _ in range(3)])


def drive():
    model = Model(Config())
    for block in model.block:
        block.compile()
    for _ in range(3):
        x = X
        for block in model.block:
            x = block(x)
        yield x


# %% stages of as many parts as the configuration says
class Stage(nn.Module):
    def __init__(self, config, index):
        super().__init__()
        blocks = []
        for _ in range(config.depths[index]):
            blocks.append(Plus())
        self.blocks = nn.ModuleList(blocks)  # expect: DYN108 per-instance

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.stages = nn.ModuleList([Stage(config, i) for i in range(len(config.depths))])


def drive():
    model = Model(Config())
    for stage in model.stages:
        stage.compile()
    for _ in range(3):
        x = X
        for stage in model.stages:
            x = stage(x)
        yield x


# %% stages of as many parts as the call says
class Stage(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.blocks = nn.ModuleList()  # expect: DYN108 per-instance
        for _ in range(count):
            self.blocks.append(Plus())

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([Stage(1), Stage(2), Stage(2)])


def drive():
    model = Model()
    for stage in model.stages:
        stage.compile()
    for _ in range(3):
        x = X
        for stage in model.stages:
            x = stage(x)
        yield x


# %% stages of equal length
class Stage(nn.Module):
    def __init__(self, config, name):
        super().__init__()
        self.name = name
        self.blocks = nn.ModuleList()
        for _ in range(config.dim):
            self.blocks.append(Plus())

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.stages = nn.ModuleList([Stage(config, f"stage {i}") for i in range(3)])


def drive():
    model = Model(Config())
    for stage in model.stages:
        stage.compile()
    for _ in range(3):
        x = X
        for stage in model.stages:
            x = stage(x)
        yield x


# %% stages whose parts are counted out, whatever they are made of
class Stage(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.blocks = nn.ModuleList()
        for name in names:
            self.blocks.append(Plus())

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([Stage(("a", "b")), Stage(("c", "d"))])


def drive():
    model = Model()
    for stage in model.stages:
        stage.compile()
    for _ in range(3):
        x = X
        for stage in model.stages:
            x = stage(x)
        yield x
