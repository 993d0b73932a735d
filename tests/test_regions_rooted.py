"""Regions: a project that imports its own folder under a name that nothing in it has."""

from __future__ import annotations

import pytest

from tests.programs import hot

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


def test_what_lies_beside_a_script_is_imported_by_what_the_script_imports() -> None:
    assert set(hot(ABOVE)) == {"lib/nets.py::Net.forward"}


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


def test_a_package_has_no_more_than_it_binds() -> None:
    files = {
        "nets/__init__.py": "from nets.more import net\n",
        "nets/more.py": "net = None\n",
        "nets/net.py": NET,
    }
    use = "import nets\nfast = torch.compile(nets.net.Net())\n"
    assert set(hot({**files, "conf/use.py": use})) == set()
