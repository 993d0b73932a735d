"""Imports: which file of the project a dotted name means, of scripts, packages, stubs and lazy packages."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- a name that nothing has, below which the project lies ----------------------------------------------

NET = "class Net(nn.Module):\n    def forward(self, x): return x\n"
PARTS = {
    "engine/model.py": NET,
    "engine/tools.py": "def load(): pass\nLIMIT = 3\n",
    "data/sets.py": "def read(): pass\n",
}
USES = """
from mylib.engine.tools import load, LIMIT
from mylib.data.sets import read
from mylib.engine.model import Net
net = torch.compile(Net())
"""


def found(train: str = USES, **more: str) -> set[str]:
    extra = {name.replace("__", "/") + ".py": text for name, text in more.items()}
    return {name for name in hot({**PARTS, "tests/train.py": train, **extra}) if "Net" in name}


OURS = {"engine/model.py::Net.forward"}


def test_what_is_imported_below_a_name_that_nothing_has_is_looked_for_in_the_project() -> None:
    assert found() == OURS


@pytest.mark.parametrize("folder", ["checkout", "deep/checkout"])
def test_the_project_may_lie_deeper_than_where_the_run_starts(folder: str) -> None:
    files = {f"{folder}/{path}": text for path, text in {**PARTS, "tests/train.py": USES}.items()}
    assert set(hot(files)) == {f"{folder}/engine/model.py::Net.forward"}


@pytest.mark.parametrize(
    "more",
    [
        "from mylib.engine import tools",
        "from mylib import engine",
        "import mylib",
        "from mylib.engine.model import *",
    ],
)
def test_folders_modules_and_stars_are_there_too(more: str) -> None:
    assert found(f"{more}\n{USES}") == OURS


def test_what_a_module_only_imports_is_in_it() -> None:
    uses = USES.replace("mylib.engine.model import", "mylib.nets.top import")
    assert found(uses, nets__top="from mylib.engine.model import Net\n") == OURS


def test_a_name_that_only_a_build_writes_is_forgiven_among_many() -> None:
    reads = "".join(f"def read_{n}(): pass\n" for n in range(10))
    uses = "".join(f"from mylib.data.sets import read_{n}\n" for n in range(10))
    built = "from mylib.version import number\n"
    assert found(USES + uses + built, data__sets=reads + "def read(): pass\n") == OURS
    assert not found(USES + built)


@pytest.mark.parametrize(
    "more",
    [
        "from mylib import Trainer",  # a library of that name has it, the project has not
        "from mylib.engine.model import Other",
        "from mylib.layers import Linear",
        "import mylib.layers.norm as norm",
    ],
)
def test_a_library_that_is_laid_out_alike_has_more_than_the_project(more: str) -> None:
    assert not found(f"{more}\n{USES}")
    assert not found(USES, other=more)


def test_two_imports_may_be_right_by_chance() -> None:
    uses = "from mylib.engine.tools import load\nfrom mylib.engine.model import Net\nnet = torch.compile(Net())\n"
    assert not found(uses)


@pytest.mark.parametrize("name", ["mylib", "mylib__io", "src__mylib__io"])
def test_a_name_that_something_in_the_project_has_is_not_that_of_another(name: str) -> None:
    assert not found(**{name: ""})


@pytest.mark.parametrize("name", ["torch", "json", "collections"])
def test_names_of_the_standard_library_and_torch_are_theirs(name: str) -> None:
    assert not found(USES.replace("mylib", name))


def test_only_the_top_of_the_project_is_its_folder() -> None:
    files = {f"lib/{path}": text for path, text in PARTS.items()}
    assert not hot({**files, "train.py": USES})


ABOVE = {
    "lib/__init__.py": "",
    "lib/run.py": "from conf.net import build\ndef main(): build()\nif __name__ == '__main__':\n    main()\n",
    "lib/nets.py": NET,
    "lib/conf/net.py": "import nets\nfast = torch.compile(nets.Net())\n",
}


@pytest.mark.parametrize(
    "changed",
    [
        {"lib/run.py": "from conf.net import build\n"},  # nobody runs a file of that folder
        {"lib/nets.py": "import nets\n" + NET},  # a library that this one is made for
        {"lib/conf/net.py": "import others\nfast = torch.compile(others.Net())\n"},
    ],
)
def test_a_folder_that_nobody_runs_a_file_of_is_not_on_the_path(changed: dict[str, str]) -> None:
    assert set(hot({**ABOVE, **changed})) == set()


@pytest.mark.parametrize(("imported", "expected"), [("nets.net", OURS), ("nets.other", OURS)])
def test_a_folder_that_is_no_package_has_its_files_as_attributes(imported: str, expected: set[str]) -> None:
    files = {"nets/net.py": NET, "nets/other.py": "", "conf/deep/use.py": ""}
    use = f"import {imported}\nimport nets.net\nfast = torch.compile(nets.net.Net())\n"
    assert set(hot({**files, "conf/use.py": use})) == {"nets/net.py::Net.forward"}


# --- relative imports -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wanted",
    [
        "from parts.layers import blocks\nmodel = blocks.Model()",
        "from parts.layers.blocks import Model\nmodel = Model()",
        "from parts.layers import blocks as b\nclass Own(b.Model): ...\nmodel = Own()",
    ],
)
def test_the_modules_of_a_namespace_package_are_found(wanted: str) -> None:
    files = {
        "lib/parts/layers/blocks.py": "class Model(nn.Module):\n    def forward(self, x): return x\n",
        "lib/main/run.py": f"{wanted}\nmodel.compile()\n",
    }
    assert hot(files) == {"lib/parts/layers/blocks.py::Model.forward": "certain"}


@pytest.mark.parametrize("wanted", ["from torch.layers import blocks", "from other.layers import blocks"])
def test_a_module_of_another_package_is_not_one_of_ours(wanted: str) -> None:
    files = {
        "lib/parts/layers/blocks.py": "class Model(nn.Module):\n    def forward(self, x): return x\n",
        "lib/main/run.py": f"{wanted}\nblocks.Model().compile()\n",
    }
    assert hot(files) == {}


@pytest.mark.parametrize("dots", [".", "...", "....."])
def test_leading_dots_that_lead_nowhere_name_no_file(dots: str) -> None:
    files = {
        "a/b/use.py": f"from {dots}parts import Block\ncompiled = torch.compile(Block())",
        "a/parts.py": "class Block(nn.Module):\n    def forward(self, x): return x\n",
    }
    assert set(hot(files)) == set()


BESIDE = {
    "a/b/parts.py": "class Block(nn.Module):\n    def forward(self, x): return x\n",
    "a/parts.py": "class Block(nn.Module):\n    def forward(self, x): return x\n",
}


@pytest.mark.parametrize(
    ("wanted", "file"),
    [
        ("from . import parts", "a/b/parts.py"),
        ("from . import parts as p; parts = p", "a/b/parts.py"),
        ("from .. import parts", "a/parts.py"),
        ("from ..b import parts", "a/b/parts.py"),
    ],
)
def test_dots_alone_name_a_folder_that_is_no_package(wanted: str, file: str) -> None:
    use = f"{wanted}\ncompiled = torch.compile(parts.Block())\n"
    assert set(hot({**BESIDE, "a/b/use.py": use})) == {f"{file}::Block.forward"}


@pytest.mark.parametrize(
    "wanted",
    [
        "from .... import parts",
        "from . import parts",
        "from .c import parts",
        "from .. import other as parts",
    ],
)
def test_dots_alone_name_no_other_folder(wanted: str) -> None:
    use = f"{wanted}\ncompiled = torch.compile(parts.Block())\n"
    assert not hot({**BESIDE, "a/b/c/use.py": "", "a/b/d/use.py": use})


# --- scripts --------------------------------------------------------------------------------------------

RUNS = 'if __name__ == "__main__":\n    main()\n'
COMPILES = "def main():\n    return torch.compile(Net())\n"


def test_a_script_in_a_package_finds_what_lies_beside_it() -> None:
    files = {
        "td3/__init__.py": "",
        "td3/nets.py": NET,
        "td3/td3.py": NET,
        "td3/train.py": f"from nets import Net\n{COMPILES}{RUNS}",
    }
    assert set(hot(files)) == {"td3/nets.py::Net.forward"}
    files["td3/train.py"] = f"from td3 import Net\n{COMPILES}{RUNS}"
    assert set(hot(files)) == {"td3/td3.py::Net.forward"}


# --- lazy packages --------------------------------------------------------------------------------------

NETS = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""
LAZY = """
import importlib
_known = {"Net": ".nets"}
def __getattr__(name):
    return getattr(importlib.import_module(_known[name], __name__), name)
