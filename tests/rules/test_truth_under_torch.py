"""The programs of tests/truth under torch: Dynamo does what is claimed, and loses nothing where nothing is.

A program that was run as it stands under this torch before is run again only for a sample, or with
`--all-under-torch`: see tests/verdicts.py.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.lints import claims_about
from tests.proof import watch
from tests.rules.test_truth import CASES, disagreement
from tests.truths import Case, agreement
from tests.verdicts import COUNTED, PROGRAMS, counted_of, graphs, recorded, sampled, verdict_of, words

LIMIT = 4
"""A recompile limit that storms hit twice as fast as the default one; both sides are told."""


LINES_APART = {
    "graph_breaks: a fake that decides on a value": "Dynamo names the call of the operator, whose fake it is",
    "graph_breaks: a fake that makes a size of a value": "Dynamo names the call of the operator, whose fake it is",
    "graph_breaks: quiet: a fake whose size nobody knows yet": "Dynamo names the call of the operator, whose fake it is",
    "graph_breaks: a critic that is frozen for one use": "both are one line in torch, which is told once",
    "graph_breaks: a module of the project with a layer that forward builds": "the line in the constructor",
    "graph_breaks: a module of the project with a parameter that forward builds": "the line in the constructor",
    "graph_breaks: a module of the project that forward builds, with a layer in one of its own": "the same",
    "graph_breaks: a mask says where what needs a gradient is written": "the backend fails: the line of the return is told",
    "graph_breaks: a row that a tensor picks": "the backend fails, so no line is told",
    "graph_breaks: a generator that is compiled": "Dynamo runs it eagerly and reports no break",
    "graph_breaks: quiet: a helper that is disabled for a reason that stands beside it": "an island on purpose",
    "graph_breaks: a function that keeps a table is left out on purpose, as its text says": "an island on purpose",
}
"""Programs of which Dynamo does not name the lines that are marked, and why."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_dynamo_does_what_is_claimed(case: Case, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    program = case.write(tmp_path)
    counted = case.theme in COUNTED
    done = recorded(PROGRAMS, case.id, case.digest)
    if done is None or sampled(case.id) or pytestconfig.getoption("--all-under-torch"):
        told = asdict(watch(program, LIMIT))
        run = {"verdict": words(told), "graphs": graphs(told) if counted else ""}
        assert done in (None, run), "run `python bench/versions.py --again .venv/bin/python`"
        done = run
    verdict = verdict_of(done["verdict"])
    assert verdict is not None, done
    assert agreement([claim for claim in case.expected if not claim.note], verdict, LIMIT) == "agree", done
    if counted and case.id not in LINES_APART:
        breaking = {line for line, effect in case.marks.items() if effect in {"break", "eager"}}
        compiles, break_lines = counted_of(done["graphs"])
        assert breaking <= break_lines <= case.marks.keys(), done
        assert case.expected or compiles == 1, done
    if disagreement(case) is None:
        assert agreement(claims_about(case, LIMIT), verdict, LIMIT) == "agree", done
