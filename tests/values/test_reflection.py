"""Reflection: modules, classes and methods that a text names, wholly or in part."""

from __future__ import annotations

import ast

import pytest

from dynamo_lint.index.text_templates import open_name
from tests.programs import hot
from tests.small_model import SMALL_WHOLE, names_with_model

# --- modules imported by a text -------------------------------------------------------------------------

MANY = 12
NET = "class Net(nn.Module):\n    def forward(self, x): return x\n"
USE = """
import importlib, pydoc
class Trainer:
    def __init__(self, net):
        self.net = net
        self.fast = torch.compile(self.net)
def load(path):
    return importlib.import_module(path)
def main(cfg, name, pkg):
    Trainer({net})
"""
ALL = {f"nets/n{i}.py" for i in range(MANY)}


def found(net: str, folder: str = "nets", own: str = NET, at: str = "train.py") -> set[str]:
    files = {f"{folder}/n{i}.py": own for i in range(MANY)}
    marks = {"nets/__init__.py": "", "other/__init__.py": "", "other/net.py": NET}
    tiers = hot({**files, **marks, at: USE.format(net=net)})
    return {name.partition("::")[0] for name, tier in tiers.items() if tier == "likely"}


@pytest.mark.parametrize(
    "net",
    [
        "importlib.import_module(f'nets.{name}').Net()",
        "importlib.import_module('nets.' + name).Net()",
        "importlib.import_module('nets.' + cfg.name).Net()",
        "importlib.import_module('nets.%s' % name).Net()",
        "importlib.import_module('nets.{}'.format(cfg.name)).Net()",
        "load(f'nets.{cfg.name}').Net()",
        "getattr(importlib.import_module(f'nets.n{cfg.number}'), cfg.kind)()",
        "pydoc.locate(f'nets.{name}.Net')()",
    ],
)
def test_a_model_may_come_out_of_any_module_that_the_text_fits(net: str) -> None:
    assert found(net) == ALL


def test_a_module_that_no_statement_could_import_is_imported_by_its_name() -> None:
    files = {"nets/my-net.py": NET, "nets/__init__.py": "", "nets/deep/net.py": NET}
    code = USE.format(net="importlib.import_module(f'nets.{name}').Net()")
    assert "nets/my-net.py::Net.forward" in set(hot({**files, "train.py": code}))
    assert "nets/deep/net.py::Net.forward" not in set(hot({**files, "train.py": code}))


@pytest.mark.parametrize("net", ["load(f'{__package__}.{name}').Net()", "load(f'.{name}').Net()"])
def test_a_text_may_begin_with_the_package_that_it_stands_in(net: str) -> None:
    assert found(net, at="nets/train.py") == ALL


@pytest.mark.parametrize(
    "net",
    [
        "importlib.import_module(f'{pkg}.{name}').Net()",  # any module there is
        "importlib.import_module(name).Net()",
        "importlib.import_module(f'other.{name}.nets').Net()",
        "importlib.import_module(f'nets.{name}').Other()",
        "importlib.import_module(f'nets.{name}')",
        "f'nets.{name}'.Net()",
        "project.import_module(f'nets.{name}').Net()",
    ],
)
def test_other_texts_and_other_names_mean_none_of_them(net: str) -> None:
    assert not found(net) & ALL


def test_of_a_module_s_classes_any_may_be_meant_that_is_no_part_of_the_others() -> None:
    parts = "class Part(nn.Module):\n    def forward(self, x): return x\n"
    heads = "".join(
        f"class Head{i}(nn.Module):\n    def __init__(self):\n        self.part = Part()\n"
        "    def forward(self, x): return x\n"
        for i in range(MANY)
    )
    use = USE.format(net="getattr(heads, cfg.prefix + cfg.kind)()")
    tiers = hot({"heads.py": parts + heads, "train.py": "import heads\n" + use})
    assert tiers == {f"heads.py::Head{i}.forward": "likely" for i in range(MANY)}


def test_modules_of_more_models_than_anybody_picks_from_are_a_library() -> None:
    use = USE.format(net="importlib.import_module(f'nets.{name}').Net()")
    files = {f"nets/n{i}.py": NET for i in range(65)}
    assert hot({**files, "nets/__init__.py": "", "train.py": use}) == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f'nets.{name}'", "nets.{}"),
        ("f'nets.{a}.{b}'", "nets.{}.{}"),
        ("f'nets.n{a}.Net'", "nets.n{}.Net"),
        ("'nets.' + name", "nets.{}"),
        ("f'..nets.{name}'", "..nets.{}"),
        ("f'{__name__}.{name}'", ".{}"),
        ("f'{name}'", None),
        ("f'{pkg}.{name}'", None),
        ("f'layer{i}'", "layer{}"),
        ("f'{kind}_step'", "{}_step"),
        ("'layer' + str(i)", "layer{}"),
        ("f'layer {i}'", None),
        ("f'{i}'", None),
        ("f'{a}{b}'", None),
        ("f'{i}layer'", None),
        ("'nets' + name()", None),
        ("f'Epoch {i}. Done'", None),
        ("f'{loss:.3f}'", None),
        ("'a.' + 'b.'", None),
        ("'nets' + name", "nets{}"),
        ("1 + name", None),
    ],
)
def test_only_texts_that_begin_like_a_name_are_read(source: str, expected: str | None) -> None:
    assert open_name(ast.parse(source, mode="eval").body) == expected


