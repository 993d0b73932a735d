"""Regions: what wrappers keep of one function is not what they give for another."""

from __future__ import annotations

import pytest

from tests.programs import hot

KEPT = """
def helper(x): return x * 2
def other(x): return x + 1
class Op:
    def __init__(self, fn, name):
        self.fn = fn
        self.name = name
    @property
    def real(self): return logged(self.fn)
def logged(fn=None, level=0):
    if level == 0: return fn
    def deco(f): return f
    return deco(fn)
def register(fn=None, name=""):
    def deco(f):
        made = Op(f, name)
        return made.real
    if fn is not None: return deco(fn)
    return deco
{wraps}
@torch.compile
def step(x): return {calls}
"""
BOTH = "mine = register(helper)\nyours = register(other)"


@pytest.mark.parametrize("calls", ["mine(x)", "logged(helper)(x)"])
def test_what_is_kept_of_another_function_is_quiet(calls: str) -> None:
    found = hot(KEPT.format(wraps=BOTH, calls=calls))
    assert "other" not in found
    assert "helper" in found


def test_what_decorated_functions_keep_is_quiet_where_a_wrapped_one_is_called() -> None:
    found = hot(
        KEPT.format(wraps="@register()\ndef third(x): return x\nmine = register(helper)", calls="mine(x)")
    )
    assert "third" not in found
    assert "helper" in found


def test_what_nobody_knows_is_not_what_others_hand_over() -> None:
    wraps = f"{BOTH}\nlibrary = register(torch.ops.mine.add)"
    assert not {"helper", "other"} & hot(KEPT.format(wraps=wraps, calls="library(x)")).keys()


@pytest.mark.parametrize(
    ("wraps", "calls"),
    [
        (BOTH, "mine(x) + yours(x)"),
        (f"{BOTH}\npicked = register(helper if torch.rand(1) > 0 else other)", "picked(x)"),
        (
            "TABLE = {'a': helper, 'b': other}\ndef pick(name, fn=None): return TABLE[name]",
            "pick('c', helper)(x)",
        ),
    ],
)
def test_what_is_handed_over_or_stands_in_a_table_is_found(wraps: str, calls: str) -> None:
    assert {"helper", "other"} <= hot(KEPT.format(wraps=wraps, calls=calls)).keys()
