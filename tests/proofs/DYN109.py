"""One program per row of the cost table of DYN109; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Scale(nn.Module):
    """Scales by its argument."""

    def forward(self, x, scale):
        return x * scale


def probe_int():
    """an int: `model(x, step)`"""
    model = torch.compile(Scale())
    step = -1

    def call(x):
        nonlocal step
        step += 1
        return model(x, step)  # expect: DYN109 once

    return call, [(X,)]


class Fixed(nn.Module):
    """Scales by its argument, too."""

    def forward(self, x, scale):
        return x * scale


def probe_static_int():
    """the same, compiled with `dynamic=False`"""
    model = torch.compile(Fixed(), dynamic=False)
    step = -1

    def call(x):
        nonlocal step
        step += 1
        return model(x, step)  # expect: DYN109 storm

    return call, [(X,)]


class Threshold(nn.Module):
    """Does more after some steps."""

    def forward(self, x, step):
        return x * 2 if step > 5 else x * 3


def probe_threshold():
    """an int that is compared: `if step > 5`"""
    model = torch.compile(Threshold())
    step = -1

    def call(x):
        nonlocal step
        step += 1
        return model(x, step)  # expect: DYN109 per-value

    return call, [(X,)]


class Rounds(nn.Module):
    """Adds a number of times."""

    def forward(self, x, rounds):
        for _ in range(rounds):
            x = x + 1
        return x


def probe_rounds():
    """an int that bounds a loop: `range(rounds)`"""
    model = torch.compile(Rounds())
    rounds = 0

    def call(x):
        nonlocal rounds
        rounds += 1
        return model(x, rounds)  # expect: DYN109 storm

    return call, [(X,)]


class Tagged(nn.Module):
    """Looks something up by name in a message."""

    def forward(self, x, step):
        name = f"step-{step}"  # expect: DYN409 eager
        return x * 2 if name.startswith("step") else x


def probe_formatted():
    """an int that is formatted: `f"step-{step}"`"""
    model = torch.compile(Tagged())
    step = -1

    def call(x):
        nonlocal step
        step += 1
        return model(x, step)

    return call, [(X,)]


class Mode(nn.Module):
    """Has two modes."""

    def forward(self, x, mode):
        return x * 2 if mode == "train" else x * 3


def probe_str():
    """a str out of two"""
    model = torch.compile(Mode())
    step = 0

    def call(x):
        nonlocal step
        step += 1
        return model(x, "train" if step % 2 else "eval")  # expect: DYN109 per-value

    return call, [(X,)]


class Sum(nn.Module):
    """Adds up a list."""

    def forward(self, parts):
        return torch.stack(parts).sum(0)


def probe_list():
    """a list that is one longer each time"""
    model = torch.compile(Sum())

    def call(x):
        parts = [x]
        for _ in range(12):
            parts.append(x)
            y = model(parts)  # expect: DYN109 storm
        return y

    return call, [(X,)]


class ByTensor(nn.Module):
    """Scales by a tensor."""

    def forward(self, x, scale):
        return x * scale


def probe_tensor():
    """a number in a tensor that is filled in place"""
    model = torch.compile(ByTensor())
    step = torch.full((), -1.0)

    def call(x):
        step.add_(1)
        return model(x, step)

    return call, [(X,)]


class Unused(nn.Module):
    """Takes a step and ignores it."""

    def forward(self, x, step):
        return x * 2


def probe_unused():
    """an int that compiled code does not use"""
    model = torch.compile(Unused())
    step = -1

    def call(x):
        nonlocal step
        step += 1
        return model(x, step)

    return call, [(X,)]
