"""Suggested edits of programs of tests/truth: made, the programs compute the same and compile or break less."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynamo_lint.findings import Edit
from dynamo_lint.fixes.bytes import apply
from tests import proof
from tests.lints import findings_about
from tests.rules.test_truth import CASES
from tests.rules.test_truth_under_torch import LIMIT
from tests.truths import MAIN, Case

SAMPLE = {
    "arguments: a changing number for a function that is compiled under its own name": "DYN109",
    "globals: an attribute of a global object": "DYN106",
    "containers: a list of losses that grows": "DYN105",
    "blocks: a layer number in a key": "DYN107",
    "lazy: a default from vars": "DYN305",
    "policy: a layer of torch compiled in place": "DYN502",
    "policy: static sizes and a list of lengths": "DYN506",
}
"""A program for each kind of edit, and the rule."""


def made(case: Case, code: str, folder: Path) -> Path:
    """The program with the suggested edits of its findings of a rule."""
    program = case.write(folder)
    edits: dict[str, dict[Edit, None]] = {}
    for finding in findings_about(case):
        if finding.code == code and finding.fix is not None and finding.fix.kind == "suggested":
            for edit in finding.fix.edits:
                edits.setdefault(edit.span.path, {})[edit] = None
    assert edits
    for path, changes in edits.items():
        (folder / path).write_bytes(apply((folder / path).read_bytes(), [*changes]))
    return program


@pytest.mark.parametrize("case", [case for case in CASES if case.id in SAMPLE], ids=lambda case: case.id)
def test_a_suggested_edit_computes_the_same_and_costs_less(case: Case, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
    case.write(old)
    program = made(case, SAMPLE[case.id], new)
    expected = proof.run_eagerly(old / MAIN)
    before, _ = proof.run_compiled(old / MAIN, LIMIT)
    after, compiled = proof.run_compiled(program, LIMIT)
    for ours in (proof.run_eagerly(program), compiled):
        assert not proof.differ(ours.outputs, expected.outputs)
    stale = "stale" in [claim.effect for claim in case.expected]
    assert stale or (-after.graphs_run, after.recompiles) < (-before.graphs_run, before.recompiles)
