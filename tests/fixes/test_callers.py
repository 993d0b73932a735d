"""Values that go through functions of the project: what all callers pass, and what they get back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.fixing import fix_text

PROGRAM = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._calls = 0
{helper}

    def forward(self, x):
        self._calls += 1
        return {used}


model = Model()
run = torch.compile(model)
{more}
"""
SCALED = "\n    def _scaled(self, y):\n        return y * self._calls"
COUNT = "\n    def _count(self):\n        return self._calls"
TURN = "\n    @property\n    def _turn(self):\n        return self._calls"


def is_fixed(folder: Path, helper: str, used: str, more: str) -> bool:
    text = PROGRAM.format(helper=helper, used=used, more=more)
    return "register_buffer" in fix_text(folder, text, unsafe=False)


@pytest.mark.parametrize(
    ("helper", "used", "more", "expected"),
    [
        (SCALED, "self._scaled(self.lin(x))", "", True),
        (SCALED, "self._scaled(y=self.lin(x))", "", True),
        (SCALED, "self._scaled(self._scaled(x))", "", False),
        (SCALED, "self._scaled(x) + self._scaled(x.shape[0])", "", False),
        (SCALED, "self._scaled(*[x])", "", False),
        (SCALED, "self._scaled(x)", "print(model._scaled(3))", False),
        (SCALED, "self._scaled(x)", "print(list(map(model._scaled, [3])))", False),
        (SCALED, "self._scaled(x)", "print(getattr(model, '_scaled')(3))", False),
        (SCALED.replace("(self, y)", "(self, y: float)"), "self._scaled(x)", "", False),
        (SCALED.replace("    def", "    @torch.no_grad()\n    def"), "self._scaled(x)", "", False),
        (COUNT, "self.lin(x) * self._count()", "", True),
        (COUNT, "self.lin(x) * self._count()", "print(model._count())", False),
        (COUNT, "self.lin(x)[: self._count()]", "", False),
        (COUNT, "self.lin(x) * min(self._count(), 3)", "", False),
        (COUNT, "self.lin(x) * self._count()", "counts = [model._count]", False),
        (TURN, "self.lin(x) * self._turn", "", True),
        (TURN, "self.lin(x) * self._turn", "print(model._turn)", False),
        (TURN, "self.lin(x)[self._turn]", "", False),
        (SCALED, "self._scaled(x) + self._scaled(x) * self._calls", "", True),
    ],
)
def test_a_number_goes_through_helpers_that_compiled_code_alone_calls(
    tmp_path: Path, helper: str, used: str, more: str, expected: bool
) -> None:
    assert is_fixed(tmp_path, helper, used, more) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("seen = self._calls\n        self._calls = seen + 1\n        return self.lin(x) * seen", True),
        (
            "seen = 0\n        if x.dim() == 2:\n            seen = self._calls\n        self._calls = seen + 1",
            False,
        ),
        ("seen = self._calls\n        seen = 2\n        self._calls = seen + 1", False),
    ],
)
def test_a_next_value_by_way_of_a_local_name_is_a_tensor_or_the_number_stays(
    tmp_path: Path, body: str, expected: bool
) -> None:
    text = PROGRAM.format(helper="", used="self.lin(x)", more="")
    done = fix_text(tmp_path, text.replace("self._calls += 1", body), unsafe=False)
    assert ("register_buffer" in done) is expected
    assert "new_full" not in done


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ('setattr(self, "_calls", self._calls + 1)', "self._calls += 1"),
        ('object.__setattr__(self, "_calls", self._calls + 1)', "self._calls += 1"),
        (
            'self._calls += 1\n        setattr(self, "_calls", self._calls % 4)',
            "self._calls = self._calls % 4",
        ),
        (
            'self._calls += 1\n        if x.dim() > 3:\n            setattr(self, "_calls", 4)',
            "    self._calls.fill_(4)",
        ),
        ('setattr(self, "_calls", int(self._calls) + 1)', None),
        ('setattr(self, "_calls", model._calls + 1)', None),
        ('y = setattr(self, "_calls", 4)', None),
        ('super().__setattr__("_calls", self._calls + 1)', None),
    ],
)
def test_a_number_that_is_set_by_its_name_is_assigned(tmp_path: Path, line: str, made: str | None) -> None:
    text = PROGRAM.format(helper="", used="self.lin(x)", more="").replace("self._calls += 1", line)
    done = fix_text(tmp_path, text, unsafe=False)
    assert done == text if made is None else f"        {made}\n" in done
