"""The site: it builds without a warning, has a page for each rule that a trainer understands, and loads nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dynamo_lint.pages import load_pages
from tools.site import pages, rule

ROOT = Path(__file__).parent.parent.parent
PAGES = load_pages()
MEASURED = {
    "DYN101: `self.n += 1`": {"2.6": "2 | 12 of 12 | - | right | once", "2.7": "?", "2.8": "8 | 8 of 12 | - | right | storm"},
    "DYN101: `x * 2`": {"2.6": "1 | 12 of 12 | - | right | -", "2.8": "?"},
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "http_proxy": "http://localhost:9",
            "https_proxy": "http://localhost:9",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_the_site_has_a_page_for_everything_and_for_each_rule(site: Path) -> None:
    for path in pages():
        place = "pages" if path == "docs/index.md" else path.removeprefix("docs/").removesuffix(".md")
        assert (site / place.removesuffix("index") / "index.html").is_file(), path


def test_every_rule_is_found_by_the_search(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    titles = {entry["title"] for entry in index["docs"]}
    assert {f"{code} {page.name}" for code, page in PAGES.items()} <= titles


def test_a_page_of_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe|source)[^>]* src="([^"]+)"', text)
        loaded += re.findall(
            r'<link[^>]* rel="(?:stylesheet|preconnect|preload|icon)"[^>]* href="([^"]+)"', text
        )
        assert [address for address in loaded if re.match(r"(?:https?:)?//", address)] == [], file


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_rule_page_begins_with_one_sentence_that_needs_no_other_page(page) -> None:
    title, sentence, section, *_ = page.body.split("\n\n")
    assert title == f"# {page.code} {page.name}"
    assert section == "## What it does"
    words = sentence.split()
    assert len(words) <= 35
    assert re.fullmatch(r"[A-Z][^.?!]*(?:\.\w+[^.?!]*)*\.", " ".join(words)), sentence
    assert not re.search(r"\b(?:guards?|Dynamo|trac\w+|recompile limit|frame|region)\b", sentence), sentence


def test_a_rule_page_tells_what_changed_between_versions_of_torch_and_nothing_else() -> None:
    text = rule(PAGES["DYN101"], MEASURED, ["2.6", "2.7", "2.8", "2.9"])
    _, _, table = text.partition("## Under each torch\n")
    assert table.splitlines()[-2:] == [
        "| `self.n += 1` | 2.6 | 2 | 12 of 12 | - | right | once |",
        "| `self.n += 1` | 2.8 to 2.9 | 8 | 8 of 12 | - | right | storm |",
    ]
    assert "x * 2" not in table
    assert "## Under each torch" not in rule(PAGES["DYN102"], MEASURED, ["2.6", "2.8"])


def test_a_rule_page_says_when_to_ignore_it_and_what_each_effect_hangs_on() -> None:
    site_pages = pages()
    for code, page in PAGES.items():
        text = site_pages[f"rules/{code}-{page.name}.md"]
        assert "\n## When to ignore\n" in text or code.startswith("DYN9")
        for effect in page.effects:
            assert f"| {effect.when} | `{effect.effect}` |" in text
