"""`confirm` on every rule page: what the page calls a hazard is confirmed by the page's own probe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynamo_lint.config import Settings
from dynamo_lint.confirm.child.testimony import reply_to
from dynamo_lint.confirm.model import Reply
from dynamo_lint.confirm.probes import probes_of
from dynamo_lint.confirm.run import report, requested
from dynamo_lint.confirm.verdicts import TRACELESS, ProbeReport
from dynamo_lint.discovery import discover
from dynamo_lint.pages import load_pages
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

BLOCK = re.compile(r"^## (Hazard|Fixed)$.*?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = {code: page for code, page in load_pages().items() if page.effects}


def confirmed(text: str, folder: Path) -> ProbeReport:
    path = folder / "page.py"
    path.write_text(text)
    found = discover((path,), [])
    findings = check(Settings(), found, catalogue(), Sources(found.root)).findings
    (probe,) = probes_of(path)
    replies: list[Reply] = []

    def write(reply: Reply) -> Reply:
        replies.append(reply)
        return reply

    reply_to(requested(probe, findings, found.root), write, separate=lambda step: step())
    return report(probe, replies[-1], findings, found.root)


@pytest.mark.parametrize("code", PAGES)
def test_the_hazard_of_a_page_is_confirmed_by_its_own_probe(code: str, tmp_path: Path) -> None:
    done = confirmed(dict(BLOCK.findall(PAGES[code].body))["Hazard"], tmp_path)
    assert done.reply.error == ""
    expected = {"unobserved"} if code in TRACELESS else {"confirmed", "stale"}
    assert {one.verdict for one in done.verdicts if one.finding.code == code} <= expected
    assert [one.finding.code for one in done.verdicts] == [code]
    assert (done.unpredicted_recompiles, done.unpredicted_breaks) == ((), ())
