"""The whole of `confirm`: findings and probes in, a report for each probe out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dynamo_lint.confirm.launch import run
from dynamo_lint.confirm.model import USUAL, Reply, Request, Setting, relative
from dynamo_lint.confirm.probes import ProbeRef
from dynamo_lint.confirm.verdicts import ProbeReport, judge, unpredicted
from dynamo_lint.findings import Finding

SET_FROM_OUTSIDE = frozenset({"DYN102"})
"""Rules about state that code outside the region changes, which a probe alone may never do."""

Progress = Callable[[int, int, str], None]


def confirm(
    probes: Sequence[ProbeRef],
    findings: Sequence[Finding],
    root: Path,
    how: Request,
    timeout: float,
    python: str,
    progress: Progress,
) -> list[ProbeReport]:
    """Run each probe in a process of its own, in the way of a request, and judge the findings by it."""
    reports = []
    for number, probe in enumerate(probes):
        progress(number, len(probes), probe.name)
        request = requested(probe, findings, root, how)
        reports.append(report(probe, run(request, timeout, python), findings, root))
    progress(len(probes), len(probes), "")
    return reports


def requested(probe: ProbeRef, findings: Sequence[Finding], root: Path, how: Request = USUAL) -> Request:
    """Return the request for one probe, with what it has to show so that these findings can be judged."""
    return replace(
        how,
        path=str(probe.path.resolve()),
        probe=probe.name,
        root=str(root),
        watch=tuple(dict.fromkeys(finding.subject for finding in findings)),
        settings=(*how.settings, *automatic(findings, how.settings)),
    )


def report(probe: ProbeRef, reply: Reply, findings: Sequence[Finding], root: Path) -> ProbeReport:
    """Return the verdicts of a probe on the findings in the files that it loaded."""
    loaded = {relative(path, root) for path in reply.ran or {}}
    near = [finding for finding in findings if finding.span.path in loaded]
    verdicts = judge(near, reply, root)
    recompiles, breaks = unpredicted(verdicts, reply.receipt) if reply.receipt else ((), ())
    return ProbeReport(
        name=probe.name,
        path=relative(str(probe.path.resolve()), root),
        line=probe.line,
        reply=reply,
        verdicts=verdicts,
        unpredicted_recompiles=recompiles,
        unpredicted_breaks=breaks,
    )


def automatic(findings: Sequence[Finding], given: Sequence[Setting]) -> list[Setting]:
    """Schedules for findings about state that is changed from outside, unless the user gave values."""
    named = {one.subject for one in given}
    subjects = dict.fromkeys(one.subject for one in findings if one.code in SET_FROM_OUTSIDE)
    return [Setting(subject) for subject in subjects if subject not in named]


def read_setting(text: str) -> Setting:
    """`Block.scale=0.5,2,4`: what to set, and the values, each a Python literal or else a string."""
    subject, mark, listed = text.partition("=")
    if not mark or not subject.strip() or not listed.strip():
        raise ValueError(f"{text!r} is not NAME=VALUE,VALUE,..., such as Block.scale=0.5,2,4")
    return Setting(subject.strip(), _values(listed))


def _values(listed: str) -> tuple[Any, ...]:
    try:
        made = ast.literal_eval(f"({listed},)")
    except (ValueError, SyntaxError):
        return tuple(part.strip() for part in listed.split(","))
    return tuple(made)