MIXES = {
    "mix/__init__.py": "",
    "mix/mix_a.py": NET.replace("Net", "Mix_a"),
    "mix/mix_b.py": NET.replace("Net", "Mix_b"),
    "mix/mix_odd.py": NET.replace("Net", "Mix_Odd"),
    "mix/plain.py": NET.replace("Net", "Mix_plain"),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mix.mix_{name}.Mix_{name}", {"mix/mix_a.py", "mix/mix_b.py"}),
        ("mix.mix_{name}.Mix_{kind.upper()}dd", {"mix/mix_odd.py"}),
        ("mix.mix_{name}.Other_{name}", set()),
        ("mix.other_{name}.Mix_{name}", set()),
    ],
)
def test_a_class_that_is_called_like_its_module_is_the_one_of_that_module(
    text: str, expected: set[str]
) -> None:
    code = USE.format(net=f"pydoc.locate(f'{text}')()")
    assert {name.partition("::")[0] for name in hot({**MIXES, "train.py": code})} == expected


RENAMED = """
class Part(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def forward(self, x): return self.part(x)
def build(part): return Net(part)
"""


@pytest.mark.parametrize(
    "train",
    [
        "from nets import Net as N, Part\nnet = torch.compile(N(Part()))",
        "from nets import build as make, Part\nnet = torch.compile(make(Part()))",
        "import nets as n\nnet = torch.compile(n.Net(n.Part()))",
    ],
)
def test_a_class_that_is_imported_under_another_name_is_made_with_what_is_passed_there(train: str) -> None:
    found = hot({"nets.py": RENAMED, "train.py": train})
    assert {name.partition("::")[2] for name in found} == {"Net.forward", "Part.forward"}


# --- tables that several files fill ---------------------------------------------------------------------

MANY_OF_FILES = 10
ITSELF = """
import importlib.util
import sys
def load(path):
    spec = importlib.util.spec_from_file_location("net", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
class Net(nn.Module):
    def forward(self, x): return x * 2
class Other(nn.Module):
    def forward(self, x): return x + 1
def build_net(): return Net()
def build_other(): return Other()
def main(x): torch.compile(load(sys._getframe().f_code.co_filename).{asked}())(x)
"""
"""A program that loads its own file: what is compiled has the names of that."""
BUILDER = NET + "def build_net(**options): return Net()\n"
RUN = """
import importlib.util
import sys
def load(path):
    spec = importlib.util.spec_from_file_location("net", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["net"] = module
    spec.loader.exec_module(module)
    return module
def main(path, options):
    model: nn.Module = load(path).{asked}
    fast = torch.compile(model)
"""


def found_of_files(asked: str, files: dict[str, str]) -> set[str]:
    project = {"run.py": RUN.format(asked=asked), **files}
    return {name for name, tier in hot(project).items() if tier != "possible"}


def nets(number: int, source: str = BUILDER, folder: str = "nets") -> dict[str, str]:
    return {f"{folder}/n{i}.py": source for i in range(number)}


@pytest.mark.parametrize("number", [1, 2, MANY_OF_FILES])
@pytest.mark.parametrize("asked", ["build_net(**options)", "build_net()", "Net()"])
def test_whatever_file_is_loaded_gives_what_it_defines_under_that_name(asked: str, number: int) -> None:
    assert found_of_files(asked, nets(number)) == {f"nets/n{i}.py::Net.forward" for i in range(number)}


def test_a_file_that_is_imported_besides_is_one_of_several_still() -> None:
    hub = {"hub.py": "from nets.n0 import build_net\n"}
    assert found_of_files("build_net()", {**nets(2), **hub}) == {
        "nets/n0.py::Net.forward",
        "nets/n1.py::Net.forward",
    }


@pytest.mark.parametrize("asked", ["build_other()", "Net.config", "options"])
def test_what_the_files_do_not_define_or_do_not_give_is_quiet(asked: str) -> None:
    assert found_of_files(asked, nets(2)) == set()


