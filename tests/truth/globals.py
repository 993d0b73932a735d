"""State of modules, closures and functions."""

import torch
from torch import nn

X = torch.linspace(-1.0, 1.0, 8).reshape(2, 4)


# %% a global counter
CALLS = 0


def forward(x):
    global CALLS
    CALLS += 1  # expect: DYN106 storm
    return x * 2


def drive():
    return torch.compile(forward), [(X,)]


# %% a global counter written by a module
CALLS = 0


class Model(nn.Module):
    def forward(self, x):
        global CALLS
        CALLS = CALLS + 1  # expect: DYN106 storm
        return x * CALLS


def drive():
    return torch.compile(Model()), [(X,)]


# %% an attribute of a global class
class Totals:
    tokens = 0


class Model(nn.Module):
    def forward(self, x):
        Totals.tokens += x.shape[0]  # expect: DYN106 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% an attribute of a global object
class State:
    def __init__(self):
        self.step = 0


STATE = State()


class Model(nn.Module):
    def forward(self, x):
        STATE.step += 1  # expect: DYN106 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in another module
import ledger


class Model(nn.Module):
    def forward(self, x):
        ledger.COUNT += 1  # expect: DYN106 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# file: ledger.py
COUNT = 0


# %% a counter in an object of another module
import ledger


class Model(nn.Module):
    def forward(self, x):
        ledger.BOOK.pages += 1  # expect: DYN106 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# file: ledger.py
class Book:
    def __init__(self):
        self.pages = 0


BOOK = Book()


# %% a counter in a function of another module
from ledger import note


class Model(nn.Module):
    def forward(self, x):
        note()
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# file: ledger.py
COUNT = 0


def note():
    global COUNT
    COUNT += 1  # expect: DYN106 storm


# %% a counter in a global dict
STATS = {"calls": 0}


class Model(nn.Module):
    def forward(self, x):
        STATS["calls"] += 1  # expect: DYN106 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a global counter that a loop makes count
CALLS = 0


def forward(x):
    global CALLS
    CALLS += 1  # expect: DYN106 storm
    return x * 2


def drive():
    step = torch.compile(forward)
    for _ in range(12):
        yield step(X)


# %% global numbers that go down and double in a loop
LEFT = 100
SPAN = 1


def forward(x):
    global LEFT, SPAN
    LEFT -= 1  # expect: DYN106 storm
    SPAN *= 2  # expect: DYN106 storm
    return x * 2


def drive():
    step = torch.compile(forward)
    for _ in range(12):
        yield step(X)


# %% a global text that grows in a loop
TRACE = ""


def forward(x):
    global TRACE
    TRACE = TRACE + "x"  # expect: DYN106 storm
    return x * 2


def drive():
    step = torch.compile(forward)
    for _ in range(12):
        yield step(X)


# %% a global counter that is compared after it was added to
CALLS = 0


def forward(x):
    global CALLS
    CALLS += 1  # expect: DYN106 storm
    return x if CALLS > 100 else x * 2


def drive():
    step = torch.compile(forward)
    for _ in range(12):
        yield step(X)


# %% a global number that is halved in place
SCALE = 2**20


def forward(x):
    global SCALE
    SCALE //= 2  # expect: DYN106 storm
    return x * 2


def drive():
    return torch.compile(forward), [(X,)]


# %% a counter in a global dict that a loop makes count
STATS = {"calls": 0}


def forward(x):
    STATS["calls"] += 1  # expect: DYN106 storm
    return x * 2


def drive():
    step = torch.compile(forward)
    for _ in range(12):
        yield step(X)


# %% a sum of a global that another keeps
CALLS = 0
STATS = {"calls": 0}


def forward(x):
    STATS["calls"] = CALLS + 1  # expect: DYN102 storm
    return x * 2


def drive():
    global CALLS
    step = torch.compile(forward)
    for i in range(12):
        CALLS = i
        yield step(X)


# %% a global counter that is added to seventy times
CALLS = 0


def forward(x):
    global CALLS
    for _ in range(70):
        CALLS += 1  # expect: DYN106 storm
    return x * 2


def drive():
    step = torch.compile(forward)
    for _ in range(12):
        yield step(X)


# %% a global list that grows
LOSSES = []


class Model(nn.Module):
    def forward(self, x):
        LOSSES.append(x.mean())  # expect: DYN105 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in a closure
def make():
    calls = 0

    def forward(x):
        nonlocal calls
        calls += 1  # expect: DYN106 once
        return x * 2

    return forward


def drive():
    return torch.compile(make()), [(X,)]


# %% a counter on a function
def forward(x):
    forward.calls += 1  # expect: DYN411 break # expect: DYN106 storm
    return x * 2


forward.calls = 0


def drive():
    return torch.compile(forward), [(X,)]


# %% a global int that the loop changes
SCALE = 1


def forward(x):
    return x * SCALE  # expect: DYN102 storm


def drive():
    global SCALE
    step = torch.compile(forward)
    for i in range(12):
        SCALE = i
        yield step(X)


