"""Configurations: what a program builds of the YAML and JSON files beside it, and of hydra's stored choices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dynamo_lint.cli import run
from dynamo_lint.index.config_files import summarize_config
from tests.programs import hot, resolve_text

# --- tables that several files fill ---------------------------------------------------------------------

NETS = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self, net: nn.Module, width=1):
        super().__init__()
        self.net = net
    def forward(self, x): return self.net(x)
class Plain:
    def forward(self, x): return x
def make(net): return Model(net)
"""
MAIN = "import hydra\nfrom hydra.utils import instantiate\n"
MODEL = """
model:
  _target_: nets.Model
  width: 2
  net:
    _target_: nets.Net
"""
WHOLE = {"nets.py::Model.forward", "nets.py::Net.forward"}


def names(code: str, **settings: str) -> set[str]:
    """What is likely or certain; a setting `a__b` stands in the file conf/a/b.yaml."""
    files = {f"conf/{name.replace('__', '/')}.yaml": text for name, text in settings.items()}
    found = hot({"nets.py": NETS, "main.py": MAIN + code, **files})
    return {name for name, tier in found.items() if tier != "possible"}


@pytest.mark.parametrize(
    "code",
    [
        "def main(cfg): compiled = torch.compile(instantiate(cfg.model))",
        "def main(cfg): compiled = torch.compile(hydra.utils.instantiate(cfg['model']))",
        "def main(cfg): compiled = torch.compile(instantiate(cfg.get('model'), _recursive_=False))",
        "def main(cfg): instantiate(config=cfg.model).compile()",
        "def main(cfg):\n    part = cfg.model\n    compiled = torch.compile(instantiate(part))",
        "def build(part): return instantiate(part)\ndef main(cfg): compiled = torch.compile(build(cfg.model))",
        "import copy\ndef main(cfg): compiled = torch.compile(instantiate(copy.deepcopy(cfg.model)))",
        "class Task:\n    def __init__(self, part): self.part = part\n"
        "    def run(self): compiled = torch.compile(instantiate(self.part))\ndef main(cfg): Task(cfg.model).run()",
        "@hydra.main(config_path='conf')\ndef main(cfg): compiled = torch.compile(instantiate(cfg))",
        "model = instantiate(hydra.compose('base').model)\nmodel.compile()",
    ],
)
def test_what_a_file_describes_is_built_with_its_parts(code: str) -> None:
    assert names(code, base=MODEL) == WHOLE


BUILD = "def main(cfg): compiled = torch.compile(instantiate(cfg.model))"


@pytest.mark.parametrize(
    "text",
    [
        MODEL,
        "model: {_target_: nets.Model, net: {_target_: nets.Net}}",
        "model: {_target_: nets.make, net: {_target_: nets.Net}}",
        "model: {_target_: nets.Model, _args_: [{_target_: nets.Net}]}",
        "model: {_component_: nets.Model, net: {_component_: nets.Net}}",
        "model: {class_path: nets.Model, init_args: {net: {class_path: nets.Net}}}",
        "model: {target: nets.Model, params: {net: {target: nets.Net}}}",
        "model: {class: nets.Model, kwargs: {net: {class: nets.Net, kwargs: {}}}}",
        "part: &part {_target_: nets.Net}\nmodel: {_target_: nets.Model, net: *part}",
        "part: &part {_target_: nets.Model, width: 3}\nmodel:\n  <<: *part\n  net: {_target_: nets.Net}",
        "part: {_target_: nets.Net}\nmodel: {_target_: nets.Model, net: '${part}'}",
        "run: {deep: {model: {_target_: nets.Model, net: {_target_: nets.Net}}}}",
        "model: !!python/object:nets.Model {_target_: nets.Model, net: !net {_target_: nets.Net}}",
        json.dumps({"model": {"_target_": "nets.Model", "net": {"_target_": "nets.Net"}}}),
    ],
)
def test_a_description_may_be_spelled_in_many_ways(text: str) -> None:
    assert names(BUILD, base=text) == WHOLE


