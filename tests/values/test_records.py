"""Records, tables and builders that models are handed around in, as Dynamo sees them, and what must stay quiet."""

from __future__ import annotations

import pytest

from tests.evaluation.test_flow_to_compile_sites import NET, NETS, TABLE, likely
from tests.programs import hot
from tests.translated import NAMED, OURS, Translated

pytest.importorskip("torch")

COMPILED = "\ndef main(x): torch.compile({what})(x)\n"
KEPT = """
class Hub:
    _only = None
    def __init__(self): self.model = Net()
    @classmethod
    def get(cls):
        if cls._only is None:
            {put}
        return cls._only
"""
HELD = """
held = None
def keep(model, unused):
    {declared}
    held = model
keep(Net(), Other())
"""
KINDS = """
class Models:
    known = {{"model": {{}}, "loss": {{}}}}
    @classmethod
    def add_model(cls, name, given): cls.known["model"][name] = given
    @classmethod
    def add_loss(cls, name, given): cls.known["loss"][name] = given
    @classmethod
    def get(cls, name): return cls.known["{kind}"][name]
Models.add_model("net", Net)
Models.add_loss("net", Other)
"""
DEFAULTED = "\ndef build(**given):\n    kind = given.{take}\n    return kind()\n"
WRAPPING = """
def wrap(base):
    class Wrapped(base):
        def forward(self, x): return super().forward(x)
    return Wrapped
"""
NESTED = {"wrap.<locals>.Wrapped.forward", *NET}
PROGRAMS = {
    "a namespace": (
        "from types import SimpleNamespace\ndef make():\n    held = SimpleNamespace()\n"
        "    held.model, held.other = Net(), Other()\n    return held" + COMPILED.format(what="make().model"),
        NET,
    ),
    "arguments that a model is hung on": (
        "import argparse\ndef main(x):\n    args = argparse.ArgumentParser().parse_args([])\n"
        "    args.model, args.other = Net(), Other()\n    run(args, x)\n"
        "def run(args, x): torch.compile(args.model)(x)",
        NET,
    ),
    "a named tuple by its field": (
        "from collections import namedtuple\nParts = namedtuple('Parts', ['model', 'other'])\n"
        "parts = Parts(other=Other(), model=Net())" + COMPILED.format(what="parts.model"),
        NET,
    ),
    "a named tuple by its place": (
        "from collections import namedtuple\nParts = namedtuple('Parts', 'other model')\n"
        "def make(): return Parts(Other(), Net())\nother, model = make()" + COMPILED.format(what="model"),
        NET,
    ),
    "a class of named tuples": (
        "from typing import NamedTuple\nclass Parts(NamedTuple):\n    model: nn.Module\n    other: nn.Module\n"
        "def make(): return Parts(Net(), Other())\nmodel, other = make()" + COMPILED.format(what="model"),
        NET,
    ),
    "a typed dictionary": (
        "from typing import TypedDict\nclass State(TypedDict):\n    model: nn.Module\n    other: nn.Module\n"
        "def make(): return State(model=Net(), other=Other())" + COMPILED.format(what="make()['model']"),
        NET,
    ),
    "a dictionary of pairs": (
        "from collections import OrderedDict\nKNOWN = OrderedDict([('net', Net), ('other', Other)])"
        + COMPILED.format(what="KNOWN['net']()"),
        NET,
    ),
    "a table that nobody changes": (
        "from types import MappingProxyType\nKNOWN = MappingProxyType({'net': Net})"
        + TABLE.format(table="KNOWN"),
        NET,
    ),
    "one object for all": (
        KEPT.format(put="cls._only = cls()") + COMPILED.format(what="Hub.get().model"),
        NET,
    ),
    "one object by the name of its class": (
        KEPT.format(put="Hub._only = Hub()") + COMPILED.format(what="Hub.get().model"),
        NET,
    ),
    "a name of the file that a function sets": (
        HELD.format(declared="global held") + COMPILED.format(what="held"),
        NET,
    ),
    "one sort of a registry of several": (
        KINDS.format(kind="model") + COMPILED.format(what="Models.get('net')()"),
        NET,
    ),
    "another sort of it": (
        KINDS.format(kind="loss") + COMPILED.format(what="Models.get('net')()"),
        {"Other.forward", "other"},
    ),
    "what a caller may leave out": (
        DEFAULTED.format(take="pop('kind', Net)") + COMPILED.format(what="build()"),
        NET,
    ),
    "one model or a list of them": (
        "def make(build):\n    models = build()\n    if not isinstance(models, list):\n        models = [models]\n"
        "    return models\ndef main(x):\n    for one in make(lambda: Net()): torch.compile(one)(x)",
        {"Net.forward", "helper"},
    ),
}


