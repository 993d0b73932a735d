"""The pytest plugin: a fixture with which a team asserts how often its code may compile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from dynamo_lint.confirm.budget import over
from dynamo_lint.confirm.model import Receipt
from dynamo_lint.contract import Contract


@pytest.fixture
def compile_receipt() -> Callable[..., Receipt]:
    """`compile_receipt(model, [(x,)], calls=4, max_recompiles=0)`: run, and fail if it compiles too much.

    `call` is compiled as a whole, or with `compile=False` compiles what it likes while it runs. Returns what
    Dynamo did, with every recompile's guard and values.
    """
    return _compile_receipt


def _compile_receipt(
    call: Callable[..., Any],
    batches: Sequence[tuple[Any, ...]],
    *,
    calls: int | None = None,
    compile: bool = True,
    backend: str = "aot_eager",
    max_recompiles: int | None = None,
    max_graph_breaks: int | None = None,
    max_graphs: int | None = None,
) -> Receipt:
    try:
        import torch

        from dynamo_lint.confirm.child.witness import observe
    except ImportError:
        pytest.fail("compile_receipt needs torch: pip install 'dynamo-lint[confirm]'", pytrace=False)
    made: list[Callable[..., Any]] = []

    def step(number: int) -> Callable[[], Any]:
        def run() -> Any:
            if not made:
                # Compiled here, where the witness can see it.
                made.append(torch.compile(call) if compile else call)
            return made[0](*batches[number % len(batches)])

        return run

    receipt = observe([step(number) for number in range(calls or len(batches))], backend)
    if receipt.failure is not None:
        pytest.fail(f"the compiled call raises {receipt.failure.type}: {receipt.failure.message}", False)
    budget = Contract(max_recompiles, max_graph_breaks, max_graphs)
    if too_much := [*over(receipt, budget)]:
        pytest.fail("\n".join([*too_much, *_reasons(receipt)]), pytrace=False)
    return receipt


def _reasons(receipt: Receipt) -> list[str]:
    """One line for each recompile and break."""
    lines = []
    for one in receipt.recompiles:
        causes = one.causes[0] if one.causes else ()
        met = " and ".join(f"`{cause.guard}` met {cause.actual}" for cause in causes)
        place = f"{causes[0].path}:{causes[0].line}" if causes and causes[0].path else one.path
        lines.append(f"  call {one.call + 1} recompiles {one.function}: {met or one.reasons[0]} ({place})")
    lines += [f"  graph break at {one.path}:{one.line}: {one.reason}" for one in receipt.breaks]
    return lines
