"""Regions below a base class: who inherits a compile site, and what runs where the base only declares."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text

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


def test_a_module_that_compiles_itself_in_a_base_class_does_so_in_each_class_that_runs_that_method() -> None:
    found = hot(BLOCKS)
    assert found == {"Plain.forward": "likely", "More.forward": "likely"}


def test_each_class_that_inherits_a_compile_site_is_an_entry_of_its_own() -> None:
    _, regions = resolve_text(BLOCKS)
    assert [entry.target for entry in regions.entries] == ["m.py::Base", "m.py::More", "m.py::Plain"]
    assert not regions.unresolved


def test_an_override_of_what_the_base_compiles_is_compiled_and_an_override_of_the_site_is_not() -> None:
    assert hot("""
    class Generator:
        def __init__(self): self.step = torch.compile(self.step)
        def step(self, x): return x
        def run(self, x): return self.step(x)
    class Other(Generator):
        def step(self, x): return self.mix(x)
        def mix(self, x): return x + 1
    class Eager(Generator):
        def __init__(self): pass
        def step(self, x): return self.mix(x)
        def mix(self, x): return x + 2
    """) == {"Generator.step": "certain", "Other.step": "likely", "Other.mix": "likely"}


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


def test_a_value_declared_as_a_class_with_abstract_methods_is_one_of_its_heirs() -> None:
    assert hot("""
    from abc import abstractmethod
    class Block(nn.Module):
        @abstractmethod
        def forward(self, x): ...
    class Wide(Block):
        def forward(self, x): return x
    class Other(nn.Module):
        def forward(self, x): return x
    def apply(block: Block): block.compile()
    """) == {"Wide.forward": "likely"}


def test_what_a_package_imports_by_star_hides_the_submodule_of_the_same_name() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/loss/__init__.py": "from .entropy import *\n",
        "pkg/loss/entropy.py": "def entropy(x): return x\n",
        "pkg/loss/other.py": "def unused(x): return x\n",
        "pkg/train.py": """
            from .loss import entropy, other
            @torch.compile
            def step(x): return entropy(x)
        """,
    }
    assert hot(files) == {"pkg/train.py::step": "certain", "pkg/loss/entropy.py::entropy": "certain"}


HEIRS = """
from abc import ABC, abstractmethod
class Base(nn.Module, ABC):
    @abstractmethod
    def run(self, x): ...
    def forward(self, x): return self.run(x)
class Used(Base):
    def run(self, x): return x
class Never(Base):
    def run(self, x): return x
def go(part: Base): return torch.compile(part)
"""


@pytest.mark.parametrize(
    "named",
    [
        "go(Used())",
        "TABLE = {'used': Used}",
        "NAMES = ['Used']",
        "class Heir(Used): ...\ngo(Heir())",
        "make(cls=Used)",
    ],
)
def test_a_heir_that_nothing_names_is_merely_assumed_beside_one_that_is_named(named: str) -> None:
    assert hot(HEIRS + named) == {"Base.forward": "certain", "Used.run": "likely", "Never.run": "assumed"}


@pytest.mark.parametrize(
    "code",
    [
        "",
        "other = Somewhere()",
        "go(Used())\ngo(Never())",
        "TABLE = [Used, Never]",
        "text = 'Used and Never'",
    ],
)
def test_heirs_that_are_all_named_or_all_left_to_users_are_likely(code: str) -> None:
    assert hot(HEIRS + code) == {"Base.forward": "certain", "Used.run": "likely", "Never.run": "likely"}


def test_what_another_file_imports_is_named() -> None:
    files = {"m.py": HEIRS + "go(Used())\n", "use.py": "from m import Never\n"}
    assert hot(files) == {"Base.forward": "certain", "Used.run": "likely", "Never.run": "likely"}


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