"""
REPLACED = "import sys\nsys.modules[__name__] = Lazy(__name__)\n"
USE = "from models import Net\nfast = torch.compile(Net())\n"


def likely(files: dict[str, str]) -> set[str]:
    return {name.partition("::")[2] for name, tier in hot(files).items() if tier != "possible"}


@pytest.mark.parametrize(
    "package", [LAZY, REPLACED, "import lazy_loader\n__getattr__, b, c = lazy_loader.attach(1)"]
)
def test_a_lazy_package_gives_what_one_of_its_modules_defines(package: str) -> None:
    files = {"models/__init__.py": package, "models/nets.py": NETS, "train.py": USE}
    assert likely(files) == {"Net.forward"}


@pytest.mark.parametrize(
    "files",
    [
        {"models/__init__.py": "x = 1", "models/nets.py": NETS},
        {"models/__init__.py": LAZY, "models/nets.py": "x = 1", "nets.py": NETS},
        {"models/__init__.py": LAZY, "models/nets.py": NETS, "models/more.py": NETS},
        {"models/__init__.py": LAZY, "models/nets.py": "class Nets:\n    Net = 1"},
        {"models/__init__.py": "import sys\nsys.modules['x'] = 1", "models/nets.py": NETS},
        {"models.py": LAZY, "nets.py": NETS},
    ],
)
def test_what_is_not_a_lazy_package_or_not_one_definition_is_quiet(files: dict[str, str]) -> None:
    assert likely({**files, "train.py": USE}) == set()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ('f"configs.{name}"', {"Net.forward"}),
        ('"configs." + name', {"Net.forward"}),
        ('"configs." + name + "_small"', {"Net.forward"}),
        ('"configs." + name + "_large"', set()),
        ('f"settings.{name}"', set()),
        ('"configs" + name', set()),
        ("name", set()),
    ],
)
def test_a_configuration_is_imported_from_a_folder_that_is_no_package(name: str, expected: set[str]) -> None:
    files = {
        "nets.py": NETS,
        "configs/net_small.py": "from nets import Net\ndef model(): return Net()",
        "train.py": "import importlib\ndef main(name):\n"
        f"    config = importlib.import_module({name})\n    return torch.compile(config.model())",
    }
    assert likely(files) == expected
