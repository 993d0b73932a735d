"""Registries of libraries: what they build of what the project registers, and which a configuration picks."""

from __future__ import annotations

import pytest

from tests.programs import hot


def found(source: str) -> set[str]:
    """What is likely or certain."""
    return {name for name, tier in hot(source).items() if tier != "possible"}


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
    assert found(f"{code}model = {model}\ncompiled = torch.compile(model)") == {"A.forward", "B.forward"}


NETS = """
class A(nn.Module):
    def forward(self, x): return x
class B(nn.Module):
    def forward(self, x): return x
class Loss(nn.Module):
    def forward(self, x): return x
"""
BY_CALLS = (
    NETS
    + """
from zoo.models import register_model, get_model
from zoo import register_loss, models
import zoo.models as z, zoo
def factory(cls):
    def make(**kwargs): return cls(**kwargs)
    return make
def make_b(config):
    def make(**kwargs): return B(config, **kwargs)
    return make
register_model("a", "small", A)
register_model("b", "small", make_b(3))
register_loss("l", Loss)
"""
)
BY_DECORATORS = (
    NETS
    + """
import timm
from timm import create_model
from timm.models import registry
from timm.models.registry import register_model
@register_model
def a(pretrained=False, **kwargs): return A(**kwargs)
@registry.register_model
def b(pretrained=False, **kwargs):
    model = B(**kwargs)
    return model
@registry.register_notrace_function
def loss(): return Loss()
"""
)


@pytest.mark.parametrize(
    ("code", "model", "expected"),
    [
        (BY_CALLS, "get_model(cfg.arch, cfg.variant)", "AB"),
        (BY_CALLS, "get_model(cfg['arch'])", "AB"),
        (BY_CALLS, "models.get_model(cfg.arch)", "AB"),
        (BY_CALLS, "z.get_model('b', 'small')", "B"),
        (BY_CALLS, "zoo.build_loss(cfg.loss)", ["Loss"]),
        (BY_DECORATORS, "create_model(args.model, num_classes=3)", "AB"),
        (BY_DECORATORS, "timm.create_model(args.model)", "AB"),
        (BY_DECORATORS, "timm.models.create_model('a')", "A"),
        (BY_DECORATORS, "create_model(model_name=args.model)", "AB"),
    ],
)
def test_a_library_makes_what_it_was_given_by_the_function_beside(
    code: str, model: str, expected: list[str]
) -> None:
    assert found(f"{code}compiled = torch.compile({model})") == {f"{name}.forward" for name in expected}


@pytest.mark.parametrize(
    ("code", "model"),
    [
        (BY_CALLS, "get_model('llama', cfg.variant)"),  # one of its own
        (BY_CALLS, "zoo.get_optimizer(cfg.name)"),
        (BY_CALLS, "zoo.get(cfg.name)"),
        (BY_CALLS, "zoo.list_model(cfg.name)"),
        (BY_CALLS, "other.get_model(cfg.arch)"),
        (BY_CALLS, "cfg.get_model(cfg.arch)"),
        (BY_DECORATORS, "create_model('resnet50')"),
        (BY_DECORATORS, "timm.create_function(args.loss)"),
        (BY_DECORATORS, "timm.optim.create_optimizer(args)"),
        (BY_DECORATORS, "timm.get_metric(args.metric)"),
        ("import timm\n" + NETS, "timm.create_model(args.model)"),
        (BY_DECORATORS.replace("timm", "torchvision", 4), "timm.create_model(args.model)"),
        (
            NETS + "def register_model(cls): return cls\nfrom zoo import get_model\nregister_model(A)\n",
            "get_model(n)",
        ),
    ],
)
def test_what_else_a_library_makes_is_its_own(code: str, model: str) -> None:
    assert not found(f"{code}compiled = torch.compile({model})")


