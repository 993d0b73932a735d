"""Numbers that a plain object, a class or a part of what a module holds has: which become tensors, and which stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.fixing import fix_text, fixed

OBJECT = """\
import torch
from torch import nn


class Stats:
    def __init__(self):
        self.step = 0

    def read(self):
        return self.step


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = Stats()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        self.stats.step += 1
        return self.lin(x) * self.stats.step


stats = Stats()
model = Model()
run = torch.compile(model)
"""
CLASS = """\
import torch
from torch import nn


class Model(nn.Module):
    served = 0

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        Model.served += 1
        return self.lin(x)


model = Model()
run = torch.compile(model)
"""
HELD = """\
import collections
import types

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.held = {held}

    def forward(self, x):
        self.held{part} += 1
        return self.lin(x)


model = Model()
run = torch.compile(model)
"""


def applicability(folder: Path, text: str) -> str:
    """`safe`, `unsafe`, or `none` where the number stays."""
    (folder / "model.py").write_text(text)
    (found,) = fixed(folder, unsafe=False).report.findings or [None]
    if found is None:
        return "safe"
    return "unsafe" if fixed(folder).files else "none"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("print(stats.step, model.stats.read(), f'{stats.step}')", "safe"),
        ("stats.step = 3", "safe"),
        ("print(isinstance(stats.step, int))", "safe"),
        ("class More(Stats):\n    pass", "safe"),
        ("import pickle\npickle.dumps(stats)", "unsafe"),
        ("import pickle\npickle.dumps([stats])", "unsafe"),
        ("import launcher\nlauncher.follow(stats)", "unsafe"),
        ("import launcher\nlauncher.follow(stats.step)", "safe"),
        ("def show(one, name): return getattr(one, name)", "unsafe"),
        ("print(vars(stats))", "unsafe"),
        ("object.__setattr__(stats, NAME, 3)", "unsafe"),
        ("from unittest import mock\nmock.patch.object(stats, 'step', 3)", "unsafe"),
        ("stats.step = 0.5", "unsafe"),
        ("run = torch.compile(model, mode='reduce-overhead')", "none"),
        ("del stats.step", "none"),
        ("class More(Stats):\n    __slots__ = ()", "none"),
        ("import launcher\nclass More(Stats, launcher.Base):\n    pass", "none"),
        ("stats.step = None", "none"),
    ],
)
def test_a_number_of_a_plain_object_becomes_a_tensor_where_nobody_can_tell(
    here: Path, more: str, expected: str
) -> None:
    assert applicability(here, f"{OBJECT}{more}\n") == expected


def test_a_number_of_a_dataclass_stays_because_its_constructor_may_be_given_another(here: Path) -> None:
    made = "@dataclasses.dataclass\nclass Stats:\n    step: int = 0\n\n    def read"
    text = OBJECT.replace(
        "class Stats:\n    def __init__(self):\n        self.step = 0\n\n    def read", made
    )
    assert applicability(here, f"import dataclasses\n{text}") == "none"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("print(Model.served, model.served)", "safe"),
        ("type(model).served = 3", "safe"),
        ("class More(Model):\n    pass\n\n\nMore.served = 2", "safe"),
        ("model.served = 3", "none"),
        ("model.served += 1", "none"),
        ("class More(Model):\n    served = 3", "none"),
        ("def put(one):\n    one.served = 3", "none"),
        ("print(Model.__dict__)", "unsafe"),
        ("print(vars(Model))", "unsafe"),
        ("def forget():\n    del Model.served", "none"),
    ],
)
def test_a_number_of_a_class_becomes_a_tensor_unless_an_object_has_one_of_its_own(
    here: Path, more: str, expected: str
) -> None:
    assert applicability(here, f"{CLASS}{more}\n") == expected


def test_a_number_that_a_class_method_sets_is_never_taken_for_that_of_an_object(here: Path) -> None:
    bump = "    @classmethod\n    def bump(cls):\n        cls.served += 1\n\n    def forward"
    text = CLASS.replace("    def forward", bump).replace("Model.served += 1", "self.bump()")
    done = fix_text(here, text, unsafe=False)
    assert "    served = torch.zeros((), dtype=torch.long)" in done
    assert "cls.served = cls.served + 1" in done
    own = CLASS.replace("        self.lin =", "        self.rows = 0\n        self.lin =").replace(
        "Model.served", "self.rows"
    )
    make = (
        "    @classmethod\n    def make(cls):\n        cls.rows = 5\n        return cls()\n\n    def forward"
    )
    assert applicability(here, own) == "safe"
    assert applicability(here, own.replace("    def forward", make)) == "none"


@pytest.mark.parametrize(
    ("held", "part", "made"),
    [
        ("collections.Counter()", '["a"]', '{"a": torch.zeros((), dtype=torch.long)}'),
        ("collections.defaultdict(int)", '["a"]', '{"a": torch.zeros((), dtype=torch.long)}'),
        ("[3, 0]", "[1]", "[3, torch.zeros((), dtype=torch.long)]"),
        ("[3, 0]", "[0]", "[torch.tensor(3), 0]"),
        ("types.SimpleNamespace(a=0)", ".a", "types.SimpleNamespace(a=torch.zeros((), dtype=torch.long))"),
    ],
)
def test_a_count_in_what_a_module_holds_becomes_a_tensor_there(
    here: Path, held: str, part: str, made: str
) -> None:
    text = HELD.format(held=held, part=part)
    assert f"self.held = {made}\n" in fix_text(here, text, unsafe=False)


@pytest.mark.parametrize(
    ("held", "part", "more"),
    [
        ("collections.Counter()", '["a"]', "print(model.held.most_common())"),
        ("collections.Counter(TEXTS)", '["a"]', ""),
        ("collections.defaultdict(lambda: 0)", '["a"]', ""),
        ("[3, 0]", "[1]", "print(sum(model.held))"),
        ("[3, 0]", "[1]", "print(model.held[-1])"),
        ("[*ROWS, 0]", "[1]", ""),
        ("types.SimpleNamespace(a=0)", ".a", "print(model.held)"),
        ("types.SimpleNamespace(a=0)", ".a", "print(model.held.__dict__)"),
    ],
)
def test_a_count_stays_where_all_that_the_module_holds_is_used_or_unknown(
    here: Path, held: str, part: str, more: str
) -> None:
    text = HELD.format(held=held, part=part)
    (here / "model.py").write_text(f"{text}{more}\n")
    assert fixed(here).files == {}
