"""Models that code names in a text and asks `eval` for."""

from __future__ import annotations

import pytest

from tests.programs import hot

NETS = """
class Small(nn.Module):
    def forward(self, x): return x + 1
class Large(nn.Module):
    def forward(self, x): return x + 2
class Part(nn.Module):
    def forward(self, x): return x
"""
MADE = """
from nets import Small, Large, Part
class Config:
    def __init__(self):
        self.kind = ["Small", "Large"][0]
config = Config()
def build(name, width=1):
    part = Part()
    return {made}
fast = torch.compile(build(input()))
"""


def found(made: str, code: str = MADE) -> set[str]:
    return {name.partition("::")[2] for name in hot({"nets.py": NETS, "run.py": code.format(made=made)})}


@pytest.mark.parametrize(
    "made",
    [
        'eval("Small")()',
        'eval("Small()")',
        'eval("Small(width=1)")',
        "eval(config.kind)()",
        "eval(Config().kind)()",
    ],
)
def test_a_name_that_is_evaluated_means_what_the_file_knows_under_it(made: str) -> None:
    assert found(made) == {"Small.forward"}


@pytest.mark.parametrize(
    "made", ["eval(name)()", 'eval("{}({})".format(name, width))', 'eval(f"{name}({width})")']
)
def test_a_name_that_only_the_run_knows_means_any_model_of_the_file(made: str) -> None:
    assert found(made) == {"Small.forward", "Large.forward"}


@pytest.mark.parametrize(
    "made",
    [
        'eval("Missing")()',
        'eval("1 + 1")',
        'eval("Small().forward + 1")',
        "eval()",
        'model.eval("Small")',
        'print("Small()")',
    ],
)
def test_other_texts_make_no_model(made: str) -> None:
    assert found(made) == set()


@pytest.mark.parametrize(
    ("imported", "made"),
    [
        ("from nets import *", "eval(name)()"),
        ("from nets import *", "globals()[name]()"),
        ("from nets import Small, Large", "globals()[name]()"),
        ("from nets import Small, Large", "globals().get(name)()"),
    ],
)
def test_a_name_that_only_the_run_knows_means_any_model_that_is_imported(imported: str, made: str) -> None:
    code = f"{imported}\ndef build(name): return {made}\nfast = torch.compile(build(input()))\n"
    nets = NETS.replace("return x + 2", "return Part()(x)").replace(
        "def forward(self, x): return x + 1",
        "def __init__(self):\n        super().__init__()\n        self.part = Part()\n"
        "    def forward(self, x): return self.part(x)",
    )
    tiers = hot({"nets.py": nets, "run.py": code})
    assert {name.partition("::")[2] for name in tiers} == {"Small.forward", "Large.forward", "Part.forward"}


@pytest.mark.parametrize("made", ["globals()[name]()", "eval(name)()"])
def test_what_other_models_of_its_file_are_made_of_is_no_model_by_itself(made: str) -> None:
    nets = NETS + "class Whole(nn.Module):\n    def build(self): return Part()\n"
    nets += "    def forward(self, x): return x\n"
    code = f"from nets import *\ndef build(name): return {made}\nfast = torch.compile(build(input()))\n"
    assert "nets.py::Part.forward" not in hot({"nets.py": nets, "run.py": code})


def test_a_function_of_that_name_is_the_file_s_own() -> None:
    assert found("eval('Small')()", MADE.replace("def build", "def eval(text): return Large\ndef build")) == {
        "Large.forward"
    }
