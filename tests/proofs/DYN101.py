"""One program per row of the cost table of DYN101; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Step(nn.Module):
    """Counts its calls; the value is not even used."""

    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * 2


def probe_int_that_grows():
    """an int that grows: `self.n += 1`"""
    return torch.compile(Step()), [(X,)]


class Seen(nn.Module):
    """Counts rows instead of calls."""

    def __init__(self):
        super().__init__()
        self.seen = 0

    def forward(self, x):
        self.seen += x.shape[0]  # expect: DYN101 storm
        return x * 2


def probe_int_that_grows_by_a_size():
    """an int that grows by a size: `self.seen += x.shape[0]`"""
    return torch.compile(Seen()), [(X,)]


class Tag(nn.Module):
    """A string that gets longer."""

    def __init__(self):
        super().__init__()
        self.tag = "run"

    def forward(self, x):
        self.tag = self.tag + "."  # expect: DYN101 storm
        return x * 2


def probe_str_that_changes():
    """a str that changes: `self.tag = self.tag + "."`"""
    return torch.compile(Tag()), [(X,)]


class Window(nn.Module):
    """The last two positions, as a tuple."""

    def __init__(self):
        super().__init__()
        self.window = (0, 1)

    def forward(self, x):
        self.window = (self.window[1], self.window[1] + 1)  # expect: DYN101 storm
        return x * 2


def probe_tuple_that_changes():
    """a tuple that changes: `self.window = (self.window[1], self.window[1] + 1)`"""
    return torch.compile(Window()), [(X,)]


class Cycle(nn.Module):
    """A slot that goes round."""

    def __init__(self):
        super().__init__()
        self.slot = 0

    def forward(self, x):
        self.slot = (self.slot + 1) % 4  # expect: DYN101 per-value
        return x * 2


def probe_int_that_goes_round():
    """an int that goes round: `self.slot = (self.slot + 1) % 4`"""
    return torch.compile(Cycle()), [(X,)]


class WarmUp(nn.Module):
    """A counter that stops."""

    def __init__(self):
        super().__init__()
        self.warm = 0

    def forward(self, x):
        self.warm = min(self.warm + 1, 3)  # expect: DYN101 per-value
        return x * 2


def probe_int_that_stops():
    """an int that stops growing: `self.warm = min(self.warm + 1, 3)`"""
    return torch.compile(WarmUp()), [(X,)]


class Flip(nn.Module):
    """Every other call."""

    def __init__(self):
        super().__init__()
        self.odd = False

    def forward(self, x):
        self.odd = not self.odd  # expect: DYN101 once
        return x * 2 if self.odd else x * 3


def probe_bool_that_flips():
    """a bool that flips: `self.odd = not self.odd`"""
    return torch.compile(Flip()), [(X,)]


class OneShot(nn.Module):
    """Something to do on the first call only."""

    def __init__(self):
        super().__init__()
        self.ready = False

    def forward(self, x):
        if not self.ready:
            self.ready = True  # expect: DYN104 once
        return x * 2


def probe_bool_that_is_set_once():
    """a bool that is set once: `if not self.ready: self.ready = True`"""
    return torch.compile(OneShot()), [(X,)]


class Decay(nn.Module):
    """A float that scales the input."""

    def __init__(self):
        super().__init__()
        self.temperature = 1.0

    def forward(self, x):
        self.temperature = self.temperature * 0.99  # expect: DYN101 storm
        return x * self.temperature


def probe_float_in_arithmetic():
    """a float in `+ - * /` with a tensor: `x * self.temperature`"""
    return torch.compile(Decay()), [(X,)]


class Power(nn.Module):
    """A float as an exponent."""

    def __init__(self):
        super().__init__()
        self.gamma = 1.0

    def forward(self, x):
        self.gamma = self.gamma * 0.99  # expect: DYN101 storm
        return x.abs() ** self.gamma


def probe_float_elsewhere():
    """a float used in any other way: `x.abs() ** self.gamma`"""
    return torch.compile(Power()), [(X,)]


class Average(nn.Module):
    """A float nobody reads but the next call."""

    def __init__(self):
        super().__init__()
        self.average = 0.0

    def forward(self, x):
        self.average = 0.9 * self.average + 0.1  # expect: DYN101 storm
        return x * 2


def probe_float_written_back():
    """a float only written back: `self.average = 0.9 * self.average + 0.1`"""
    return torch.compile(Average()), [(X,)]
