"""The rule pages: Markdown with TOML front matter, shipped in the wheel, kept in `rules/` in a checkout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dynamo_lint import REPOSITORY
from dynamo_lint.dataclass import dataclass, replace

_HEAD = re.compile(r"\b(?<=easured with torch )\d+\.\d+\b")
_UNKNOWN = "not run | - | - | - | -"

Version = tuple[int, int]


class PageError(Exception):
    """A rule page that is missing or cannot be read."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a hazard in one case."""

    when: str
    effect: str
    torch: str
    """A version range such as `>=2.8`, or `*`."""


@dataclass(frozen=True, slots=True)
class Page:
    """The documentation of one rule."""

    code: str
    name: str
    summary: str
    fix: str
    """Applicability of the automatic fix; `display` when there is only advice."""
    gb: tuple[str, ...]
    """Ids in PyTorch's graph break registry."""
    effects: tuple[Effect, ...]
    is_static: bool
    """No run under torch can prove what it says; the page says why (`proof = "static"`)."""
    body: str
    """Markdown, starting with the title."""


def load_pages() -> dict[str, Page]:
    """All pages by code, those of the rules about the lint itself included."""
    pages = {}
    for file in sorted(page_folder().glob("*.md")):
        page = parse_page(file.name, file.read_text(encoding="utf-8"))
        pages[page.code] = page
    return dict(sorted(pages.items()))


def page_names() -> dict[str, str]:
    """The names of all rules by code, as their pages are called."""
    pages = (file.stem.partition("-") for file in page_folder().glob("DYN*.md"))
    return {code: name for code, _, name in sorted(pages)}


def parse_page(file: str, text: str) -> Page:
    """Read one page; `file` is its name, for messages."""
    from dynamo_lint.toml import tomllib

    marker, _, rest = text.replace("\r\n", "\n").partition("\n")
    front, found, body = rest.partition("\n+++\n")
    if marker.strip() != "+++" or not found:
        raise PageError(f"{file}: a rule page starts with TOML between two lines of `+++`")
    try:
        data = tomllib.loads(front)
    except tomllib.TOMLDecodeError as error:
        raise PageError(f"{file}: the front matter is not valid TOML: {error}") from None
    for key in ("code", "name", "summary"):
        if not isinstance(data.get(key), str):
            raise PageError(f"{file}: the front matter needs `{key}`, a string")
    return Page(
        code=data["code"],
        name=data["name"],
        summary=data["summary"],
        fix=str(data.get("fix", "display")),
        gb=tuple(map(str, data.get("gb", ()))),
        is_static=data.get("proof") == "static",
        effects=tuple(_effect(file, row) for row in data.get("effect", ())),
        body=body.strip() + "\n",
    )


def page_url(code: str, name: str) -> str:
    """Where the page can be read."""
    return f"{REPOSITORY}/blob/main/rules/{code}-{name}.md"


def _effect(file: str, row: Mapping[str, Any]) -> Effect:
    if not isinstance(row, dict) or "effect" not in row:
        raise PageError(f"{file}: each [[effect]] needs `effect`")
    return Effect(str(row.get("when", "always")), str(row["effect"]), str(row.get("torch", "*")))


def page_folder() -> Path:
    """Where the pages are, in a checkout or in what is installed."""
    package = Path(__file__).parent
    shipped = package / "pages"
    return shipped if shipped.is_dir() else package.parent / "rules"


def as_measured(page: Page, torch_version: Version) -> Page:
    """The page with its costs as measured with a torch, or with the newest one before it that was run."""
    text = (page_folder() / "measured.json").read_text(encoding="utf-8")
    data = json.loads(text)
    known = [name for name in data["torch"] if _pair(name) <= torch_version]
    if not known:
        return page
    name = max(known, key=_pair)
    lines = _HEAD.sub(data["torch"][name], page.body).split("\n")
    return replace(page, body="\n".join(_rows(page.code, lines, data["rows"], _pair(name))))


def _rows(
    code: str, lines: list[str], rows: Mapping[str, Mapping[str, str]], version: Version
) -> Iterator[str]:
    for line in lines:
        label, *cells = line[2:-2].split(" | ") if line.startswith("| ") else ("",)
        row = rows.get(f"{code}: {label}")
        if row is None or not cells:
            yield line
            continue
        found = _at(row, version).split(" | ")
        # The same cost may have an effect that a number alone does not tell.
        yield f"| {' | '.join([label, *(cells if found[:4] == cells[:4] else found)])} |"


def _at(row: Mapping[str, str], version: Version) -> str:
    """The cells of a row under a version."""
    told = [(_pair(name), cells) for name, cells in row.items() if name != "text" and _pair(name) <= version]
    cells = max(told)[1] if told else "?"
    return _UNKNOWN if cells == "?" else cells


def _pair(name: str) -> Version:
    major, minor = name.split(".")[:2]
    return int(major), int(minor)
