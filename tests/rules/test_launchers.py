"""Launchers under a contract: `tests/launchers/contract.txt` has one cell for each form.

`# expect: CODE` stands on the line of a finding that is no note, `# expect: CODE note` on that of a note.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dynamo_lint.config import Settings
from dynamo_lint.contract import Contract, Expectation
from dynamo_lint.discovery import discover
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

TEXT = (Path(__file__).parent.parent / "launchers" / "contract.txt").read_text()
MARK = re.compile(r" *# expect: (DYN\d+)( note)?")
CONTRACT = Contract(
    environment=(
        ("TORCHINDUCTOR_FX_GRAPH_CACHE", Expectation(equals="1")),
        ("TORCHINDUCTOR_CACHE_DIR", Expectation(required=True, mount="/mnt/scratch")),
    )
)
PROGRAM = """
import torch


@torch.compile
def step(x):
    return x * 2


def main():
    step(torch.ones(2))


if __name__ == "__main__":
    main()
"""


def cells() -> dict[str, dict[str, str]]:
    found = {}
    for cell in re.split(r"^=== ", TEXT, flags=re.MULTILINE)[1:]:
        title, _, rest = cell.partition("\n")
        _, *parts = re.split(r"^--- (.+)\n", rest, flags=re.MULTILINE)
        found[title] = dict(zip(parts[::2], parts[1::2], strict=True))
    return found


@pytest.mark.parametrize("title", cells())
def test_a_launcher_has_the_findings_that_it_expects_and_no_others(title: str, tmp_path: Path) -> None:
    wanted = set()
    for name, text in {"train.py": PROGRAM, "prepare.py": "print(1)\n", **cells()[title]}.items():
        for number, line in enumerate(text.splitlines(), 1):
            wanted |= {(name, number, mark[1], mark[2] is not None) for mark in MARK.finditer(line)}
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(MARK.sub("", text))
    found = discover((tmp_path,), [], force_exclude=False)
    report = check(Settings(contract=CONTRACT), found, catalogue(), Sources(found.root))
    assert {
        (one.span.path, one.span.line, one.code, one.severity == "note")
        for one in report.findings
        if one.code == "DYN514" or one.severity != "note"
    } == wanted
