"""How far the interpreter gets: `python bench/shadow.py PROJECT …`.

Prints for each project how many functions are compiled, how many of them a program entered, and how many an
abstract caller did; then every reason why something was given up, the most frequent first.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from dynamo_lint.config import Settings, override
from dynamo_lint.discovery import discover
from dynamo_lint.interpreter import find
from dynamo_lint.interpreter.find import Run
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources
from dynamo_lint.state.provenance import Tables

NUMBERS = (2, 13)
MOST = 25
"""Reasons that are printed."""


def main(projects: list[str]) -> int:
    """Print the account of each project."""
    reasons: Counter[str] = Counter()
    for path in projects:
        tables, ran, took = look(Path(path))
        if tables is None:
            print(f"{path}: nothing is compiled")
            continue
        print(account(path, tables, ran, took))
        reasons.update(cut.why for run in ran for cut in run.cuts)
    for why, count in reasons.most_common(MOST):
        print(f"{count:6} {why}")
    return 0


def look(path: Path) -> tuple[Tables | None, tuple[Run, ...], float]:
    """The tables and the runs of a project, and the seconds of a check."""
    seen: list[tuple[Tables, tuple[Run, ...]]] = []
    original = find.runs

    def spy(tables: Tables) -> tuple[Run, ...]:
        ran = original(tables)
        seen[:] = [(tables, ran)]
        return ran

    for module in [*sys.modules.values()]:
        if module.__name__.startswith("dynamo_lint.") and getattr(module, "runs", None) is original:
            module.runs = spy  # type: ignore[attr-defined]
    start = time.process_time()
    found = discover((path,), [], force_exclude=False)
    check(override(Settings(), torch_version=NUMBERS), found, catalogue(), Sources(found.root))
    took = time.process_time() - start
    return (*seen[0], took) if seen else (None, (), took)


def account(path: str, tables: Tables, ran: tuple[Run, ...], took: float) -> str:
    """One line about a project."""
    compiled = {hot.function.id for hot in tables.regions.hot}
    programs = [run for run in ran if not run.presumed]
    entered = {where for run in programs for where, _ in run.ran} & compiled
    presumed = {where for run in ran for where, _ in run.ran} & compiled
    met = sum(bool(run.met) for run in programs)
    return (
        f"{path}: {len(compiled)} functions compiled, {len(entered) / max(len(compiled), 1):.0%} entered, "
        f"{len(presumed) / max(len(compiled), 1):.0%} with abstract callers; "
        f"{len(programs)} programs, {met} meet compiled code; {took:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
