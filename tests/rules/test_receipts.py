"""The table of receipts holds what the tests ask for and nothing else; a row stands for a run of the same text."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from tests import receipts
from tests.confirm import test_exercised_under_torch as exercised
from tests.confirm import test_pages_confirmed_under_torch as confirmed
from tests.doctor import test_logs_under_torch as doctor
from tests.fixes import test_fixes_under_torch as rewritten
from tests.fixes import test_pages_fixed_under_torch as fixed_pages
from tests.fixes import test_truth_fixed_under_torch as fixed
from tests.models import test_environment_under_torch as environment
from tests.proof import Receipt
from tests.rules import test_cases_under_torch as cases
from tests.rules import test_fixtures_under_torch as fixtures
from tests.rules import test_pages_under_torch as pages
from tests.translated import PREFIX

STORM = Receipt(9, 12, limit=True, stale=False, breaks=1, break_ids=frozenset({"GB0059"}), calls=3)
KEPT = next(f"a program, {number}" for number in range(99) if not receipts.sampled(f"a program, {number}"))
RUN = next(f"a program, {number}" for number in range(99) if receipts.sampled(f"a program, {number}"))
TEXTS = [("a.py", "x = 1")]


def asked_for() -> set[str]:
    """The names of all rows that tests ask for."""
    classes = {param.values[:2] for param in [*cases.LOUD, *cases.QUIET]}
    probes = (*exercised.NOT_EXERCISED, *exercised.EXERCISED, *exercised.REFUTED)
    return {
        *map(exercised.recorded_as, probes),
        *map(confirmed.recorded_as, confirmed.PAGES),
        *rewritten.ROWS,
        *map(doctor.recorded_as, doctor.REFUSED),
        *(fixtures.recorded_as(twin, probe) for twin in fixtures.TWINS for probe in fixtures.PROBES),
        *map(fixed_pages.recorded_as, (*fixed_pages.AUTOMATIC, *fixed_pages.PROBES)),
        *map(environment.recorded_as, (*environment.MEANT, *environment.LOADING)),
        *(fixed.recorded_as(case) for case in fixed.CASES if case.id in fixed.FIXED),
        *(cases.recorded_as(path, name) for path, name in classes),
        *(pages.recorded_as(code, section) for code in pages.PAGES for section in ("Hazard", "Fixed")),
        *(pages.recorded_as(code, label) for code, label in pages.ROWS if label.endswith(pages.INDUCTOR)),
    }


def recorded() -> set[str]:
    """The names of the rows, without those that are named after tests."""
    return {name for name in receipts.load()["rows"] if not name.startswith(PREFIX)}


def config(everything: bool = False, *plugins: object) -> pytest.Config:
    manager = SimpleNamespace(get_plugins=lambda: plugins)
    return SimpleNamespace(pluginmanager=manager, getoption=lambda name: everything)  # type: ignore[return-value]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with two rows, of this torch and Python."""
    recorder = receipts.Recorder()
    for name in (KEPT, RUN):
        receipts.runs_of(name, TEXTS, lambda: (STORM,), config(False, recorder))
    whole = {"run": receipts.surroundings(), "rows": recorder.rows}
    monkeypatch.setattr(receipts, "load", lambda: whole)


def test_every_row_is_one_that_a_test_asks_for() -> None:
    assert recorded() <= asked_for(), f"run `{receipts.MADE_BY}`"


def test_most_of_what_tests_ask_for_is_recorded_under_the_pinned_torch() -> None:
    assert len(recorded()) >= 0.9 * len(asked_for()), f"run `{receipts.MADE_BY}`"


@pytest.mark.parametrize(
    "receipt", [STORM, Receipt(1, 12, False, False, 0, frozenset(), break_lines=frozenset({("a.py", 3)}))]
)
def test_a_receipt_is_read_as_it_was_written(receipt: Receipt) -> None:
    assert receipts.unpacked(receipts.packed(receipt)) == receipt


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("name", "everything", "runs"), [(KEPT, False, 0), (KEPT, True, 1), (RUN, False, 1), ("new", False, 1)]
)
def test_a_text_that_was_run_is_run_again_for_a_sample_only(name: str, everything: bool, runs: int) -> None:
    made: list[int] = []

    def run() -> receipts.Runs:
        made.append(1)
        return (STORM,)

    assert receipts.runs_of(name, TEXTS, run, config(everything)) == (STORM,)
    assert len(made) == runs


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("name", "texts", "why"),
    [
        (KEPT, [("a.py", "x = 2")], "its text has changed"),
        (RUN, TEXTS, "an earlier run came to something else"),
    ],
)
def test_a_row_of_another_text_or_with_another_end_fails(
    name: str, texts: list[tuple[str, str]], why: str
) -> None:
    with pytest.raises(AssertionError, match=why):
        receipts.runs_of(name, texts, lambda: (), config())


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(("texts", "again", "runs"), [(TEXTS, False, 0), (TEXTS, True, 1), ([], False, 1)])
def test_what_makes_the_table_runs_what_is_not_known_or_everything(
    texts: list[tuple[str, str]], again: bool, runs: int
) -> None:
    made: list[int] = []
    recorder = receipts.Recorder(again)

    def run() -> receipts.Runs:
        made.append(1)
        return (STORM,)

    receipts.runs_of(KEPT, texts, run, config(False, recorder))
    assert len(made) == runs
    assert [*recorder.rows] == [KEPT]


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("everything", [False, True])
def test_an_outcome_of_other_texts_is_made_anew(everything: bool) -> None:
    assert receipts.outcome_of(KEPT, [("a.py", "x = 2")], lambda: (1, "a"), config(everything)) == [1, "a"]


@pytest.mark.usefixtures("table")
def test_rows_of_another_torch_or_python_stand_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipts, "surroundings", lambda: {"torch": "2.6.0", "python": "3.11"})
    assert receipts.runs_of(KEPT, [("a.py", "x = 2")], lambda: (), config()) == ()