def test_a_file_in_the_folder_of_a_group_is_what_stands_under_it() -> None:
    assert names(BUILD, model__small="_target_: nets.Model\nnet: {_target_: nets.Net}") == WHOLE


OWN = """
import importlib
def get_obj_from_str(name):
    module, cls = name.rsplit(".", 1)
    return getattr(importlib.import_module(module, package=None), cls)
def instantiate_from_config(config):
    return get_obj_from_str(config["target"])(**config.get("params", dict()))
def instantiate(config):
    return get_obj_from_str(config["target"])(**config.get("params", dict()))
def make(config):
    module, cls = config.pop("_target_").rsplit(".", 1)
    return getattr(importlib.import_module(module), cls)(**config)
def loss(batch): return get_obj_from_str("torch.nn.MSELoss")()(batch["target"])
def rate(config): return print(config["target"])
"""
LATENT = "model: {target: nets.Wrap, params: {part: {target: nets.Net}}}"
WRAP = """
from util import instantiate_from_config
class Wrap(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = instantiate_from_config(part)
    def forward(self, x): return self.part(x)
class Net(nn.Module):
    def forward(self, x): return x
"""


def own(code: str, text: str = LATENT) -> set[str]:
    main = "from util import *\n" + code
    return set(hot({"util.py": OWN, "nets.py": WRAP, "main.py": main, "conf/a.yaml": text}))


@pytest.mark.parametrize("build", ["instantiate_from_config", "instantiate", "make"])
def test_a_function_that_imports_what_a_description_names_builds_it(build: str) -> None:
    code = f"def main(config): compiled = torch.compile({build}(config.model))"
    assert own(code) == {"nets.py::Wrap.forward", "nets.py::Net.forward"}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("def main(config): compiled = torch.compile(instantiate_from_config(config.other))", LATENT),
        (
            "def main(config): compiled = torch.compile(instantiate_from_config(config.model))",
            LATENT.replace("target", "kind"),
        ),
        (
            "class Trainer(nn.Module):\n    def __init__(self, config):\n"
            "        compiled = torch.compile(instantiate_from_config(config))",
            LATENT,
        ),  # which part?
        ("def main(batch): compiled = torch.compile(loss(batch.model))", LATENT),  # its target is no class
        ("def main(config): compiled = torch.compile(rate(config.model))", LATENT),  # it imports nothing
        ("def main(config): instantiate_from_config(config.model)", LATENT),
    ],
)
def test_other_functions_that_read_a_target_build_nothing(code: str, text: str) -> None:
    assert own(code, text) == set()


TRUSTED = """
import copy, importlib
import yaml
def find(name, role="class"):
    module, cls = name.rsplit(".", 1)
    return getattr(importlib.import_module(module), cls)
def make(name, args=(), kwargs=None): return find(name)(*args, **(kwargs or {}))
def label(name): return print(name)
def build(config):
    if isinstance(config.get("part"), dict): config["part"] = make(config["part"]["class"])
    return make(config["class"], kwargs=config.get("kwargs", {}))
def describe(config): return label(config["class"])
def load(path):
    data = torch.load(path, weights_only=True)
    return yaml.safe_load(data["text"]), data["weights"]
"""
LOADED = (
    "def main(path):\n    text, _ = load(path)\n    compiled = torch.compile({build}(copy.deepcopy(text)))"
)
BY_CLASS = "class: nets.Wrap\nkwargs: {part: {class: nets.Net, kwargs: {}}}"


def loaded(code: str, text: str) -> set[str]:
    wrap = WRAP.replace("instantiate_from_config(part)", "part").replace(
        "import instantiate_from_config", "import *"
    )
    files = {"util.py": TRUSTED, "nets.py": wrap, "main.py": "from util import *\n" + code}
    return {name for name, tier in hot({**files, "nets/net.yaml": text}).items() if tier == "likely"}


