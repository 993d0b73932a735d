"""Regions: objects in dictionaries that a loop fills, each beside those under other keys and elsewhere."""

from __future__ import annotations

import pytest

from tests.programs import hot

OPTIMIZER = """
class Part:
    def update(self, x): return x
class Other:
    def update(self, x): return x
KEY = "part"
class Optimizer:
    def __init__(self, groups):
        self.states = [{{}} for _ in groups]
        self.others = [{{}} for _ in groups]
        {fill}
        self.fast = torch.compile(self.slow) if groups else self.slow
    def step(self, x):
        for state in self.states:
            {step}
    def run(self, state, x, step): step(state, x)
    def skip(self, state, x, step): return state
    def slow(self, state, x): return state[KEY].update(x)
"""
FILL = "for state in self.states: state[KEY] = Part()"
STEP = "self.fast(state, x)"


def found(fill: str = FILL, step: str = STEP) -> dict[str, str]:
    return hot(OPTIMIZER.format(fill=fill, step=step))


@pytest.mark.parametrize(
    "fill",
    [
        FILL,
        "for state, group in zip(self.states, groups): state[KEY] = Part()",
        "for group, state in zip(groups, self.states, strict=True): state['part'] = Part()",
        "for state in self.states: state[KEY], state['other'] = Part(), Other()",
        "for state in self.states: state[groups[0]] = Part()",  # any key it may be
    ],
)
def test_what_a_loop_puts_into_each_dictionary_of_an_attribute_is_found_under_its_key(fill: str) -> None:
    assert found(fill) == {"Optimizer.slow": "certain", "Part.update": "likely"}


@pytest.mark.parametrize(
    "fill",
    [
        "for state in self.states: state[KEY], state['other'] = Part(), Other()",
        "for other in self.others: other[KEY] = Other()",
        "for group, state in zip(self.states, groups): state[KEY] = Other()",
        "for state in groups: state[KEY] = Other()",
        "for state in self.states: state = {KEY: Other()}",
        "for state in self.states: state.name[KEY] = Other()",
    ],
)
def test_other_keys_and_other_dictionaries_hold_nothing_for_it(fill: str) -> None:
    assert "Other.update" not in found(fill)


@pytest.mark.parametrize(
    "step",
    [
        STEP,
        "self.run(state, x, self.fast)",
        "self.run(state, x, step=self.fast)",
    ],
)
def test_a_compiled_method_is_called_by_its_new_name_and_by_that_of_a_parameter(step: str) -> None:
    assert found(step=step) == {"Optimizer.slow": "certain", "Part.update": "likely"}


@pytest.mark.parametrize(
    "step",
    [
        "self.skip(state, x, self.fast)",  # handed over and not called
        "self.run(state, x, print)",
        "self.run(x, x, self.fast)",
        "self.fast(x, state)",
        "print(state, x, self.fast)",
    ],
)
def test_what_is_handed_over_and_not_called_is_given_nothing(step: str) -> None:
    assert found(step=step) == {"Optimizer.slow": "certain"}
