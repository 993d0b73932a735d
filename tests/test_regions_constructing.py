"""Regions: what constructing a plain class runs, of what decorators write as well."""

from __future__ import annotations

import pytest

from tests.programs import hot

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
