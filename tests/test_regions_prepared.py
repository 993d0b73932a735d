"""Regions: what an Accelerator prepares that another file of the project makes, told there to compile or not."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text

NET = "class Net(nn.Module):\n    def forward(self, x): return x\n"
MAKE = """
from accelerate import Accelerator
def make(args):
    backend = "NO"
    if args.compile:
        backend = args.backend
    accelerator = Accelerator(log_with=args.log, dynamo_backend=backend)
    return accelerator
"""
USES = {
    "local": "from tools.make import make\ndef main(args):\n    acc = make(args)\n    net = acc.prepare(Net())\n",
    "module": "from tools import make\nacc = make.make(None)\nnet, other = acc.prepare(Net(), None)\n",
    "annotated": "from accelerate import Accelerator\n"
    "def run(acc: Accelerator): net = acc.prepare_model(Net())\n",
    "attribute": "from tools.make import make\nclass Task:\n    def __init__(self, args): self.acc = make(args)\n"
    "    def run(self): self.net = self.acc.prepare(Net())\n",
    "given": "from tools.make import make\ndef run(acc): net = acc.prepare(Net())\n"
    "def main(args): run(make(args))\n",
}


def found(use: str, make: str = MAKE, at: str = "tools/make.py") -> dict[str, str]:
    return hot({"tools/__init__.py": "", "tests/__init__.py": "", at: make, "main.py": NET + use})


@pytest.mark.parametrize("use", USES)
def test_an_accelerator_of_another_file_compiles_what_it_prepares(use: str) -> None:
    assert found(USES[use]) == {"main.py::Net.forward": "likely"}


@pytest.mark.parametrize("use", USES)
def test_one_that_nobody_tells_to_compile_compiles_nothing(use: str) -> None:
    assert found(USES[use], MAKE.replace("dynamo_backend=backend", "cpu=True")) == {}
    assert found(USES[use], MAKE.replace("dynamo_backend=backend", "dynamo_backend='no'")) == {}


@pytest.mark.parametrize(
    "use",
    [
        "def run(acc): net = acc.prepare(Net())\n",  # nothing says what that is
        "from fabric import Fabric\ndef run(acc: Fabric): net = acc.prepare(Net())\n",
        "from accelerate import Accelerator\ndef run(acc: Accelerator): net = acc.gather(Net())\n",
        "from accelerate import Accelerator\nacc = Accelerator()\nnet = acc.prepare(Net())\n",
        "from tools.make import make\nclass Own:\n    def prepare(self, net): return net\n"
        "net = Own().prepare(Net())\n",
    ],
)
def test_other_objects_and_accelerators_of_the_file_itself_are_not_that_one(use: str) -> None:
    assert found(use) == {}


def test_one_that_a_test_makes_is_for_that_test() -> None:
    assert found(USES["annotated"], at="tests/make.py") == {}


def test_an_optimizer_that_it_prepares_is_no_unresolved_site() -> None:
    use = "from tools.make import make\ndef main(args, optimizer): return make(args).prepare(optimizer)\n"
    _, regions = resolve_text({"tools/__init__.py": "", "tools/make.py": MAKE, "main.py": NET + use})
    assert not regions.unresolved
