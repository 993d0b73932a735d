"""What a number costs that differs in each call, by the expression it is used in, is what torch was seen to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.truths import findings

MEASURED: dict[str, dict[str, int]] = json.loads((Path(__file__).parent / "numbers.json").read_text())
VALUES = {
    "float": ("f", [round(0.31 + 0.05 * number, 2) for number in range(12)]),
    "int": ("n", [*range(1, 13)]),
}
UNLIKE = {"sum((x for _ in range(n)), x)": "what a generator is asked for is not followed into `sum`"}
"""Expressions about which the linter says something else, and why."""
CASES = [
    pytest.param(
        kind,
        expression,
        count,
        id=expression,
        marks=[pytest.mark.xfail(strict=True, reason=UNLIKE[expression])] if expression in UNLIKE else [],
    )
    for kind, expressions in MEASURED.items()
    for expression, count in expressions.items()
]


@pytest.mark.parametrize(("kind", "expression", "count"), CASES)
def test_a_number_that_changes_costs_what_torch_was_seen_to_compile(
    tmp_path: Path, kind: str, expression: str, count: int
) -> None:
    name, values = VALUES[kind]
    (tmp_path / "program.py").write_text(
        "import math\nimport torch\nY = torch.ones(8)\n\n\n@torch.compile\n"
        f"def function(x, {name}):\n    return {expression}\n\n\n"
        f"for value in {values}:\n    function(torch.linspace(0.1, 1.0, 8), value)\n"
    )
    effects = {one.effect for one in findings(tmp_path) if one.code == "DYN109"}
    if count < 2:
        assert effects == set()
    elif count == 2:
        assert effects in ({"once"}, {"per-value"})  # a size of 0 or 1 would be one more
    else:
        assert effects <= {"per-value", "storm"}
        assert effects