# %% a global float that the loop changes
SCALE = 0.5


def forward(x):
    return x * SCALE  # expect: DYN102 once


def drive():
    global SCALE
    step = torch.compile(forward)
    for i in range(12):
        SCALE = 0.5 + i
        yield step(X)


# %% a nonlocal int that the loop changes
def drive():
    scale = 1

    @torch.compile
    def forward(x):
        return x * scale  # expect: DYN102 once

    for i in range(12):
        scale = i
        yield forward(X)


# %% a global dict of settings that the loop changes
SETTINGS = {"scale": 1, "name": "run"}


def forward(x):
    return x * SETTINGS["scale"]  # expect: DYN102 storm


def drive():
    step = torch.compile(forward)
    for i in range(12):
        SETTINGS["scale"] = i
        yield step(X)


# %% a flag in another module that the loop flips
import flags


class Model(nn.Module):
    def forward(self, x):
        return x * 2 if flags.verbose() else x * 3


def drive():
    step = torch.compile(Model())
    for i in range(12):
        flags.VERBOSE = bool(i % 2)
        yield step(X)


# file: flags.py
VERBOSE = False


def verbose():
    return VERBOSE  # expect: DYN102 once


# %% a number in another module that the loop changes
import knobs


def forward(x):
    return x * knobs.LEVEL  # expect: DYN102 storm


def drive():
    step = torch.compile(forward)
    for i in range(12):
        knobs.LEVEL = i
        yield step(X)


# file: knobs.py
LEVEL = 1


# %% a global constant
SCALE = 3


def forward(x):
    return x * SCALE


def drive():
    return torch.compile(forward), [(X,)]


# %% a global declared but only read
SCALE = 3


def forward(x):
    global SCALE
    return x * SCALE


def drive():
    return torch.compile(forward), [(X,)]


# %% a global tensor updated in place
TOTAL = torch.zeros(())


def forward(x):
    TOTAL.add_(1)
    return x * TOTAL


def drive():
    TOTAL.zero_()
    return torch.compile(forward), [(X,)]


# %% a global counter in a function that is not compiled
CALLS = 0


def forward(x):
    return x * 2


def drive():
    global CALLS
    step = torch.compile(forward)
    for _ in range(12):
        CALLS += 1
        yield step(X)


# %% a global flag raised on the first call
READY = False


def forward(x):
    global READY
    if not READY:
        READY = True  # expect: DYN106 once
        return x + 1
    return x * 2


def drive():
    return torch.compile(forward), [(X,)]


# %% figures are kept while a switch is on, which the program turns

STATS = {"gathered": 0}
KEEPING = False


def keep():
    global KEEPING
    KEEPING = True


def gather(x):
    y = torch.cat([x, x])
    if KEEPING:
        STATS["gathered"] += 1  # expect: DYN106 storm
    return y


class Net(nn.Module):
    def forward(self, x):
        return gather(x) * 2


def drive():
    keep()
    net = torch.compile(Net(), backend="eager")
    for _ in range(12):
        yield net(X)


# %% quiet: figures are kept only while a switch is on, and nobody turns it

STATS = {"gathered": 0}
KEEPING = False


def keep():
    global KEEPING
    KEEPING = True


def gather(x):
    y = torch.cat([x, x])
    if KEEPING:
        STATS["gathered"] += 1  # expect: DYN106 storm note
    return y


class Net(nn.Module):
    def forward(self, x):
        return gather(x) * 2


def drive():
    net = torch.compile(Net(), backend="eager")
    for _ in range(12):
        yield net(X)


# %% a global that the driver counts in the dict of its file
ROUND = 0


def forward(x):
    return x * ROUND


def drive():
    step = torch.compile(forward)
    for _ in range(12):
        globals()["ROUND"] += 1  # expect: DYN102 storm
        yield step(X)


# %% a global that the driver sets in the dict of its file
SCALE = 3


def forward(x):
    return x * SCALE


def drive():
    step = torch.compile(forward)
    for number in range(12):
        globals().update(SCALE=number)  # expect: DYN102 storm
        yield step(X)


# %% a global that compiled code looks up in the dict of its file
LEVEL = 0


def forward(x):
    return x * globals().get("LEVEL", 1)  # expect: DYN411 break


def drive():
    global LEVEL
    step = torch.compile(forward)
    for _ in range(12):
        LEVEL += 1  # expect: DYN102 once note
        yield step(X)


# %% a global that the driver sets on its module
import sys

FACTOR = 3


def forward(x):
    return x * FACTOR


def drive():
    step, here = torch.compile(forward), sys.modules[__name__]
    for number in range(12):
        setattr(here, "FACTOR", number)  # expect: DYN102 storm  # noqa: B010
        yield step(X)


# %% a global filled in on the first call
TABLE = None


def forward(x):
    global TABLE
    if TABLE is None:
        TABLE = torch.arange(4.0)  # expect: DYN106 once
    return x * TABLE


def drive():
    return torch.compile(forward), [(X,)]