def test_a_checkpoint_that_describes_its_model_holds_one_that_the_files_describe() -> None:
    code = LOADED.format(build="build")
    assert loaded(code, BY_CLASS) == {"nets.py::Wrap.forward", "nets.py::Net.forward"}


@pytest.mark.parametrize(
    ("build", "text"),
    [
        ("describe", BY_CLASS),  # it imports nothing
        ("label", BY_CLASS),
        ("build", BY_CLASS.replace("class", "kind")),
        ("build", "class: Wrap\nkwargs: {}"),
        ("build", "class: torch.nn.Linear\nkwargs: {in_features: 2}"),
        ("build", "kind: nets.Wrap"),
    ],
)
def test_other_files_and_functions_build_no_model_of_a_checkpoint(build: str, text: str) -> None:
    assert loaded(LOADED.format(build=build), text) == set()


@pytest.mark.parametrize("net", ["${net}", "${parts.net}", "${one}\none: ${parts.net}"])
def test_what_a_file_does_not_say_itself_it_takes_from_one_that_is_put_beside_it(net: str) -> None:
    model = f"_target_: nets.Model\nnet: {net}"
    assert names(BUILD, model__small=model, net__plain="_target_: nets.Net") == WHOLE
    assert names(BUILD, model__small=model, head__plain="_target_: nets.Net") == WHOLE - {
        "nets.py::Net.forward"
    }


@pytest.mark.parametrize("text", ["a: ${b}\nb: ${a}", "net: ${net}", "a: ['${a}', {b: '${a}'}]"])
def test_references_in_a_circle_end(text: str) -> None:
    assert names(BUILD, model__small=f"_target_: nets.Model\n{text}") == {"nets.py::Model.forward"}


def test_a_part_that_the_defaults_put_there_comes_out_of_the_folder_below() -> None:
    model = "defaults: [net: plain]\n_target_: nets.Model"
    assert names(BUILD, model__small=model, model__net__plain="_target_: nets.Net") == WHOLE
    assert names(BUILD, model__small=model, other__net__plain="_target_: nets.Net") == WHOLE - {
        "nets.py::Net.forward"
    }


def test_several_files_are_one_choice() -> None:
    found = names(BUILD, a=MODEL, b=MODEL.replace("nets.Net", "nets.Other"))
    assert found == WHOLE | {"nets.py::Other.forward"}


def test_a_helper_that_is_called_for_several_keys_builds_for_each_what_stands_there() -> None:
    code = (
        "def build(part): return instantiate(part)\n"
        "def main(cfg):\n    build(cfg.other)\n    compiled = torch.compile(build(cfg.model))"
    )
    assert names(code, a=MODEL, b="other: {_target_: nets.Other}") == WHOLE
    deep = code.replace(
        "return instantiate(part)", "return inner(part)\ndef inner(part): return instantiate(part)"
    )
    assert names(deep, a=MODEL, b="other: {_target_: nets.Other}") == WHOLE | {"nets.py::Other.forward"}


def test_what_is_handed_on_beside_the_description_reaches_the_constructor() -> None:
    code = "import nets\ndef main(cfg): compiled = torch.compile(instantiate(cfg.model, net=nets.Net()))"
    assert names(code, base="model: {_target_: nets.Model}") == WHOLE


def test_a_module_that_only_a_file_builds_compiles_its_part() -> None:
    lightning = (
        "import lightning\nfrom lightning.pytorch.cli import LightningCLI\n"
        "class Lit(lightning.LightningModule):\n"
        "    def __init__(self, net):\n        super().__init__()\n        self.net = torch.compile(net)\n"
        "LightningCLI()"
    )
    text = "model: {class_path: main.Lit, init_args: {net: {class_path: nets.Net}}}"
    assert names(lightning, base=text) == {"nets.py::Net.forward"}
    assert names(lightning, base=text.replace("main.Lit", "main.Lite")) == set()