def test_what_only_tests_define_is_for_tests() -> None:
    assert found_of_files("build_net()", nets(2, folder="tests")) == set()


def test_a_method_of_that_name_is_not_what_a_file_has() -> None:
    inner = NET + "class Builder:\n    def build_net(self): return Net()\n"
    assert found_of_files("build_net()", nets(2, inner)) == set()


def test_so_many_files_that_they_are_a_library_are_quiet() -> None:
    assert found_of_files("build_net()", nets(80)) == set()


@pytest.mark.parametrize("maker", ["importlib.util.spec_from_file_location('net', path)", "open(path)"])
def test_what_is_no_module_has_no_functions_of_files(maker: str) -> None:
    source = f"import importlib.util\ndef main(path):\n    torch.compile(({maker}).build_net())\n"
    assert found_of_files("other", {**nets(2), "more.py": source}) == set()


# --- parts of names -------------------------------------------------------------------------------------

MODEL = """
class Model(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.down_block = nn.Linear(1, 1)
    def run_a(self, x): return x
    def run_b(self, x): return x
    def other(self, x): return x
    def forward(self, x): return {call}
model = torch.compile(Model("a"))
"""
RUNS = {"Model.run_a", "Model.run_b"}


@pytest.mark.parametrize(
    "call",
    [
        "getattr(self, f'run_{self.kind}')(x)",
        "getattr(self, 'run_' + self.kind)(x)",
        "getattr(self, 'run_%s' % self.kind)(x)",
        "getattr(self, 'run_{}'.format(self.kind))(x)",
    ],
)
def test_a_method_may_be_any_whose_name_begins_as_the_text_does(call: str) -> None:
    assert set(hot(MODEL.format(call=call))) == {"Model.forward"} | RUNS


@pytest.mark.parametrize(
    "call",
    [
        "getattr(self, f'{self.kind}')(x)",
        "getattr(self, f'walk_{self.kind}')(x)",
        "getattr(x, f'run_{self.kind}')(x)",
        "print(f'run_{self.kind}')",
        "f'run_{self.kind}'(x)",
    ],
)
def test_other_texts_and_other_objects_run_none_of_them(call: str) -> None:
    assert not RUNS & set(hot(MODEL.format(call=call)))


def test_submodules_are_found_by_a_part_of_their_name() -> None:
    blocks = "".join(f"class B{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(3))
    model = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up1, self.up2, self.down1 = B0(), B1(), B2()
    def forward(self, x): return getattr(self, f"{}")(x)
torch.compile(Net())(1)
"""
    assert set(hot(blocks + model.replace("{}", "up{n}"))) == {"Net.forward", "B0.forward", "B1.forward"}
    assert set(hot(blocks + model.replace("{}", "side{n}"))) == {"Net.forward"}


@pytest.mark.parametrize("base", ["torchvision.models.ResNet", "timm.models.VisionTransformer"])
def test_the_forward_of_a_library_calls_the_parts_that_an_heir_overrides(base: str) -> None:
    code = f"import timm, torchvision\nclass Mine({base}):\n"
    code += "    def forward_features(self, x): return x\n    def _forward_impl(self, x): return x\n"
    code += "    def prepare(self, x): return x\nmodel = torch.compile(Mine())"
    assert hot(code) == {"Mine.forward_features": "likely", "Mine._forward_impl": "likely"}
    own = code.replace("    def prepare", "    def forward(self, x): return x\n    def prepare")
    assert set(hot(own)) == {"Mine.forward"}
    assert hot(code.replace(base, "other.Thing")) == {}


def test_a_compile_of_ones_own_may_call_that_of_torch() -> None:
    code = """
class Model(nn.Module):
    def __init__(self): super().__init__()
    def forward(self, x): return x
    def compile(self, **options): {call}
model = Model()
model.compile()
"""
    assert hot(code.format(call="super().compile(**options)")) == {"Model.forward": "certain"}
    assert hot(code.format(call="super().eval()")) == {}
    plain = code.replace("nn.Module", "Base").replace("    def forward", "    def step")
    assert hot("class Base: pass\n" + plain.format(call="super().compile()")) == {}


# --- dotted names ---------------------------------------------------------------------------------------

LOCATE = """
import importlib
def locate(text):
    module, name = text.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)
def build(config):
    return locate(config["target"])(**config.get("params", {}))
