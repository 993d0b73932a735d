"""Class hierarchy: who inherits a compile site, and what runs where a base only declares."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text

# --- subclasses -----------------------------------------------------------------------------------------

BLOCKS = """
    class Base(nn.Module):
        def forward(self, x): raise NotImplementedError
        def prepare(self): self.compile(fullgraph=False)
    class Plain(Base):
        def forward(self, x): return x
    class Own(Base):
        def prepare(self): pass
        def forward(self, x): return x
    class More(Base):
        def prepare(self): return super().prepare()
        def forward(self, x): return x
    class Elsewhere(nn.Module):
        def forward(self, x): return x
"""


def test_each_class_that_inherits_a_compile_site_is_an_entry_of_its_own() -> None:
    _, regions = resolve_text(BLOCKS)
    assert [entry.target for entry in regions.entries] == ["m.py::Base", "m.py::More", "m.py::Plain"]
    assert not regions.unresolved


def test_a_site_that_does_not_concern_self_is_the_same_for_every_heir() -> None:
    _, regions = resolve_text("""
    def helper(x): return x
    class Base:
        def __init__(self): self.f = torch.compile(helper)
    class Heir(Base): pass
    """)
    assert [entry.target for entry in regions.entries] == ["m.py::helper"]
    assert regions.entries[0].confidence.word == "certain"


def test_the_heirs_of_a_base_that_has_many_belong_to_the_users_of_a_library() -> None:
    heirs = "\n".join(f"    class H{n}(Base):\n        def forward(self, x): return x" for n in range(50))
    assert hot(BLOCKS + heirs) == {"Base.forward": "certain"}


ABSTRACT = """
    from abc import abstractmethod
    class Config:
        def build(self): raise NotImplementedError
        def describe(self): return ""
    class Norm(nn.Module):
        def forward(self, x): return x
    class Conv(nn.Module):
        def forward(self, x): return x
    class NormConfig(Config):
        def build(self): return Norm()
    class ConvConfig(Config):
        def build(self): return Conv()
        def describe(self): return Conv()
    class Model(nn.Module):
        def __init__(self, part: Config): self.part = part.METHOD()
        def forward(self, x): return self.part(x)
    def train(config): compiled = torch.compile(Model(config))
"""


@pytest.mark.parametrize("raised", ["NotImplementedError", "NotImplementedError('build')"])
def test_a_method_that_only_raises_gives_what_the_heirs_make_of_it(raised: str) -> None:
    source = ABSTRACT.replace("METHOD", "build").replace("raise NotImplementedError", f"raise {raised}")
    assert hot(source) == {"Model.forward": "certain", "Norm.forward": "likely", "Conv.forward": "likely"}


def test_a_method_that_the_base_implements_gives_what_the_base_makes_of_it() -> None:
    assert hot(ABSTRACT.replace("METHOD", "describe")) == {"Model.forward": "certain"}


LEFT = """
    class Base(nn.Module):
        def run(self, x): {body}
    class Deep(Base):
        def run(self, x): {below}
    @torch.compile
    def step(block: Base, x): return block.run(x)
"""


def test_a_method_that_only_raises_does_not_run_where_heirs_have_their_own() -> None:
    found = hot(LEFT.format(body="raise NotImplementedError('run')", below="return x"))
    assert set(found) == {"step", "Deep.run"}


@pytest.mark.parametrize(
    ("body", "below"),
    [
        ("return x", "return x"),
        ("raise ValueError", "return x"),
        ("raise NotImplementedError(helper(x))", "return x"),
        ("self.last = NotImplementedError()", "return x"),
        ("x = x + 1; raise NotImplementedError", "return x"),
        ("self.check(x); raise NotImplementedError", "return x"),
        ("raise NotImplementedError", "raise NotImplementedError"),
    ],
)
def test_a_method_that_does_more_or_that_nobody_implements_runs(body: str, below: str) -> None:
    assert "Base.run" in hot(LEFT.format(body=body, below=below))


OVERRIDING = """
class Net(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    pass
class Tokenizing(Model):
    def __init__(self):
        super().__init__()
        self.net = Net()
{more}
class Callback:
    def on_start(self, model{annotated}): pass
class Compiling(Callback):
    def on_start(self, model):
        self.fast = torch.compile(model.net)
"""


def overriding(annotated: str = ": Model", more: str = "") -> set[str]:
    return set(hot(OVERRIDING.format(annotated=annotated, more=more)))


def test_a_parameter_is_what_the_method_that_is_overridden_says() -> None:
    assert overriding() == {"Net.forward"}
    assert overriding(": Tokenizing") == {"Net.forward"}


@pytest.mark.parametrize("annotated", ["", ": int", ": Net", ", other: Model"])
def test_a_parameter_of_which_the_overridden_method_says_something_else_is_unknown(annotated: str) -> None:
    assert overriding(annotated) == set()


@pytest.mark.parametrize(("heirs", "expected"), [(2, {"Net.forward"}), (20, {"Net.forward"})])
def test_what_one_heir_of_a_module_has_is_meant_however_many_there_are(
    heirs: int, expected: set[str]
) -> None:
    more = "".join(f"class Model{number}(Model):\n    pass\n" for number in range(heirs))
    assert overriding(more=more) == expected


def test_what_several_of_many_heirs_have_says_nothing() -> None:
    many = "".join(f"class Model{number}(Model):\n    pass\n" for number in range(20))
    second = "class Second(Model):\n    def __init__(self):\n        self.net = Other()\n"
    other = "class Other(nn.Module):\n    def forward(self, x): return x\n"
    assert overriding(more=other + second) == {"Net.forward", "Other.forward"}
    assert overriding(more=other + second + many) == set()


FIELDS = """
from dataclasses import dataclass
from typing import Callable
class Net(nn.Module):
    def forward(self, x): return x
@dataclass
class Base:
    build: Callable
@dataclass
class Config(Base):
    rate: float = 0.1
def train(config: Base): return torch.compile(config.build())
{made}
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("train(Config(build=lambda: Net()))", {"Net.forward"}),
        ("train(Config(build=Net))", {"Net.forward"}),
        ("train(Base(build=Net))", {"Net.forward"}),
        ("train(Config(rate=Net))", set()),
        ("Config(build=Net)\nBase(build=print)", set()),  # the base has instances of its own
    ],
)
def test_a_field_of_a_base_that_nobody_makes_is_what_its_heirs_are_made_with(
    made: str, expected: set[str]
) -> None:
    assert set(hot(FIELDS.format(made=made))) == expected


# --- abstract methods -----------------------------------------------------------------------------------

BASES = """
    from abc import ABC, abstractmethod
    class Layer(ABC):
        def reset(self): return 0
        @abstractmethod
        def update(self, x): ...
    class Cache:
        layers: list[Layer]
        def update(self, x): return self.layers[0].update(x)
"""


def test_an_abstract_base_of_too_many_classes_leads_nowhere() -> None:
    heirs = "\n".join(f"    class L{n}(Layer):\n        def update(self, x): return x" for n in range(50))
    assert hot(
        BASES
        + heirs
        + """
    @torch.compile
    def step(layer: Layer, x): return layer.update(x)
    """
    ) == {"step": "certain"}
