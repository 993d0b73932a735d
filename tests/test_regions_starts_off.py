"""Regions: what waits for something that is off at first, or that a test chooses, is no more than likely."""

from __future__ import annotations

import pytest

from tests.programs import hot

LATER = """
def special(x): return x
class Block(nn.Module):
    {body}
    def __init__(self, given, deep):
        super().__init__()
        {made}
    def turn_on(self):
        self.cache = True
    def forward(self, x, cfg):
        {local}
        if {test}:
            x = special(x)
        return x
net = torch.compile(Block(given, 3))
"""


def sure(test: str, *, made: str = "pass", local: str = "pass", body: str = "pass") -> str | None:
    return hot(LATER.format(test=test, made=made, local=local, body=body)).get("special")


OFF = ["self.cache = None", "self.cache = False", "self.cache = 0"]
ON = ["self.cache = given", "self.cache = 4", "self.cache = None\n        if deep: self.cache = given"]
NEEDED = ["self.cache", "self.cache is not None", "not (self.cache is None)", "x > 0 and self.cache"]


@pytest.mark.parametrize("made", OFF)
@pytest.mark.parametrize("test", NEEDED)
def test_what_waits_for_a_method_to_turn_an_attribute_on_is_likely(test: str, made: str) -> None:
    assert sure(test, made=made) == "likely"


def test_an_attribute_that_the_class_body_sets_off_is_off_at_first_too() -> None:
    assert sure("self.cache is not None", body="cache = None") == "likely"


@pytest.mark.parametrize("made", ON)
@pytest.mark.parametrize("test", NEEDED)
def test_what_the_constructor_may_turn_on_leaves_it_certain(test: str, made: str) -> None:
    assert sure(test, made=made) == "certain"


@pytest.mark.parametrize("test", ["not self.cache", "self.cache is None", "x > 0 or self.cache"])
def test_what_runs_while_an_attribute_is_off_is_certain(test: str) -> None:
    assert sure(test, made="self.cache = None") == "certain"


@pytest.mark.parametrize("test", ['getattr(self, "cache", False)', 'not (not getattr(cfg, "cache", None))'])
def test_what_needs_an_attribute_that_need_not_be_there_is_likely(test: str) -> None:
    assert sure(test) == "likely"


@pytest.mark.parametrize("test", ['getattr(cfg, "cache", True)', 'not getattr(cfg, "cache", False)', "x > 0"])
def test_what_runs_without_such_an_attribute_is_certain(test: str) -> None:
    assert sure(test) == "certain"


LOCALS = ["some = cfg.blocks if x > 0 else None", 'some = getattr(cfg, "some", 0) and x > 0', "some = None"]


@pytest.mark.parametrize("local", LOCALS)
@pytest.mark.parametrize("test", ["some", "some is not None", "some and x > 0"])
def test_what_needs_a_local_that_may_be_nothing_is_likely(test: str, local: str) -> None:
    assert sure(test, local=local) == "likely"


@pytest.mark.parametrize("local", [*LOCALS, "some = cfg.blocks", "some = 4"])
@pytest.mark.parametrize("test", ["not some", "some is None", "some or x > 0"])
def test_what_needs_no_local_to_be_anything_is_certain(test: str, local: str) -> None:
    assert sure(test, local=local) == "certain"


@pytest.mark.parametrize("local", ["some = cfg.blocks", "some = 4", "some = x if x > 0 else cfg"])
def test_a_local_that_its_own_words_do_not_leave_empty_leaves_it_certain(local: str) -> None:
    assert sure("some is not None", local=local) == "certain"


CHOSEN = """
class Plain(nn.Module):
    def forward(self, x): return x
class Extra(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        {made}
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
net = torch.compile(Net(cfg))
"""


@pytest.mark.parametrize(
    ("made", "plain"),
    [
        ("self.layers = nn.ModuleList([Plain() if n < cfg.n else Extra() for n in range(cfg.m)])", "likely"),
        (
            "kind = Plain if cfg.plain else Extra\n"
            "        self.layers = nn.ModuleList([kind() for _ in range(cfg.m)])",
            "likely",
        ),
        ("self.layers = nn.ModuleList([Plain(), Plain() if cfg.plain else Extra()])", "certain"),
    ],
)
def test_of_the_two_ends_of_a_conditional_expression_each_is_likely(made: str, plain: str) -> None:
    found = hot(CHOSEN.format(made=made))
    assert (found["Plain.forward"], found["Extra.forward"]) == (plain, "likely")


@pytest.mark.parametrize("made", ["Plain(1) if cfg.plain else Plain(2)", "Plain() if cfg.plain else None"])
def test_what_a_conditional_expression_makes_in_any_case_or_not_at_all_is_certain(made: str) -> None:
    assert hot(CHOSEN.format(made=f"self.layers = [{made}]"))["Plain.forward"] == "certain"
