"""The pages in a real browser: the filter works, nothing is loaded, nothing is complained of, large ones open fast."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.render.test_html import HOSTILE, PAGES, hostile, many

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed (pip install playwright)"
)
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="there is no Chromium here (apt-get install chromium, or name one in CHROMIUM)"
)

SECONDS = 3.0
"""For a page of 5,000 findings, from asking for it to the first frame with all of it laid out."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        # Root in a container has no sandbox to give.
        running = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


Open = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page from a file; at the end nothing may have been said or loaded."""
    said: list[str] = []
    asked: list[str] = []
    contexts = []

    def open_page(text: str, address: str = "", **options: Any) -> Any:
        file = tmp_path / "report.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append("dialog"))
        page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
        page.goto(file.as_uri() + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert {url for url in asked if not url.startswith("file:")} == set()
    assert {Path(url).name for url in asked} == {"report.html"}


SIDEWAYS = """
[...document.querySelectorAll("body, body *")]
  .filter((one) => ["auto", "scroll", "hidden"].includes(getComputedStyle(one).overflowX))
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.className)
"""
"""What holds more than it shows, to the right."""


def until(page: Any, expression: str) -> None:
    """Wait until something holds; playwright's own way needs `eval`, which the page's policy forbids."""
    for _ in range(100):
        if page.evaluate(expression):
            return
        time.sleep(0.05)
    raise AssertionError(f"{expression} at {page.url}")


def shown(page: Any) -> list[str]:
    """The places of the entries that can be seen."""
    return [one.inner_text() for one in page.query_selector_all(".item .at") if one.is_visible()]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_a_word(opened: Open, name: str) -> None:
    page = opened(PAGES[name]())
    assert page.is_visible("#filter")
    assert shown(page)


@pytest.mark.parametrize("name", PAGES)
def test_hostile_names_run_nothing(opened: Open, name: str) -> None:
    page = opened(hostile(HOSTILE)[name]())
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 1


def test_the_filter_shows_what_fits_and_counts_it(opened: Open) -> None:
    page = opened(PAGES["check"]())
    total = len(shown(page))
    assert total == 5
    page.check("input[value=note]", force=True)
    until(page, "location.hash === '#severity=note'")
    assert shown(page) == ["src/moe.py:99"]
    assert page.inner_text("#shown") == "1 of 5 findings shown"
    assert page.locator(".group:visible").count() == 1
    page.check("input[value=warning]", force=True)
    until(page, "location.hash.includes('warning')")
    assert len(shown(page)) == 2
    page.select_option("select[name=code]", "DYN201")
    until(page, "location.hash.includes('code=DYN201')")
    assert len(shown(page)) == 1
    page.click("button[type=reset]")
    until(page, "!location.hash")
    assert len(shown(page)) == total
    page.fill("#q", "FILE  not in")
    until(page, "location.hash.includes('q=')")
    assert shown(page) == ["src/moe.py:99"]
    page.fill("#q", "no such word")
    until(page, "location.hash.includes('such')")
    assert shown(page) == []
    assert page.inner_text("#shown") == "0 of 5 findings shown"


def test_verdicts_and_causes_are_filtered_alike(opened: Open) -> None:
    page = opened(PAGES["confirm"]())
    page.check("input[value=unobserved]", force=True)
    until(page, "location.hash === '#verdict=unobserved'")
    assert len(shown(page)) == 1
    page = opened(PAGES["logs"]())
    page.select_option("select[name=code]", "DYN202")
    until(page, "location.hash === '#code=DYN202'")
    assert shown(page) == ["fixtures/moe/hazard/attention.py:34"]


def test_the_address_keeps_the_filter_and_a_link_to_a_hidden_entry_shows_it(opened: Open) -> None:
    page = opened(PAGES["check"](), "#q=file+any&severity=note")
    assert shown(page) == ["src/moe.py:99"]
    assert page.input_value("#q") == "file any"
    page.evaluate("location.hash = '#f1'")
    until(page, "document.getElementById('shown').value.startsWith('5 of 5')")
    assert page.is_visible("#f1")


def test_everything_can_be_reached_by_keyboard(opened: Open) -> None:
    page = opened(PAGES["check"]())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.locator(":focus").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.focus("#q")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.value") == "error"
    outline = "getComputedStyle(document.activeElement.nextElementSibling).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Space")
    until(page, "location.hash === '#severity=error'")


def test_without_scripts_everything_is_there_and_no_control_is(opened: Open) -> None:
    page = opened(PAGES["check"](), java_script_enabled=False)
    assert not page.is_visible("#filter")
    assert len(shown(page)) == 5


def test_on_paper_everything_is_there_and_no_control_is(opened: Open) -> None:
    page = opened(PAGES["check"](), "#severity=note")
    assert len(shown(page)) == 1
    page.emulate_media(media="print")
    assert not page.is_visible("#filter")
    assert len(shown(page)) == 5


CONTRAST = """
() => {
  const part = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const colour = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (element) => {
    for (; element; element = element.parentElement) {
      const found = colour(getComputedStyle(element).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const low = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !element.checkVisibility() || /SCRIPT|STYLE|OPTION/.test(element.tagName)) continue;
    const style = getComputedStyle(element);
    const [one, other] = [light(colour(element.closest("svg") ? style.fill : style.color)), light(ground(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) low.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
  }
  return [...low];
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_text_stands_out_from_its_ground_as_wcag_aa_asks(opened: Open, name: str, scheme: str) -> None:
    page = opened(PAGES[name](), color_scheme=scheme)
    assert page.evaluate(CONTRAST) == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize("width", [360, 800, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_wider_than_its_window(opened: Open, name: str, width: int) -> None:
    page = opened(PAGES[name]())
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_of_check_is_read_on_a_phone_without_scrolling_to_the_side(opened: Open) -> None:
    page = opened(PAGES["check"]())
    page.set_viewport_size({"width": 420, "height": 800})
    assert page.evaluate(SIDEWAYS) == []
    assert page.evaluate("document.querySelector('.stacked td.num').offsetHeight") < 30


def test_five_thousand_findings_open_within_three_seconds(opened: Open) -> None:
    text = many()
    start = time.perf_counter()
    page = opened(text)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert time.perf_counter() - start < SECONDS
    page.fill("#q", "block_7.py _overflow_total_42")
    until(page, "document.getElementById('shown').value.startsWith('1 of 5000')")
