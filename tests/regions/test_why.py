"""`regions --why`: where the chain to a function that is not compiled ends."""

from __future__ import annotations

import textwrap

import pytest

from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve
from dynamo_lint.regions.why import why_not
from tests.programs import facts_of

PROGRAM = """
@torch.compile
def f(x):
    if not torch.compiler.is_compiling():
        log(x)
    return record(x)
def log(x): ...
@torch.compiler.disable
def record(x): return write(x)
def write(x): ...
def setup(x): ...
def main(x): setup(x)
def alone(x): ...
class Net(nn.Module):
    def forward(self, x): return x
def build(net): return torch.compile(net)
net = Net()
net(1)
"""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("log", "f calls it at m.py:7, but only where `is_compiling()` is false."),
        ("record", "Its decorator disables compiling."),
        ("write", "record calls it at m.py:11, but its decorator disables compiling."),
        ("setup", "main calls it at m.py:14, but is not compiled itself."),
        ("alone", "No compile entry names it, and no known call in these files reaches it."),
        ("Net.forward", "It is called at m.py:20, at the top level of the file, which is never compiled."),
    ],
)
def test_the_chain_ends_where_it_is_cut_or_nobody_compiled_calls(name: str, reason: str) -> None:
    files = facts_of({"m.py": textwrap.dedent(PROGRAM)})
    options = RegionOptions()
    _, regions = resolve(files, options)
    (reasons,) = why_not(files, regions, options, name).values()
    assert reason in reasons
