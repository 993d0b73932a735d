"""One program per row of the cost table of DYN416; a probe's docstring is the label of its row."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn

X = torch.randn(4, 8)


class Block(nn.Module):
    """A gated layer, of which subclasses return a record."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, dim)


def kept(model):
    """A loop that keeps what each call returned, for a report at its end."""
    results = []

    def step(x):
        results.append(model(x))
        return results[-1]

    return step


class PlainRecord(Block):
    """Writes a class with attributes."""

    def forward(self, x):
        h = self.proj(self.norm(x))

        class Output:  # expect: DYN416 storm
            def __init__(self, hidden, gate):
                self.hidden, self.gate = hidden, gate

        return Output(x + h, h.sigmoid())


def probe_plain_record():
    """a class in `forward`, behind other operations"""
    return kept(torch.compile(PlainRecord())), [(X,)]


class EarlyRecord(Block):
    """Writes the same class before anything else."""

    def forward(self, x):
        class Output:  # expect: DYN416 storm
            def __init__(self, hidden, gate):
                self.hidden, self.gate = hidden, gate

        h = self.proj(self.norm(x))
        return Output(x + h, h.sigmoid())


def probe_early_record():
    """the same class at the top of `forward`"""
    return kept(torch.compile(EarlyRecord())), [(X,)]


class TupleRecord(Block):
    """Writes a `NamedTuple`."""

    def forward(self, x):
        h = self.proj(self.norm(x))

        class Output(NamedTuple):  # expect: DYN416 storm
            hidden: torch.Tensor
            gate: torch.Tensor

        return Output(x + h, h.sigmoid())


def probe_tuple_record():
    """a `NamedTuple`"""
    return kept(torch.compile(TupleRecord())), [(X,)]


class DataRecord(Block):
    """Writes a dataclass."""

    def forward(self, x):
        h = self.proj(self.norm(x))

        @dataclass
        class Output:  # expect: DYN416 storm
            hidden: torch.Tensor
            gate: torch.Tensor

        return Output(x + h, h.sigmoid())


def probe_data_record():
    """a dataclass"""
    return kept(torch.compile(DataRecord())), [(X,)]


class MethodRecord(Block):
    """Writes the class in a method."""

    def forward(self, x):
        return self.record(x, self.proj(self.norm(x)))

    def record(self, x, h):
        class Output:  # expect: DYN416 storm
            def __init__(self, hidden, gate):
                self.hidden, self.gate = hidden, gate

        return Output(x + h, h.sigmoid())


def probe_method_record():
    """the same class in a method that `forward` calls"""
    return kept(torch.compile(MethodRecord())), [(X,)]


@dataclass
class Gated:
    """What a layer returns."""

    hidden: torch.Tensor
    gate: torch.Tensor


class TopRecord(Block):
    """Makes an instance of a class that stands at the top of the file."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        return Gated(x + h, h.sigmoid())


def probe_top_record():
    """a dataclass at the top of the file"""
    return kept(torch.compile(TopRecord())), [(X,)]


class Functions(Block):
    """Writes functions: they are part of the graph."""

    def forward(self, x):
        def gate(t, by=0.5):
            return t.sigmoid() * by

        h = self.proj(self.norm(x))
        return x + (lambda t: gate(t) * t)(h)


def probe_functions():
    """a function and a lambda in `forward`"""
    return kept(torch.compile(Functions())), [(X,)]


class SetUp(Block):
    """Writes a class when the model is built."""

    def __init__(self):
        super().__init__()

        class Scale:
            gain = 0.5

        self.scale = Scale

    def forward(self, x):
        return x + self.proj(self.norm(x)) * self.scale.gain


def probe_set_up():
    """a class in `__init__`"""
    return kept(torch.compile(SetUp())), [(X,)]
