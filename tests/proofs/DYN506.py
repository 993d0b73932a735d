"""One program per row of the cost table of DYN506; a probe's docstring is the label of its row."""

import torch

X = torch.randn(4, 8)
MANY = [(torch.randn(length, 8),) for length in range(2, 14)]
TWO = [(torch.randn(length, 8),) for length in (4, 6)]
ONE = [(torch.randn(4, 8),), (torch.randn(4, 8),)]


def wave(x):
    """Something to compile."""
    return (x * 2).sin()


def probe_many():
    """`dynamic=False`, another length in each call"""
    # effect: storm
    run = torch.compile(wave, dynamic=False)

    def call(x):
        return run(x)  # expect: DYN506 storm

    return call, MANY


def probe_two():
    """`dynamic=False`, two lengths"""
    # effect: once
    run = torch.compile(wave, dynamic=False)

    def call(x):
        return run(x)  # expect: DYN506 once

    return call, TWO


def probe_setting():
    """`automatic_dynamic_shapes = False`, another length in each call"""
    # effect: storm
    run = torch.compile(wave)

    def call(x):
        with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
            return run(x)  # expect: DYN506 storm

    return call, MANY


def probe_four():
    """`dynamic=False`, four lengths"""
    # effect: per-value
    run = torch.compile(wave, dynamic=False)

    def call(x):
        return run(x)  # expect: DYN506 per-value

    return call, MANY[:4]


def probe_one():
    """`dynamic=False`, one length"""
    # effect: -
    run = torch.compile(wave, dynamic=False)

    def call(x):
        return run(x)

    return call, ONE


def probe_padded():
    """`dynamic=False`, padded to one length"""
    # effect: -
    run = torch.compile(wave, dynamic=False)

    def call(x):
        return run(torch.nn.functional.pad(x, (0, 0, 0, 16 - x.shape[0])))

    return call, MANY


def probe_marked():
    """`automatic_dynamic_shapes = False`, the axis marked"""
    # effect: -
    run = torch.compile(wave)

    def call(x):
        torch._dynamo.maybe_mark_dynamic(x, 0)
        with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
            return run(x)

    return call, MANY


def probe_first_marked():
    """`automatic_dynamic_shapes = False`, the axis of the first batch marked"""
    # effect: -
    run = torch.compile(wave)
    torch._dynamo.maybe_mark_dynamic(MANY[0][0], 0)

    def call(x):
        with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
            return run(x)

    return call, MANY


def probe_dynamic():
    """`dynamic=True`"""
    # effect: -
    run = torch.compile(wave, dynamic=True)

    def call(x):
        return run(x)

    return call, MANY
