"""One program per row of the cost table of DYN102; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Scale(nn.Module):
    """Scales by what somebody else sets."""

    def __init__(self, start):
        super().__init__()
        self.value = start

    def forward(self, x):
        return x * self.value


class Steps(nn.Module):
    """Knows the step."""

    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        return x * self.step


def probe_int():
    """an int that the loop sets: `model.step = step`"""
    model = Steps()
    compiled = torch.compile(model)

    def call(x, step):
        model.step = step  # expect: DYN102 storm
        return compiled(x)

    return call, [(X, step) for step in range(12)]


class Sampler(nn.Module):
    """Has a temperature with a setter."""

    def __init__(self):
        super().__init__()
        self.temperature = 1.0

    def set_temperature(self, value):
        self.temperature = value  # expect: DYN102 once

    def forward(self, x):
        return x / self.temperature


def probe_float():
    """a float that a setter sets, used in `+ - * /`"""
    model = Sampler()
    compiled = torch.compile(model)

    def call(x, step):
        model.set_temperature(1.0 / (step + 1))
        return compiled(x)

    return call, [(X, step) for step in range(12)]


class Noise(nn.Module):
    """Drops at a rate that is scheduled."""

    def __init__(self):
        super().__init__()
        self.rate = 0.1

    def forward(self, x):
        return nn.functional.dropout(x, p=self.rate)


def probe_float_as_rate():
    """a float that goes into `dropout(p=...)`"""
    model = Noise()
    compiled = torch.compile(model)

    def call(x, step):
        model.rate = step / 100  # expect: DYN102 storm
        return compiled(x).sum() * 0

    return call, [(X, step) for step in range(12)]


class Gate(nn.Module):
    """Has a branch that is switched from outside."""

    def __init__(self):
        super().__init__()
        self.wide = False

    def forward(self, x):
        return x * 2 if self.wide else x * 3


def probe_bool():
    """a bool that flips"""
    model = Gate()
    compiled = torch.compile(model)

    def call(x, step):
        model.wide = step % 2 == 0  # expect: DYN102 once
        return compiled(x)

    return call, [(X, step) for step in range(12)]


class Mode(nn.Module):
    """Has a mode by name."""

    def __init__(self):
        super().__init__()
        self.mode = "a"

    def forward(self, x):
        return x * 2 if self.mode == "a" else x * 3


def probe_str():
    """a str out of three"""
    model = Mode()
    compiled = torch.compile(model)

    def call(x, step):
        if step % 3 == 0:
            model.mode = "a"
        elif step % 3 == 1:
            model.mode = "b"
        else:
            model.mode = "c"  # expect: DYN102 per-value
        return compiled(x)

    return call, [(X, step) for step in range(12)]


class Buffered(nn.Module):
    """Scales by a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("value", torch.zeros(()))

    def forward(self, x):
        return x * self.value


def probe_buffer():
    """a buffer that the loop fills: `model.value.fill_(step)`"""
    model = Buffered()
    compiled = torch.compile(model)

    def call(x, step):
        model.value.fill_(step)
        return compiled(x)

    return call, [(X, step) for step in range(12)]


class Unread(nn.Module):
    """Knows the step and does not look at it."""

    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        return x * 2


def probe_unread():
    """an int that compiled code does not read"""
    model = Unread()
    compiled = torch.compile(model)

    def call(x, step):
        model.step = step
        return compiled(x)

    return call, [(X, step) for step in range(12)]
