"""Every program of tests/truth that has a fix: fixed and compiled it computes what it did, and compiles less."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from dynamo_lint.confirm.child.program import uncompiled
from dynamo_lint.confirm.child.values import difference, frozen
from dynamo_lint.confirm.child.witness import Witness
from tests import proof
from tests.fixes.fixing import fixed
from tests.truths import MAIN, THEMES, Case, cases, claims

FIXABLE = {"DYN101", "DYN102", "DYN103", "DYN104", "DYN201"}
CASES = [
    case for theme in THEMES for case in cases(theme) if FIXABLE & {claim.code for claim in case.expected}
]
FIXED = {
    "environment: a variable that nobody changes",
    "environment: a variable read with getenv that nobody changes",
    "environment: other variables that change",
    "lazy: a loss summed up from None",
    "lazy: a loss summed up in branches",
    "lazy: a loss that the loop resets every third call",
    "lazy: a loss with a gradient summed up from None",
    "lazy: a loss summed up from a float",
    "lazy: a table built on first use, from None",
    "lazy: a table built on first use in a helper",
    "lazy: a function built on first use",
    "modes: two models of one class that count",
    "modes: a counter behind guards that are dropped",
    "outside: a float that a schedule divides by",
    "outside: an int that the loop sets",
    "outside: a float as an exponent",
    "outside: a chain of float arithmetic",
    "outside: an epoch that holds for three calls",
    "outside: a step counted inside a disabled method and read by forward",
    "scalars: an int counter whose value nobody uses",
    "scalars: an int counter on a model that is compiled in place",
    "scalars: an int counter in a decorated forward",
    "scalars: a float average that is only carried on",
    "scalars: a float average that scales the output",
    "scalars: a float counter that nobody uses",
    "scalars: a float that halves until it rests",
    "scalars: a counter on a submodule",
    "scalars: a counter in a helper method",
    "scalars: a counter in a base class",
    "scalars: a counter in a function that gets the module",
    "scalars: a counter of training steps",
    "scalars: a parent that storms around a child that does not",
    "scalars: a number that becomes a tensor",
    "scalars: a counter kept with the config option for such ints",
    "scalars: a counter that wraps around",
    "scalars: two counters",
    "scalars: rows seen so far",
    "scalars: a counter before a graph break",
    "scalars: a counter after a graph break",
    "scalars: a counter in each block of a list",
    "scalars: a counter in a nested function",
    "scalars: a counter under checkpoint",
    "scalars: a temperature that decays and divides",
}
"""Programs that must have a fix; whatever else has one is held to the same."""


def eager_outputs(path: Path) -> list[Any]:
    with uncompiled(Witness("eager")), proof._driver(path) as outputs:
        return [frozen(output) for output in outputs]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_fixed_program_equals_the_old_one_and_compiles_once(case: Case, tmp_path: Path) -> None:
    old = case.write(tmp_path)
    done = fixed(tmp_path)
    assert done.files or case.id not in FIXED
    if not done.files:
        return
    before = eager_outputs(old)
    for path, raw in done.files.items():
        (tmp_path / path).write_bytes(raw)
    receipt = proof.watch(tmp_path / MAIN)
    after = eager_outputs(tmp_path / MAIN)
    assert not any(difference(one, other, "aot_eager") for one, other in zip(after, before, strict=True))
    assert not receipt.stale
    assert not receipt.limit
    # A flag beside the counter has no fix, and costs what its finding says.
    assert receipt.recompiles <= len(claims(tmp_path))
