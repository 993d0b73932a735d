"""Predicates: a compile site that tests an attribute of the module first, such as `if block.moe_enabled`."""

from __future__ import annotations

import pytest

from tests.programs import hot

CHOSEN = """
class Experts(nn.Module):
    def forward(self, x): return x
class Dense(nn.Module):
    def forward(self, x): return x
def every(n, step): return n % step == 0
class Block(nn.Module):
    def __init__(self, n, step):
        super().__init__()
        self.moe = every(n, step)
        self.experts, self.dense = Experts(), Dense()
    {more}
    def forward(self, x):
        {forward}
class Model(nn.Module):
    def __init__(self, step):
        super().__init__()
        self.blocks = nn.ModuleList([Block(n, step) for n in range(4)])
    def forward(self, x):
        for block in self.blocks: x = block(x)
        return x
def build(model: Model):
    for block in model.blocks:
        {site}
"""
BRANCHES = """if self.moe:
            x = self.experts(x)
        else:
            x = self.dense(x)
        return x"""
LEAVES = """if not self.moe:
            return self.dense(x)
        return self.experts(x)"""
BY_ELSE = """if getattr(block, "moe", False):
            pass
        else:
            block.compile()"""


def compiled(site: str, forward: str = BRANCHES, more: str = "pass", after: str = "") -> dict[str, str]:
    return hot(CHOSEN.format(site=site, forward=forward, more=more) + after)


@pytest.mark.parametrize("forward", [BRANCHES, LEAVES])
@pytest.mark.parametrize(
    "site",
    [
        BY_ELSE,
        "if not block.moe: block.compile()",
        "if block.moe: continue\n        block.compile()",
        "if not block.moe and block.training: block.forward = torch.compile(block)",
        "if block.moe or block.training: pass\n        else: block.compile()",
    ],
)
def test_the_branch_that_a_site_keeps_out_by_an_attribute_is_quiet(site: str, forward: str) -> None:
    found = compiled(site, forward)
    assert "Experts.forward" not in found
    assert {"Block.forward", "Dense.forward"} <= found.keys()


def test_the_other_branch_is_quiet_where_the_attribute_is_on() -> None:
    found = compiled("if block.moe: block.compile()")
    assert "Dense.forward" not in found
    assert "Experts.forward" in found


@pytest.mark.parametrize(
    ("site", "more", "after"),
    [
        ("block.compile()", "pass", ""),
        ("if not block.moe or block.training: block.compile()", "pass", ""),
        ("if not block.training: block.compile()", "pass", ""),
        (BY_ELSE, "def turn(self): self.moe = True", ""),
        (BY_ELSE, "pass", "def turn(block: Block): block.moe = True\n"),
        (BY_ELSE, "pass", "whole = torch.compile(Block(1, 2))\n"),
        (BY_ELSE, "pass", "whole = torch.compile(Model(2))\n"),
        ("if not block.moe: pass\n        block.compile()", "pass", ""),
    ],
)
def test_both_branches_are_found_where_no_test_or_a_later_store_decides(
    site: str, more: str, after: str
) -> None:
    assert {"Experts.forward", "Dense.forward"} <= compiled(site, more=more, after=after).keys()


@pytest.mark.parametrize("more", ["pass", "training = True"])
def test_both_branches_are_found_where_train_and_eval_set_the_attribute(more: str) -> None:
    forward = BRANCHES.replace("self.moe", "self.training")
    found = compiled("if not block.training: block.compile()", forward, more)
    assert {"Experts.forward", "Dense.forward"} <= found.keys()


def test_a_name_that_is_bound_again_after_the_test_may_be_another_module() -> None:
    site = "if not block.moe:\n            block = Block(1, 2)\n            block.compile()"
    assert "Experts.forward" in compiled(site)


TWO = """
class First(nn.Module):
    {first}
    def forward(self, x): return x
class Second(nn.Module):
    {second}
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([First(), Second()])
def build(model: Model):
    for block in model.blocks:
        {site}
"""
SET = "def __init__(self):\n        super().__init__()\n        self.moe = True"


@pytest.mark.parametrize(
    ("first", "second"), [("moe = True", "moe = False"), (SET, "moe = None"), ("moe = 1", "pass")]
)
def test_a_module_whose_class_sets_the_attribute_the_other_way_is_quiet(first: str, second: str) -> None:
    found = hot(TWO.format(first=first, second=second, site=BY_ELSE))
    assert "First.forward" not in found
    assert found["Second.forward"] == "certain"


@pytest.mark.parametrize(
    "second", ["moe = every(2)", "@property\n    def moe(self): return False", "moe: bool"]
)
def test_a_module_whose_class_does_not_tell_is_likely_beside_others(second: str) -> None:
    found = hot(TWO.format(first="moe = False", second=second, site=BY_ELSE))
    assert found["First.forward"] == "certain"
    assert found["Second.forward"] == "likely"
