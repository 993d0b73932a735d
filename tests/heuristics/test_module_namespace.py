"""Guess: a name that only the run knows means one of the models that a module or a package offers."""

from __future__ import annotations

import pytest

from tests.programs import hot

NETS = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""


def likely(files: dict[str, str]) -> set[str]:
    return {name.partition("::")[2] for name, tier in hot(files).items() if tier != "possible"}


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
