"""One program per row of the cost table of DYN516; a probe's docstring is the label of its row."""

import sys

import torch

X = torch.randn(4, 8)
HIDDEN = sys.maxsize > 0
"""Errors are suppressed here, for the program to go on."""


@torch.library.custom_op("probe516::roll", mutates_args=())
def roll(x: torch.Tensor) -> torch.Tensor:  # expect: DYN516 eager
    """Has no fake."""
    return x.flip(0)


def rolled(x):
    """Calls it."""
    return roll(x) * 2


def probe_without():
    """an operator without a fake, errors suppressed"""
    # effect: eager
    run = torch.compile(rolled)

    def call(x):
        with torch._dynamo.config.patch(suppress_errors=HIDDEN):
            return run(x)

    return call, [(X,)]


@torch.library.custom_op("probe516::turn", mutates_args=())
def turn(x: torch.Tensor) -> torch.Tensor:
    """Has a fake."""
    return x.flip(0)


@turn.register_fake
def _(x):
    return torch.empty_like(x)


def probe_decorated():
    """an operator with a fake"""
    # effect: -
    return torch.compile(lambda x: turn(x) * 2), [(X,)]


@torch.library.custom_op("probe516::swap", mutates_args=())
def swap(x: torch.Tensor) -> torch.Tensor:
    """Gets its fake by name."""
    return x.flip(0)


torch.library.register_fake("probe516::swap", lambda x: torch.empty_like(x))


def probe_by_name():
    """a fake that is registered by the name of the operator"""
    # effect: -
    return torch.compile(lambda x: swap(x) * 2), [(X,)]


def probe_eager():
    """an operator without a fake that eager code calls"""
    # effect: -
    run = torch.compile(lambda x: x * 2)

    def call(x):
        return run(roll(x))

    return call, [(X,)]
