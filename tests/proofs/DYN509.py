"""One program per row of the cost table of DYN509; a probe's docstring is the label of its row."""

import torch

X = torch.randn(4, 8)
NUMBERS = [(X, number) for number in range(12)]


def wave(x):
    """Something to compile."""
    return (x * 2).sin()


def probe_threads():
    """two numbers of threads by turns"""
    # effect: once
    run = torch.compile(wave)

    def call(x, number):
        torch.set_num_threads(1 + number % 2)  # expect: DYN509 once
        return run(x)

    return call, NUMBERS


def probe_many_threads():
    """another number of threads in each call"""
    # effect: storm
    run = torch.compile(wave)

    def call(x, number):
        torch.set_num_threads(1 + number)  # expect: DYN509 storm
        return run(x)

    return call, NUMBERS


def probe_four_threads():
    """four numbers of threads"""
    # effect: per-value
    run = torch.compile(wave)

    def call(x, number):
        torch.set_num_threads(1 + number % 4)  # expect: DYN509 per-value
        return run(x)

    return call, NUMBERS


def probe_precision():
    """two precisions of matrix products"""
    # effect: once
    run = torch.compile(wave)

    def call(x, number):
        torch.set_float32_matmul_precision(("highest", "high")[number % 2])  # expect: DYN509 once
        return run(x)

    return call, NUMBERS


def probe_same():
    """the same number of threads again and again"""
    # effect: -
    run = torch.compile(wave)

    def call(x, number):
        torch.set_num_threads(1)
        return run(x)

    return call, NUMBERS


def probe_before():
    """threads set before compiling"""
    # effect: -
    torch.set_num_threads(1)
    return torch.compile(wave), [(X,)]


def probe_seed():
    """another seed in each call"""
    # effect: -
    run = torch.compile(wave)

    def call(x, number):
        torch.manual_seed(number)
        return run(x)

    return call, NUMBERS


def probe_other():
    """a setting that Dynamo does not guard on"""
    # effect: -
    run = torch.compile(wave)

    def call(x, number):
        torch.backends.cudnn.benchmark = number % 2 == 0
        return run(x)

    return call, NUMBERS
