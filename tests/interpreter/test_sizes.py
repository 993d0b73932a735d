"""The sizes of tensors that eager code makes: what is an error where it runs has none."""

from __future__ import annotations

import pytest

from dynamo_lint.interpreter.model import Tensor
from dynamo_lint.interpreter.sizes import made

PAD = "torch.nn.functional.pad"


@pytest.mark.parametrize(
    ("shape", "widths", "padded"),
    [
        ((2, 3), (1, 1), (2, 5)),
        ((2, 3), (1, 1, 2, 0), (4, 5)),
        ((2, None), (1, 1), (2, None)),
        ((3,), (1, 1, 2, 0), None),
        ((), (1, 1), None),
    ],
)
def test_padding_widens_the_last_axes_of_those_that_are_there(
    shape: tuple[int | None, ...], widths: tuple[int, ...], padded: tuple[int | None, ...] | None
) -> None:
    tensor = made(PAD, [Tensor(shape), widths], {})
    assert tensor is not None
    assert tensor.shape == padded


@pytest.mark.parametrize(("arguments", "shape"), [([6], (6,)), ([0, 6, 2], (3,)), ([0, 6, 0], None)])
def test_a_range_has_as_many_numbers_as_its_steps(
    arguments: list[int], shape: tuple[int, ...] | None
) -> None:
    tensor = made("torch.arange", arguments, {})
    assert tensor is not None
    assert tensor.shape == shape
