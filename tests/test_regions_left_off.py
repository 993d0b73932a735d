"""Regions: what stands under a switch that every compiled call leaves off, which Dynamo never traces."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.programs import hot

SCALE = """
def note(x): return x * 2
class Scale(nn.Module):
    def update(self, x): return note(x)
    def forward(self, x, {parameter}):
        {body}
        return x
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.other = torch.compile(self._other, backend="eager")
        self.loss = torch.compile(self._loss, backend="eager")
    def _other(self, x): return {other}
    def _loss(self, x): return {call}
    def step(self, x):
        self.other(x)
        self.loss(x)
        {eager}
def main(x): Agent().step(x)
"""
LEFT = {"Agent._other", "Agent._loss", "Scale.forward"}
MADE = {*LEFT, "Scale.update", "note"}


def program(
    call: str = "self.scale(x)",
    *,
    other: str = "x",
    body: str = "if update: self.update(x)",
    eager: str = "pass",
    parameter: str = "update=False",
) -> str:
    return SCALE.format(call=call, other=other, body=body, eager=eager, parameter=parameter)


QUIET = {
    "left to its default": program(),
    "passed as it is": program("self.scale(x, update=False)"),
    "passed by position": program("self.scale(x, False)"),
    "asked for with more": program(body="if update and x.ndim: self.update(x)"),
    "on in eager code alone": program(eager="self.scale(x, update=True)"),
    "annotated": program(parameter="update: bool = False"),
}
MADE_ONCE = {
    "passed": program("self.scale(x, update=True)"),
    "passed by position": program("self.scale(x, True)"),
    "worked out": program("self.scale(x, update=x.ndim > 0)"),
    "on by default": program(parameter="update=True"),
    "asked for the other way": program(body="if not update: self.update(x)"),
    "on for a later caller": program("self.scale(x, update=True)", other="self.scale(x)"),
    "on for an earlier caller": program(other="self.scale(x, update=True)"),
    "set before it is asked for": program(
        body="update = update or x.ndim > 0\n        if update: self.update(x)"
    ),
    "given with all the rest": program("self.scale(x, **{'update': True})"),
    "beside the branch": program(body="if update: pass\n        self.update(x)"),
}


@pytest.mark.parametrize("source", QUIET.values(), ids=QUIET)
def test_what_stands_under_a_switch_that_compiled_calls_leave_off_is_quiet(source: str) -> None:
    assert set(hot(source)) == LEFT


@pytest.mark.parametrize("source", MADE_ONCE.values(), ids=MADE_ONCE)
def test_what_one_compiled_call_may_switch_on_is_compiled(source: str) -> None:
    assert set(hot(source)) == MADE


def test_what_is_compiled_itself_may_be_called_with_anything() -> None:
    source = program().replace("self.scale = Scale()", "self.scale = torch.compile(Scale())")
    assert set(hot(source)) == MADE


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no qualified name before")
@pytest.mark.parametrize(
    ("source", "expected"),
    [*((source, LEFT) for source in QUIET.values()), *((source, MADE) for source in MADE_ONCE.values())],
    ids=[*(f"off: {name}" for name in QUIET), *(f"on: {name}" for name in MADE_ONCE)],
)
def test_dynamo_traces_what_is_switched_on_alone(source: str, expected: set[str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tests.test_regions_under_torch import translated

    assert translated(source, tmp_path) - {"Scale._call_impl"} == expected


EITHER = """
def fancy(x): return x
def plain(x): return x
def helper(x, mask=None):
    return {choice}
@torch.compile
def step(x): return helper(x)
"""


@pytest.mark.parametrize(
    "choice", ["fancy(x) if mask is not None else plain(x)", "plain(x) if mask is None else fancy(x)"]
)
def test_of_a_conditional_expression_only_the_end_runs_that_the_calls_ask_for(choice: str) -> None:
    assert set(hot(EITHER.format(choice=choice))) == {"step", "helper", "plain"}
