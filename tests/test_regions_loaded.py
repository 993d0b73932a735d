"""Regions: models out of files that are loaded by a path which only the run knows."""

from __future__ import annotations

import pytest

from tests.programs import hot

MANY = 10
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
NET = "class Net(nn.Module):\n    def forward(self, x): return x\n"
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


def found(asked: str, files: dict[str, str]) -> set[str]:
    project = {"run.py": RUN.format(asked=asked), **files}
    return {name for name, tier in hot(project).items() if tier != "assumed"}


def nets(number: int, source: str = BUILDER, folder: str = "nets") -> dict[str, str]:
    return {f"{folder}/n{i}.py": source for i in range(number)}


@pytest.mark.parametrize("number", [1, 2, MANY])
@pytest.mark.parametrize("asked", ["build_net(**options)", "build_net()", "Net()"])
def test_whatever_file_is_loaded_gives_what_it_defines_under_that_name(asked: str, number: int) -> None:
    assert found(asked, nets(number)) == {f"nets/n{i}.py::Net.forward" for i in range(number)}


def test_a_file_that_is_imported_besides_is_one_of_several_still() -> None:
    hub = {"hub.py": "from nets.n0 import build_net\n"}
    assert found("build_net()", {**nets(2), **hub}) == {"nets/n0.py::Net.forward", "nets/n1.py::Net.forward"}


@pytest.mark.parametrize("asked", ["build_other()", "Net.config", "options"])
def test_what_the_files_do_not_define_or_do_not_give_is_quiet(asked: str) -> None:
    assert found(asked, nets(2)) == set()


def test_what_only_tests_define_is_for_tests() -> None:
    assert found("build_net()", nets(2, folder="tests")) == set()


def test_a_method_of_that_name_is_not_what_a_file_has() -> None:
    inner = NET + "class Builder:\n    def build_net(self): return Net()\n"
    assert found("build_net()", nets(2, inner)) == set()


def test_so_many_files_that_they_are_a_library_are_quiet() -> None:
    assert found("build_net()", nets(80)) == set()


@pytest.mark.parametrize("maker", ["importlib.util.spec_from_file_location('net', path)", "open(path)"])
def test_what_is_no_module_has_no_functions_of_files(maker: str) -> None:
    source = f"import importlib.util\ndef main(path):\n    torch.compile(({maker}).build_net())\n"
    assert found("other", {**nets(2), "more.py": source}) == set()
