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


ENGINE = """
class Net(nn.Module):
    def forward(self, x): return x
    def draft(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Engine:
    def __init__(self, sizes):
        self.model, self.other = Net(), Other()
        self.steps, self.slow = {{}}, {{}}
        for size in sizes:
            {put}
    def compile(self):
        for key in self.steps: self.steps[key] = torch.compile(self.steps[key])
    def run(self, x, size):
        {call}
"""
PUT = "self.steps[size] = lambda model, x: model.draft(x)"
CALL = "self.steps[size](model=self.model, x=x)"


def given(put: str = PUT, call: str = CALL) -> set[str]:
    return {name for name in hot(ENGINE.format(put=put, call=call)) if not name.endswith("<lambda>")}


@pytest.mark.parametrize(
    ("put", "call"),
    [
        (PUT, CALL),
        (PUT, "self.steps[size](self.model, x)"),
        (PUT, "return self.steps[x.shape[1]](self.model, x)"),
        ("self.steps['one'] = lambda model, x: model.draft(x)", "self.steps['one'](self.model, x)"),
        ("self.steps.update({'one': lambda model, x: model.draft(x)})", "self.steps['one'](self.model, x)"),
    ],
)
def test_a_lambda_in_a_table_of_compiled_functions_is_given_what_the_table_is_called_with(
    put: str, call: str
) -> None:
    assert given(put, call) == {"Net.draft"}


@pytest.mark.parametrize(
    "call",
    [
        "self.slow[size](self.other, x)",
        "self.model(x); self.other(x)",
        "self.steps.get(size); self.other(x)",
        "other = {'one': self.other}; other['one'](self.other, x)",
        "self.steps[size](x, self.other)",  # as the second argument, which is not called
    ],
)
def test_calls_of_other_tables_give_it_nothing(call: str) -> None:
    assert not given(call=call)


def test_what_is_put_into_another_table_is_not_compiled() -> None:
    assert not given("self.slow[size] = lambda model, x: model.draft(x)", "self.slow[size](self.model, x)")


WAYS = """
def outside(x): return x
class Norm(nn.Module):
    def __init__(self, kind=None):
        super().__init__()
        self.ways = {{"first": self.first, "second": self.second, "third": outside}}
        self.kind = "first"
        {more}
    def first(self, x): return x
    def second(self, x): return x
    def forward(self, x): return self.ways[{index}](x)
fast = torch.compile(Norm())
"""


@pytest.mark.parametrize(
    ("more", "index", "expected"),
    [
        ("if kind in self.ways: self.kind = kind", "self.kind", {"Norm.first", "Norm.second"}),
        ("if kind: self.kind = kind.lower()", "self.kind", {"Norm.first", "Norm.second"}),
        ("pass", "self.kind", {"Norm.first"}),
        ("if kind: self.kind = 'second'", "self.kind", {"Norm.first", "Norm.second"}),
        ("if kind: self.other = kind", "self.kind", {"Norm.first"}),
        ("if kind: self.kind = kind", "'second'", {"Norm.second"}),
    ],
)
def test_a_text_that_an_attribute_may_hold_besides_others_picks_any_method_of_a_table(
    more: str, index: str, expected: set[str]
) -> None:
    assert set(hot(WAYS.format(more=more, index=index))) == {"Norm.forward", *expected}
