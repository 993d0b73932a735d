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


def others(count: int) -> str:
    """Models that other places put into the slot."""
    return "".join(
        f"class O{i}(nn.Module):\n    def forward(self, x): return x\ndef f{i}(): Trainer(O{i}())\n"
        for i in range(count)
    )


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


def test_few_others_beside_what_one_place_names_leave_it_one_choice() -> None:
    source = MODELS + FACTORY + TRAINER + others(2) + "Trainer(build(cfg.name))"
    assert found(source) == ALL | {"O0.forward", "O1.forward"}


@pytest.mark.parametrize(
    "source",
    [
        MODELS + TRAINER + "".join(f"def f{i}(): Trainer(M{i}())\n" for i in range(MANY)),
        MODELS + TRAINER + "".join(f"K{i} = M{i}\nTrainer(K{i}())\n" for i in range(MANY)).replace("K", "k"),
        MODELS + FACTORY + TRAINER + others(MANY) + "Trainer(build(cfg.name))",
    ],
)
def test_a_slot_that_unrelated_places_fill_is_still_only_assumed(source: str) -> None:
    assert found(source) == set()


ENTER = "R = {}\ndef register(name, made): R[name] = made\n"
BY_CLASS = MODELS + ENTER + "".join(f"register('m{i}', M{i})\n" for i in range(MANY))
BY_MAKER = (
    MODELS + ENTER + "".join(f"def m{i}(): return M{i}()\nregister('m{i}', m{i})\n" for i in range(MANY))
)


@pytest.mark.parametrize("models", [BY_CLASS, BY_MAKER])
@pytest.mark.parametrize(
    "use",
    [
        "Trainer(R[cfg.name]())",
        "Trainer(R.get(cfg.name)())",
        "def build(name):\n    make = R.get(name)\n    return make()\nTrainer(build(cfg.name))",
        "def build(name):\n    if name not in R: raise KeyError\n    make = R[name]\n    return make()\n"
        "net = build(cfg.name)\nTrainer(net)",
    ],
)
def test_what_calls_put_into_a_table_is_one_choice_where_it_is_called_out_of_it(
    models: str, use: str
) -> None:
    assert found(models + TRAINER + use) == ALL


@pytest.mark.parametrize(
    "use",
    [
        "def build(make): return make()\n" + "".join(f"Trainer(build(m{i}))\n" for i in range(MANY)),
        "".join(f"Trainer(m{i}())\n" for i in range(MANY)),
        "class Spec:\n    def __init__(self, make): self.make = make\n"
        + "".join(f"s{i} = Spec(m{i})\n" for i in range(MANY))
        + "Trainer(cfg.spec.make())",
        "def build(make):\n    run = make\n    return run()\n"
        + "".join(f"Trainer(build(m{i}))\n" for i in range(MANY)),
    ],
)
def test_makers_that_many_places_pass_are_no_choice(use: str) -> None:
    makers = MODELS + "".join(f"def m{i}(): return M{i}()\n" for i in range(MANY))
    assert found(makers + TRAINER + use) == set()


REGISTRY = """
class Registry:
    def __init__(self, name):
        self.kept = {}
    def register(self):
        def put(made):
            self.kept[made.__name__] = made
            return made
        return put
    def get(self, name):
        return self.kept.get(name)
NETS = Registry("nets")
LOSSES = Registry("losses")
"""
LOSS = "@LOSSES.register()\nclass Loss(nn.Module):\n    def forward(self, x): return x\n"
ENROLLED = REGISTRY + MODELS.replace("class", "@NETS.register()\nclass") + LOSS
FACTORIES = (
    REGISTRY + MODELS + "".join(f"@NETS.register()\ndef m{i}(): return M{i}()\n" for i in range(MANY)) + LOSS
)