def test_a_partial_is_built_by_its_caller() -> None:
    code = "def main(cfg): compiled = torch.compile(instantiate(cfg.model)(width=2))"
    assert names(code, base=MODEL.replace("width: 2", "_partial_: true")) == WHOLE


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (BUILD.replace("instantiate(", "print("), MODEL),  # something else takes it
        (BUILD.replace("cfg.model", "cfg.optimizer"), MODEL),  # another key
        ("def hers(cfg): return None\n" + BUILD.replace("instantiate", "hers"), MODEL),  # builds nothing
        (BUILD, MODEL.replace("_target_", "target_")),
        (BUILD, MODEL.replace("nets.Model", "elsewhere.Model")),
        (BUILD, MODEL.replace("nets.Model", "nets.Missing")),
        (BUILD, MODEL.replace("nets.Model", "nets.Plain")),  # no module
        (BUILD, MODEL.replace("nets.Model", "Model")),  # hydra wants a dotted name
        (BUILD, MODEL.replace("nets.Model", "{nested: nets.Model}")),
        (BUILD, MODEL.replace("nets.Model", "'${target}'")),
        (BUILD, "model: &model [*model]"),
        (BUILD, "model: {_target_: nets.Model"),  # broken
        (BUILD, "model:\n\t_target_: nets.Model"),  # tabs
        (BUILD, "{% if big %}\nmodel: {_target_: nets.Model}\n{% endif %}"),  # a template
        (BUILD, "- _target_: nets.Model"),  # no key at all
        (BUILD, ""),
        ("def main(cfg): instantiate(cfg.model)", MODEL),  # built, and never compiled
        ("def main(cfg): instantiate(cfg.model).forward.compile()", MODEL),
    ],
)
def test_other_code_and_other_files_build_nothing(code: str, text: str) -> None:
    assert names(code, base=text) == set()


def test_a_model_of_a_library_is_compiled_and_not_ours() -> None:
    text = "model: {_target_: monai.networks.nets.UNet, spatial_dims: 3}"
    files = {"nets.py": NETS, "main.py": MAIN + BUILD, "conf/base.yaml": text}
    _, regions = resolve_text(files)
    assert not regions.hot
    assert not regions.unresolved


