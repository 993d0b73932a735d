"""Parameters: what flows into them out of tables, partials and calls."""

from __future__ import annotations

import pytest

from tests.programs import hot
from tests.small_model import SMALL_BLOCK, names_with_model

# --- calls ----------------------------------------------------------------------------------------------

MANY = "\n".join(
    f"class M{i}(nn.Module):\n    def forward(self, x): return x\nmake(M{i}())" for i in range(12)
)


def test_a_helper_compiles_what_each_of_its_calls_gives_it_however_many_they_are() -> None:
    found = hot(f"{MANY}\ndef make(inner):\n    for block in [inner]:\n        block.compile()\n")
    assert found == {f"M{i}.forward": "likely" for i in range(12)}


def test_what_was_given_up_deep_inside_one_question_is_known_to_another() -> None:
    makers = "".join(f"def make{i}(): return make{i + 1}()\n" for i in range(20))
    getters = "".join(f"def get{i}(): return get{i + 1}()\n" for i in range(30))
    code = f"""
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = make0()
{makers}def make20(): return nn.ModuleList([Block()])
{getters}def get30(): return Net().layers[0]
{{first}}
def apply(model):
    for block in model.layers:
        block.compile()
apply(Net())
"""
    assert hot(code.replace("{first}", "")) == {"Block.forward": "likely"}
    assert hot(code.replace("{first}", "compiled = torch.compile(get0())")) == {"Block.forward": "likely"}


def _picked_from(count: int) -> str:
    """A program that compiles what it picks from a table of functions, and that holds a module in the same place."""
    functions = "\n".join(f"def op{n}(x): return x" for n in range(count))
    table = ", ".join(f"'op{n}': op{n}" for n in range(count))
    return f"""
class Net(nn.Module):
    def forward(self, x): return x
{functions}
TABLE = {{{table}}}
class Machine:
    def __init__(self, name):
        self.step = TABLE[name]
        self.step = Net()
    def run(self, x): return torch.compile(self.step)(x)
"""


def test_a_function_picked_from_a_table_runs() -> None:
    assert set(hot(_picked_from(40))) == {"Net.forward", *(f"op{n}" for n in range(40))}


def test_a_place_that_holds_hundreds_of_functions_is_followed_for_its_modules_only() -> None:
    assert set(hot(_picked_from(600))) == {"Net.forward"}


# --- tables of functions --------------------------------------------------------------------------------

COMPILING = """
def of_model(model):
    for layer in model.layers:
        layer.compile()
"""


@pytest.mark.parametrize(
    "code",
    [
        "TABLE = {'model': of_model}\ndef run(m): TABLE['model'](m)\nrun(Model())",
        "TABLE = {'model': of_model}\ndef run(m, kind): TABLE[kind](m)\nrun(Model(), 'model')",
        "TABLE = {Model: dict(fn=of_model)}\ndef run(m): TABLE[type(m)]['fn'](m)\nrun(Model())",
        "TABLE = {'model': of_model}\ndef run(m, kind):\n    fn = TABLE[kind]\n    fn(m)\nrun(Model(), 1)",
        "TABLE = {'model': of_model}\ndef run(m, kind):\n    fn = TABLE.get(kind)\n    fn(m)\nrun(Model(), 1)",
        "from functools import partial\nrun = partial(of_model, Model())",
    ],
)
def test_what_a_table_or_a_partial_passes_to_a_function_flows_into_it(code: str) -> None:
    assert names_with_model(COMPILING + code) == SMALL_BLOCK


@pytest.mark.parametrize(
    "code",
    [
        "TABLE = {'model': print}\ndef run(m): TABLE['model'](m)\nrun(Model())",
        "TABLE = {'model': of_model}\nOTHER = {'model': print}\ndef run(m): OTHER['model'](m)\nrun(Model())",
        "from functools import partial\nrun = partial(print, Model())",
    ],
)
def test_other_tables_pass_nothing_on(code: str) -> None:
    # Of one family alone it would be known what any model is.
    other = "class Text(nn.Module):\n    def __init__(self): self.layers = nn.ModuleList([Text()])\n"
    assert names_with_model(COMPILING + other + code) == set()


# --- parameters that hold functions ---------------------------------------------------------------------

APPLY = """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.sample = torch.compile(self.sample)
    def _apply(self, fn, x): return fn(x)
    def forward(self, x):
        return self._apply(cold, x)
    def sample(self, x):
        return self._apply(helper, x)
"""


def test_of_a_shared_helper_only_what_compiled_callers_pass_to_it_is_compiled() -> None:
    assert names_with_model(APPLY) == {"Policy.sample", "Policy._apply", "helper"}
    assert names_with_model(APPLY.replace("torch.compile(self.sample)", "torch.compile(self.forward)")) == {
        "Policy.forward",
        "Policy._apply",
        "cold",
    }
