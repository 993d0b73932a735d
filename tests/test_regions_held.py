"""Regions: registries and tables that objects hold in an attribute."""

from __future__ import annotations

import pytest

from tests.programs import hot

FACTORY = """
class Factory:
    def __init__(self):
        self._makers = dict()
    def register_maker(self, name, maker):
        self._makers[name] = maker
    def create(self, name, **options):
        return self._makers.get(name)(**options)
class Part(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def forward(self, x): return self.part(x)
"""


RUNNER = (
    FACTORY
    + """
class Runner:
    def __init__(self):
        self.nets = Factory()
        self.nets.register_maker("net", lambda part, **options: Net(part))
        self.parts = Factory()
        self.parts.register_maker("part", lambda **options: Part())
        self.others = Factory()
        self.others.register_maker("other", lambda **options: Other())
    def run(self, cfg):
        {made}
        return torch.compile(model)
"""
)


WHOLE = {"Net.forward": "likely", "Part.forward": "likely"}


@pytest.mark.parametrize(
    "made",
    [
        "model = self.nets.create(cfg.net, part=self.parts.create(cfg.part))",
        "model = Runner().nets.create(cfg.net, part=Runner().parts.create(cfg.part))",
        "nets = self.nets\n        model = nets.create(cfg.net, part=self.parts.create(cfg.part))",
        "part = self.parts.create(cfg.part)\n        model = self.nets.create(cfg.net, part=part)",
    ],
)
def test_a_registry_that_an_object_holds_gives_what_it_was_given_itself_made_with_what_is_passed(
    made: str,
) -> None:
    assert hot(RUNNER.format(made=made)) == WHOLE


def test_what_makes_something_for_a_registry_may_be_registered_from_elsewhere() -> None:
    added = 'def plug(runner):\n    runner.parts.register_maker("more", lambda **options: Other())\n'
    made = "model = self.parts.create(cfg.part)"
    assert set(hot(RUNNER.format(made=made) + added)) == {"Part.forward", "Other.forward"}


@pytest.mark.parametrize(
    "held",
    [
        "model.register_forward_hook(lambda *given: Other())",  # of a module that is a registry of nothing
        "self.parts.register_forward_hook(lambda *given: Other())",
        'kept = {}\n        kept["other"] = Other()',
    ],
)
def test_what_is_registered_with_something_else_is_not_what_a_registry_gives(held: str) -> None:
    made = f"model = self.parts.create(cfg.part)\n        {held}"
    assert "Other.forward" not in hot(RUNNER.format(made=made))


AGENT = (
    FACTORY
    + """
class Agent:
    def __init__(self, params):
        {kept}
        self.load(params)
        self.net = {read}
        self.net.compile()
    def load(self, params):
        self.config["net"] = Net(Part())
"""
)


@pytest.mark.parametrize(
    "kept",
    [
        "config = params['config']\n        self.config = config",
        "self.config = config = params['config']",
        "config = dict(params)\n        self.config = config",
    ],
)
def test_a_local_table_that_self_has_as_well_holds_what_other_methods_put_there(kept: str) -> None:
    assert set(hot(AGENT.format(kept=kept, read="config['net']"))) == set(WHOLE)


@pytest.mark.parametrize(
    "kept",
    [
        "config = params['config']\n        self.config = {}",
        "config = params['config']\n        self.other = config\n        self.config = {}",
    ],
)
def test_a_local_table_that_self_does_not_have_holds_nothing_of_it(kept: str) -> None:
    assert hot(AGENT.format(kept=kept, read="config['net']")) == {}
