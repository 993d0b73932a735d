"""One program per row of the cost table of DYN106; a probe's docstring is the label of its row."""

import torch

X = torch.randn(4, 8)

CALLS = 0
RATE = 0.0
READY = False
TABLE = None
LAST = None


class Meter:
    """Counts for everybody."""

    def __init__(self):
        self.calls = 0


METER = Meter()


@torch.compile
def counted(x):
    """Counts its calls."""
    global CALLS
    CALLS += 1  # expect: DYN106 storm
    return x * 2


def probe_int():
    """an int: `CALLS += 1`"""
    return counted, [(X,)]


@torch.compile
def warmed_up(x):
    """Raises a rate."""
    global RATE
    RATE += 0.5  # expect: DYN106 storm
    return x * RATE


def probe_float():
    """a float: `RATE += 0.5`"""
    return warmed_up, [(X,)]


@torch.compile
def metered(x):
    """Counts on a global object."""
    METER.calls += 1  # expect: DYN106 storm
    return x * 2


def probe_attribute_of_a_global_object():
    """an attribute of a global object: `METER.calls += 1`"""
    return metered, [(X,)]


@torch.compile
def one_shot(x):
    """Does something once."""
    global READY
    if not READY:
        READY = True  # expect: DYN106 once
    return x * 2


def probe_flag():
    """a flag that the first call sets"""
    return one_shot, [(X,)]


@torch.compile
def built_once(x):
    """Builds a table in the first call."""
    global TABLE
    if TABLE is None:
        TABLE = torch.arange(8.0)  # expect: DYN106 once
    return x + TABLE


def probe_built_once():
    """`if TABLE is None: TABLE = ...`"""
    return built_once, [(X,)]


def probe_closure():
    """an int of the enclosing function: `nonlocal n; n += 1`"""
    n = 0

    @torch.compile
    def step(x):
        nonlocal n
        n += 1
        return x * n

    return step, [(X,)]


@torch.compile
def written_only(x):
    """Leaves a tensor behind."""
    global LAST
    LAST = x.mean()
    return x * 2


def probe_written_only():
    """a global that compiled code only writes"""
    return written_only, [(X,)]
