"""Regions: classes that the heirs of a configuration name, for a method of the base to construct."""

from __future__ import annotations

import pytest

from tests.programs import hot

CONFIGURED = """
from dataclasses import dataclass, field
from typing import Any, Type
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
@dataclass
class Base:
    target: Type
    def setup(self, **given): return self.{called}(self, **given)
@dataclass
class Inner(Base):
    {inner}
    def build(self): return Net()
@dataclass
class Outer(Base):
    target: Type = field(default_factory=lambda: Trainer)
    {outer}
class Trainer:
    def __init__(self, config: {declared}):
        self.net = torch.compile(config.inner.{made})
Outer().setup()
"""
INNER = "target: Type = field(default_factory=lambda: Net)"
OUTER = "inner: Base = field(default_factory=Inner)"


def found(
    inner: str = INNER,
    outer: str = OUTER,
    called: str = "target",
    declared: str = "Any",
    made: str = "setup()",
) -> set[str]:
    text = CONFIGURED.format(inner=inner, outer=outer, called=called, declared=declared, made=made)
    return {name.partition(".")[0] for name in hot(text)}


@pytest.mark.parametrize("inner", [INNER, "target: Type = field(default=Net)", "target = Net"])
@pytest.mark.parametrize("declared", ["Any", "Outer"])
def test_what_a_configuration_sets_up_is_what_its_own_class_names(inner: str, declared: str) -> None:
    assert found(inner, declared=declared) == {"Net"}


def test_a_trainer_is_given_the_configuration_that_sets_it_up() -> None:
    assert found(made="build()") == {"Net"}


@pytest.mark.parametrize(
    ("inner", "outer", "called"),
    [
        ("target: Type = field(default_factory=lambda: print)", OUTER, "target"),
        ("target: Type = field(default_factory=lambda: Net())", OUTER, "other"),
        (INNER, "inner: Base = None", "target"),
        (INNER, OUTER, "missing"),
        ("other: Type = field(default_factory=lambda: Net)", OUTER, "target"),
    ],
)
def test_a_configuration_that_names_no_module_for_it_sets_up_none(
    inner: str, outer: str, called: str
) -> None:
    assert found(inner, outer, called) == set()


def test_a_class_that_another_configuration_names_is_not_given_this_one() -> None:
    more = OUTER + "\n@dataclass\nclass Beside:\n    target: Type = field(default_factory=lambda: Trainer)"
    more += "\n    inner: Any = field(default_factory=lambda: Other())"
    assert found(outer=more) == {"Net"}
