"""Regions: the `__getattr__` that runs where an attribute is not in an instance or its class."""

from __future__ import annotations

import pytest

from tests.programs import hot

WRAPPER = """
from elsewhere import Library
class Part(nn.Module):
    def forward(self, x): return x
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.part, self.size = Part(), 3
class Base({base}):
    shared = 2
    noted: int
    def own(self, x): return x
class Wrapper(Base):
    def __init__(self, inner):
        super().__init__()
        self.inner = [inner]
        self.part = inner.part
        self.linear = nn.Linear(4, 4)
        self.parts = nn.ModuleList([nn.Linear(4, 4)])
        self.width = 2
        self.told()
    def told(self): {told}
    def __getattr__(self, name): return getattr(self.inner[0], name)
    def forward(self, x): return {read}
wrapper = Wrapper(Inner())
wrapper.late = 2
fast = torch.compile(wrapper)
"""
ASKS = "Wrapper.__getattr__"


@pytest.mark.parametrize(
    "read",
    [
        "x * self.size",
        "self.part(x)",
        "self.linear(x)",
        "self.parts[0](x)",
        "self.linear.weight + x",
        "x + sum(len(self.size) for _ in x)",
    ],
)
def test_what_is_not_in_an_instance_is_asked_for(read: str) -> None:
    found = hot(WRAPPER.format(base="nn.Module", told="pass", read=read))
    assert found["Wrapper.forward"] == "certain"
    assert found[ASKS] == "likely"


@pytest.mark.parametrize(
    "read",
    [
        "x * self.width",
        "x * self.shared",
        "x * self.noted",
        "x * self.late",
        "x * len(self.inner)",
        "self.own(x)",
        "x * self.training",
        "x * len(self._parameters)",
        "x * self.__class__.shared",
        "x * x.size",
    ],
)
def test_what_is_in_an_instance_or_its_class_is_not_asked_for(read: str) -> None:
    assert ASKS not in hot(WRAPPER.format(base="nn.Module", told="pass", read=read))


@pytest.mark.parametrize(
    "told",
    [
        "setattr(self, 'size', 3)",
        "self.__dict__.update(size=3)",
        "object.__setattr__(self, 'size', 3)",
    ],
)
def test_an_instance_that_may_hold_anything_is_not_asked(told: str) -> None:
    assert ASKS not in hot(WRAPPER.format(base="nn.Module", told=told, read="x * self.size"))


def test_a_library_may_give_what_an_heir_does_not_have() -> None:
    assert ASKS not in hot(WRAPPER.format(base="nn.Module, Library", told="pass", read="x * self.size"))


PLAIN = """
class Inner:
    def __init__(self): self.size = 3
class Plain:
    def __init__(self):
        self.inner, self.part = Inner(), nn.Linear(4, 4)
    def __getattr__(self, name): return getattr(self.inner, name)
    def grow(self, x): return {read}
plain = Plain()
@torch.compile
def run(x): return plain.grow(x)
"""


@pytest.mark.parametrize(("read", "asked"), [("x * self.size", True), ("self.part(x)", False)])
def test_an_object_that_is_no_module_keeps_modules_like_anything_else(read: str, asked: bool) -> None:
    assert ("Plain.__getattr__" in hot(PLAIN.format(read=read))) is asked
