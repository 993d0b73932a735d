"""Rule pages and fixtures: where a fix is offered, the fixed program is clean, free and equal to the old one.

A fixed program that was run as it stands before is run again only for a sample: see tests/receipts.py.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from dynamo_lint.confirm.child.program import Program, compiled, eager
from dynamo_lint.confirm.probes import probes
from tests.fixes.fixing import fixed
from tests.receipts import outcome_of, texts_of

ROOT = Path(__file__).parent.parent.parent
CALLS = 12
CHILD = ROOT / "dynamo_lint" / "confirm" / "child"
RUNNING = texts_of(CHILD / "program.py", CHILD / "witness.py")
"""What runs the programs and counts."""
PAGES = sorted((ROOT / "rules").glob("DYN[1-5]*.md"))
AUTOMATIC = {"DYN101", "DYN103", "DYN104", "DYN401", "DYN402", "DYN403", "DYN406", "DYN501"}
"""Pages whose hazard has a fix; the others stay as they are, which is held too."""
ISLANDS = {"DYN406"}
"""Those whose fix asks for a reason and leaves the break where it is."""


def hazard(page: Path) -> str:
    section = page.read_text(encoding="utf-8").split("## Hazard")[1]
    return re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]  # type: ignore[index]


def cost(name: str, new: Path, old: Path, probe: str, config: pytest.Config) -> tuple[int, int, int, bool]:
    """Compiles, compiled calls and breaks of the fixed program, and whether it equals the old one run eagerly."""

    def run() -> Any:
        expected = eager(Program(old, probe, old.parent, CALLS))
        receipt = compiled(Program(new, probe, new.parent, CALLS), expected, "aot_eager", limit=None)
        assert receipt.failure is None
        return len(receipt.compiles), len(receipt.graph_calls), len(receipt.breaks), receipt.matches_eager

    texts = [*texts_of(old.parent, new.parent), *RUNNING]
    compiles, calls, breaks, equal = outcome_of(recorded_as(name), texts, run, config)
    return compiles, calls, breaks, equal


def recorded_as(name: str) -> str:
    """The name of the row of a fixed program."""
    return f"fixed pages: {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem[:6])
def test_a_fixed_page_is_clean_compiles_once_and_computes_the_same(
    page: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    code = page.stem[:6]
    (tmp_path / "old").mkdir()
    old = tmp_path / "old" / "hazard.py"
    old.write_text(hazard(page), encoding="utf-8")
    done = fixed(old.parent)
    assert bool(done.files) == (code in AUTOMATIC)
    if not done.files:
        return
    assert code not in {finding.code for finding in done.report.findings}
    new = tmp_path / "hazard.py"
    new.write_bytes(done.files["hazard.py"])
    (probe,) = probes(old)
    assert cost(code, new, old, probe, pytestconfig) == (
        (2, CALLS, 1, True) if code in ISLANDS else (1, CALLS, 0, True)
    )


PROBES = ("probe_overflow_counter", "probe_balance_loss", "probe_training")
"""Those of the fixture; the last one goes through all of it, where other things compile as well."""


def test_the_fixed_fixture_compiles_its_state_once_and_trains_the_same(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    old, new = ROOT / "fixtures" / "moe" / "hazard", tmp_path / "new"
    shutil.copytree(old, new)
    done = fixed(new)
    assert sorted(finding.code for finding in done.applied) == ["DYN101", "DYN103"]
    for path, raw in done.files.items():
        (new / path).write_bytes(raw)
    for probe in PROBES:
        *costs, equal = cost(probe, new / "probes.py", old / "probes.py", probe, pytestconfig)
        assert equal
        assert costs == [1, CALLS, 0] or probe == "probe_training"
