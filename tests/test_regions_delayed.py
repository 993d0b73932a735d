"""Regions: objects of a project's own that stand for what they call later: `Factory(Net, width=2)()`."""

from __future__ import annotations

import pytest

from tests.programs import hot

CODE = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Factory:
    def __init__(self, made=None, *given, **options):
        {kept}
        self.given = given
    def __call__(self):
        {called}
class Trainer:
    def __init__(self, net=Factory(Net), other=Factory(Other)):
        self.net = net()
        self.other = other()
    def run(self):
        self.fast = torch.compile(self.net)
        self.fast_too = {more}
"""
KEPT, CALLED = "self.made = made", "return self.made(*self.given)"
FOUND = "if isinstance(made, str): self.made = find(made)\n        else: self.made = made"


def found(kept: str = KEPT, called: str = CALLED, more: str = "None", code: str = "") -> set[str]:
    text = CODE.format(kept=kept, called=called, more=more)
    return {name.partition(".")[0] for name in hot(text + code)}


@pytest.mark.parametrize("kept", [KEPT, FOUND, "self.x = 1\n        self.made = made"])
@pytest.mark.parametrize("called", [CALLED, "if not self.given: return None\n        return self.made()"])
def test_what_an_object_calls_is_what_it_was_made_with(kept: str, called: str) -> None:
    assert found(kept, called) == {"Net"}
    assert found(kept, called, more="torch.compile(self.other)") == {"Net", "Other"}


@pytest.mark.parametrize("made", ["Factory(lambda: Other())", "Factory(made=Other)", "Factory(build)"])
def test_a_caller_may_hand_in_another(made: str) -> None:
    code = f"def build(): return Other()\nTrainer(net={made})\n"
    assert found(code=code) == {"Net", "Other"}


@pytest.mark.parametrize(
    ("kept", "called"),
    [
        ("self.made = None", CALLED),
        ("self.made = str(made)", CALLED),
        (KEPT, "return self.given"),
        (KEPT, "self.made()"),
        (KEPT, "return len(self.made())"),
    ],
)
def test_an_object_that_does_not_give_what_it_calls_stands_for_nothing(kept: str, called: str) -> None:
    assert found(kept, called) == set()


LAZY = """
class Lazy:
    def __init__(self, target, **given): self.target, self.given = target, given
    def instantiate(self, **more): return self.target(**self.given, **more)
class LazyCall:
    def __init__(self, target): self.target = target
    def __call__(self, **given): return Lazy(self.target, **given)
def instantiate(config, **more): return config.instantiate(**more)
class Net(nn.Module):
    def forward(self, x): return x
class Coder(nn.Module):
    def forward(self, x): return x
class Config:
    def __init__(self, model): self.model = model
net = Config(model=LazyCall(Net)(width=2))
coder = Config(model=LazyCall(Coder)(width=2))
class Pipeline:
    def __init__(self):
        self.coder = instantiate(coder.model)
        self.net = torch.compile(instantiate({described}, depth=2))
"""


def test_an_own_copy_of_lazy_calls_tells_what_each_of_them_makes() -> None:
    assert hot(LAZY.format(described="LazyCall(Net)()")) == {"Net.forward": "likely"}


def test_a_lazy_call_that_a_configuration_holds_is_made_by_instantiate() -> None:
    assert "Net.forward" in hot(LAZY.format(described="net.model"))


def test_what_is_made_of_no_description_is_nothing() -> None:
    assert hot(LAZY.format(described="load()")) == {}
