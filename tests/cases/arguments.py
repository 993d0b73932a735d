"""What drivers pass to compiled functions, call by call."""

import torch
from torch import nn


class Scaled(nn.Module):
    def forward(self, x, step, tag="a", wide=False):
        if wide:
            x = x * 2
        return x * step if tag == "a" else x


def train(batches):
    model = torch.compile(Scaled())
    for step, batch in enumerate(batches):
        model(batch, step)  # expect: DYN109 once


class Constant(nn.Module):
    def forward(self, x, scale, tag="a"):
        return x * scale if tag == "a" else x


def evaluate(batches):
    model = torch.compile(Constant())
    scale = 3
    for batch in batches:
        model(batch, scale, tag="a")  # quiet


class Flagged(nn.Module):
    def forward(self, x, log=False):
        return x * 2 if log else x * 3


def with_a_flag(batches):
    model = torch.compile(Flagged())
    for step, batch in enumerate(batches):
        model(batch, log=step % 10 == 0)  # expect: DYN109 once


class Masked(nn.Module):
    def forward(self, x, mask=None):
        return x if mask is None else x * mask


def at_times(batches):
    model = torch.compile(Masked())
    for step, batch in enumerate(batches):
        model(batch, torch.ones(4) if step % 2 else None)  # expect: DYN109 once


@torch.compile(dynamic=False)
def static(x, step):
    return x * step


def static_steps(x):
    for step in range(12):
        static(x, step)  # expect: DYN109 storm


@torch.compile
def called_once(x, step):
    return x * step


called_once(torch.ones(4), 3)  # quiet


class Ignored(nn.Module):
    def forward(self, x, step):
        return x * 2


def ignored(batches):
    model = torch.compile(Ignored())
    for step, batch in enumerate(batches):
        model(batch, step)  # quiet: not used


class Batched(nn.Module):
    def forward(self, x, target):
        return (x - target).mean()


def by_batch(batches):
    model = torch.compile(Batched())
    for x, target in batches:
        model(x, target)  # quiet: nothing says that these are numbers
