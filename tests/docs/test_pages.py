"""The rule pages: every rule has one, and a page that cannot be read says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint import REPOSITORY
from dynamo_lint.findings import EFFECTS
from dynamo_lint.pages import Effect, PageError, load_pages, page_url, parse_page
from dynamo_lint.selectors import catalogue

RULES = Path(__file__).parent.parent.parent / "rules"
PAGE = '+++\ncode = "DYN101"\nname = "n"\nsummary = "s"\n+++\n\n# DYN101 n\n'


def test_every_rule_has_a_page_of_the_same_name_and_every_page_a_rule() -> None:
    assert {code: page.name for code, page in load_pages().items()} == catalogue()


def test_page_files_are_named_after_their_rule() -> None:
    assert {file.name for file in RULES.glob("*.md")} == {
        f"{code}-{name}.md" for code, name in catalogue().items()
    }


def test_page_titles_and_effects_use_the_words_of_the_interface() -> None:
    for page in load_pages().values():
        assert page.body.startswith(f"# {page.code} {page.name}\n")
        assert {row.effect for row in page.effects} <= set(EFFECTS)


def test_links_lead_to_pages_that_exist() -> None:
    for code, name in catalogue().items():
        path = page_url(code, name).removeprefix(f"{REPOSITORY}/blob/main/")
        assert (RULES.parent / path).is_file()


def test_missing_optional_keys_have_plain_defaults() -> None:
    page = parse_page("x.md", PAGE)
    assert (page.fix, page.gb, page.effects, page.body) == ("display", (), (), "# DYN101 n\n")
    assert parse_page("x.md", PAGE.replace("\n", "\r\n")) == page


def test_an_effect_needs_only_its_word() -> None:
    page = parse_page("x.md", PAGE.replace('"s"\n', '"s"\n[[effect]]\neffect = "storm"\n'))
    assert page.effects == (Effect("always", "storm", "*"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# DYN101\n", r"a rule page starts with TOML between two lines of `\+\+\+`"),
        ("+++\ncode = 1\n", r"a rule page starts with TOML"),
        (PAGE.replace('name = "n"', "name = "), "the front matter is not valid TOML"),
        (PAGE.replace('name = "n"\n', ""), "the front matter needs `name`, a string"),
        (PAGE.replace('"DYN101"', "101"), "the front matter needs `code`, a string"),
        (PAGE.replace('"s"\n', '"s"\n[[effect]]\nwhen = "int"\n'), r"each \[\[effect\]\] needs `effect`"),
    ],
)
def test_page_that_cannot_be_read_names_the_file_and_the_reason(text: str, message: str) -> None:
    with pytest.raises(PageError, match=rf"^x\.md: {message}"):
        parse_page("x.md", text)