@NAMED
@pytest.mark.parametrize(("source", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_dynamo_translates_what_records_and_tables_hold(
    source: str, expected: set[str], translated: Translated
) -> None:
    assert set(hot(OURS + NETS + source)) == translated(OURS + NETS + source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "from types import SimpleNamespace\nheld, beside = SimpleNamespace(), 1\nrest = SimpleNamespace()\n"
        "rest.model = Net()" + COMPILED.format(what="held.model"),
        "from collections import namedtuple\nParts = namedtuple('Parts', 'model other')\n"
        "parts = Parts(None, Net())" + COMPILED.format(what="parts.model"),
        "class Parts(tuple):\n    other: nn.Module\n    model: nn.Module\n"
        "other, model = Parts(Net())" + COMPILED.format(what="model"),
        "class State:\n    model: Net\ndef run(state: State, x): torch.compile(state['model'])(x)",
        "KNOWN = [('net', Net)]\ndef main(x): torch.compile(KNOWN['net']())(x)",
        "KNOWN = dict([('net', 'other', Net)])\ndef main(x): torch.compile(KNOWN['net']())(x)",
        KEPT.format(put="other._only = cls()") + COMPILED.format(what="Hub.get().model"),
        KEPT.format(put="cls._other = cls()") + COMPILED.format(what="Hub.get().model"),
        KEPT.replace("_only = None", "_only = 0").format(put="cls._only = cls()")
        + COMPILED.format(what="Hub.get().model"),
        HELD.format(declared="pass") + COMPILED.format(what="held"),
        DEFAULTED.format(take="copy('kind', Net)") + COMPILED.format(what="build()"),
        DEFAULTED.format(take="pop('kind', Net)") + COMPILED.format(what="build(kind=print)"),
        "def make(models):\n    models = [len(models)]\n    return models"
        + COMPILED.format(what="make(1)[0]"),
        "def wrap(base): return type('Wrapped', (), {'base': base})" + COMPILED.format(what="wrap(Net)()"),
    ],
)
def test_what_only_looks_like_a_record_or_a_table_is_quiet(source: str) -> None:
    assert likely(source) == set()


def test_a_base_that_nobody_asks_for_is_quiet() -> None:
    apart = WRAPPING.replace("super().forward(x)", "x + 1") + COMPILED.format(what="wrap(Net)()")
    assert likely(apart) == {"wrap.<locals>.Wrapped.forward"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("import attrs\n@attrs.define\nclass Run:\n    model: nn.Module = attrs.field(factory=Net)", NET),
        ("import attr\n@attr.s\nclass Run:\n    model = attr.ib(default=attr.Factory(Other))", set()),
        (
            "from pydantic import BaseModel, Field\nclass Run(BaseModel):\n"
            "    model: nn.Module = Field(default_factory=Net)",
            NET,
        ),
        ("from other import field\nclass Run:\n    model: nn.Module = field(factory=Net)", set()),
        ("import attrs\n@attrs.define\nclass Run:\n    model: nn.Module = attrs.field(converter=Net)", set()),
    ],
)
def test_a_field_holds_what_its_default_makes(fields: str, expected: set[str]) -> None:
    assert likely(fields + "\ndef main(run: Run, x): torch.compile(run.model)(x)") == expected


CONFIGURED = """
class Config:
    def build(self): return Net()
class Options:
    def build(self): return Other()
def main(x):
    config = {made}
    torch.compile(config.build())(x)
"""


@pytest.mark.parametrize(
    ("imported", "made", "expected"),
    [
        ("import tyro", "tyro.cli(Config)", NET),
        ("import draccus", "draccus.parse(config_class=Config)", NET),
        ("import dacite", "dacite.from_dict(data_class=Config, data={})", NET),
        ("", "Config.model_validate_json('{}')", NET),
        ("import tyro", "tyro.cli(tyro.conf.FlagConversionOff[Config])", NET),
        (
            "import tyro",
            'tyro.extras.overridable_config_cli({"a": ("first", Config()), "b": ("", 1)})',
            NET,
        ),
        ("import tyro", 'tyro.extras.overridable_config_cli({"a": Config()})', set()),
        ("import tyro", "tyro.extras.overridable_config_cli()", set()),
        ("import tyro", "tyro.cli(tyro.conf.FlagConversionOff[main])", set()),
        ("import tyro", "tyro.conf(Config)", set()),
        ("import tyro", "tyro.cli(main)", set()),
        ("import dacite", "dacite.from_dict({}, Config)", set()),
        ("", "Config.to_dict()", set()),
    ],
)
def test_a_library_makes_objects_of_the_class_that_it_is_given(
    imported: str, made: str, expected: set[str]
) -> None:
    assert likely(f"{imported}\n" + CONFIGURED.format(made=made)) == expected


ARGUMENTS = "import argparse\ndef arguments(): return argparse.ArgumentParser().parse_args()\n"
HANGING = NETS + "from arguments import arguments\nargs = arguments()\nargs.{name} = Net()\n"
RUNNING = "from arguments import arguments\nargs = arguments()\nfast = torch.compile(args.network)\n"


@pytest.mark.parametrize(("name", "found"), [("network", True), ("net", False)])
def test_what_another_file_hangs_on_arguments_is_found_by_a_name_that_nothing_else_has(
    name: str, found: bool
) -> None:
    files = {"arguments.py": ARGUMENTS, "hang.py": HANGING.format(name=name), "run.py": RUNNING}
    assert ("hang.py::Net.forward" in hot(files)) == found
