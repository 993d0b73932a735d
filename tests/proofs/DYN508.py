"""One program per row of the cost table of DYN508; a probe's docstring is the label of its row."""

import torch

X = torch.randn(4, 8)


def patched(x):
    """Changes a setting before anything else."""
    with torch._dynamo.config.patch(capture_scalar_outputs=True):  # expect: DYN508 eager
        return (x * 2).sin()


def wave(x):
    """Changes nothing."""
    return (x * 2).sin()


def probe_inside():
    """`with torch._dynamo.config.patch(…)` in the compiled function"""
    # effect: eager
    return torch.compile(patched), [(X,)]


def probe_around():
    """`with torch._dynamo.config.patch(…)` around the call"""
    # effect: -
    run = torch.compile(wave)

    def call(x):
        with torch._dynamo.config.patch(capture_scalar_outputs=True):
            return run(x)

    return call, [(X,)]


def reading(x):
    """Looks a setting up."""
    return x * 2 if torch._dynamo.config.recompile_limit < 1000 else x


def probe_reading():
    """a setting that is read"""
    # effect: -
    return torch.compile(reading), [(X,)]


@torch._dynamo.config.patch(capture_scalar_outputs=True)  # expect: DYN508 break
def decorated(x):
    """Is called with a setting."""
    return (x * 2).sin()


def probe_decorated():
    """`config.patch(…)` as the decorator of what is compiled"""
    # effect: break
    return torch.compile(decorated), [(X,)]
