"""State that compiled functions find in their module or in the function around them."""

import torch

CALLS = 0
RATE = 0.0
READY = False
TOTAL = 0
LOSSES = []
BY_NAME = {}
STATS = {"loss": None}
LAST = None
TABLE = None
LIMIT = 4
SEEN = 0


class Counter:
    def __init__(self):
        self.n = 0
        self.ready = False
        self.table = None
        self.last = None


COUNTER = Counter()


class Shared:
    n = 0


@torch.compile
def counted(x):
    global CALLS
    CALLS += 1  # expect: DYN106 storm
    return x * 2


@torch.compile
def warmed_up(x):
    global RATE
    RATE = RATE + 0.5  # expect: DYN106 storm
    return x * RATE


@torch.compile
def one_shot(x):
    global READY
    if not READY:
        READY = True  # expect: DYN106 once entries=2
    return x * 2


@torch.compile
def summed(x):
    global TOTAL
    TOTAL = TOTAL + x.mean()  # expect: DYN106 once
    return x * 2


@torch.compile
def logged(x):
    LOSSES.append(x.mean())  # expect: DYN105 storm
    return x * 2


@torch.compile
def named(x, name):
    BY_NAME[name] = x.mean()
    return x * 2


@torch.compile
def overwritten(x):  # quiet: the key is there from the start
    STATS["loss"] = x.mean()
    return x * 2


@torch.compile
def written_only(x):  # quiet: nothing compiled reads it
    global LAST
    LAST = x.mean()
    return x * 2


@torch.compile
def built_once(x):
    global TABLE
    if TABLE is None:
        TABLE = torch.arange(4.0)  # expect: DYN106 once
    return x + TABLE


@torch.compile
def only_read(x):  # quiet: a constant
    return x * LIMIT


@torch.compile
def local_of_the_same_name(x):  # quiet
    CALLS = 1
    CALLS += 1
    return x * CALLS


@torch.compile
def on_a_singleton(x):
    COUNTER.n += 1  # expect: DYN106 storm
    return x * 2


@torch.compile
def flag_of_a_singleton(x):
    if not COUNTER.ready:
        COUNTER.ready = True  # expect: DYN106 once entries=2
    return x * 2


@torch.compile
def table_of_a_singleton(x):
    if COUNTER.table is None:
        COUNTER.table = torch.arange(4.0)  # expect: DYN106 once
    return x + COUNTER.table


@torch.compile
def left_on_a_singleton(x):  # quiet
    COUNTER.last = x.mean()
    return x * 2


@torch.compile
def on_a_class(x):
    Shared.n += 1  # expect: DYN106 storm
    return x * 2


def in_a_closure():
    n = 0

    @torch.compile
    def step(x):
        nonlocal n
        n += 1  # expect: DYN106 once
        return x * n

    return step


def float_in_a_closure():
    rate = 0.0

    @torch.compile
    def step(x):
        nonlocal rate
        rate += 0.5  # expect: DYN106 storm
        return x * rate

    return step


def list_in_a_closure():
    losses = []

    @torch.compile
    def step(x):
        losses.append(x.mean())  # expect: DYN105 storm
        return x * 2

    return step


def through_a_helper():
    n = 0

    def tick():
        nonlocal n
        n += 1  # expect: DYN106 once

    @torch.compile
    def step(x):
        tick()
        return x * 2

    return step


@torch.compile
def inner_function_of_the_call(x):  # quiet: the cell is new in every call
    n = 0

    def tick():
        nonlocal n
        n += 1

    tick()
    return x * n


@torch.compile
def eager_only(x):  # quiet
    global SEEN
    if not torch.compiler.is_compiling():
        SEEN += 1
    return x * 2
