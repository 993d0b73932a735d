"""Alternatives: when many possible values are one choice, and when they are a slot for anything."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- slots ----------------------------------------------------------------------------------------------

MANY = "\n".join(
    f"class M{i}(nn.Module):\n    def forward(self, x): return x\nmake(M{i}())" for i in range(12)
)


def test_a_slot_with_more_classes_than_a_model_has_is_only_assumed() -> None:
    source = f"""{MANY}
class Holder:
    def __init__(self, inner): self.inner = inner
def make(inner): return Holder(inner)
def step(holder: Holder): compiled = torch.compile(holder.inner)
"""
    assert hot(source) == {}
    assert set(hot(source, guesses=True).values()) == {"possible"}


MODELS = "".join(f"class M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(12))
PACKAGE = "class {name}({base}):\n    def make(self): return M{i}()\n"
TASK = """
class Task(nn.Module):
    def __init__(self, package):
        super().__init__()
        self.backbone = package.make()
    def forward(self, x): return self.backbone(x)
"""


def used(classes: str, made: str) -> set[str]:
    """What is likely of tasks that are compiled, each made with what one of twelve packages makes."""
    uses = "".join(f"torch.compile(Task({made.format(i=i)}))(x)\n" for i in range(12))
    return set(hot(MODELS + classes + TASK + uses))


def packages(base: str) -> str:
    return "".join(PACKAGE.format(name=f"P{i}", base=base, i=i) for i in range(12))


def test_what_heirs_of_one_class_make_by_a_method_of_their_own_is_a_choice_however_many_there_are() -> None:
    base = "class Package:\n    def make(self): raise NotImplementedError\n"
    assert used(base + packages("Package"), "P{i}()") == {
        "Task.forward",
        *(f"M{i}.forward" for i in range(12)),
    }


@pytest.mark.parametrize("base", ["object", "abc.ABC", "enum.Enum"])
def test_what_classes_make_that_only_share_the_name_of_a_method_is_a_generic_slot(base: str) -> None:
    assert used(packages(base), "P{i}()") == {"Task.forward"}


def test_what_one_inherited_method_makes_of_what_it_is_given_is_a_generic_slot() -> None:
    base = "class Package:\n    def __init__(self, kind): self.kind = kind\n    def make(self): return self.kind()\n"
    heirs = "".join(f"class P{i}(Package): pass\n" for i in range(12))
    assert used(base + heirs, "P{i}(M{i})") == {"Task.forward"}


# --- subclasses that something names --------------------------------------------------------------------

HEIRS = """
from abc import ABC, abstractmethod
class Base(nn.Module, ABC):
    @abstractmethod
    def run(self, x): ...
    def forward(self, x): return self.run(x)
class Used(Base):
    def run(self, x): return x
class Never(Base):
    def run(self, x): return x
def go(part: Base): return torch.compile(part)
"""


@pytest.mark.parametrize(
    "named",
    [
        "go(Used())",
        "TABLE = {'used': Used}",
        "NAMES = ['Used']",
        "class Heir(Used): ...\ngo(Heir())",
        "make(cls=Used)",
    ],
)
def test_a_heir_that_nothing_names_is_merely_assumed_beside_one_that_is_named(named: str) -> None:
    assert hot(HEIRS + named) == {"Base.forward": "certain", "Used.run": "likely", "Never.run": "possible"}


@pytest.mark.parametrize(
    "code",
    [
        "",
        "other = Somewhere()",
        "go(Used())\ngo(Never())",
        "TABLE = [Used, Never]",
        "text = 'Used and Never'",
    ],
)
def test_heirs_that_are_all_named_or_all_left_to_users_are_likely(code: str) -> None:
    assert hot(HEIRS + code) == {"Base.forward": "certain", "Used.run": "likely", "Never.run": "likely"}


# --- what is put around the model of a factory ----------------------------------------------------------


def classes(name: str, count: int) -> str:
    return "".join(f"class {name}{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(count))


def picks(function: str, name: str, numbers: range) -> str:
    """A function that gives one of these classes, by a name that only the run knows."""
    cases = "".join(f"    if name == '{i}':\n        return {name}{i}()\n" for i in numbers)
    return f"def {function}(name):\n{cases}"


AROUND = """
def finish(model, name):
    if name == "none":
        return model
{cases}
class Trainer:
    def fit(self, name):
        model = finish(create(name), name)
        self.start(model)
    def start(self, model):
        torch.compile(model)(1)
"""


def around(count: int) -> str:
    return AROUND.format(
        cases="".join(f"    if name == '{i}':\n        return Wrap{i}()\n" for i in range(count))
    )


def found(code: str) -> set[str]:
    """The first letters of what is likely or certain, with how many there are."""
    names = [name for name, tier in hot(code).items() if tier != "possible"]
    return {f"{kind}{sum(name.startswith(kind) for name in names)}" for kind in ("Net", "Wrap")}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_what_is_put_around_the_model_of_a_factory_is_one_choice_with_it(count: int) -> None:
    code = classes("Net", 10) + classes("Wrap", count) + picks("create", "Net", range(10)) + around(count)
    assert found(code) == {"Net10", f"Wrap{count}"}


def test_few_models_of_a_factory_explain_no_others() -> None:
    code = classes("Net", 5) + classes("Wrap", 5) + picks("create", "Net", range(5)) + around(5)
    assert "Net0" in found(code)


def test_as_many_others_are_no_addition_to_a_factory() -> None:
    code = classes("Net", 10) + classes("Wrap", 9) + picks("create", "Net", range(10)) + around(9)
    assert found(code) == {"Net0", "Wrap0"}


def test_models_of_several_places_are_no_one_s_choice() -> None:
    one, other = picks("first", "Net", range(5)), picks("second", "Net", range(5, 10))
    both = "def create(name):\n    return first(name) if name < '5' else second(name)\n"
    assert found(classes("Net", 10) + one + other + both + around(0)) == {"Net0", "Wrap0"}
