"""A `forward` that is disabled, or put in place only for a while."""

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


ROUTED = """
class Net(nn.Module):
    def forward(self, x): return x
def patch(net: Net):
    {before}
    def routed(*given): return (fast if len(given) == 1 else plain)(*given)
    {middle}
    {after}
"""
COMPILES = "fast, plain = torch.compile(net.forward), net.forward"


def routed(before: str = "pass", middle: str = "pass", after: str = "pass") -> set[str]:
    return set(hot(ROUTED.format(before=before, middle=middle, after=after)))


@pytest.mark.parametrize(
    "store",
    [
        "net.forward = routed",
        "setattr(net, 'forward', routed)",
        "net.forward = types.MethodType(routed, net)",
    ],
)
def test_what_replaces_a_forward_once_that_is_compiled_is_cold(store: str) -> None:
    assert routed(before=COMPILES, after=store) == {"Net.forward"}
    assert routed(middle=COMPILES, after=store) == {"Net.forward"}


def test_what_replaces_a_forward_before_that_is_compiled_is_hot() -> None:
    assert "patch.<locals>.routed" in routed(middle="net.forward = routed", after=COMPILES)


@pytest.mark.parametrize(
    ("before", "middle"),
    [
        ("fast = torch.compile(net)", "pass"),  # asks for the forward when it is called
        (COMPILES, "net.forward = torch.compile(routed)"),
        (COMPILES, "again = torch.compile(routed)"),
        ("net.forward = lambda x: x", "net.forward = routed; fast = torch.compile(net.forward)"),
    ],
)
def test_what_replaces_a_forward_but_is_compiled_too_is_hot(before: str, middle: str) -> None:
    assert "patch.<locals>.routed" in routed(before, middle, "net.forward = routed")
