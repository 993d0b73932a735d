"""Regions: what a name means that is bound anew, written out by callers, or a method of its own class."""

from __future__ import annotations

import pytest

from tests.programs import hot

REPLACED = """
class Other(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def forward(self, x): return x
{lines}
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Net = Other", {"Other.forward"}),
        ("if fast: Net = Other", {"Other.forward", "Net.forward"}),
        ("try:\n    Net = Other\nexcept ImportError: pass", {"Other.forward", "Net.forward"}),
        ("class Below(Net): pass\nNet = Other", {"Other.forward", "Net.forward"}),
        ("first = Net()\nNet = Other", {"Other.forward", "Net.forward"}),
    ],
)
def test_a_class_whose_name_means_another_at_the_end_of_its_file_is_never_made(
    lines: str, expected: set[str]
) -> None:
    train = "from nets import Net\nnet = torch.compile(Net())"
    files = {"nets.py": REPLACED.format(lines=lines), "train.py": train}
    assert {name.partition("::")[2] for name in hot(files)} == expected


BY_NAME = """
class Layer(nn.Module):
    def norm(self, x): return x
    def scale(self, x): return x
    def unused(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
    def forward(self, x): return self.run("norm", self.run({other}, x))
    def run(self, method: str, x): return getattr(self.layer, method)(x)
net = torch.compile(Net())
"""


def test_a_method_is_looked_up_by_what_all_callers_write_out_though_it_is_declared_as_a_text() -> None:
    found = hot(BY_NAME.format(other='"scale"'))
    assert found == {
        "Net.forward": "certain",
        "Net.run": "certain",
        "Layer.norm": "likely",
        "Layer.scale": "likely",
    }


def test_a_method_of_which_one_caller_only_knows_the_name_is_not_known() -> None:
    assert set(hot(BY_NAME.format(other="x.name"))) == {"Net.forward", "Net.run"}


PIPELINE = """
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block()])
    def forward(self, x): return self.blocks[0](x)
class Pipeline:
    def __init__(self):
        self.net: Net = Net()
        self.compile()
    {own}
Pipeline()
"""


def test_an_object_with_a_compile_of_its_own_compiles_what_that_compiles() -> None:
    own = "def compile(self):\n        for block in self.net.blocks: block.compile()"
    assert set(hot(PIPELINE.format(own=own))) == {"Block.forward"}


def test_a_compile_of_its_own_that_does_something_else_compiles_nothing() -> None:
    assert hot(PIPELINE.format(own="def compile(self): self.pattern = 1")) == {}