def test_more_models_than_anybody_chooses_from_are_a_library() -> None:
    many = "".join(f"class M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(41))
    files = {f"conf/model/m{i}.yaml": f"_target_: nets.M{i}" for i in range(41)}
    found = hot({"nets.py": many, "main.py": MAIN + BUILD, **files})
    assert "likely" not in found.values()
    del files["conf/model/m0.yaml"]
    assert len(hot({"nets.py": many, "main.py": MAIN + BUILD, **files})) == 40


def test_a_configuration_that_nothing_names_builds_any_of_few() -> None:
    code = "@hydra.main()\ndef main(cfg): compiled = torch.compile(instantiate(cfg))"
    many = "".join(f"class M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(9))
    files = {f"conf/exp{i}.yaml": f"_target_: nets.M{i}" for i in range(8)}
    assert len(hot({"nets.py": many, "main.py": MAIN + code, **files})) == 8
    files["conf/exp8.yaml"] = "_target_: nets.M8"
    assert hot({"nets.py": many, "main.py": MAIN + code, **files}) == {}


LAZY = """
from detectron2.config import LazyCall as L
from nets import Model, Net
model = L(Model)(net=L(Net)(), width=2)
"""
COMPILE = MAIN + "def main(cfg): compiled = torch.compile(instantiate(cfg.model))\n"
ONE, OTHER = ("model:\n  _target_: nets.Net\n", "model:\n  _target_: nets.Other\n")


@pytest.mark.parametrize(
    "files",
    [
        {"one/main.py": COMPILE, "one/conf/a.yaml": ONE, "two/conf/a.yaml": OTHER, "a.yaml": OTHER},
        {"one/src/main.py": COMPILE, "one/conf/a.yaml": ONE, "two/a.yaml": OTHER},
        {"one/main.py": COMPILE, "one/conf.d/model/a.yaml": ONE, "one.yaml": OTHER, "one2/a.yaml": OTHER},
        {"one/main.py": COMPILE, "one/a.yaml": "net:\n  _target_: nets.Other\n", "two/a.yaml": ONE},
    ],
)
def test_a_program_builds_what_the_configurations_nearest_to_it_describe(files: dict[str, str]) -> None:
    assert hot({"nets.py": NETS, **files}) == {"nets.py::Net.forward": "likely"}


def test_each_of_many_examples_builds_its_own_model() -> None:
    count = 50  # more than anybody chooses from
    nets = "".join(f"class N{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(count))
    files = {f"ex{i}/conf/a.yaml": f"model:\n  _target_: nets.N{i}\n" for i in range(count)}
    assert hot({"nets.py": nets, "ex7/main.py": COMPILE, **files}) == {"nets.py::N7.forward": "likely"}
    assert hot({"nets.py": nets, "main.py": COMPILE, **files}) == {}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def main(cfg): compiled = torch.compile(instantiate(cfg.model))", WHOLE),
        ("import conf.lazy\ncompiled = torch.compile(instantiate(conf.lazy.model))", WHOLE),
        ("def main(cfg): compiled = torch.compile(instantiate(cfg.net))", {"nets.py::Net.forward"}),
        ("def main(cfg): compiled = torch.compile(instantiate(cfg.head))", set()),
        ("def main(cfg): compiled = torch.compile(cfg.model)", set()),
    ],
)
def test_a_lazy_call_is_a_call_of_its_class(code: str, expected: set[str]) -> None:
    main = "from detectron2.config import instantiate\n" + code
    assert set(hot({"nets.py": NETS, "main.py": main, "conf/lazy.py": LAZY})) == expected


@pytest.mark.parametrize(
    "code",
    [
        "import fiddle as fdl\nimport nets\ncompiled = torch.compile(fdl.build(fdl.Config(nets.Net)))",
        "from hydra_zen import builds, instantiate\nimport nets\ncompiled = torch.compile(instantiate(builds(nets.Net)))",
    ],
)
def test_other_descriptions_in_code_are_built(code: str) -> None:
    assert names(code) == {"nets.py::Net.forward"}


def bomb(levels: int) -> str:
    rows = ["a0: &a0 {_target_: nets.Net}"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, levels)]
    return "\n".join(rows)


@pytest.mark.parametrize(
    "text",
    [
        bomb(12),
        "_target_: " + "[" * 50_000,
        "_target_: nets.Net\na: &a {"
        + ", ".join(f"k{i}: 1" for i in range(3000))
        + "}\nb:\n"
        + "- <<: *a\n" * 3000,
        "\n".join(f"- {{_target_: m.X{i}}}" for i in range(21_000)),
        "_target_: nets.Net\n\0",
        "# coding: hex\n_target_: nets.Net",
    ],
)
def test_a_file_that_means_harm_says_nothing_and_takes_no_time(text: str) -> None:
    facts = summarize_config("conf/base.yaml", text.encode())
    assert facts.error is not None
    assert facts.settings == ()


