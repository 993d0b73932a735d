"""The classes of tests/cases under torch: the loud ones cost what they expect, the quiet ones never recompile.

A class that was run as it stands before is run again only for a sample: see tests/receipts.py.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.proof import Receipt, prove
from tests.receipts import runs_of
from tests.rules.test_rules import LONGEST

CASES = Path(__file__).parent.parent / "cases"
EXPECTED = re.compile(r"# expect: (DYN10[1-6]) ([a-z-]+)(?: entries=(\d+))?")


def runnable(path: Path) -> list[tuple[str, str]]:
    """Name and source of the compiled modules that can be called with one tensor."""
    lines = path.read_text().splitlines()
    body = ast.parse("\n".join(lines)).body
    compiled = {
        name.id
        for node in body
        if isinstance(node, ast.For | ast.Assign)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    found = []
    for node in body:
        if not isinstance(node, ast.ClassDef) or node.name not in compiled:
            continue
        forward = next((f for f in node.body if getattr(f, "name", "") == "forward"), None)
        if isinstance(forward, ast.FunctionDef):
            required = len(forward.args.args) - len(forward.args.defaults)
            if required == 2:
                found.append((node.name, "\n".join(lines[node.lineno - 1 : node.end_lineno])))
    return found


def run(path: Path, name: str, folder: Path, config: pytest.Config) -> Receipt:
    program = folder / f"one_{name.lower()}.py"
    probe = f"def probe_it():\n    return torch.compile({name}()), [(torch.full((4, 4), 1.5),)]\n"
    text = f"{path.read_text()}\n\n{probe}"
    program.write_text(text)
    (receipt,) = runs_of(recorded_as(path, name), [(path.name, text)], lambda: (prove(program),), config)
    return receipt


def recorded_as(path: Path, name: str) -> str:
    """The name of the row of a class."""
    return f"cases: {name} of {path.name}"


LOUD = [
    pytest.param(path, name, *match.groups(), id=name)
    for path in sorted(CASES.glob("*.py"))
    for name, source in runnable(path)
    if len(found := list(EXPECTED.finditer(source))) == 1 and (match := found[0])
]
QUIET = [
    pytest.param(path, name, id=name)
    for path in (CASES / "quiet_everyday.py", CASES / "counters_quiet.py")
    for name, _ in runnable(path)
]


@pytest.mark.parametrize(("path", "name", "code", "effect", "entries"), LOUD)
def test_a_loud_case_costs_what_its_comment_expects(
    path: Path,
    name: str,
    code: str,
    effect: str,
    entries: str | None,
    tmp_path: Path,
    pytestconfig: pytest.Config,
) -> None:
    receipt = run(path, name, tmp_path, pytestconfig)
    match effect:
        case "storm":
            assert receipt.limit
        case "once":
            assert (receipt.compiles, receipt.limit) == (2, False)
        case "per-value":
            assert receipt.compiles == int(entries) if entries else receipt.compiles > 1
        case _:
            pytest.fail(f"{effect} is not an effect of changing state")


@pytest.mark.parametrize(("path", "name"), QUIET)
def test_a_quiet_case_never_recompiles(
    path: Path, name: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    receipt = run(path, name, tmp_path, pytestconfig)
    assert not receipt.limit
    assert receipt.compiles == 1 + receipt.breaks


@pytest.mark.parametrize(("longest", "limit"), [(4, True), (64, False)])
def test_a_length_that_grows_past_the_longest_seen_costs_a_version_each_time(
    longest: int, limit: bool, tmp_path: Path
) -> None:
    program = tmp_path / "longest.py"
    batches = "[(torch.ones(1), length) for length in range(5, 17)]"
    probe = f"def probe_it():\n    return torch.compile(Rotary({longest})), {batches}\n"
    program.write_text(f"{LONGEST}\n\n{probe}")
    assert prove(program).limit is limit
