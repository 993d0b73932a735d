"""Attributes: how modules get their parts, one spelling each beside those that give none."""

from __future__ import annotations

import textwrap

import pytest

from tests.programs import hot
from tests.small_model import SMALL_BLOCK, SMALL_MODEL, SMALL_WHOLE

NET = """
import copy
from torch.nn.utils.parametrizations import weight_norm
def clones(module, n): return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])
class Net(nn.Module):
    def __init__(self, *given, **named):
        super().__init__()
{init}
    def forward(self, x):
{forward}
        return x
compiled = torch.compile({made})
"""


def names(init: str, forward: str, made: str = "Net()") -> set[str]:
    parts = {"init": textwrap.indent(init, " " * 8), "forward": textwrap.indent(forward, " " * 8)}
    return set(hot(SMALL_MODEL + NET.format(**parts, made=made)))


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ('for i in range(3): setattr(self, f"l{i}", Block())', 'x = getattr(self, f"l{i}")(x)'),
        ('for i in range(3): self.add_module(f"l{i}", Block())', 'x = getattr(self, "l" + str(i))(x)'),
        ('for i in range(3): setattr(self, f"l{i}", Block())', "for m in self._modules.values(): x = m(x)"),
        (
            'for i in range(3): setattr(self, f"l{i}", Block())\nsetattr(self, last(), getattr(self, f"l{i}"))',
            'x = getattr(self, f"l{i}")(x)',
        ),
        ("self.a = Block()", "for m in self._modules.values(): x = m(x)"),
        ('self.d = nn.ModuleDict()\nself.d.update({"a": Block()})', 'x = self.d["a"](x)'),
        ("self.all = clones(Block(), 3)", "for m in self.all: x = m(x)"),
        ("self.all = nn.ModuleList([Block()])", "for m in self.all[:-1]: x = m(x)"),
        ("self.all = nn.Sequential(*([Block()] * 3))", "x = self.all[1:](x)"),
        ("self.one = nn.utils.weight_norm(Block())", "x = self.one(x)"),
        ("self.one = weight_norm(Block())", "x = self.one(x)"),
    ],
)
def test_a_part_is_found_however_it_was_put_there(init: str, forward: str) -> None:
    assert names(init, forward) == SMALL_BLOCK | {"Net.forward"}


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ('setattr(self.other, "l" + str(1), Block())', 'x = getattr(self, f"l{i}")(x)'),
        ('self.d = nn.ModuleDict()\nself.d.update({"a": Block()})', "x = self.e(x)"),
        ("self.all = nn.ModuleList([Block()])", "x = self.all[:-1].size(x)"),
        ("self.one = measure(Block())", "x = self.one(x)"),
        ("self.one = nn.utils.count(Block())", "x = self.one(x)"),
    ],
)
def test_what_was_not_put_there_is_cold(init: str, forward: str) -> None:
    assert names(init, forward) == {"Net.forward"}


@pytest.mark.parametrize(
    ("init", "forward", "made"),
    [
        ('self.one = named.pop("one")', "x = self.one(x)", "Net(one=Block())"),
        ('self.one = named["one"]', "x = self.one(x)", "Net(**dict(one=Block()))"),
        ("self.all = nn.ModuleList(given)", "for m in self.all: x = m(x)", "Net(Block(), Block())"),
    ],
)
def test_what_a_constructor_takes_without_naming_it_is_found(init: str, forward: str, made: str) -> None:
    assert names(init, forward, made) == SMALL_BLOCK | {"Net.forward"}


@pytest.mark.parametrize(
    ("init", "made"),
    [
        ('self.one = named["one"]', "Net(two=Block())"),
        ('self.one = named.pop("one")', "Net(**dict(two=Block()))"),
        ('self.one = named["one"]', "Net(Block())"),
    ],
)
def test_what_it_takes_under_another_name_is_not(init: str, made: str) -> None:
    assert names(init + '\nself.two = named.get("none")', "x = self.one(x)", made) == {"Net.forward"}


@pytest.mark.parametrize(
    "code",
    [
        "def go(model): model.compile()\ngo(**dict(model=Model()))",
        "def build(): return dict(model=Model(), size=3)\ndef go(model): model.compile()\ngo(**build())",
        "def inner(model): model.compile()\ndef outer(**rest): inner(**rest)\nouter(model=Model())",
        "class Outer:\n    def __init__(self, **rest): inner(**rest)\n"
        "def inner(model): model.compile()\nOuter(model=Model())",
    ],
)
def test_what_is_unpacked_into_a_call_flows_into_its_parameters(code: str) -> None:
    assert set(hot(SMALL_MODEL + code)) == SMALL_WHOLE


@pytest.mark.parametrize(
    "code",
    [
        "def go(model): model.compile()\ngo(**dict(other=Model()))",
        "def inner(model): model.compile()\ndef outer(model, **rest): inner(**rest)\nouter(model=Model())",
    ],
)
def test_what_is_unpacked_under_another_name_does_not(code: str) -> None:
    assert set(hot(SMALL_MODEL + code)) == set()
