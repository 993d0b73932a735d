"""Regions: models that a program puts into hydra's ConfigStore as choices, described by a `LazyCall`."""

from __future__ import annotations

import pytest

from tests.programs import hot

NETS = """
class Small(nn.Module):
    def forward(self, x): return x + 1
class Large(nn.Module):
    def forward(self, x): return x + 2
class Other(nn.Module):
    def forward(self, x): return x
"""
STORES = """
import copy
from hydra.core.config_store import ConfigStore
from lazy import LazyCall as L
from nets import Large, Other, Small
SMALL: dict = L(Small)(width=1)
SMALLER = copy.deepcopy(SMALL)
SMALLEST = copy.deepcopy(SMALLER)
LARGE = L(Large)(width=2)
OTHER = L(Other)()
WHOLE = dict(net=L(Small)(width=3))
def register():
    cs = ConfigStore.instance()
    {stored}
"""
MAIN = """
from hydra.utils import instantiate
class Trainer:
    def __init__(self, config):
        self.config = config
        self.net = self.build()
    def build(self):
        net = instantiate(self.config.net)
        return net.to("cuda")
    def start(self):
        self.net = torch.compile(self.net, dynamic=False)
"""


def found(*stored: str) -> set[str]:
    files = {"nets.py": NETS, "conf.py": STORES.format(stored="\n    ".join(stored)), "main.py": MAIN}
    return {name.partition("::")[2] for name in hot(files)}


@pytest.mark.parametrize("node", ["SMALL", "SMALLER", "SMALLEST"])
@pytest.mark.parametrize(
    "place", ['group="net"', 'group="net", package="model.net"', 'package="a.b.net"', 'group="a/net"']
)
def test_a_stored_choice_is_what_the_key_builds(node: str, place: str) -> None:
    assert found(f"cs.store({place}, name='one', node={node})") == {"Small.forward"}


def test_each_choice_of_a_group_may_be_built() -> None:
    stores = [f"cs.store(group='net', name={node!r}, node={node})" for node in ("SMALL", "SMALLER", "LARGE")]
    assert found(*stores) == {"Small.forward", "Large.forward"}


def test_what_a_stored_configuration_holds_under_the_key_is_built() -> None:
    assert found("cs.store(package='_global_', name='exp', node=WHOLE)") == {"Small.forward"}


@pytest.mark.parametrize(
    "other",
    [
        "cs.store(group='vae', name='one', node=OTHER)",
        "cs.store(group='net', package='model.vae', name='one', node=OTHER)",
        "cs.store('net', OTHER)",
        "cs.store(group='net', name='one', node=MISSING)",
        "cs.store(group='net', name='one', node=Other)",
        "cs.load(group='net', name='one', node=OTHER)",
    ],
)
def test_what_is_stored_elsewhere_is_not_built(other: str) -> None:
    assert found("cs.store(group='net', name='s', node=SMALL)", other) == {"Small.forward"}
