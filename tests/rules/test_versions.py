"""The linter is held to what every torch was measured to do (tests/truth/verdicts.json); none of them is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.versions import Job, programs, proofs
from dynamo_lint.models.releases import changes, holds
from tests import verdicts as tables
from tests.lints import claims_about
from tests.rules.test_truth import CASES, DISAGREEMENTS
from tests.truths import Claim, agreement, hazards_of_pages
from tests.verdicts import PROGRAMS, ROWS, UNKNOWN, bridged, load, spread, verdict_of, version

pytestmark = pytest.mark.xdist_group("versions")
"""One process lints all programs for every version, and answers all tests."""
LIMIT = 4
"""The recompile limit that the programs were run with (bench/versions.py)."""
AGREEMENT = 0.97
"""The least share of programs about which the linter is right."""
MEASURED = 0.5
"""The least share of programs that were run as they now stand, for each torch: those that differ between others
come first, and what two others agree about is taken for true of those between them."""

TABLE = load(PROGRAMS)
VERSIONS = list(TABLE["torch"])
PROGRAMS_HELD = [*CASES, *hazards_of_pages()]


@pytest.fixture(scope="module")
def verdicts() -> dict[str, dict[str, tuple[str, str, list[Claim]]]]:
    """Version to program to the comparison of what is said with what was measured, and both of them."""
    told: dict[str, dict[str, tuple[str, str, list[Claim]]]] = {name: {} for name in VERSIONS}
    for case in PROGRAMS_HELD:
        measured = spread(TABLE["rows"].get(case.id, {}), VERSIONS, case.digest)
        if set(measured.values()) == {UNKNOWN}:
            continue
        for name, words in bridged(measured).items():
            if (verdict := verdict_of(words)) is not None:
                claimed = claims_about(case, LIMIT, version(name))
                told[name][case.id] = agreement(claimed, verdict, LIMIT), words, claimed
    return told


@pytest.mark.parametrize("name", VERSIONS)
def test_what_is_said_for_a_torch_agrees_with_what_it_does(name: str, verdicts: Any) -> None:
    counts = Counter(comparison for comparison, _, _ in verdicts[name].values())
    wrong = [f"{case}: {row}" for case, row in verdicts[name].items() if row[0] != "agree"]
    assert counts["agree"] >= AGREEMENT * counts.total(), "\n".join([str(counts), *wrong])


@pytest.mark.parametrize("name", VERSIONS)
def test_no_storm_and_no_stale_value_is_passed_over_in_silence(name: str, verdicts: Any) -> None:
    silent = [
        f"{case}: {words}"
        for case, (comparison, words, _) in verdicts[name].items()
        if comparison == "missed" and ("storm" in words or "stale" in words)
        if case not in DISAGREEMENTS
    ]
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("name", VERSIONS)
def test_most_programs_were_run_as_they_now_stand(name: str) -> None:
    run = [
        case.id
        for case in PROGRAMS_HELD
        if spread(TABLE["rows"].get(case.id, {}), VERSIONS, case.digest)[name] != UNKNOWN
    ]
    assert len(run) >= MEASURED * len(PROGRAMS_HELD), "run `python bench/versions.py` (docs/maintainers.md)"


@pytest.mark.parametrize("name", changes())
def test_what_a_release_changed_is_seen_from_that_release_on(name: str) -> None:
    change = changes()[name]
    for program in change.programs:
        row = TABLE["rows"][program]
        told = [verdict for verdict in spread(row, VERSIONS, row["text"]).items() if verdict[1] != UNKNOWN]
        before = [words for one, words in told if not holds(name, version(one))]
        after = [words for one, words in told if holds(name, version(one))]
        assert set(after).isdisjoint(before), (program, told)
    assert change.programs


@pytest.mark.parametrize(("table", "jobs"), [(PROGRAMS, programs), (ROWS, proofs)])
def test_every_row_is_that_of_a_program(table: Path, jobs: Callable[[], list[Job]]) -> None:
    assert load(table)["rows"].keys() <= {job.name for job in jobs()}


def test_what_was_measured_stands_for_a_run_of_the_same_text_under_the_same_torch_and_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"torch": "2.13.1", "python": "3.12"}
    rows = {
        "kept": {"text": "1a", "2.12": "storm", "2.13": "-"},
        "counted": {"text": "1a", "2.12": "breaks", "graphs": "2, breaks at a.py:3 b.py:14"},
        "not run": {"text": "1a", "2.12": "storm", "2.13": UNKNOWN},
    }
    path = tmp_path / "table.json"
    tables.save(path, {"torch": {"2.12": "2.12.0", "2.13": "2.13.1"}, "run": here, "rows": rows})
    monkeypatch.setattr(tables, "surroundings", lambda: here)
    assert tables.recorded(path, "kept", "1a") == {"verdict": "-", "graphs": ""}
    counted = tables.recorded(path, "counted", "1a")
    assert counted is not None
    assert tables.counted_of(counted["graphs"]) == (2, {("a.py", 3), ("b.py", 14)})
    assert tables.recorded(path, "kept", "2b") is None
    assert tables.recorded(path, "not run", "1a") is None
    assert tables.recorded(path, "new", "1a") is None
    for other in ({**here, "torch": "2.13.0"}, {**here, "python": "3.13"}):
        monkeypatch.setattr(tables, "surroundings", lambda other=other: other)
        assert tables.recorded(path, "kept", "1a") is None
