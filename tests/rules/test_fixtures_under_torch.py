"""The fixture projects are held against real Dynamo: hazards cost what they claim, fixed twins nothing.

A probe that was run as its project stands before is run again only for a sample: see tests/receipts.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.proof import Receipt, loaded, probes, prove, shows
from tests.receipts import runs_of, texts_of

MOE = Path(__file__).parent.parent.parent / "fixtures" / "moe"
TWINS = ("hazard", "fixed")
PROBES = probes(MOE / "hazard" / "probes.py")
PROBE_OF = {
    "DYN101": "probe_overflow_counter",
    "DYN103": "probe_balance_loss",
    "DYN201": "probe_noise_switch",
    "DYN202": "probe_window_lookup",
}


Receipts = Callable[[str, str], Receipt]


@pytest.fixture(scope="module")
def receipt(pytestconfig: pytest.Config) -> Receipts:
    """The receipt of a twin and a probe; each probe runs once, however many tests ask."""

    @cache
    def asked(twin: str, probe: str) -> Receipt:
        folder = MOE / twin
        (made,) = runs_of(
            recorded_as(twin, probe),
            texts_of(folder),
            lambda: (prove(folder / "probes.py", probe),),
            pytestconfig,
        )
        return made

    return asked


def recorded_as(twin: str, probe: str) -> str:
    """The name of the row of a probe."""
    return f"fixtures: {probe}, {twin}"


def costs(twin: str) -> dict[str, dict[str, Any]]:
    """The `COSTS` written above the probes."""
    tree = ast.parse((MOE / twin / "probes.py").read_text(encoding="utf-8"))
    (table,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COSTS"
    ]
    found: dict[str, dict[str, Any]] = ast.literal_eval(table)
    return found


def expected(twin: str) -> list[tuple[str, str]]:
    """Code and effect of every `# expect:` comment in a twin."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((MOE / twin).glob("*.py")))
    return re.findall(r"# expect: (\S+) (\S+)$", text, re.MULTILINE)


@pytest.mark.parametrize("twin", TWINS)
def test_every_probe_has_its_cost_beside_it(twin: str):
    assert costs(twin).keys() == set(probes(MOE / twin / "probes.py")) == set(PROBES)


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("probe", PROBES)
def test_probe_costs_what_is_written_beside_it(twin: str, probe: str, receipt: Receipts):
    promise = costs(twin)[probe]
    assert {key: getattr(receipt(twin, probe), key) for key in promise} == promise


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("probe", PROBES)
def test_compiled_outputs_equal_those_of_the_eager_model(twin: str, probe: str, receipt: Receipts):
    assert not receipt(twin, probe).stale


@pytest.mark.parametrize(("code", "effect"), expected("hazard"))
def test_hazard_has_the_effect_written_beside_its_line(code: str, effect: str, receipt: Receipts):
    assert shows(effect, receipt("hazard", PROBE_OF[code]))


@pytest.mark.parametrize("code", PROBE_OF)
def test_fixed_hazard_compiles_once_and_never_again(code: str, receipt: Receipts):
    assert shows("-", receipt("fixed", PROBE_OF[code]))


def test_each_hazard_is_planted_once_and_fixed_twin_expects_nothing():
    assert sorted(code for code, _ in expected("hazard")) == sorted(PROBE_OF)
    assert expected("fixed") == []


def test_fixed_training_compiles_each_kind_of_block_once_for_all_its_instances(receipt: Receipts):
    with loaded(MOE / "fixed" / "config.py") as config:
        pattern = config.ModelConfig().pattern
    assert len(pattern) > len(set(pattern))
    assert receipt("fixed", "probe_training").compiles == len(set(pattern))


def test_twins_are_loaded_in_isolation():
    with loaded(MOE / "hazard" / "moe.py") as hazard, loaded(MOE / "fixed" / "moe.py") as fixed:
        assert hazard.__file__ != fixed.__file__
        assert hazard.Router is not fixed.Router