@pytest.mark.parametrize(
    "source", [b"_target_: \xff\xfe", b"_target_: !!python/object/apply:os.abort []", b"\xef\xbb\xbf"]
)
def test_odd_bytes_and_tags_are_read_or_not_but_never_run(source: bytes) -> None:
    assert summarize_config("conf/base.yaml", source).settings == ()


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (TRUSTED, True),
        (OWN, False),  # it asks for no class
        (TRUSTED.replace("import_module(", "imported("), False),
        (TRUSTED.replace('["class"]', ".klass"), False),
    ],
)
def test_a_file_is_read_where_code_imports_what_stands_under_class(
    code: str, found: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = "\ncompiled = torch.compile(build(torch.load('m.pt')))\n"
    net = "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x): return x\n"
    (tmp_path / "util.py").write_text("import torch\n" + code + compiled)
    (tmp_path / "nets.py").write_text(net)
    (tmp_path / "net.yaml").write_text("class: nets.Net\nkwargs: {}\n")
    run(["regions", "--no-cache", "--isolated", str(tmp_path)])
    assert ("Net.forward" in capsys.readouterr().out) is found


# --- definitions that configurations only name ----------------------------------------------------------

LOADING = """
import importlib
def load(said, prefix="nets_of."):
    module, name = said.{split}
    return getattr(importlib.import_module(prefix + module), name)
def main(cfg): compiled = torch.compile(load({asked})())
"""
SAID = "arch:\n  name: small@Net\nbeside: small@Other\n"


def named(
    text: str = SAID, split: str = "split('@')", asked: str = "cfg.arch.name", code: str = LOADING
) -> set[str]:
    files = {"nets_of/small.py": NETS, "nets_of/large.py": NETS, "conf/base.yaml": text}
    return set(hot({**files, "main.py": code.format(split=split, asked=asked)}))


@pytest.mark.parametrize(
    ("text", "split", "asked"),
    [
        (SAID, "split('@')", "cfg.arch.name"),
        (SAID, "split('@', 1)", "cfg['arch']['name']"),
        (SAID.replace("@", ":"), "split(':')", "cfg.arch.get('name')"),
        (SAID.replace("@", "."), "rsplit('.', 1)", "cfg.arch.name"),
        (SAID.replace("small@", "nets_of.small@"), "split('@')", "cfg.arch.name"),
        ('{"arch": {"name": "small@Net"}, "beside": "small@Other"}', "split('@')", "cfg.arch.name"),
    ],
)
def test_a_class_that_a_configuration_names_in_words_is_what_is_imported(
    text: str, split: str, asked: str
) -> None:
    assert named(text, split, asked) == {"nets_of/small.py::Net.forward"}


@pytest.mark.parametrize(
    ("text", "split", "asked", "code"),
    [
        (SAID, "split('@')", "cfg.arch.kind", LOADING),  # another key
        (SAID, "strip()", "cfg.arch.name", LOADING),  # not taken apart
        (SAID.replace("small@Net", "huge@Net"), "split('@')", "cfg.arch.name", LOADING),  # no such module
        (SAID.replace("small@Net", "small@Missing"), "split('@')", "cfg.arch.name", LOADING),
        (SAID.replace("small@Net", "Net"), "split('@')", "cfg.arch.name", LOADING),
        (SAID, "split('@')", "cfg.arch.name", LOADING.replace("importlib.import_module", "read")),
    ],
)
def test_other_words_and_other_code_name_nothing(text: str, split: str, asked: str, code: str) -> None:
    assert named(text, split, asked, code) == set()


@pytest.mark.parametrize("find", ["pydoc.locate", "hydra.utils.get_class"])
def test_a_library_finds_what_a_configuration_names(find: str) -> None:
    code = f"import pydoc, hydra\ndef main(cfg): compiled = torch.compile({find}(cfg.arch.name)())"
    assert named("arch: {name: nets_of.large.Net}", code=code) == {"nets_of/large.py::Net.forward"}
    assert named("arch: {name: nets_of.large.Net}", code=code.replace("arch.name", "arch.kind")) == set()


REGISTERED = """
from hydra.core.config_store import ConfigStore
from nets import {imported}
def register():
    ConfigStore.instance().store(group="net", package="model.net", name="small", node={node})
"""
DESCRIBED = """
from detectron2.config import LazyCall as L
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
SMALL = L(Net)()
OTHER = L(Other)()
"""
BUILDING = (
    "from hydra.utils import instantiate\ndef main(cfg): return torch.compile(instantiate(cfg.{key}))\n"
)


@pytest.mark.parametrize(
    ("imported", "node", "key", "expected"),
    [
        ("SMALL", "SMALL", "net", {"Net"}),
        ("SMALL as KEPT", "KEPT", "net", {"Net"}),
        ("SMALL, OTHER", "OTHER", "net", {"Other"}),
        ("SMALL", "MISSING", "net", set()),
        ("SMALL", "SMALL", "encoder", set()),
    ],
)
def test_what_one_file_describes_and_another_stores_under_a_key_is_built(
    imported: str, node: str, key: str, expected: set[str]
) -> None:
    files = {"nets.py": DESCRIBED, "store.py": REGISTERED.format(imported=imported, node=node)}
    found = hot({**files, "train.py": BUILDING.format(key=key)})
    assert {name.partition("::")[2].partition(".")[0] for name in found} == expected


# --- single words ---------------------------------------------------------------------------------------

NETS_OF_WORDS = """
class Small(nn.Module):
    def forward(self, x): return x
class Large(nn.Module):
    def forward(self, x): return x
class Unsaid(nn.Module):
    def forward(self, x): return x
def smooth(x): return x
def sharp(x): return x
"""
SAID_OF_WORDS = "model:\n  name: Small\nloss: {kind: smooth, scale: 2}\n"


def found(code: str, said: str = SAID_OF_WORDS, kind: str = "yaml") -> set[str]:
    """What is likely or certain of the networks."""
    files = {"nets.py": NETS_OF_WORDS, "main.py": "import nets\n" + code, f"conf/base.{kind}": said}
    return {
        name.partition("::")[2]
        for name, tier in hot(files).items()
        if "nets.py" in name and tier != "possible"
    }


@pytest.mark.parametrize(
    "code",
    [
        "def main(cfg): getattr(nets, cfg.model.name)().compile()",
        "def main(cfg): getattr(nets, str(cfg['name']))().compile()",
        "def build(name): return getattr(nets, name)()\ndef main(cfg): build(cfg.model.name).compile()",
        "class Task:\n    def __init__(self, cfg): self.name = cfg.model.name\n"
        "    def run(self): getattr(nets, self.name)().compile()",
    ],
)
def test_what_is_looked_up_in_a_module_is_what_configurations_say_under_the_key(code: str) -> None:
    assert found(code) == {"Small.forward"}


PARTS = {
    "lib/__init__.py": "",
    "lib/base.py": "class Base(nn.Module):\n    def forward(self, x): return self.step(x)\n",
    "lib/nets/__init__.py": "",
    "lib/nets/one.py": "from ..base import Base\nclass One(Base):\n    def step(self, x): return x\n",
    "lib/nets/two.py": "from ..base import Base\nclass Two(Base):\n    def step(self, x): return x\n",
    "lib/nets/three.py": "from ..base import Base\nclass Three(Base):\n    def step(self, x): return x\n",
    "lib/tools.py": """
        import inspect
        def get_class(path, base):
            module = __import__(path, fromlist=[""])
            classes = inspect.getmembers(module, inspect.isclass)
            return [one for one in classes if issubclass(one[1], base)][0][1]
        """,
}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("model: {name: one}", {"One.step"}),
        ("model: {name: one}\nother: {name: two}", {"One.step", "Two.step"}),
        ("model: {name: lib.nets.two}", {"Two.step"}),
        ("two:\n  width: 3\nmodel: {name: one}", {"One.step", "Two.step"}),
    ],
)
def test_a_module_that_is_imported_by_name_is_one_that_configurations_say(
    said: str, expected: set[str]
) -> None:
    factory = """
        from .tools import get_class
        from .base import Base
        def get_model(name):
            for path in [name, f"{__name__}.nets.{name}"]:
                return get_class(path, Base)
        def main(cfg): get_model(cfg.model.name)().compile()
        """
    files = {**PARTS, "lib/__init__.py": factory, "conf/base.yaml": said}
    steps = {name.partition("::")[2] for name in hot(files)} - {"Base.forward"}
    assert steps == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: resnet", (("name", "resnet"),)),
        ("net: 1\nlist:\n  - {name: resnet, size: 3}", (("name", "resnet"), ("", "list"))),
        ('{"name": "nets.resnet"}', (("name", "nets.resnet"),)),
        ("name: 'resnet'  # the usual", (("name", "resnet"),)),
        ("name: a b\nsize: 3\non: true\nother: ~", ()),
        ("resnet:\n  depth: 3\nvit: &vit\n  depth: 4", (("", "resnet"), ("", "vit"))),
        ("name: resnet\nname: resnet", (("name", "resnet"),)),
    ],
)
def test_words_are_read_without_a_parser(text: str, expected: tuple[tuple[str, str], ...]) -> None:
    assert summarize_config("a.yaml", text.encode()).words == expected


