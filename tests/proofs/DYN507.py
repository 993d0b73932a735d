"""One program per row of the cost table of DYN507; a probe's docstring is the label of its row."""

import torch

X = torch.randn(4, 8)
MANY = [(torch.randn(length, 8),) for length in range(2, 14)]
ONE = [(torch.randn(4, 8),), (torch.randn(4, 8),)]


def wave(x):
    """Something to compile."""
    return (x * 2).sin()


def probe_many():
    """another length in each call"""
    # effect: once
    run = torch.compile(wave)

    def call(x):
        return run(x)  # expect: DYN507 once

    return call, MANY


def probe_one():
    """one length"""
    # effect: -
    run = torch.compile(wave)

    def call(x):
        return run(x)

    return call, ONE


def probe_marked():
    """the axis marked with `maybe_mark_dynamic`"""
    # effect: -
    run = torch.compile(wave)

    def call(x):
        torch._dynamo.maybe_mark_dynamic(x, 0)
        return run(x)

    return call, MANY


def probe_dynamic():
    """`dynamic=True`"""
    # effect: -
    run = torch.compile(wave, dynamic=True)

    def call(x):
        return run(x)

    return call, MANY
