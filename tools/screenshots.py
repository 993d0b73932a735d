"""Make the pictures of the pages that the documentation shows: `python tools/screenshots.py`.

They are taken in Chromium, of the page of `check` on a fixture and of the page of `logs` on an example.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from dynamo_lint.config import Settings  # noqa: E402
from dynamo_lint.discovery import discover  # noqa: E402
from dynamo_lint.render.formats import View  # noqa: E402
from dynamo_lint.render.html import check as check_page  # noqa: E402
from dynamo_lint.render.html.logs import render_log  # noqa: E402
from dynamo_lint.run.check import check  # noqa: E402
from dynamo_lint.selectors import catalogue  # noqa: E402
from dynamo_lint.sources import Sources  # noqa: E402
from dynamo_lint.terminal import Look  # noqa: E402
from tests.render import example_job  # noqa: E402

IMAGES = ROOT / "docs" / "images"
LARGEST = 150_000
"""Bytes of a picture."""
WIDTH, HEIGHT, SCALE = 1160, 1200, 0.8
PICTURES = {"check": {"check": ""}, "logs": {"logs": "", "logs-frames": "Compiles against the limit"}}
"""The pictures of each page, and the heading from which on they show it."""
TO_TOP = """heading => {
  document.getElementById("filter").remove();
  heading.scrollIntoView();
  scrollBy(0, 40);
}"""
"""Below the filter, which stays on top of the window, a heading cannot reach the top."""


def pages() -> Mapping[str, str]:
    """The pages by the name of their picture."""
    os.chdir(ROOT)
    found = discover((Path("fixtures/moe/hazard"),), [])
    sources = Sources(found.root, found.given)
    report = check(Settings(min_confidence="possible"), found, catalogue(), sources)
    view = View(Look(root=found.root, cwd=ROOT), sources, ROOT, "possible")
    return {
        "check": check_page.render(report, view),
        "logs": render_log(example_job.report(report.findings), view, "run-0412/stderr.log"),
    }


def main() -> int:
    """The exit status: 1 if a picture is too large."""
    IMAGES.mkdir(exist_ok=True)
    large = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        program = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, text in pages().items():
            file = Path(folder) / f"{name}.html"
            file.write_text(text, encoding="utf-8")
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE)
            page.goto(file.as_uri())
            for picture, title in PICTURES[name].items():
                if title:
                    page.get_by_role("heading", name=title).evaluate(TO_TOP)
                target = IMAGES / f"{picture}.png"
                page.screenshot(path=target)
                print(f"{target.relative_to(ROOT)}: {target.stat().st_size:,} bytes")
                large += [picture] if target.stat().st_size > LARGEST else []
        browser.close()
    return int(bool(large))


if __name__ == "__main__":
    sys.exit(main())
