"""One program per row of the cost table of DYN505; a probe's docstring is the label of its row."""

import torch

X = torch.randn(4, 8)


def picky(x):
    """Has a branch on a tensor, which no whole graph can have."""
    if x.sum() > 1000:
        return x * 3
    return x * 2


def wave(x):
    """Can be compiled."""
    return (x * 2).sin()


def probe_swallowed():
    """`fullgraph=True` that fails, in a `try` that goes on without"""
    # effect: eager
    run = torch.compile(picky, fullgraph=True)

    def call(x):
        try:
            return run(x)
        except Exception:  # expect: DYN505 eager
            return picky(x)

    return call, [(X,)]


@torch.library.custom_op("probe505::flip", mutates_args=())
def flip(x: torch.Tensor) -> torch.Tensor:  # expect: DYN516 eager
    """Has no fake."""
    return x.flip(0)


def flipped(x):
    """Calls an operator that Dynamo knows nothing of."""
    return flip(x) * 2


def probe_suppressed():
    """`suppress_errors` around code that cannot be compiled"""
    # effect: eager
    run = torch.compile(flipped)

    def call(x):
        with torch._dynamo.config.patch(suppress_errors=True):  # expect: DYN505 eager
            return run(x)

    return call, [(X,)]


def probe_passed_on():
    """a `try` that raises again"""
    # effect: -
    run = torch.compile(wave, fullgraph=True)

    def call(x):
        try:
            return run(x)
        except Exception:
            print("cannot be compiled")
            raise

    return call, [(X,)]


def probe_narrow():
    """a `try` for something else"""
    # effect: -
    run = torch.compile(wave)

    def call(x):
        try:
            return run(x)
        except KeyError:
            return x

    return call, [(X,)]


def probe_while_compiling():
    """a `try` around `torch.compile` itself, which compiles nothing yet"""
    # effect: -
    try:
        run = torch.compile(wave)
    except RuntimeError:
        run = wave
    return run, [(X,)]
