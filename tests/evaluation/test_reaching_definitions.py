"""Reaching definitions: what a name holds at a call, and not after it or in another branch."""

from __future__ import annotations

import pytest

from tests.programs import hot

WRAPPED = """
class A(nn.Module):
    def forward(self, x): return x
class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
    def forward(self, x): return self.model(x)
"""


@pytest.mark.parametrize(
    "code",
    [
        "    if how == 'compile':\n        model = torch.compile(model)\n    else:\n        model = Wrapper(model)",
        "    if how == 'wrap':\n        model = Wrapper(model)\n    elif how:\n        model = torch.compile(model)",
        "    if how == 'wrap':\n        model = Wrapper(model)\n    elif how == 'twice':\n"
        "        model = Wrapper(Wrapper(model))\n    else:\n        if how:\n            fast = torch.compile(model)",
    ],
)
@pytest.mark.parametrize("start", ["def setup(how):\n    model = A()", "def setup(how, model):\n    pass"])
def test_what_another_branch_makes_of_a_model_is_not_compiled_by_this_one(start: str, code: str) -> None:
    assert set(hot(f"{WRAPPED}\n{start}\n{code}\n    return model\nsetup('compile', A())")) == {"A.forward"}


@pytest.mark.parametrize(
    "code",
    [
        "    if how:\n        model = Wrapper(model)\n    if how == 'compile':\n        model = torch.compile(model)",
        "    if how:\n        model = Wrapper(model)\n    else:\n        pass\n    model = torch.compile(model)",
        "    for _ in range(2):\n        if how:\n            model = Wrapper(model)\n        else:\n"
        "            model = torch.compile(model)",
    ],
)
def test_what_an_earlier_branch_makes_of_a_model_is_compiled(code: str) -> None:
    found = set(hot(f"{WRAPPED}def setup(how, model):\n{code}\n    return model\nsetup('compile', A())"))
    assert found == {"A.forward", "Wrapper.forward"}


ONCE = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
def wrap(m): return torch.compile(m)
def use(model, late):
{body}
use(Net(), True)
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    wrap(model)\n    model = Other()", {"Net.forward"}),
        ("    if late:\n        model = Other()\n    else:\n        wrap(model)", {"Net.forward"}),
        ("    if late:\n        model = Other()\n    wrap(model)", {"Net.forward", "Other.forward"}),
    ],
)
def test_what_a_parameter_is_bound_to_once_after_a_call_or_in_another_branch_is_not_what_it_passes(
    body: str, expected: set[str]
) -> None:
    assert set(hot(ONCE.format(body=body))) == expected
