"""Modules that one forward hands to another, which calls them by the name of a parameter."""

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


FUNCTIONS = """
def change(x): return x + 1
class Net(nn.Module):
    def forward(self, x, act=None, scale=1.0):
        return {body}
class Plain(nn.Module):
    def forward(self, x, act=None): return x
{code}
"""
CALLING = "x if act is None else act(x)"


def handed(call: str, body: str = CALLING, made: str = "net = torch.compile(Net())") -> set[str]:
    code = f"{made}\nplain = Plain()\ndef main(x): return {call}"
    return set(hot(FUNCTIONS.format(body=body, code=code))) - {"Net.forward"}


@pytest.mark.parametrize("call", ["net(x, act=change)", "net(x, change)", "net(x, scale=2, act=change)"])
@pytest.mark.parametrize("made", ["net = torch.compile(Net())", "net = Net()\nnet.compile()"])
def test_a_function_that_eager_code_hands_to_a_compiled_module_is_compiled(call: str, made: str) -> None:
    assert handed(call, made=made) == {"change"}


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("net(x, act=None)", CALLING),
        ("net(x)", CALLING),
        ("plain(x, act=change)", CALLING),
        ("plain(x, change)", CALLING),
        ("net(change(x))", CALLING),
        ("net(x, act=change(x))", CALLING),
        ("net(x, None, change)", CALLING),
        ("net(x, act=change)", "x"),
        ("net(x, act=change)", "x if act is None else x * 2"),
        ("print(x, change)", CALLING),
    ],
)
def test_a_function_that_no_compiled_forward_is_handed_or_calls_is_eager(call: str, body: str) -> None:
    assert handed(call, body) == set()
