"""Regions: modules that one forward hands to another, which calls them by the name of a parameter."""

from __future__ import annotations

import pytest

from tests.programs import hot

NET = """
class Rope(nn.Module):
    def forward(self, x): return x
class Mask(nn.Module):
    def forward(self, x): return x
class Attention(nn.Module):
    def forward(self, x, rope=None, mask=None):
        {body}
        return x
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
    def forward(self, x, turn=None, rope=None, mask=None):
        return {handing}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.rope, self.mask = Rope(), Mask()
    def forward(self, x):
        for block in self.blocks: x = block(x, {given}, mask=self.mask)
        return x
compiled = torch.compile(Net())
"""
BODY = "x = rope(x)"


def found(handing: str, given: str, body: str = BODY) -> set[str]:
    source = NET.format(handing=handing, given=given, body=body)
    return set(hot(source)) - {"Net.forward", "Block.forward", "Attention.forward"}


@pytest.mark.parametrize(
    ("handing", "given"),
    [
        ("self.attention(x, rope=rope, mask=mask)", "rope=self.rope"),
        ("self.attention(x, rope=turn)", "turn=self.rope"),
        ("self.attention(x, rope=turn)", "self.rope"),
        ("self.attention(x, rope)", "rope=self.rope"),
    ],
)
def test_a_module_that_is_handed_on_runs_where_it_is_called(handing: str, given: str) -> None:
    assert found(handing, given) == {"Rope.forward"}


@pytest.mark.parametrize(
    ("handing", "given", "body"),
    [
        ("self.attention(x, rope=rope)", "rope=self.rope", "x = x + len(rope)"),
        ("self.attention(x, mask=turn)", "turn=self.rope", BODY),
        ("self.attention(x, None, rope)", "rope=self.rope", BODY),
        ("self.attention(x)", "rope=self.rope", BODY),
        ("self.attention(x, rope=None)", "turn=self.rope", BODY),
        ("self.attention(turn(x))", "rope=self.rope", BODY),
    ],
)
def test_a_module_that_nothing_calls_by_the_name_it_arrives_under_does_not_run(
    handing: str, given: str, body: str
) -> None:
    assert found(handing, given, body) == set()
