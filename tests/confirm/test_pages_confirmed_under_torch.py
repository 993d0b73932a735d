"""`confirm` on every rule page: what the page calls a hazard is confirmed by the page's own probe.

A page that was judged as it stands before is judged again only for a sample: see tests/receipts.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynamo_lint.confirm.verdicts import TRACELESS
from dynamo_lint.pages import load_pages
from tests.confirm.judging import findings_in, judged

BLOCK = re.compile(r"^## (Hazard|Fixed)$.*?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = {code: page for code, page in load_pages().items() if page.effects}


def recorded_as(code: str) -> str:
    """The name of the row of a page."""
    return f"confirmed: {code}"


@pytest.mark.parametrize("code", PAGES)
def test_the_hazard_of_a_page_is_confirmed_by_its_own_probe(
    code: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    path = tmp_path / "page.py"
    path.write_text(dict(BLOCK.findall(PAGES[code].body))["Hazard"])
    # What a part behind a break is handed is told beside the break, as a note.
    findings = [one for one in findings_in(tmp_path) if one.code == code or one.severity != "note"]
    done = judged(recorded_as(code), path, findings, pytestconfig, separate=lambda step: step())
    assert done.error == ""
    assert [finding for finding, _, _ in done.verdicts] == [code]
    assert {verdict for _, verdict, _ in done.verdicts} <= (
        {"unobserved"} if code in TRACELESS else {"confirmed", "stale"}
    )
    assert done.unpredicted == (0, 0)