ZOO = {
    "registry.py": "import copy\nfrom mmengine.registry import Registry\n"
    "MODELS = Registry('model')\nLOSSES = Registry('loss')\n"
    "def build(module, builder, **more):\n    cfg = copy.deepcopy(module)\n    cfg.update(more)\n"
    "    return builder.build(cfg)\n",
    "zoo.py": """
        from registry import LOSSES, MODELS
        class Part(nn.Module):
            def forward(self, x): return x
        class Hidden(nn.Module):
            def forward(self, x): return x
        @MODELS.register_module()
        class Net(nn.Module):
            def __init__(self, part=None):
                super().__init__()
                self.part = MODELS.build(part)
            def forward(self, x): return self.part(x)
        @MODELS.register_module("named")
        class Other(nn.Module):
            def forward(self, x): return x
        @MODELS.register_module(name="made")
        def make(width=1): return Hidden()
        MODELS.register_module("part", module=Part)
        @LOSSES.register_module("made")
        class Loss(nn.Module):
            def forward(self, x): return x
    """,
}
OTHER, MADE = {"zoo.py::Other.forward"}, {"zoo.py::Hidden.forward"}
NET = {"zoo.py::Net.forward", "zoo.py::Part.forward"}
ANY = OTHER | MADE | NET | {"zoo.py::Part.forward"}
LOAD = "from mmengine.config import Config\nfrom registry import LOSSES, MODELS, build\nimport zoo\n"


def of_zoo(code: str, **configs: str) -> set[str]:
    files = {f"configs/{name}.py": text for name, text in configs.items()}
    return {
        name for name, tier in hot({**ZOO, "train.py": LOAD + code, **files}).items() if tier != "possible"
    }


@pytest.mark.parametrize(
    "code",
    [
        "def main(cfg): compiled = torch.compile(MODELS.build(cfg.model))",
        "def main(cfg): compiled = torch.compile(MODELS.build(cfg['model']))",
        "def main(cfg): compiled = torch.compile(MODELS.build(cfg.get('model')))",
        "def main(cfg): compiled = torch.compile(build(cfg.model, MODELS, width=2))",
        "def main(cfg):\n    build(cfg.loss, LOSSES)\n    build(cfg.other, MODELS)\n"
        "    compiled = torch.compile(build(cfg.model, MODELS))",
        "def start(part): compiled = torch.compile(MODELS.build(part))\ndef main(cfg): start(cfg.model)",
        "cfg = Config.fromfile('x.py')\nmodel = MODELS.build(cfg.model)\nmodel.compile()",
        "def main(cfg): compiled = torch.compile(MODELS.get(cfg.model.type)())",
        "def main(cfg): compiled = torch.compile(MODELS.get(cfg.model.pop('type'))(**cfg.model))",
    ],
)
def test_a_dictionary_of_a_configuration_says_which_model_a_registry_builds(code: str) -> None:
    assert of_zoo(code, a="model = dict(type='named', width=2)\nother = dict(type='made')") == OTHER


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("model = {'type': 'made', 'width': 2}", MADE),
        ("model = dict(type='Net', part=dict(type='part'))", NET),
        ("model = dict(type='Net', part=dict(type='named'))", OTHER | {"zoo.py::Net.forward"}),
        ("from zoo import Other\nmodel = dict(type=Other)", OTHER),
        ("wrapper = dict(model=dict(type='named'))", OTHER),
        ("stages = [dict(model=dict(type='named'))]", OTHER),
        ("model = dict(type='named') if big else dict(type='made')", ANY),  # no plain dictionary
        ("model = dict(kind='named')", ANY),
        ("model = dict(type=name())", ANY),
        ("model = dict(type='elsewhere')", ANY),
        ("def model(): return dict(type='named')", ANY),
        ("", ANY),
    ],
)
def test_a_registry_builds_any_of_its_models_where_no_dictionary_says_which(
    config: str, expected: set[str]
) -> None:
    assert of_zoo("def main(cfg): compiled = torch.compile(MODELS.build(cfg.model))", a=config) == expected


def test_several_configurations_are_one_choice() -> None:
    code = "def main(cfg): compiled = torch.compile(MODELS.build(cfg.model))"
    assert of_zoo(code, a="model = dict(type='named')", b="model = dict(type='made')") == OTHER | MADE


@pytest.mark.parametrize(
    ("model", "expected"), [("'named'", OTHER), ("dict(type='made')", MADE), ("name()", ANY)]
)
def test_a_literal_says_which_model_a_registry_gives(model: str, expected: set[str]) -> None:
    method = "get" if model == "'named'" else "build"
    assert (
        of_zoo(f"compiled = torch.compile(MODELS.{method}({model}){'()' if method == 'get' else ''})")
        == expected
    )


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
    assert found(f"{AUTO}{registered}\nmodel = {model}\ncompiled = torch.compile(model)") == expected
