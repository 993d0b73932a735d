"""Regions: how modules build their parts, one spelling each beside those that build nothing."""

from __future__ import annotations

import textwrap

import pytest

from tests.programs import hot
from tests.test_regions_idioms import BLOCK, MODEL, WHOLE

NET = """
import copy
from torch.nn.utils.parametrizations import weight_norm
def clones(module, n): return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])
class Net(nn.Module):
    def __init__(self, *given, **named):
        super().__init__()
{init}
    def forward(self, x):
{forward}
        return x
compiled = torch.compile({made})
"""


def names(init: str, forward: str, made: str = "Net()") -> set[str]:
    parts = {"init": textwrap.indent(init, " " * 8), "forward": textwrap.indent(forward, " " * 8)}
    return set(hot(MODEL + NET.format(**parts, made=made)))


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ('for i in range(3): setattr(self, f"l{i}", Block())', 'x = getattr(self, f"l{i}")(x)'),
        ('for i in range(3): self.add_module(f"l{i}", Block())', 'x = getattr(self, "l" + str(i))(x)'),
        ('for i in range(3): setattr(self, f"l{i}", Block())', "for m in self._modules.values(): x = m(x)"),
        (
            'for i in range(3): setattr(self, f"l{i}", Block())\nsetattr(self, last(), getattr(self, f"l{i}"))',
            'x = getattr(self, f"l{i}")(x)',
        ),
        ("self.a = Block()", "for m in self._modules.values(): x = m(x)"),
        ('self.d = nn.ModuleDict()\nself.d.update({"a": Block()})', 'x = self.d["a"](x)'),
        ("self.all = clones(Block(), 3)", "for m in self.all: x = m(x)"),
        ("self.all = nn.ModuleList([Block()])", "for m in self.all[:-1]: x = m(x)"),
        ("self.all = nn.Sequential(*([Block()] * 3))", "x = self.all[1:](x)"),
        ("self.one = nn.utils.weight_norm(Block())", "x = self.one(x)"),
        ("self.one = weight_norm(Block())", "x = self.one(x)"),
    ],
)
def test_a_part_is_found_however_it_was_put_there(init: str, forward: str) -> None:
    assert names(init, forward) == BLOCK | {"Net.forward"}


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ('setattr(self.other, "l" + str(1), Block())', 'x = getattr(self, f"l{i}")(x)'),
        ('self.d = nn.ModuleDict()\nself.d.update({"a": Block()})', "x = self.e(x)"),
        ("self.all = nn.ModuleList([Block()])", "x = self.all[:-1].size(x)"),
        ("self.one = measure(Block())", "x = self.one(x)"),
        ("self.one = nn.utils.count(Block())", "x = self.one(x)"),
    ],
)
def test_what_was_not_put_there_is_cold(init: str, forward: str) -> None:
    assert names(init, forward) == {"Net.forward"}


@pytest.mark.parametrize(
    ("init", "forward", "made"),
    [
        ('self.one = named.pop("one")', "x = self.one(x)", "Net(one=Block())"),
        ('self.one = named["one"]', "x = self.one(x)", "Net(**dict(one=Block()))"),
        ("self.all = nn.ModuleList(given)", "for m in self.all: x = m(x)", "Net(Block(), Block())"),
    ],
)
def test_what_a_constructor_takes_without_naming_it_is_found(init: str, forward: str, made: str) -> None:
    assert names(init, forward, made) == BLOCK | {"Net.forward"}


@pytest.mark.parametrize(
    ("init", "made"),
    [
        ('self.one = named["one"]', "Net(two=Block())"),
        ('self.one = named.pop("one")', "Net(**dict(two=Block()))"),
        ('self.one = named["one"]', "Net(Block())"),
    ],
)
def test_what_it_takes_under_another_name_is_not(init: str, made: str) -> None:
    assert names(init + '\nself.two = named.get("none")', "x = self.one(x)", made) == {"Net.forward"}


@pytest.mark.parametrize(
    "code",
    [
        "def go(model): model.compile()\ngo(**dict(model=Model()))",
        "def build(): return dict(model=Model(), size=3)\ndef go(model): model.compile()\ngo(**build())",
        "def inner(model): model.compile()\ndef outer(**rest): inner(**rest)\nouter(model=Model())",
        "class Outer:\n    def __init__(self, **rest): inner(**rest)\n"
        "def inner(model): model.compile()\nOuter(model=Model())",
    ],
)
def test_what_is_unpacked_into_a_call_flows_into_its_parameters(code: str) -> None:
    assert set(hot(MODEL + code)) == WHOLE


@pytest.mark.parametrize(
    "code",
    [
        "def go(model): model.compile()\ngo(**dict(other=Model()))",
        "def inner(model): model.compile()\ndef outer(model, **rest): inner(**rest)\nouter(model=Model())",
    ],
)
def test_what_is_unpacked_under_another_name_does_not(code: str) -> None:
    assert set(hot(MODEL + code)) == set()


@pytest.mark.parametrize(
    "code",
    [
        "from peft import get_peft_model\ntuned = get_peft_model(Model(), 1)\ncompiled = torch.compile(tuned)",
        "synced = nn.SyncBatchNorm.convert_sync_batchnorm(Model())\nsynced.compile()",
        "from torch.distributed.tensor.parallel import parallelize_module\n"
        "spread = parallelize_module(Model(), 1, 2)\nspread.compile()",
    ],
)
def test_functions_of_libraries_that_give_back_what_they_were_given_are_known(code: str) -> None:
    assert set(hot(MODEL + code)) == WHOLE


GIVEN = """
def helper(x): return x
def make({parameters}):
    class Head({base}):
        def {method}(self, x): return helper(x)
    return Head
"""


@pytest.mark.parametrize(
    "code",
    [
        "compiled = torch.compile(make(load())())",
        "Head = make(load())\nhead = Head()\nhead.compile()",
        "def build():\n    cls = make(load())\n    return cls.from_pretrained('x')\ncompiled = torch.compile(build())",
    ],
)
def test_a_class_made_of_a_base_that_a_function_is_given_is_a_module_if_it_has_a_forward(code: str) -> None:
    source = GIVEN.format(parameters="base", base="base", method="forward")
    assert set(hot(source + code)) == {"make.<locals>.Head.forward", "helper"}


@pytest.mark.parametrize(
    ("parameters", "base", "method"),
    [
        ("base", "base", "run"),  # nothing that a call would run
        ("other", "object", "forward"),
        ("other", "dict", "forward"),
        ("base", "list[base]", "forward"),
    ],
)
def test_any_other_class_made_in_a_function_is_no_module(parameters: str, base: str, method: str) -> None:
    source = GIVEN.format(parameters=parameters, base=base, method=method)
    assert hot(source + "head = make(load())()\nhead.compile()") == {}


NAMED_AGAIN = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Loader:
    def load(self): return Net
    def other(self): return Other
def main():
    made = Loader()
    {step}
    made.compile()
"""


@pytest.mark.parametrize(
    "step",
    [
        "made = made.load()\n    made = made()",
        "made = (made.load())()",
        "made = [made]; made = made[0].load()()",
    ],
)
def test_a_name_may_be_bound_to_what_it_gave_itself(step: str) -> None:
    assert hot(NAMED_AGAIN.format(step=step)) == {"Net.forward": "certain"}


@pytest.mark.parametrize(
    "step", ["pass", "made = made", "made = made.load()", "made = made.missing()()", "made = made()"]
)
def test_a_name_that_gives_nothing_is_bound_to_nothing_more(step: str) -> None:
    assert hot(NAMED_AGAIN.format(step=step)) == {}
