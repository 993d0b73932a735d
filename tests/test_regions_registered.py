"""Regions: models that a configuration picks, from tables, factories and registries of the project or of libraries."""

from __future__ import annotations

import pytest

from tests.programs import hot

MANY = 12
MODELS = "".join(f"class M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(MANY))
ALL = {f"M{i}.forward" for i in range(MANY)}
TABLE = "R = {" + ", ".join(f"'m{i}': M{i}" for i in range(MANY)) + "}\n"
ROWS = "R = (" + ", ".join(f"('m{i}', M{i})" for i in range(MANY)) + ")\n"
TRAINER = """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.fast = torch.compile(self.model)
"""


def found(source: str) -> set[str]:
    """What is likely or certain."""
    return {name for name, tier in hot(source).items() if tier != "assumed"}


FACTORY = "def build(name):\n" + "".join(f"    if name == 'm{i}': return M{i}()\n" for i in range(MANY))
DECORATED = """
R = {}
def register(name):
    def put(cls):
        R[name] = cls
        return cls
    return put
""" + "".join(
    f"@register('m{i}')\nclass M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(MANY)
)


@pytest.mark.parametrize(
    "source",
    [
        MODELS + TABLE + TRAINER + "Trainer(R[cfg.name]())",
        MODELS + TABLE + TRAINER + "def build(cfg): return R.get(cfg.name)()\nTrainer(build(cfg))",
        MODELS + ROWS + TRAINER + "R2 = {name: cls for name, cls in R}\nTrainer(R2[cfg.name]())",
        MODELS + FACTORY + TRAINER + "Trainer(build(cfg.name))",
        DECORATED + TRAINER + "Trainer(R[cfg.name]())",
        DECORATED
        + TRAINER
        + "def build(cfg):\n    cls = R.get(cfg.name)\n    return cls()\nTrainer(build(cfg))",
    ],
)
def test_what_one_place_names_is_one_choice_however_many_classes_there_are(source: str) -> None:
    assert found(source) == ALL


@pytest.mark.parametrize(
    "source",
    [
        MODELS + TRAINER + "".join(f"def f{i}(): Trainer(M{i}())\n" for i in range(MANY)),
        MODELS + TRAINER + "".join(f"K{i} = M{i}\nTrainer(K{i}())\n" for i in range(MANY)).replace("K", "k"),
        (MODELS + FACTORY + TRAINER).replace(
            "def build", "class M99(nn.Module):\n    def forward(self, x): return x\ndef build"
        )
        + "def other(): Trainer(M99())\nTrainer(build(cfg.name))",
    ],
)
def test_a_slot_that_unrelated_places_fill_is_still_only_assumed(source: str) -> None:
    assert found(source) == set()


def test_a_table_of_more_models_than_anybody_picks_from_is_a_library() -> None:
    many = range(41)
    models = "".join(f"class M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in many)
    table = "R = {" + ", ".join(f"'m{i}': M{i}" for i in many) + "}\n"
    assert found(models + table + TRAINER + "Trainer(R[cfg.name]())") == set()


PAIR = """
@{0}
class A(nn.Module):
    def forward(self, x): return x
@{1}
class B(nn.Module):
    def forward(self, x): return x
"""
LIBRARY = "from mmengine.registry import Registry\nMODELS = Registry('model')\nLOSSES = Registry('loss')\n"


@pytest.mark.parametrize(
    ("registered", "model"),
    [
        (("MODELS.register_module()", "MODELS.register_module()"), "MODELS.build(cfg.model)"),
        (("MODELS.register()", "MODELS.register('b')"), "MODELS.get(cfg.name)(cfg)"),
        (("MODELS.register", "MODELS.register"), "MODELS.create(cfg.name)"),
    ],
)
def test_a_registry_of_a_library_builds_what_the_project_registers(
    registered: tuple[str, str], model: str
) -> None:
    code = LIBRARY + PAIR.format(*registered)
    assert found(f"{code}model = {model}\ntorch.compile(model)") == {"A.forward", "B.forward"}


@pytest.mark.parametrize(
    "model", ["LOSSES.build(cfg)", "MODELS.describe(cfg)", "OTHER.build(cfg)", "self.MODELS.build(cfg)"]
)
def test_other_registries_and_other_methods_build_nothing_that_is_registered_here(model: str) -> None:
    code = LIBRARY + PAIR.format("MODELS.register_module()", "MODELS.register_module()")
    assert found(f"{code}torch.compile({model})") == set()


def test_a_registry_is_known_in_the_files_that_import_it() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/registry.py": LIBRARY,
        "pkg/a.py": "from pkg.registry import MODELS\n@MODELS.register_module()\nclass A(nn.Module):\n"
        "    def forward(self, x): return x\n",
        "train.py": "from pkg import registry\nmodel = registry.MODELS.build(cfg)\ntorch.compile(model)",
    }
    assert set(hot(files)) == {"pkg/a.py::A.forward"}


AUTO = """
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.models.auto.auto_factory import _BaseAutoModelClass, _LazyAutoMapping
class Config(PretrainedConfig): pass
class Mine(PreTrainedModel):
    def forward(self, x): return x
class Other(PreTrainedModel):
    def forward(self, x): return x
AutoConfig.register("mine", Config)
"""


@pytest.mark.parametrize(
    ("registered", "model", "expected"),
    [
        ("AutoModel.register(Config, Mine)", "AutoModel.from_config(Config())", {"Mine.forward"}),
        ("AutoModel.register(Config, Mine)", "AutoModel.from_pretrained('x')", {"Mine.forward"}),
        (
            "MAP = _LazyAutoMapping({}, {})\nfor c, m in ((Config, Mine),): MAP.register(c, m)\n"
            "class Auto(_BaseAutoModelClass):\n    _model_mapping = MAP",
            "Auto.from_config(Config())",
            {"Mine.forward"},
        ),
        ("AutoModel.register(Config, Mine)", "AutoConfig.from_pretrained('x')", set()),
        ("AutoModel.describe(Config, Mine)", "AutoModel.from_config(Config())", set()),
    ],
)
def test_an_auto_class_builds_what_is_registered_with_it(
    registered: str, model: str, expected: set[str]
) -> None:
    assert found(f"{AUTO}{registered}\nmodel = {model}\ntorch.compile(model)") == expected
