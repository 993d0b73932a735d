"""Judges the findings in small programs by their probes, as `confirm` does; what that came to is kept in a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dynamo_lint.config import Settings
from dynamo_lint.confirm.child.testimony import apart, reply_to
from dynamo_lint.confirm.model import Reply
from dynamo_lint.confirm.probes import probes_of
from dynamo_lint.confirm.run import report, requested
from dynamo_lint.discovery import discover
from dynamo_lint.findings import Finding
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources
from tests.receipts import outcome_of, texts_of

CONFIRM = Path(__file__).parent.parent.parent / "dynamo_lint" / "confirm"
CODE = texts_of(*(CONFIRM / name for name in ("child", "model.py", "run.py", "verdicts.py")))
"""What runs a probe and judges findings by it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a probe came to."""

    error: str
    verdicts: tuple[tuple[str, str, str], ...]
    """Code of the finding, verdict and reason."""
    unpredicted: tuple[int, int]
    """The number of recompiles and of breaks that no finding predicts."""


def findings_in(folder: Path) -> list[Finding]:
    """The findings in a folder."""
    found = discover((folder,), [])
    return list(check(Settings(), found, catalogue(), Sources(found.root)).findings)


def judged(
    name: str,
    file: Path,
    findings: Sequence[Finding],
    config: pytest.Config,
    separate: Callable[[Callable[[], Any]], Any] = apart,
) -> Judgement:
    """The verdicts on findings of the only probe in a file of a folder."""
    (probe,) = probes_of(file)

    def run() -> Any:
        replies: list[Reply] = []

        def write(reply: Reply) -> Reply:
            replies.append(reply)
            return reply

        reply_to(requested(probe, findings, file.parent), write, separate)
        done = report(probe, replies[-1], findings, file.parent)
        return {
            "error": done.reply.error,
            "verdicts": [(one.finding.code, one.verdict, one.why) for one in done.verdicts],
            "unpredicted": [len(done.unpredicted_recompiles), len(done.unpredicted_breaks)],
        }

    texts = [*texts_of(file.parent), ("findings", repr(findings)), *CODE]
    told = outcome_of(name, texts, run, config)
    return Judgement(told["error"], tuple(map(tuple, told["verdicts"])), tuple(told["unpredicted"]))
