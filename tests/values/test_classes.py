"""Classes as values: what class methods and configuration classes hand to the constructor."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- class methods --------------------------------------------------------------------------------------

NETS = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Wrap(nn.Module):
    def __init__(self, net, more=None):
        super().__init__()
        self.net = net
    {made}
    def forward(self, x): return self.net(x)
class Below(Wrap):
    pass
class Beside(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
    def forward(self, x): return self.net(x)
"""
MAKE = "@classmethod\n    def make(cls, path=None): return cls(Net())"
LATE = "@classmethod\n    def make(cls, path=None):\n        made = cls(more=path, net=Net())\n        return made"


def found(made: str, code: str = "fast = torch.compile(Wrap.make())") -> set[str]:
    return {name.partition(".")[0] for name in hot(NETS.format(made=made) + code)}


@pytest.mark.parametrize("made", [MAKE, LATE, MAKE.replace("Net()", "net=Net()")])
@pytest.mark.parametrize("code", ["fast = torch.compile({}.make())", "m = {}.make(1)\nm.compile()"])
def test_what_a_class_method_gives_the_constructor_is_in_the_module(made: str, code: str) -> None:
    assert found(made, code.format("Wrap")) == {"Wrap", "Net"}
    assert found(made, code.format("Below")) == {"Wrap", "Net"}


@pytest.mark.parametrize(
    "made",
    [
        "@staticmethod\n    def make(cls=Beside): return Wrap(Other()) if cls(Net()) else None",
        "@classmethod\n    def make(cls): return Wrap(Other())",
        "@classmethod\n    def make(cls): return cls(Other())\n    def other(self, cls): return cls(Net())",
        "@classmethod\n    def make(klass): return klass(Other())",
    ],
)
def test_other_calls_say_nothing_of_what_the_constructor_gets(made: str) -> None:
    assert "Net" not in found(made)


def test_a_class_beside_it_is_given_nothing() -> None:
    assert found(MAKE, "fast = torch.compile(Beside(Other()))") == {"Beside", "Other"}


def test_a_class_method_of_many_classes_is_a_library_s() -> None:
    many = "".join(f"class Heir{i}(Wrap): pass\n" for i in range(9))
    assert found(MAKE, many + "fast = torch.compile(Heir3.make())") == {"Wrap"}


FAMILY = """
class Net(nn.Module):
    def forward(self, x): return self.block(x)
    @classmethod
    def load(cls, path=None): return cls.build(path)
    @classmethod
    def build(cls, path=None): return {made}
    @classmethod
    def make(cls): raise NotImplementedError
class Small(Net):
    def forward(self, x): return x + 1
    @classmethod
    def make(cls): return cls()
class Large(Net):
    def forward(self, x): return x + 2
    @classmethod
    def make(cls): return cls()
"""
PICK = """
def kind(name):
    if name == "small":
        return Small
    return Large
fast = torch.compile(kind(input()).load())
"""


@pytest.mark.parametrize("made", ["cls()", "cls.make()"])
def test_an_inherited_class_method_makes_the_class_that_it_is_called_on(made: str) -> None:
    family = FAMILY.format(made=made)
    assert set(hot(family + "fast = torch.compile(Small.build())")) == {"Small.forward"}
    assert set(hot(family + "fast = torch.compile(Large.load())")) == {"Large.forward"}
    assert set(hot(family + PICK)) == {"Small.forward", "Large.forward"}


@pytest.mark.parametrize("made", ["Small()", "Small.make()"])
def test_an_inherited_class_method_that_names_a_class_makes_that(made: str) -> None:
    assert set(hot(FAMILY.format(made=made) + "fast = torch.compile(Large.load())")) == {"Small.forward"}


def test_the_class_itself_makes_no_heir() -> None:
    family = FAMILY.format(made="cls()")
    assert set(hot(family + "fast = torch.compile(Net.load())")) == {"Net.forward"}


def test_a_static_method_that_is_inherited_knows_no_heir() -> None:
    code = FAMILY.format(made="cls()").replace(
        "@classmethod\n    def build(cls", "@staticmethod\n    def build(cls"
    )
    assert "Large.forward" not in hot(code + "fast = torch.compile(Large.build())")


# --- classes that configurations name -------------------------------------------------------------------

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


def found_of_targets(
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
    assert found_of_targets(inner, declared=declared) == {"Net"}


def test_a_trainer_is_given_the_configuration_that_sets_it_up() -> None:
    assert found_of_targets(made="build()") == {"Net"}


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
    assert found_of_targets(inner, outer, called) == set()


def test_a_class_that_another_configuration_names_is_not_given_this_one() -> None:
    more = OUTER + "\n@dataclass\nclass Beside:\n    target: Type = field(default_factory=lambda: Trainer)"
    more += "\n    inner: Any = field(default_factory=lambda: Other())"
    assert found_of_targets(outer=more) == {"Net"}


# --- configurations nested in a class -------------------------------------------------------------------


def test_a_class_is_known_however_often_other_classes_of_its_name_are_constructed() -> None:
    others = "\n".join(f"Other{i}.Config(part=Norm())" for i in range(300))
    assert hot(
        f"""
class Norm(nn.Module):
    def forward(self, x): return x
class Conv(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    class Config:
        part: object
    def __init__(self, config: Config): self.part = config.part
    def forward(self, x): return self.part(x)
{others}
Model.Config(part=Conv())
compiled = torch.compile(Model(None))
"""
    ) == {"Model.forward": "certain", "Conv.forward": "likely"}
