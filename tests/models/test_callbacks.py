"""Callbacks: which functions of ours a library calls, such as attention masks, and which it is only given."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text
from tests.small_model import SMALL_MODEL, names_with_model

# --- masks ----------------------------------------------------------------------------------------------

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


# --- functions that compiled library code is given ------------------------------------------------------

FLEX = """
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
def mask_mod(b, h, q, k): return helper(q)
def score_mod(score, b, h, q, k): return helper(score)
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("make = torch.compile(create_block_mask)\nmake(mask_mod, 1, 1, 8, 8)", {"mask_mod", "helper"}),
        ("torch.compile(create_block_mask)(mask_mod, 1, 1, 8, 8)", {"mask_mod", "helper"}),
        (
            "def maker(): return torch.compile(create_block_mask)\nmaker()(mask_mod, 1, 1, 8, 8)",
            {"mask_mod", "helper"},
        ),
        ("create_block_mask(mask_mod, 1, 1, 8, 8, _compile=True)", {"mask_mod", "helper"}),
        (
            "class A:\n    flex = torch.compile(flex_attention)\n"
            "    def run(self, q): return self.flex(q, q, q, score_mod=score_mod)",
            {"score_mod", "helper"},
        ),
        (
            "flex = torch.compile(flex_attention)\nmask = create_block_mask(mask_mod, 1, 1, 8, 8)\n"
            "def run(q): return flex(q, q, q, block_mask=mask)",
            {"mask_mod", "helper"},
        ),
    ],
)
def test_what_a_compiled_library_function_is_given_is_compiled(code: str, expected: set[str]) -> None:
    assert names_with_model(FLEX + code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "create_block_mask(mask_mod, 1, 1, 8, 8)",
        "create_block_mask(mask_mod, 1, 1, 8, 8, _compile=False)",
        "make = torch.compile(create_block_mask)\ndef run(): return create_block_mask(mask_mod, 1, 1, 8, 8)",
        "flex = torch.compile(flex_attention)\ndef run(q): return flex(q, q, q)",
        "make = create_block_mask\nmake(mask_mod, 1, 1, 8, 8)\nother = torch.compile(flex_attention)",
        "def make(f): return f\nfast = torch.compile(create_block_mask)\nmake(mask_mod)",
    ],
)
def test_what_an_eager_library_function_is_given_is_not(code: str) -> None:
    assert names_with_model(FLEX + code) == set()


def test_the_entry_of_a_mask_function_is_the_line_that_compiles() -> None:
    code = FLEX + "make = torch.compile(create_block_mask)\nmake(mask_mod, 1, 1, 8, 8)\n"
    _, regions = resolve_text(SMALL_MODEL + code)
    (entry,) = regions.entries
    assert (entry.target, entry.idiom) == ("m.py::mask_mod", "call")
    assert entry.line == 2 + (SMALL_MODEL + code).split("make = ")[0].count("\n") + 1
