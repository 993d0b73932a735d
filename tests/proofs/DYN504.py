"""One program per row of the cost table of DYN504; a probe's docstring is the label of its row."""

import os

import torch

X = torch.randn(4, 8)


def wave(x):
    """Something to compile."""
    return (x * 2).sin()


def probe_argument():
    """`torch.compile(f, disable=True)`"""
    # effect: eager
    return torch.compile(wave, disable=True), [(X,)]  # expect: DYN504 eager


def probe_hatch():
    """`disable=` a variable that nobody set, with a default that is on"""
    # effect: eager
    off = os.environ.get("PROBE_EAGER", "1") == "1"
    return torch.compile(wave, disable=off), [(X,)]  # expect: DYN504 eager


def probe_setting():
    """`torch._dynamo.config.patch(disable=True)` around the call"""
    # effect: eager
    run = torch.compile(wave)

    def call(x):
        with torch._dynamo.config.patch(disable=True):  # expect: DYN504 eager
            return run(x)

    return call, [(X,)]


def probe_stance():
    """`torch.compiler.set_stance("force_eager")` around the call"""
    # effect: eager
    run = torch.compile(wave)

    def call(x):
        with torch.compiler.set_stance("force_eager"):  # expect: DYN504 eager
            return run(x)

    return call, [(X,)]


def probe_default_stance():
    """`torch.compiler.set_stance("default")` around the call"""
    # effect: -
    run = torch.compile(wave)

    def call(x):
        with torch.compiler.set_stance("default"):
            return run(x)

    return call, [(X,)]


def probe_closed_hatch():
    """`disable=` a variable that nobody set, with a default that is off"""
    # effect: -
    off = os.environ.get("PROBE_EAGER", "0") == "1"
    return torch.compile(wave, disable=off), [(X,)]


def probe_word():
    """`TORCHDYNAMO_DISABLE=true`, which torch does not know"""
    # effect: -
    run = torch.compile(wave)

    def call(x):
        os.environ["TORCHDYNAMO_DISABLE"] = "true"
        y = run(x)
        del os.environ["TORCHDYNAMO_DISABLE"]
        return y

    return call, [(X,)]


def probe_elsewhere():
    """`force_eager` around something that is not compiled"""
    # effect: -
    run = torch.compile(wave)
    with torch.compiler.set_stance("force_eager"):
        first = torch.ones(4, 8)
    return run, [(first,)]
