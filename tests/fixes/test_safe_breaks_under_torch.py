"""Each safe rewrite of a graph break under torch: to the last bit the same, for every type, shape and gradient."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch._dynamo.utils import counters

from tests.fixes.fixing import fix_text
from tests.fixes.test_fixes_under_torch import compiled
from tests.fixes.test_graph_breaks import SAFE, program

DTYPES = (
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64),
    *(torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64),
)
SHAPES = ((), (1,), (3, 4), (2, 3, 4))
SPECIAL = (float("inf"), float("-inf"), float("nan"), 0.0, -0.0)


def inputs() -> Iterator[torch.Tensor]:
    """Tensors of all types and shapes, and floats that are no ordinary numbers."""
    torch.manual_seed(0)
    for dtype, shape, scale in itertools.product(DTYPES, SHAPES, (3, -3)):
        yield (torch.randn(shape) * 2 + scale).to(dtype)
    for special in SPECIAL:
        yield torch.tensor([[1.0, special, -2.0, 0.5]])


def outcome(model: Any, x: torch.Tensor) -> tuple[Any, ...]:
    """The result of a call with its gradient, or the type of the error that it raises."""
    x = x.clone().requires_grad_(x.is_floating_point())
    try:
        out = model(x, x)
        if not out.requires_grad:
            return (out,)
        (gradient,) = torch.autograd.grad(out.sum(), x)
        return out, gradient
    except (RuntimeError, TypeError) as error:
        return (type(error),)


def same(ours: Any, theirs: Any) -> bool:
    """Whether two things are equal to the last bit, of one type, and NaN in the same places."""
    if not isinstance(ours, torch.Tensor) or not isinstance(theirs, torch.Tensor):
        return ours is theirs
    alike = (ours.dtype, ours.shape, ours.device) == (theirs.dtype, theirs.shape, theirs.device)
    return alike and torch.equal(ours.nan_to_num(7), theirs.nan_to_num(7))


@pytest.mark.parametrize("name", SAFE)
def test_a_safe_rewrite_is_the_same_to_the_last_bit_and_breaks_no_graph(name: str, tmp_path: Path) -> None:
    old = program(SAFE[name][0])
    models = []
    for text in (old, fix_text(tmp_path, old, unsafe=False)):
        names: dict[str, Any] = {"__name__": "program"}
        exec(compile(text, "program.py", "exec"), names)
        torch.manual_seed(0)
        models.append(names["Model"]())
    before, after = models
    for x in inputs():
        ours, theirs = outcome(after, x), outcome(before, x)
        assert len(ours) == len(theirs), (x, ours, theirs)
        assert all(map(same, ours, theirs)), (x, ours, theirs)

    call, count = compiled(after)
    counters.clear()
    for scale in (2.0, -3.0, 0.1):
        x = torch.linspace(-1, 2, 12).reshape(3, 4) * scale
        assert torch.allclose(call(x, x), before(x, x))
    assert count[0] == 1
    assert not counters["graph_break"]
