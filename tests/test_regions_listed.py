"""Models that packages list, import lazily or look up by name, and what is not meant by it."""

from __future__ import annotations

import pytest

from tests.programs import hot

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
    return {name.partition("::")[2] for name, tier in hot(files).items() if tier != "assumed"}


@pytest.mark.parametrize(
    "package", [LAZY, REPLACED, "import lazy_loader\n__getattr__, b, c = lazy_loader.attach(1)"]
)
def test_a_lazy_package_gives_what_one_of_its_modules_defines(package: str) -> None:
    files = {"models/__init__.py": package, "models/nets.py": NETS, "train.py": USE}
    assert likely(files) == {"Net.forward"}


def test_a_module_of_a_lazy_package_is_asked_for_by_attribute() -> None:
    use = "import models\nfast = torch.compile(models.Net())"
    assert likely({"models/__init__.py": LAZY, "models/nets.py": NETS, "train.py": use}) == {"Net.forward"}


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


def test_a_lazy_package_that_binds_a_name_itself_is_taken_at_its_word() -> None:
    files = {"models/__init__.py": LAZY + "from .own import Net\n", "models/nets.py": NETS}
    own = {
        "models/own.py": "class Net(nn.Module):\n    def forward(self, x): return self.part(x)\n    def part(self, x): return x"
    }
    assert likely({**files, **own, "train.py": USE}) == {"Net.forward", "Net.part"}


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


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("getattr(models, name).build()", {"Net.forward"}),
        ("getattr(models, name).other()", set()),
        ("getattr(models.nets, name).build()", set()),
        ("getattr(name, 'nets').build()", set()),
    ],
)
def test_a_package_asked_by_an_unknown_name_may_mean_one_of_its_modules(
    call: str, expected: set[str]
) -> None:
    files = {
        "models/__init__.py": "from . import nets",
        "models/nets.py": NETS + "def build(): return Net()",
        "train.py": f"import models\ndef main(name): return torch.compile({call})",
    }
    assert likely(files) == expected


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


PIPELINE = """
class Pipeline:
    def __init__(self):
        self.net = Net()
        self.size = 3
def main(args, pipeline: Pipeline):
    for name in args.compiled: {body}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("setattr(pipeline, name, torch.compile(getattr(pipeline, name)))", {"Net.forward"}),
        ("getattr(pipeline, name).compile()", {"Net.forward"}),
        ("getattr(pipeline, name)", set()),
        ("setattr(pipeline, 'size', torch.compile(pipeline.size))", set()),
        ("setattr(args, name, torch.compile(getattr(args, name)))", set()),
    ],
)
def test_a_part_named_by_a_setting_may_be_any_part(body: str, expected: set[str]) -> None:
    assert likely({"run.py": NETS + PIPELINE.format(body=body)}) == expected


ALIASED = """
class NetConfig:
    def build(self): return Net()
class OtherConfig:
    def build(self): return Other()
"""


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("Kind = Annotated[NetConfig, 1]", {"Net.forward"}),
        ("Kind = Annotated[Union[NetConfig, OtherConfig], 1]", {"Net.forward", "Other.forward"}),
        ("Kind = Optional[NetConfig]", {"Net.forward"}),
        ("Kind = Annotated[int, NetConfig]", set()),
        ("Kind = Annotated[NetConfig, 1]\nKind = Optional[OtherConfig]", set()),
        ("Kind = List[NetConfig]", set()),
        ("Kind = Annotated", set()),
    ],
)
def test_an_annotation_may_have_a_name_of_its_own(declared: str, expected: set[str]) -> None:
    kinds = f"from typing import Annotated, List, Optional, Union\n{NETS}{ALIASED}{declared}\n"
    use = "from kinds import Kind\ndef main(config: Kind): return torch.compile(config.build())"
    assert likely({"kinds.py": kinds, "train.py": use}) == expected
