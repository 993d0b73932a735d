"""The cost tables of the rule pages as other versions of torch were measured (rules/measured.json)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from dynamo_lint.pages import Page, page_folder

_HEAD = re.compile(r"\b(?<=easured with torch )\d+\.\d+\b")
_UNKNOWN = "not run | - | - | - | -"

Version = tuple[int, int]


def as_measured(page: Page, torch_version: Version) -> Page:
    """The page with the table for a torch, or for the newest one before it that was run."""
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
