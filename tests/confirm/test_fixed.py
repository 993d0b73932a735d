"""Before and after the fixes: the copy, and what is compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_lint.confirm.model import Compile, Receipt, Reply
from dynamo_lint.confirm.run import compared, copied
from dynamo_lint.confirm.verdicts import ProbeReport
from dynamo_lint.render import receipt
from dynamo_lint.terminal import Look


def probe(*operations: str, outputs: tuple[tuple[float, ...], ...] = ((1.0, 1.0),)) -> ProbeReport:
    receipt = Receipt(
        torch_version="2.13",
        backend="aot_eager",
        calls=1,
        compiles=(Compile("M.forward", "m.py", 1, 0, "", "0/0", operations),),
        recompiles=(),
        breaks=(),
        graph_calls=(0,),
        limit_hit=(),
        traced={},
    )
    return ProbeReport("probe_it", "m.py", 1, Reply("done", receipt=receipt, outputs=outputs))


def test_a_copy_has_the_fixes_and_the_original_does_not(tmp_path: Path) -> None:
    root = tmp_path / "project"
    for name in ("m.py", "data/sizes.json", ".git/config", "__pycache__/m.pyc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("old")
    copy = copied(root, {"m.py": b"new"}, tmp_path / "to")
    assert (copy / "m.py").read_text() == "new"
    assert (root / "m.py").read_text() == "old"
    assert sorted(one.relative_to(copy).as_posix() for one in copy.rglob("*.*")) == [
        "data/sizes.json",
        "m.py",
    ]


def test_what_a_fix_brings_into_the_graph_is_named() -> None:
    found = compared(probe("linear"), probe("iadd", "linear"))
    assert found.graphs == ("M.forward: + iadd",)
    assert found.same_outputs is True


def test_graphs_that_stay_equal_are_not_mentioned() -> None:
    assert compared(probe("linear"), probe("linear")).graphs == ()


@pytest.mark.parametrize("outputs", [((1.0, 2.0),), (), ((1.0,),)])
def test_other_numbers_or_other_shapes_are_other_outputs(outputs: tuple[tuple[float, ...], ...]) -> None:
    assert compared(probe(), probe(outputs=outputs)).same_outputs is False


def test_a_probe_that_fails_after_the_fixes_says_so() -> None:
    broken = replace(probe(), reply=Reply("eager", error="NameError: n"))
    shown = receipt.fixed([compared(probe(), broken)], 1, Look())
    assert "failed after the fixes: NameError: n" in shown
    assert "not compared" in shown


def test_costs_stand_side_by_side() -> None:
    shown = receipt.fixed([compared(probe("linear"), probe("iadd", "linear"))], 2, Look())
    assert shown.splitlines() == [
        "With 2 fixes applied to a copy",
        "  probe_it",
        "    compiles          1 -> 1",
        "    recompiles        0 -> 0",
        "    graph_breaks      0 -> 0",
        "    outputs       the same",
        "    graphs        M.forward: + iadd",
    ]
