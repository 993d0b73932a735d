"""Regions: a `forward` that is disabled, or put in place only for a while."""

from __future__ import annotations

import pytest

from tests.programs import hot

MODEL = """
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
    def forward(self, x):
        for block in self.blocks: x = block(x)
        return x
model = Model()
compiled = torch.compile(model)
"""
WHOLE = {"Model.forward", "Block.forward"}


@pytest.mark.parametrize(
    "store",
    [
        "block.forward = torch.compiler.disable(block.forward)",
        "block.forward = torch._dynamo.disable(block.forward)",
        "block.forward = torch.compiler.disable(recursive=True)(block.forward)",
        "setattr(block, 'forward', torch.compiler.disable(block.forward))",
    ],
)
def test_what_gets_a_disabled_forward_is_cold(store: str) -> None:
    assert set(hot(f"{MODEL}for block in model.blocks:\n    {store}")) == {"Model.forward"}


@pytest.mark.parametrize(
    "store",
    [
        "block.forward = torch.compiler.disable(block.forward, recursive=False)",
        "block.backward = torch.compiler.disable(block.forward)",
        "block.forward = torch.compile(block.forward)",
        "block.forward = checked(block.forward)",
    ],
)
def test_what_gets_another_forward_stays_compiled(store: str) -> None:
    assert set(hot(f"{MODEL}for block in model.blocks:\n    {store}")) >= WHOLE


UNDONE = """
def put(x): return x
def exported(model: Model):
    original = model.forward
    model.forward = put
    try:
        run(model)
    finally:
        model.forward = original
"""


@pytest.mark.parametrize(
    ("undone", "more"),
    [
        (UNDONE, set()),
        (UNDONE.replace("        model.forward = original", "        pass"), {"put"}),
        (UNDONE.replace("model.forward = original", "model.other = original"), {"put"}),
        (
            "def put(x): return x\nclass Patch:\n    def __init__(self, model: Model): self.model = model\n"
            "    def __enter__(self):\n        self.before = self.model.forward\n        self.model.forward = put\n"
            "    def __exit__(self, *rest): self.model.forward = self.before\n",
            set(),
        ),
    ],
)
def test_a_forward_that_is_undone_by_who_puts_it_there_is_cold(undone: str, more: set[str]) -> None:
    assert set(hot(MODEL + undone)) == WHOLE | more
