"""Regions: modules that objects of the project keep and give by `for` or by `[…]`, and that libraries call."""

from __future__ import annotations

import pytest

from tests.programs import hot

NETS = """
import torch.utils.checkpoint
class A(nn.Module):
    def __init__(self, width=1): super().__init__()
    def forward(self, x): return x
class B(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""
KEPT = """
class Nets:
    def __init__(self, nets, other=None):
        self.nets, self.other = nets, other
    {method}
nets = Nets([A(), B()], Other())
for i, net in enumerate({loop}): {compiling}
"""


def found(source: str) -> set[str]:
    return {name.partition(".")[0] for name in hot(NETS + source)}


@pytest.mark.parametrize(
    ("method", "loop", "compiling"),
    [
        ("def __iter__(self): return iter(self.nets)", "nets", "net.compile()"),
        ("def __iter__(self): yield from self.nets", "nets", "net.compile()"),
        ("def __iter__(self):\n        for net in self.nets: yield net", "nets", "torch.compile(net)(1)"),
        ("def __iter__(self): return (net for net in self.nets)", "zip(nets, nets)", "net[0].compile()"),
        ("def __getitem__(self, at): return self.nets[at]", "range(2)", "nets[i].compile()"),
        (
            "def __iter__(self): return self\n    def __next__(self): return self.nets.pop()",
            "nets",
            "net.compile()",
        ),
    ],
)
def test_what_an_object_keeps_and_gives_by_syntax_is_compiled(method: str, loop: str, compiling: str) -> None:
    assert found(KEPT.format(method=method, loop=loop, compiling=compiling)) == {"A", "B"}


@pytest.mark.parametrize(
    ("method", "loop", "compiling"),
    [
        ("def __iter__(self): return iter(range(2))", "nets", "net.compile()"),
        ("def __iter__(self): return self", "nets", "net.compile()"),
        ("def __next__(self): return self.nets.pop()", "nets", "net.compile()"),
        ("def __getitem__(self, at): return len(self.nets)", "range(2)", "nets[i].compile()"),
        ("def __getitem__(self, at): return getattr(self, at)", "range(2)", "nets[i].compile()"),
        ("def __getitem__(self, at): return self.nets[at]", "range(2)", "nets['a'].compile()"),
        ("def __len__(self): return len(self.nets)", "nets", "net.compile()"),
    ],
)
def test_what_it_only_counts_or_looks_up_by_any_name_is_not(method: str, loop: str, compiling: str) -> None:
    assert found(KEPT.format(method=method, loop=loop, compiling=compiling)) == set()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("build(mode)", {"A", "B"}),
        ("build('a')", {"A"}),
        ("load(mode)", set()),
        ("build", set()),
        ("Nets", set()),
    ],
)
def test_what_an_object_keeps_is_found_however_far_away_it_is_made(given: str, expected: set[str]) -> None:
    source = f"""
TABLE = {{"a": A, "b": B}}
class Kept:
    def __init__(self, nets: list[nn.Module]): self.nets = nets
    def __iter__(self):
        for net in self.nets: yield net
class Nets(Kept):
    def eval(self): return self
def pick(mode): return TABLE[mode]
def make(mode): return pick(mode)(width=1)
def build(mode):
    nets = []
    for _ in range(2): nets.append(make(mode))
    return Nets(nets)
def prepare(nets):
    for net in nets: yield net.to("cpu")
def train(nets):
    for i, net in enumerate(prepare(nets)): torch.compile(net)(1)
train({given})
"""
    assert found(source) == expected


@pytest.mark.parametrize(
    ("held", "call", "expected"),
    [
        ("nn.Sequential(A())", "torch.utils.checkpoint.checkpoint(self.held, x)", {"A"}),
        ("nn.Sequential(*[A() for _ in range(2)])", "torch.utils.checkpoint.checkpoint(self.held, x)", {"A"}),
        (
            "nn.Sequential(A(), B())",
            "torch.utils.checkpoint.checkpoint_sequential(self.held, 2, x)",
            {"A", "B"},
        ),
        ("nn.Sequential(A())", "len(self.held)", set()),
        ("nn.Sequential(nn.ReLU())", "torch.utils.checkpoint.checkpoint(self.held, x)", set()),
        ("nn.TransformerEncoder(A(), 2)", "self.held(x)", {"A"}),
        ("nn.TransformerDecoder(decoder_layer=A(), num_layers=2)", "self.held(x)", {"A"}),
        ("nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 1), 2)", "self.held(x)", set()),
        ("nn.TransformerEncoder(A(), 2)", "self.other(x)", set()),
    ],
)
def test_a_library_calls_the_modules_that_it_is_given(held: str, call: str, expected: set[str]) -> None:
    source = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = {held}
    def forward(self, x): return {call}
net = torch.compile(Net())
"""
    assert found(source) == {"Net", *expected}


@pytest.mark.parametrize(
    ("path", "expected"),
    [('"one"', {"A"}), ("name", {"A", "B"}), ('"none"', set()), ("unknown(name)", set())],
)
def test_a_submodule_is_found_by_the_texts_that_its_name_may_be(path: str, expected: set[str]) -> None:
    source = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = A(), B(), Other()
    def forward(self, x): return x
net = Net()
for name in ("one", "two"): net.get_submodule({path}).compile()
"""
    assert found(source) == expected
