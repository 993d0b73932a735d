"""Annotations: what a declared class or protocol says of a parameter, and what callers say against it."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- what callers pass against an annotation ------------------------------------------------------------

MANY = "\n".join(
    f"class M{i}(nn.Module):\n    def forward(self, x): return x\nmake(M{i}())" for i in range(12)
)


def test_what_calls_give_a_helper_is_no_evidence_against_its_annotation() -> None:
    source = f"{MANY}\ndef make(inner: M3):\n    compiled = torch.compile(inner)\n"
    assert hot(source) == {"M3.forward": "certain"}


# --- a base that nobody makes an instance of ------------------------------------------------------------

ENCODED = """
class Encoder:
    def turn(self, x): return x
class Rotary(Encoder):
    def turn(self, x): return -x
class Unused(Encoder):
    def turn(self, x): return x * 2
class Block(nn.Module):
    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder
    def forward(self, x): return self.encoder.turn(x)
"""


@pytest.mark.parametrize(
    "made", ["Block(Encoder()).compile()", "Block(Rotary()).compile()\nspare = Encoder()"]
)
def test_a_constructor_that_declares_a_class_somebody_makes_is_given_that(made: str) -> None:
    assert set(hot(ENCODED + made)) == {"Block.forward", "Encoder.turn"}


# --- names declared as a class --------------------------------------------------------------------------

MADE_BY_NAME = """
    class Net(nn.Module):
        def forward(self, x): return x
    class Wide(Net):
        def forward(self, x): return x
    class Base(nn.Module):
        def forward(self, x): return x
    class Trainer:
        def __init__(self, net: Base, size): self.net = torch.compile(net)
    class Other:
        def __init__(self, net): self.net = net
    def main(cfg):
        kind: {kind} = find(cfg["kind"])
        return kind({net}, 3)
"""


@pytest.mark.parametrize(
    "kind", ["type[Trainer]", "Type[Trainer]", "'type[Trainer]'", "type[Trainer] | None"]
)
def test_a_name_that_is_declared_as_a_class_constructs_it(kind: str) -> None:
    tiers = hot(MADE_BY_NAME.format(kind=kind, net="Net()"))
    assert tiers.get("Net.forward") == ("likely" if kind != "type[Trainer] | None" else None)


@pytest.mark.parametrize("kind", ["type[Other]", "Trainer", "list[Trainer]", "type[Elsewhere]", "type"])
def test_a_name_that_is_declared_as_something_else_constructs_nothing_of_it(kind: str) -> None:
    assert "Net.forward" not in hot(MADE_BY_NAME.format(kind=kind, net="Net()"))


# --- names of annotations -------------------------------------------------------------------------------

NETS = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""


def likely(files: dict[str, str]) -> set[str]:
    return {name.partition("::")[2] for name, tier in hot(files).items() if tier != "possible"}


ALIASED = """
class NetConfig:
    def build(self): return Net()
class OtherConfig:
    def build(self): return Other()
"""


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("Kind = Annotated[NetConfig, 1]", {"Net.forward"}),
        ("Kind = Annotated[Union[NetConfig, OtherConfig], 1]", {"Net.forward", "Other.forward"}),
        ("Kind = Optional[NetConfig]", {"Net.forward"}),
        ("Kind = Annotated[int, NetConfig]", set()),
        ("Kind = Annotated[NetConfig, 1]\nKind = Optional[OtherConfig]", set()),
        ("Kind = List[NetConfig]", set()),
        ("Kind = Annotated", set()),
    ],
)
def test_an_annotation_may_have_a_name_of_its_own(declared: str, expected: set[str]) -> None:
    kinds = f"from typing import Annotated, List, Optional, Union\n{NETS}{ALIASED}{declared}\n"
    use = "from kinds import Kind\ndef main(config: Kind): return torch.compile(config.build())"
    assert likely({"kinds.py": kinds, "train.py": use}) == expected