"""


@pytest.mark.parametrize(
    "code",
    [
        'compiled = torch.compile(locate("m.Model")())',
        'CONFIG = {"target": "m.Model", "params": {}}\ncompiled = torch.compile(build(CONFIG))',
        'import pydoc\ncompiled = torch.compile(pydoc.locate("m.Model")())',
        'from hydra.utils import get_class\nget_class("m.Model")().compile()',
    ],
)
def test_a_dotted_name_in_the_code_tells_what_is_built(code: str) -> None:
    assert names_with_model(LOCATE + code) == SMALL_WHOLE


@pytest.mark.parametrize(
    "code",
    [
        'compiled = torch.compile(locate("elsewhere.Model")())',
        'compiled = torch.compile(locate("m.Missing")())',
        'compiled = torch.compile(locate("Model")())',
        'compiled = torch.compile("m.Model".split("")())',
    ],
)
def test_other_names_build_nothing(code: str) -> None:
    assert names_with_model(LOCATE + code) == set()


# --- names that only the run knows ----------------------------------------------------------------------

ZOO = {
    "zoo.py": """
    from blocks import Helper
    class ViT(nn.Module):
        def forward(self, x): return x
    def vit_small(**kwargs):
        model = ViT()
        return model
    def vit_large(**kwargs): return ViT()
    def drop(x): return x
    def _private(): return Hidden()
    class Hidden(nn.Module):
        def forward(self, x): return x
    """,
    "blocks.py": "class Helper(nn.Module):\n    def forward(self, x): return x\n",
}


@pytest.mark.parametrize(
    "lookup",
    ["zoo.__dict__[name](a=1)", "getattr(zoo, name)()", "vars(zoo)[name]()", 'zoo.__dict__["vit_large"]()'],
)
def test_a_model_looked_up_in_a_module_is_what_its_factories_build(lookup: str) -> None:
    use = {"train.py": f"import zoo\ndef main(name):\n    model = {lookup}\n    model.compile()\n"}
    assert set(hot(ZOO | use)) == {"zoo.py::ViT.forward"}


@pytest.mark.parametrize(
    "code",
    [
        "import zoo\ndef main(name):\n    zoo.__dict__[name]()\n",
        "import zoo\ndef main(name, table):\n    model = table[name]()\n    model.compile()\n",
        "import zoo\ndef main(name):\n    fn = zoo.__dict__['drop']\n    fn(1).compile()\n",
    ],
)
def test_other_lookups_compile_nothing(code: str) -> None:
    assert hot(ZOO | {"train.py": code}) == {}


def test_a_module_that_builds_too_many_models_says_nothing() -> None:
    many = "".join(
        f"class M{i}(nn.Module):\n    def forward(self, x): return x\ndef m{i}(): return M{i}()\n"
        for i in range(9)
    )
    use = {"train.py": "import zoo\ndef main(name):\n    model = getattr(zoo, name)()\n    model.compile()\n"}
    assert hot({"zoo.py": many} | use) == {}
    few = {"zoo.py": many.split("class M3")[0]}
    assert len(hot(few | use)) == 3


# --- tables of all that a module has --------------------------------------------------------------------

NETS = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""


def likely(files: dict[str, str]) -> set[str]:
    return {name.partition("::")[2] for name, tier in hot(files).items() if tier != "possible"}


LISTED = """
import inspect, models
KNOWN = {listing}
def main(name): return torch.compile(KNOWN[name]())
"""


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        ("{n: c for n, c in inspect.getmembers(models, inspect.isclass)}", True),
        ("{n: c for n, c in vars(models).items()}", True),
        ("dict(models.__dict__.items())", True),
        ("{c.__name__: c for c in models.__dict__.values()}", True),
        ("{n: c for n, c in inspect.getmembers(inspect)}", False),
        ("{n: c for n, c in vars(inspect).items()}", False),
        ("{n: n for n, c in vars(models).items()}", False),
        ("{n: n for n in models.__dict__.keys()}", False),
    ],
)
def test_a_table_of_all_that_a_module_has_holds_its_models(listing: str, expected: bool) -> None:
    files = {"models.py": NETS, "train.py": LISTED.format(listing=listing)}
    assert likely(files) == ({"Net.forward", "Other.forward"} if expected else set())


# --- names of submodules --------------------------------------------------------------------------------

NETS_OF_SUBMODULES = """
import torch.utils.checkpoint
class A(nn.Module):
    def __init__(self, width=1): super().__init__()
    def forward(self, x): return x
class B(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""


def found_of_submodules(source: str) -> set[str]:
    return {name.partition(".")[0] for name in hot(NETS_OF_SUBMODULES + source)}


@pytest.mark.parametrize(
    ("path", "expected"),
    [('"one"', {"A"}), ("name", {"A", "B"}), ('"none"', set()), ("unknown(name)", set())],
)
def test_a_submodule_is_found_by_the_texts_that_its_name_may_be(path: str, expected: set[str]) -> None:
    source = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = A(), B(), Other()
    def forward(self, x): return x
net = Net()
for name in ("one", "two"): net.get_submodule({path}).compile()
"""
    assert found_of_submodules(source) == expected
