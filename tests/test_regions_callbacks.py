"""Regions: which functions of ours a library calls back, and which it is only given."""

from __future__ import annotations

import pytest

from tests.programs import hot

MASKED = """
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
def mask_mod(b, h, q, k): return q >= k
class Net(nn.Module):
    def prepare(self):
        self.mask = create_block_mask(mask_mod, 1, 1, 8, 8)
    def forward(self, q, mask): return flex_attention(q, q, q, block_mask=mask)
net = torch.compile(Net())
"""


@pytest.mark.parametrize(
    "use",
    [
        "def run(net, q): return net(q, net.mask)",
        "def run(net, q): return net(q, getattr(net, 'mask'))",
        "def run(net, q): return net(q, net.mask.to('cuda'))",
        "def run(net, q):\n    mask = create_block_mask(mask_mod, 1, 1, 8, 8)\n    return net(q, mask)",
        "def run(net, q): return net(q, create_block_mask(mask_mod, 1, 1, 8, 8))",
    ],
)
def test_a_mask_that_some_code_reads_is_one_that_attention_is_given(use: str) -> None:
    assert "mask_mod" in hot(MASKED + use)


@pytest.mark.parametrize(
    "use",
    [
        "",
        "def run(net, q, mask): return net(q, mask)",
        "def run(net, q):\n    net.mask = None\n    return net(q, None)",
        "def run(net, q): return net(q, net.other)",
    ],
)
def test_a_mask_that_is_kept_where_no_code_looks_masks_nothing(use: str) -> None:
    assert set(hot(MASKED + use)) == {"Net.forward"}


GIVEN = """
from some.library import Box, transform
def helper(x): return x
def pick(): return helper
@torch.compile
def step(x, box: Box):
    return {call}
"""


@pytest.mark.parametrize("name", ["to", "view", "reshape", "expand", "type"])
def test_what_tensors_take_as_a_shape_or_device_is_not_called(name: str) -> None:
    assert set(hot(GIVEN.format(call=f"Box().{name}(helper)"))) == {"step"}
    assert set(hot(GIVEN.format(call=f"transform.{name}(helper)"))) == {"step"}


@pytest.mark.parametrize(
    "call", ["transform(helper, x)", "transform.apply(helper)", "transform.tomap(helper)"]
)
def test_what_another_function_of_a_library_is_given_may_be_called(call: str) -> None:
    assert "helper" in hot(GIVEN.format(call=call))