def test_of_a_file_full_of_words_the_first_are_read() -> None:
    text = "\n".join(f"key{number}: word" for number in range(2000))
    assert len(summarize_config("a.yaml", text.encode()).words) == 1000


# --- hydra's ConfigStore --------------------------------------------------------------------------------

NETS_OF_STORE = """
class Small(nn.Module):
    def forward(self, x): return x + 1
class Large(nn.Module):
    def forward(self, x): return x + 2
class Other(nn.Module):
    def forward(self, x): return x
"""
STORES = """
import copy
from hydra.core.config_store import ConfigStore
from lazy import LazyCall as L
from nets import Large, Other, Small
SMALL: dict = L(Small)(width=1)
SMALLER = copy.deepcopy(SMALL)
SMALLEST = copy.deepcopy(SMALLER)
LARGE = L(Large)(width=2)
OTHER = L(Other)()
WHOLE = dict(net=L(Small)(width=3))
def register():
    cs = ConfigStore.instance()
    {stored}
"""
MAIN_OF_STORE = """
from hydra.utils import instantiate
class Trainer:
    def __init__(self, config):
        self.config = config
        self.net = self.build()
    def build(self):
        net = instantiate(self.config.net)
        return net.to("cuda")
    def start(self):
        self.net = torch.compile(self.net, dynamic=False)
"""


