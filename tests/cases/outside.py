"""State that a driver, a setter or a scheduler rebinds between the calls of compiled code."""

import torch
from torch import nn

RATE = 0.5


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0
        self.gain = 1.0
        self.wide = False
        self.unread = 0
        self.dim = 8
        self.table = torch.zeros(4)

    def set_gain(self, gain):
        self.gain = gain  # expect: DYN102 once

    def resize(self, dim):  # quiet: nobody calls it again and again
        self.dim = dim

    def forward(self, x):
        x = x * self.gain + self.table + self.dim
        return x * 2 if self.wide else x * self.step


def train(batches):
    model = Reader()
    compiled = torch.compile(model)
    model.resize(4)
    for step, x in enumerate(batches):
        model.step = step  # expect: DYN102 storm
        model.unread = step
        model.wide = step > 100
        model.table = torch.full((4,), float(step))
        model.set_gain(step / 100)
        compiled(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.window = 0

    def forward(self, x):
        return x * self.window


def build(windows):
    blocks = nn.ModuleList(Block() for _ in windows)
    for block, window in zip(blocks, windows, strict=True):
        block.window = window  # quiet: set-up
        block.compile()
    return blocks


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = 0

    @torch.compiler.disable(reason="counts calls for a report")
    def note(self, x):
        self.seen += 1  # expect: DYN102 storm

    def forward(self, x):
        self.note(x)
        return x * self.seen


counted = torch.compile(Counted())


class Config:
    def __init__(self):
        self.scale = 1
        self.names = {"width": 1}


class ReadsAConfig(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * self.config.scale * self.config.names["width"]


def sweep(x):
    config = Config()
    compiled = torch.compile(ReadsAConfig(config))
    for scale in range(12):
        config.scale = scale  # expect: DYN102 storm
        config.names["width"] = scale  # expect: DYN102 storm
        compiled(x)


@torch.compile
def damped(x):
    return x * RATE


def anneal(x):
    global RATE
    for step in range(12):
        RATE = 1 / (step + 1)  # expect: DYN102 once
        damped(x)


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage = "warm"

    def forward(self, x):
        return x if self.stage == "warm" else x * 2


def in_stages(batches):
    model = torch.compile(Stage())
    for index, x in enumerate(batches):
        if index == 100:
            model.stage = "cold"  # expect: DYN102 per-value
        model(x)
