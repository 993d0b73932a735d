"""What a class hands up by `super()` is for its own instances, and not for its siblings."""

from __future__ import annotations

import pytest

from tests.programs import hot

SIBLINGS = """
class One(nn.Module):
    def forward(self, x): return x
class Two(nn.Module):
    def forward(self, x): return x
class Base(nn.Module):
    def keep(self, part): self.part = part
    def forward(self, x): return self.part(x)
class Left(Base):
    def __init__(self):
        super().__init__()
        self.keep(One())
    def keep(self, part): super().keep(part)
class Right(Base):
    def __init__(self):
        super().__init__()
        self.keep(Two())
    def keep(self, part): super().keep(part)
{compiled}
"""


def test_what_a_sibling_hands_on_to_their_base_is_not_for_this_class() -> None:
    found = hot(SIBLINGS.format(compiled="net = torch.compile(Left())"))
    assert set(found) == {"Base.forward", "One.forward"}


CONSTRUCTED = """
class One(nn.Module):
    def forward(self, x): return x
class Two(nn.Module):
    def forward(self, x): return x
class Base(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def forward(self, x): return self.part(x)
class Left(Base):
    def __init__(self): {up}.__init__(One())
class Right(Base):
    def __init__(self): super().__init__(Two())
class Plain(Base): pass
net = torch.compile({made})
"""


@pytest.mark.parametrize("up", ["super()", "super(Left, self)"])
def test_what_a_sibling_gives_the_constructor_of_their_base_is_not_for_this_class(up: str) -> None:
    assert set(hot(CONSTRUCTED.format(up=up, made="Left()"))) == {"Base.forward", "One.forward"}


def test_what_others_give_the_constructor_of_a_base_is_not_for_a_class_without_its_own() -> None:
    assert set(hot(CONSTRUCTED.format(up="super()", made="Plain(One())"))) == {"Base.forward", "One.forward"}


@pytest.mark.parametrize("heirs", ["Left, Right", "Right, Left"])
def test_what_a_mixin_hands_on_is_for_the_class_that_it_is_mixed_into(heirs: str) -> None:
    both = f"class Both({heirs}): pass\nnet = torch.compile(Both())"
    assert {"Base.forward", "One.forward", "Two.forward"} <= set(hot(SIBLINGS.format(compiled=both)))


STEPS = """
class Base:
    def __init__(self):
        {made}
    def step(self, x): return self.loss(x)
    def loss(self, x): raise NotImplementedError
class First(Base):
    def loss(self, x): return x
class Second(Base):
    def loss(self, x): return x
class Below(Second):
    def loss(self, x): return x
class Apart:
    def step(self, x): return self.loss(x)
    def loss(self, x): return x
class Graphed:
    def __init__(self, run): self.run = torch.compile(run)
    def __call__(self, x): return self.run(x)
"""


@pytest.mark.parametrize("made", ["self.fast = torch.compile(self.step)", "self.fast = Graphed(self.step)"])
def test_a_method_that_a_base_compiles_runs_for_each_of_its_heirs(made: str) -> None:
    runs = {"Base.step", "First.loss", "Second.loss", "Below.loss"}
    assert set(hot(STEPS.format(made=made))) == runs


def test_a_method_of_another_object_that_a_base_compiles_runs_for_that_alone() -> None:
    found = set(hot(STEPS.format(made="self.fast = torch.compile(Apart().step)")))
    assert found == {"Apart.step", "Apart.loss"}
