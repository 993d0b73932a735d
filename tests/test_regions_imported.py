"""Regions: models out of modules that are imported by a text of which only the run knows a part."""

from __future__ import annotations

import ast

import pytest

from dynamo_lint.index.text_templates import open_name
from tests.programs import hot

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