@pytest.mark.parametrize("models", [ENROLLED, FACTORIES])
def test_a_registry_of_the_project_holds_what_it_was_given_itself_and_is_one_choice(models: str) -> None:
    assert found(models + TRAINER + "Trainer(NETS.get(cfg.name)())") == ALL
    assert found(models + TRAINER + "Trainer(LOSSES.get(cfg.name)())") == {"Loss.forward"}


@pytest.mark.parametrize(
    "use",
    [
        "NETS.get(cfg.name)()",  # nobody keeps it
        "Trainer(other.get(cfg.name)())",
        "Trainer(NETS.put(cfg.name)())",
        "".join(f"def f{i}(): Trainer(M{i}())\n" for i in range(MANY)) + "Trainer(LOSSES.get(cfg.name)())",
    ],
)
def test_what_a_registry_of_the_project_holds_is_only_what_comes_out_of_it(use: str) -> None:
    assert not ALL & found(FACTORIES + TRAINER + use)


def test_what_a_test_registers_is_for_tests() -> None:
    test = "from nets import NETS\n@NETS.register()\nclass Fake(nn.Module):\n    def forward(self, x): return x\n"
    use = TRAINER + "Trainer(NETS.get(cfg.name)())"
    files = {"nets.py": ENROLLED, "main.py": "from nets import NETS\n" + use}
    assert {name.partition("::")[0] for name in hot({**files, "tests/test_nets.py": test})} == {"nets.py"}
    assert "tests/test_nets.py::Fake.forward" in hot({**files, "tests/test_nets.py": test + use})


def test_a_table_of_more_models_than_anybody_picks_from_is_a_library() -> None:
    many = range(65)
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


def test_what_a_test_gives_a_library_is_for_tests() -> None:
    files = {
        "tests/test_a.py": BY_DECORATORS,
        "m.py": "import timm\nnet = torch.compile(timm.create_model(args.model))",
    }
    assert not hot(files)


OWN_REGISTRY = (
    NETS
    + """
import catalogue
from functools import partial
class Registry(catalogue.Registry):
    def get(self, name): return super().get(name)
class Table:
    def register(self, name, func): ...
    def get(self, name): ...
def create(*names): return {made}(names)
def build(name, registry: Registry, bare=True, **kwargs):
    one = registry.get(name)
    if isinstance(one, type) or callable(one) and not bare: return one(**kwargs)
    return partial(one, **kwargs)
def make_b(): return B()
def act(x): return x
def model_for(name): return build(name, registry={asked}, bare=False)
MODELS = create("models")
LOSSES = create("losses")
OTHERS = create("others")
MODELS.register("a", func=A)
MODELS.register("b", func=make_b)
LOSSES.register("loss", func=Loss)
LOSSES.register("act", func=act)
compiled = torch.compile(model_for(cfg.name))
"""
)


@pytest.mark.parametrize(
    ("made", "asked", "expected"),
    [
        ("Registry", "MODELS", {"A.forward", "B.forward"}),
        ("Registry", "LOSSES", {"Loss.forward", "act"}),
        ("catalogue.Registry", "MODELS", {"A.forward", "B.forward"}),
        ("Registry", "OTHERS", set()),
        ("Registry", "UNKNOWN", set()),
        ("Registry", "(MODELS, LOSSES)", set()),
        ("Table", "MODELS", set()),
        ("Table", "OTHERS", set()),
    ],
)
def test_a_registry_that_a_helper_makes_holds_what_it_is_given_itself(
    made: str, asked: str, expected: set[str]
) -> None:
    assert found(OWN_REGISTRY.replace("{made}", made).replace("{asked}", asked)) == expected


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
        "train.py": "from pkg import registry\nmodel = registry.MODELS.build(cfg)\ncompiled = torch.compile(model)",
    }
    assert set(hot(files)) == {"pkg/a.py::A.forward"}


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
        name for name, tier in hot({**ZOO, "train.py": LOAD + code, **files}).items() if tier != "assumed"
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
