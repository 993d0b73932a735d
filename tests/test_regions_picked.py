"""Regions: what a function gives under a test of a text, where calls write out which text it is."""

from __future__ import annotations

import pytest

from tests.programs import hot

CODE = """
class Layer(nn.Module):
    def forward(self, x): return x
class Group(nn.Module):
    def forward(self, x): return x
class Plain(nn.Module):
    def forward(self, x): return x
def build(size, norm="none", *more, **others):
    if {test}:
        return Layer(size)
    elif norm == "group":
        return Group(size)
    else:
        return Plain()
class Conv(nn.Module):
    def __init__(self, size, norm="none", **others):
        super().__init__()
        self.norm = {made}
    def forward(self, x): return self.norm(x)
class Outer(nn.Module):
    def __init__(self, size, norm="none"):
        super().__init__()
        self.conv = Conv(size, norm=norm)
    def forward(self, x): return self.conv(x)
{use}
compiled = torch.compile(net)
"""
MADE = "build(size, norm)"
TEST = "norm == 'layer'"
EVERY = {"Layer", "Group", "Plain"}


def found(use: str, made: str = MADE, test: str = TEST) -> set[str]:
    tiers = hot(CODE.format(use=use, made=made, test=test))
    return {name.partition(".")[0] for name, tier in tiers.items() if tier != "assumed"} & EVERY


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("net = Outer(3, 'group')", {"Group", "Plain"}),
        ("net = Outer(3, norm='weight')", {"Plain"}),
        ("net = Outer(3)", {"Plain"}),
        ("net = Conv(3)", {"Plain"}),
        (
            "kind = Conv\nnet = nn.Sequential(kind(3, norm='layer'), kind(3, norm='weight'))",
            {"Layer", "Plain"},
        ),
        ("net = nn.Sequential(Outer(3), Conv(3, 'layer'), Conv(3, 'group'))", EVERY),
    ],
)
def test_what_no_call_asks_for_by_its_text_is_not_made(use: str, expected: set[str]) -> None:
    assert found(use) == expected


@pytest.mark.parametrize(
    "use",
    [
        "net = Outer(3, cfg.norm)",
        "net = Outer(3, NORM)",
        "net = Outer(3, f'{kind}')",
        "net = Outer(3, 'weight' if cfg.small else cfg.norm)",
        "net = Outer(3, **cfg)",
        "net = Outer(*cfg)",
        "import functools\nmake = functools.partial(Outer, 3)\nnet = make(norm=cfg.norm)",
        "net = nn.Sequential(Outer(3), Outer(3, cfg.norm))",
        "def make(norm='none'):\n    norm = cfg.get(norm)\n    return Outer(3, norm)\nnet = make()",
    ],
)
def test_what_a_configuration_may_ask_for_is_made(use: str) -> None:
    assert found(use) == EVERY


@pytest.mark.parametrize(
    "made",
    ["build(size, norm.lower())", "build(size, self.kind)", "build(size, **others)", "build(*others)"],
)
def test_a_text_that_is_worked_out_may_be_any(made: str) -> None:
    assert found("net = Outer(3)", made) == EVERY


@pytest.mark.parametrize("test", ["norm != 'layer'", "norm.startswith('l')", "size == 'layer'", "not norm"])
def test_other_tests_leave_what_they_guard(test: str) -> None:
    assert "Layer" in found("net = Outer(3)", "build(cfg.size, norm)", test)


@pytest.mark.parametrize("test", ["norm in ('layer', 'rms')", "norm == 'layer' and size > 3"])
def test_lists_of_texts_and_parts_of_tests_count(test: str) -> None:
    assert found("net = Outer(3)", test=test) == {"Plain"}
    assert "Layer" in found("net = Outer(3, 'layer')", test=test)


NAMED = """
class Small(nn.Module):
    def forward(self, x): return x
class Large(nn.Module):
    def forward(self, x): return x
def get(name):
    if name == "small": return Small
    {other}
fast = torch.compile(get(input())())
"""


@pytest.mark.parametrize(
    ("other", "tiers"),
    [
        ("if name == 'large': return Large", {"Small.forward": "likely", "Large.forward": "likely"}),
        ("return Small", {"Small.forward": "certain"}),
    ],
)
def test_one_of_several_classes_that_a_text_picks_is_no_more_than_likely(
    other: str, tiers: dict[str, str]
) -> None:
    assert hot(NAMED.format(other=other)) == tiers


PLATFORM = """
def plain(x): return x
def other(x): return x
def pick():
    if on_npu():
        return other
    return {second}
act = pick()
@torch.compile
def step(x): return act(x)
"""


def test_a_function_that_a_platform_picks_is_likely() -> None:
    assert hot(PLATFORM.format(second="plain")) == {"step": "certain", "other": "likely", "plain": "likely"}


def test_a_function_that_is_given_either_way_is_certain() -> None:
    assert hot(PLATFORM.format(second="other")) == {"step": "certain", "other": "certain"}


TYPES = """
def one(x): return x
def each(x): return x
@torch.compile
def step(x, cache):
    {lines}
"""


@pytest.mark.parametrize(
    "lines",
    [
        "if isinstance(x, list): return each(x)",
        "if cache is None or not isinstance(x, tuple): return each(x)",
        "if isinstance(x, torch.Tensor): return x\n    return each(x)",
        "if isinstance(x, dict): pass\n    elif isinstance(x, list): return each(x)",
    ],
)
def test_what_runs_for_some_types_of_an_argument_is_likely(lines: str) -> None:
    assert hot(TYPES.format(lines=lines)) == {"step": "certain", "each": "likely"}


@pytest.mark.parametrize(
    "lines",
    [
        "if isinstance(x, list): raise ValueError\n    return one(x)",
        "if isinstance(LIMIT, int): return one(x)",
        "if x.sum() > 0: return one(x)",
        "if isinstance(x, list): x = x[0]\n    return one(x)",
    ],
)
def test_what_runs_whatever_the_type_of_an_argument_is_certain(lines: str) -> None:
    assert hot(TYPES.format(lines=lines)) == {"step": "certain", "one": "certain"}
