"""Regions: slots with one part beside many registered ones, functions that a property gives, parts by a text."""

from __future__ import annotations

import pytest

from tests.programs import hot


def likely(source: str) -> set[str]:
    return {name for name, tier in hot(source).items() if tier != "assumed"}


# --- who is registered beside ---------------------------------------------------------------------------

CELLS = """
KNOWN = {{}}
def register(kind):
    def enter(cls):
        KNOWN[kind] = cls
        return cls
    return enter
class Cell(nn.Module): pass
{registered}
{beside}
class Block(nn.Module):
    def __init__(self, cell: Cell):
        super().__init__()
        self.cell = cell
    def forward(self, x): return self.cell(x)
def build(kind): return Block(KNOWN[kind]())
{made}
fast = torch.compile(build("r0"))
"""


def cells(registered: int, beside: int) -> set[str]:
    """What is likely compiled where so many cells are registered, and so many made beside."""
    enter = "@register('{0}')\n"
    body = "class {0}(Cell):\n    def forward(self, x): return x\n"
    return likely(
        CELLS.format(
            registered="".join((enter + body).format(f"r{n}") for n in range(registered)),
            beside="".join(body.format(f"b{n}") for n in range(beside)),
            made="".join(f"Block(b{n}())\n" for n in range(beside)),
        )
    )


def test_one_beside_many_that_are_registered_is_one_of_them() -> None:
    assert {*(f"r{n}.forward" for n in range(8)), "b0.forward"} <= cells(8, 1)


def test_as_many_beside_as_are_registered_make_a_slot_for_anything() -> None:
    assert not {name for name in cells(6, 6) if name.startswith("b")}


# --- a function that a property gives -------------------------------------------------------------------

GIVING = """
class Layer(nn.Module):
    def forward(self, x): return x
class OtherLayer(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([OtherLayer()])
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer()])
    {kind}
    def parallel(self):
        return {value}
def fast(model):
    for layer in model.layers: layer.compile()
def slow(model): return model
def train(model: Model):
    fast(Other())
    parallel, _ = model.parallel
    parallel(model)
"""


def test_a_function_that_a_property_gives_is_called_by_its_name() -> None:
    assert likely(GIVING.format(kind="@property", value="fast, self")) == {
        "Layer.forward",
        "OtherLayer.forward",
    }


@pytest.mark.parametrize(("kind", "value"), [("@property", "slow, self"), ("@property", "self, fast")])
def test_what_a_property_gives_elsewhere_or_instead_compiles_nothing(kind: str, value: str) -> None:
    assert likely(GIVING.format(kind=kind, value=value)) == {"OtherLayer.forward"}


# --- parts that depend on a text -----------------------------------------------------------------------

PARTS = """
class Up(nn.Module):
    def forward(self, x): return x
class Down(nn.Module):
    def forward(self, x): return x
class Sample(nn.Module):
    def __init__(self, mode):
        super().__init__()
        if mode == "up":
            self.part = Up()
        else:
            self.part = Down()
        self.same = Down()
    def forward(self, x): return self.part(x)
fast = torch.compile(Sample({given}))
"""


@pytest.mark.parametrize("given", ["'down'", "load()"])
def test_a_part_that_only_another_text_asks_for_is_no_certainty(given: str) -> None:
    assert hot(PARTS.format(given=given)).get("Up.forward") != "certain"


def test_a_part_of_every_instance_stays_certain() -> None:
    source = PARTS.replace("return self.part(x)", "return self.same(x)").format(given="load()")
    assert hot(source)["Down.forward"] == "certain"
