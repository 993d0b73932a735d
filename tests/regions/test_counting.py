"""How many instances a regional entry compiles, where plain numbers in the code say so."""

from __future__ import annotations

import pytest

from tests.programs import resolve_text

BLOCKS = """
class Block(nn.Module):
    def forward(self, x): return x

class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(n)])
        self.pair = nn.ModuleList([Block(), Block()])
        self.grown = nn.ModuleList([])
        self.grown.append(Block())
        self.chosen = nn.ModuleList([Block() for i in range(9) if keep(i)])
"""


def counted(code: str) -> int | None:
    _, regions = resolve_text(BLOCKS + code)
    (entry,) = regions.entries
    assert entry.regional
    return entry.instances


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("for b in Model(12).layers:\n    b.compile()", 12),
        ("m = Model(n=12)\nfor i, b in enumerate(m.layers):\n    m.layers[i] = torch.compile(b)", 12),
        ("for b in Model(3).pair:\n    b.compile()", 2),
        ("blocks = nn.ModuleList([torch.compile(Block()) for _ in range(2, 7)])", 5),
        ("DEPTH = 4\nfor _ in range(DEPTH):\n    compiled = torch.compile(Block())", 4),
        ("for _ in range(2):\n    for _ in range(3):\n        compiled = torch.compile(Block())", 6),
        ("for name, b in Model(5).layers.named_children():\n    b.compile()", 5),
    ],
)
def test_the_number_of_instances_follows_from_plain_numbers(code: str, count: int) -> None:
    assert counted(code) == count


@pytest.mark.parametrize(
    "code",
    [
        "for b in Model(cfg.depth).layers:\n    b.compile()",
        "for m in (Model(3), Model(4)):\n    for b in m.layers:\n        b.compile()",
        "for b in Model(3).grown:\n    b.compile()",
        "for b in Model(3).chosen:\n    b.compile()",
        "while more():\n    compiled = torch.compile(Block())",
        "n = 3\nn = 4\nfor _ in range(n):\n    compiled = torch.compile(Block())",
        "for b in Model(*sizes).layers:\n    b.compile()",
    ],
)
def test_a_number_that_the_code_does_not_settle_stays_unknown(code: str) -> None:
    assert counted(code) is None


DECLARED = """
# dynamo-lint: region
class Block(nn.Module):
    def forward(self, x): return x

class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(n)])
"""


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("model = Model(12)", 12),
        ("model = Model(n=3)\nextra = Block()", 4),
        ("pair = [Model(5) for _ in range(2)]", 10),
        ("class Outer(nn.Module):\n    def __init__(self):\n        self.model = Model(7)", 7),
    ],
)
def test_a_declared_class_has_as_many_instances_as_are_constructed(code: str, count: int) -> None:
    assert counted_in(DECLARED + code) == count


@pytest.mark.parametrize(
    "code",
    [
        "",
        "model = Model(cfg.depth)",
        "small, large = Model(2), Model(4)",
        "model = Model(2)\nwhile more():\n    extra = Block()",
        "models = [Model(2) for name in cfg.names]",
        "model = Model(2)\nfor i in range(3):\n    model.layers.append(Block())",
        "from functools import partial\nmodel = Model(2)\nmake = partial(Block)",
    ],
)
def test_a_declared_class_of_unsettled_number_has_an_unknown_number(code: str) -> None:
    assert counted_in(DECLARED + code) is None


def test_a_declared_function_has_no_instances() -> None:
    assert counted_in("# dynamo-lint: region\ndef step(x): return x\nfor _ in range(3):\n    step(1)") is None


def counted_in(source: str) -> int | None:
    _, regions = resolve_text(source)
    (entry,) = regions.entries
    return entry.instances
