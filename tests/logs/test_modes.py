"""Which mode a finding is about, and which a failed check is about."""

from __future__ import annotations

import pytest

from dynamo_lint.logs.causes import mode_changes, reads
from dynamo_lint.logs.modes import failed_modes, flipped


@pytest.mark.parametrize(
    ("code", "subject", "mode"),
    [
        ("DYN110", "run.py::main: gradient mode", "gradient mode"),
        ("DYN110", "Block.training", "training"),
        ("DYN110", "Net.forward(x)", "requires_grad"),
        ("DYN509", "the default dtype", "the default dtype"),
        ("DYN101", "Block.training", ""),
    ],
)
def test_a_finding_is_about_one_mode(code: str, subject: str, mode: str) -> None:
    assert flipped(code, subject) == mode


@pytest.mark.parametrize(
    ("check", "modes"),
    [
        (("GLOBAL_STATE", "expression", "grad_mode"), {"gradient mode"}),
        (("GLOBAL_STATE", "expression", "grad_mode autocast(cpu)_enabled"), {"gradient mode", "autocast"}),
        (("GLOBAL_STATE", "expression", "num_threads"), {"the number of threads"}),
        (("self._modules['drop'].training", "value", "True"), {"training"}),
        (("x", "requires_grad", ""), {"requires_grad"}),
        (("self.n", "value", "1"), set()),
    ],
)
def test_a_check_names_the_modes_that_had_changed(check: tuple[str, str, str], modes: set[str]) -> None:
    assert failed_modes(*check) == modes


def test_lines_that_change_a_mode_are_calls_and_no_decorators() -> None:
    text = "@torch.no_grad()\ndef f():\n    with torch.inference_mode():\n        g()\ntorch.set_num_threads(2)\n"
    assert sorted(mode_changes(text)) == [(3, "gradient mode"), (5, "the number of threads")]


def test_an_attribute_is_read_by_its_name_and_an_item_by_its_key() -> None:
    assert sorted(reads("a = self.zero\nb = group['lr']\ngroup['d'] = 1\n")) == [
        (1, "zero", ""),
        (2, "", "lr"),
    ]
