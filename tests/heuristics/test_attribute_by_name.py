"""Guess: an attribute or a method that the whole project has only once is the one that is meant."""

from __future__ import annotations

import pytest

from tests.programs import hot

HUNG = """
from library import Patcher, load
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x): return x
class Held(Patcher): ...
"""
COMPILES = "for i, block in enumerate({}): compiled = torch.compile(block)\n"


def test_what_code_hangs_on_an_object_of_a_library_is_found_by_its_name() -> None:
    code = HUNG + "held = Held()\nheld.the_net = Net()\npatcher = Patcher(held)\n"
    assert hot(code + COMPILES.format("patcher.model.the_net.blocks")) == {"Block.forward": "likely"}
    # No class here has a `compile` of its own; one that has it may be meant.
    assert hot(code + "patcher.model.the_net.compile()\n") == {"Net.forward": "likely"}
    own = "class Query:\n    def compile(self): ...\n"
    assert hot(code + own + "patcher.model.the_net.compile()\n") == {}
    assert hot(code + "patcher.model.the_net.compile(fullgraph=True)\n") == {"Net.forward": "likely"}


@pytest.mark.parametrize(
    "hung",
    [
        "",
        "held.the_net = None",
        "held.the_net = load()",
        "held.the_net = Net()\nheld.the_net = Block()",
        "held.the_net = Net()\nheld.the_net = load()",
        "class Own:\n    def __init__(self): self.the_net = Net()",
        "held.the_net = Net()\ndef the_net(): ...",
    ],
)
def test_a_name_that_may_mean_several_things_says_nothing_of_an_unknown_object(hung: str) -> None:
    code = f"{HUNG}held = Held()\n{hung}\npatcher = Patcher(held)\n"
    assert hot(code + COMPILES.format("patcher.model.the_net.blocks")) == {}
