"""Blocks that builtins and itertools bring into a list of modules, and what they leave out."""

from __future__ import annotations

import pytest

from tests.programs import hot

NET = """
import itertools
from itertools import chain, islice
class A(nn.Module):
    def forward(self, x): return x
class B(nn.Module):
    def __init__(self, width=1): super().__init__()
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        ones = [A() for _ in range(n)]
        twos = [B() for _ in range(n)]
        others = [Other() for _ in range(n)]
        self.layers = nn.ModuleList({layers})
        self.others = others
    def forward(self, x):
        for layer in {loop}:
            x = layer(x)
        return x
net = torch.compile(Net(2))
"""


def found(layers: str, loop: str = "self.layers") -> set[str]:
    return {name.partition(".")[0] for name in hot(NET.format(layers=layers, loop=loop))} - {"Net"}


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ("list(chain(*zip(ones, twos)))", {"A", "B"}),
        ("itertools.chain(ones, twos)", {"A", "B"}),
        ("chain.from_iterable(zip(ones, twos))", {"A", "B"}),
        ("chain(ones, [B()])", {"A", "B"}),
        ("sum([ones, twos], [])", {"A", "B"}),
        ("islice(twos, 3)", {"B"}),
        ("map(B, range(n))", {"B"}),
        ("[*map(lambda width: B(width), range(n))]", {"B"}),
        ("filter(None, ones)", {"A"}),
        ("[layer for pair in itertools.zip_longest(ones, twos) for layer in pair if layer]", {"A", "B"}),
    ],
)
def test_what_goes_into_a_list_through_builtins_and_itertools_is_in_it(
    layers: str, expected: set[str]
) -> None:
    assert found(layers) == expected


@pytest.mark.parametrize(
    "layers",
    [
        "chain(range(n), str(others))",
        "chain.from_iterable([])",
        "sum([len(others)])",
        "map(len, others)",
        "filter(Other, range(n))",
        "islice(range(n), len(others))",
        "project.chain(others)",
        "chain",
    ],
)
def test_what_they_only_look_at_is_not(layers: str) -> None:
    assert found(layers) == set()


def test_a_loop_may_go_through_several_lists_at_once() -> None:
    assert found("ones", "chain(self.layers, islice(self.others, 2))") == {"A", "Other"}
    assert found("ones", "self.layers") == {"A"}
