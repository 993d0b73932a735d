"""Regions: what a constructor makes only where it is asked to, which nobody does."""

from __future__ import annotations

import pytest

from tests.programs import hot

BLOCK = """
class Drop(nn.Module):
    def forward(self, x): return x * 2
class Plain(nn.Module):
    def forward(self, x): return x
class Block(nn.Module):
    def __init__(self, dim, p=0., scale=None, plain=False):
        super().__init__()
        {before}
        {drop}
    def forward(self, x): return self.drop(x)
{others}
net = torch.compile({net})
"""
DROP = "Drop() if p > 0. else Plain()"


def sure(
    net: str = "Block(8)", drop: str = DROP, before: str = "pass", others: str = "", **options: object
) -> tuple[str | None, str | None]:
    found = hot(
        BLOCK.format(net=net, drop=f"self.drop = {drop}" if drop else "pass", before=before, others=others),
        **options,
    )
    return found.get("Drop.forward"), found.get("Plain.forward")


@pytest.mark.parametrize(
    "drop",
    [
        DROP,
        "Drop() if p else Plain()",
        "Drop() if p > 0 else Plain()",
        "Drop() if scale else Plain()",
        "Plain() if not scale else Drop()",
        "Plain() if not p > 0 else Drop()",
    ],
)
def test_what_nobody_asks_for_is_not_made(drop: str) -> None:
    assert sure(drop=drop) == (None, "certain")
    assert sure(drop=drop, guesses=True) == ("assumed", "certain")


@pytest.mark.parametrize("net", ["Block(8, 0.1)", "Block(8, p=1)"])
def test_what_everybody_asks_for_is_what_is_made(net: str) -> None:
    assert sure(net) == ("certain", None)


def test_a_default_that_a_parent_hands_down_and_nobody_changes_is_left_off() -> None:
    parent = "class Net(nn.Module):\n    def __init__(self, rate={rate}):\n        super().__init__()\n"
    parent += "        self.block = Block(8, p=rate)\n    def forward(self, x): return self.block(x)"
    assert sure("Net()", others=parent.format(rate="0.")) == (None, "certain")
    assert sure("Net()", others=parent.format(rate="0.2")) == ("certain", None)
    assert sure("Net(0.2)", others=parent.format(rate="0.")) == ("certain", None)


@pytest.mark.parametrize(
    ("net", "others"),
    [
        ("Block(8, p=given)", ""),
        ("Block(8, p=rates[0])", "rates = [0.1]"),
        ("Block(8, **given)", ""),
        ("Block(*given)", ""),
        ("Block(8, -1)", ""),
        ("make(8)", "from functools import partial\nmake = partial(Block, p=given)"),
        ("Block(8)", "import argbind\nBlock = argbind.bind(Block)"),
        ("make()", "def make(p=0.): return Block(8, p)\nmake = argbind.bind(make)"),
        ("Block(8)", "other = Block(8, p=0.5)"),
        ("Block(8)", "class Heir(Block):\n    def __init__(self): super().__init__(8, p=0.5)"),
    ],
    ids=[
        "a name",
        "an item",
        "keywords",
        "positions",
        "less than nothing",
        "a partial",
        "a class bound anew",
        "a function bound anew",
        "another call",
        "an heir",
    ],
)
def test_either_may_be_made_where_calls_differ_or_say_nothing(net: str, others: str) -> None:
    assert sure(net, others=others) == ("likely", "likely")


@pytest.mark.parametrize(
    ("drop", "before"),
    [
        ("Drop() if p > 0. else Plain()", "p = p or find()"),
        ("Drop() if p >= 0. else Plain()", "pass"),
        ("Drop() if p > 0. or scale else Plain()", "pass"),
        ("Drop() if dim > p else Plain()", "pass"),
        ("Drop() if scale is None else Plain()", "pass"),
        ("Drop() if find() else Plain()", "pass"),
    ],
    ids=["bound anew", "at least nothing", "one of two", "compared", "none", "a call"],
)
def test_either_may_be_made_where_the_test_is_of_more_than_a_parameter(drop: str, before: str) -> None:
    assert sure(drop=drop, before=before) == ("likely", "likely")


def test_either_may_be_made_by_a_method_that_is_no_constructor() -> None:
    late = "self.build()\n    def build(self, p=0.):"
    assert sure(before=late) == ("likely", "likely")


def test_a_class_that_nobody_is_seen_to_make_may_make_either() -> None:
    assert sure("given", others="@torch.compile\ndef step(net: Block, x): return net(x)") == (
        "likely",
        "likely",
    )


SLOT = """
        if {test}:
            self.drop = Drop()
        else:
            self.drop = Plain()"""


@pytest.mark.parametrize(
    ("net", "test", "found"),
    [
        ("Block(8)", "plain", (None, "certain")),
        ("Block(8)", "not plain", ("certain", None)),
        ("Block(8, plain=True)", "plain", ("certain", None)),
        ("Block(8, plain=given)", "plain", ("certain", "certain")),
        ("Block(8, **given)", "plain", ("certain", "certain")),
        ("Block(8)", "plain or scale", ("certain", "certain")),
        ("Block(8)", "dim > 4", ("certain", "certain")),
    ],
)
def test_a_flag_that_no_call_passes_fills_no_slot(
    net: str, test: str, found: tuple[str | None, str | None]
) -> None:
    assert sure(net, drop="", before="pass" + SLOT.format(test=test)) == found
