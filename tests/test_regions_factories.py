"""Regions: one factory of many models, and what is put around the model that it gives."""

from __future__ import annotations

import pytest

from tests.programs import hot


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
    names = [name for name, tier in hot(code).items() if tier != "assumed"]
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