def found_of_store(*stored: str) -> set[str]:
    files = {
        "nets.py": NETS_OF_STORE,
        "conf.py": STORES.format(stored="\n    ".join(stored)),
        "main.py": MAIN_OF_STORE,
    }
    return {name.partition("::")[2] for name in hot(files)}


@pytest.mark.parametrize("node", ["SMALL", "SMALLER", "SMALLEST"])
@pytest.mark.parametrize(
    "place", ['group="net"', 'group="net", package="model.net"', 'package="a.b.net"', 'group="a/net"']
)
def test_a_stored_choice_is_what_the_key_builds(node: str, place: str) -> None:
    assert found_of_store(f"cs.store({place}, name='one', node={node})") == {"Small.forward"}


def test_each_choice_of_a_group_may_be_built() -> None:
    stores = [f"cs.store(group='net', name={node!r}, node={node})" for node in ("SMALL", "SMALLER", "LARGE")]
    assert found_of_store(*stores) == {"Small.forward", "Large.forward"}


def test_what_a_stored_configuration_holds_under_the_key_is_built() -> None:
    assert found_of_store("cs.store(package='_global_', name='exp', node=WHOLE)") == {"Small.forward"}


@pytest.mark.parametrize(
    "other",
    [
        "cs.store(group='vae', name='one', node=OTHER)",
        "cs.store(group='net', package='model.vae', name='one', node=OTHER)",
        "cs.store('net', OTHER)",
        "cs.store(group='net', name='one', node=MISSING)",
        "cs.store(group='net', name='one', node=Other)",
        "cs.load(group='net', name='one', node=OTHER)",
    ],
)
def test_what_is_stored_elsewhere_is_not_built(other: str) -> None:
    assert found_of_store("cs.store(group='net', name='s', node=SMALL)", other) == {"Small.forward"}
