"""Which of several things that change at once is blamed for the compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.findings import Finding
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

LOOP = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        {start}

    def forward(self, x):
        {count}
        return self.proj(x){use}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


net = Net()
for block in net.blocks:
    block.compile()
for _ in range(12):
    net(torch.ones(2, 4))
"""


def findings(folder: Path, text: str) -> list[Finding]:
    (folder / "program.py").write_text(text)
    found = discover((folder,), [], force_exclude=False)
    return [*check(Settings(), found, catalogue(), Sources(found.root)).findings]


@pytest.mark.parametrize(
    "count",
    [
        'self.n = getattr(self, "n", 0) + 1',
        'setattr(self, "n", getattr(self, "n", 0) + 1)',
        'self.n = 1 + getattr(self, "n", 0)',
    ],
)
def test_a_counter_that_is_missing_at_first_is_a_storm_also_in_a_loop_over_blocks(
    count: str, tmp_path: Path
) -> None:
    found = findings(tmp_path, LOOP.format(start="pass", count=count, use=" * self.n"))
    loud = [one for one in found if one.severity != "note"]
    assert [(one.code, one.severity, one.effect) for one in loud] == [("DYN101", "error", "storm")]


def test_such_a_counter_is_a_storm_where_nothing_is_run(tmp_path: Path) -> None:
    text = LOOP.format(start="pass", count='self.n = getattr(self, "n", 0) + 1', use="")
    found = findings(tmp_path, text.partition("net = Net()")[0] + "net = torch.compile(Net())\n")
    assert {(one.code, one.severity) for one in found} == {("DYN101", "error")}


def test_a_value_that_is_kept_after_the_first_call_is_no_storm(tmp_path: Path) -> None:
    text = LOOP.format(start="pass", count='self.n = getattr(self, "n", 4)', use=" * self.n")
    assert {one.severity for one in findings(tmp_path, text)} <= {"note"}


def test_a_gradient_beside_a_counter_costs_one_compile_and_no_storm(tmp_path: Path) -> None:
    found = findings(tmp_path, LOOP.format(start="self.n = 0", count="self.n += 1", use=" * self.n"))
    assert {(one.code, one.effect) for one in found if one.severity != "note"} == {("DYN101", "storm")}


def test_a_gradient_by_itself_is_named(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, LOOP.format(start="pass", count="pass", use=""))
    assert (found.code, found.severity, found.effect) == ("DYN110", "note", "once")
    assert found.message.startswith("`x.requires_grad` changes between calls of the compiled `Block.forward`")
    assert found.fix is not None
    assert "require a gradient" in found.fix.message
