"""Construction: what making an object runs, at once or where it is called later."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- classes of dataclasses and attrs -------------------------------------------------------------------

STATE = """
from dataclasses import dataclass, field
def make(): return []
{decorator}
class State({base}):
    x: object
    y: object = None
    parts: list = field(default_factory=lambda: make())
{own}
    def __post_init__(self): self.y = 1
@torch.compile
def step(x, **rest): return State({given}).y
"""


def compiled(**parts: str) -> set[str]:
    """The functions that are compiled with `step`, of a program with these parts."""
    known = {"decorator": "@dataclass", "base": "object", "own": "", "given": "x"} | parts
    return set(hot(STATE.format(**known))) - {"step"}


def test_a_dataclass_runs_what_its_constructor_calls_at_the_end_and_what_makes_its_defaults() -> None:
    assert compiled() == {"State.__post_init__", "State.<lambda>", "make"}


@pytest.mark.parametrize("given", ["x, parts=[]", "x, 1, []"])
def test_a_default_that_is_passed_is_not_made(given: str) -> None:
    assert compiled(given=given) == {"State.__post_init__"}


@pytest.mark.parametrize("given", ["*x", "x, **rest"])
def test_a_default_that_may_be_passed_is_not_followed(given: str) -> None:
    assert compiled(given=given) == {"State.__post_init__"}


@pytest.mark.parametrize("decorator", ["", "@dataclass(init=False)"])
def test_a_class_without_a_written_constructor_runs_nothing_after_it(decorator: str) -> None:
    assert compiled(decorator=decorator) == set()


def test_a_constructor_of_its_own_is_run_in_place_of_the_written_one() -> None:
    own = "    def __init__(self, x): self.x = x"
    assert compiled(own=own) == {"State.__init__"}


def test_what_makes_an_object_is_run_before_what_fills_it() -> None:
    own = "    def __new__(cls, x): return object.__new__(cls)"
    assert compiled(own=own) == {"State.__new__", "State.__post_init__", "State.<lambda>", "make"}


def test_a_class_of_attrs_has_a_name_of_its_own_for_it() -> None:
    own = "    def __attrs_post_init__(self): make()"
    assert compiled(decorator="@attrs.define", own=own, given="x, 1, []") == {
        "State.__attrs_post_init__",
        "make",
    }


def test_a_module_is_not_made_in_compiled_code() -> None:
    assert compiled(base="nn.Module") == set()


# --- objects that call later what they are made with ----------------------------------------------------

CODE = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Factory:
    def __init__(self, made=None, *given, **options):
        {kept}
        self.given = given
    def __call__(self):
        {called}
class Trainer:
    def __init__(self, net=Factory(Net), other=Factory(Other)):
        self.net = net()
        self.other = other()
    def run(self):
        self.fast = torch.compile(self.net)
        self.fast_too = {more}
"""
KEPT, CALLED = "self.made = made", "return self.made(*self.given)"
FOUND = "if isinstance(made, str): self.made = find(made)\n        else: self.made = made"


def found(kept: str = KEPT, called: str = CALLED, more: str = "None", code: str = "") -> set[str]:
    text = CODE.format(kept=kept, called=called, more=more)
    return {name.partition(".")[0] for name in hot(text + code)}


@pytest.mark.parametrize("kept", [KEPT, FOUND, "self.x = 1\n        self.made = made"])
@pytest.mark.parametrize("called", [CALLED, "if not self.given: return None\n        return self.made()"])
def test_what_an_object_calls_is_what_it_was_made_with(kept: str, called: str) -> None:
    assert found(kept, called) == {"Net"}
    assert found(kept, called, more="torch.compile(self.other)") == {"Net", "Other"}


@pytest.mark.parametrize("made", ["Factory(lambda: Other())", "Factory(made=Other)", "Factory(build)"])
def test_a_caller_may_hand_in_another(made: str) -> None:
    code = f"def build(): return Other()\nTrainer(net={made})\n"
    assert found(code=code) == {"Net", "Other"}


@pytest.mark.parametrize(
    ("kept", "called"),
    [
        ("self.made = None", CALLED),
        ("self.made = str(made)", CALLED),
        (KEPT, "return self.given"),
        (KEPT, "self.made()"),
        (KEPT, "return len(self.made())"),
    ],
)
def test_an_object_that_does_not_give_what_it_calls_stands_for_nothing(kept: str, called: str) -> None:
    assert found(kept, called) == set()
