"""A rule's page for reading in a terminal, or as JSON."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby, zip_longest

from dynamo_lint.pages import Page, page_url
from dynamo_lint.terminal import Look, text_width

_NARROWEST = 12
"""Columns that every column of a table may take."""
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


GUARD = (
    "A guard is the check that torch makes before it reuses compiled code; if it fails, torch compiles again."
)


def render_text(pages: Sequence[Page], look: Look) -> str:
    """The pages one after the other: headings bold, paragraphs wrapped, tables aligned, code indented.

    What a guard is stands once below them, if one of them speaks of guards.
    """
    texts = ["\n".join(_lines(page, look)) + "\n" for page in pages]
    if any("guard" in page.body for page in pages):
        texts.append(look.wrapped(GUARD, "", "") + "\n")
    return "\n".join(texts)


def render_json(pages: Sequence[Page]) -> str:
    """The pages as a JSON list."""
    return (
        json.dumps([asdict(page) | {"url": page_url(page.code, page.name)} for page in pages], indent=2)
        + "\n"
    )


def _lines(page: Page, look: Look) -> Iterator[str]:
    for kind, lines in _blocks(page.body):
        match kind:
            case "code":
                yield from (textwrap.indent(line, "    ") for line in lines)
            case "title":
                yield look.paint(lines[0].lstrip("# "), bold=True, underline=True)
                yield from _facts(page, look)
            case "heading":
                yield from (look.paint(line.lstrip("# "), bold=True) for line in lines)
            case "table":
                yield from _table(lines, look)
            case "text":
                yield from _paragraph(lines, look)
            case _:
                yield from lines


def _blocks(body: str) -> Iterator[tuple[str, list[str]]]:
    """The lines of a page in stretches of one kind; the fences of code are left out."""
    kinds: list[tuple[str, str]] = []
    in_code = False
    for line in body.splitlines():
        if line.startswith("```"):
            in_code = not in_code
        else:
            kinds.append(("code" if in_code else _kind(line), line))
    for kind, group in groupby(kinds, key=lambda pair: pair[0]):
        yield kind, [line for _, line in group]


def _kind(line: str) -> str:
    if not line.strip():
        return "blank"
    if line.startswith("#"):
        return "title" if line.startswith("# ") else "heading"
    return "table" if line.startswith("|") else "text"


def _paragraph(lines: Sequence[str], look: Look) -> Iterator[str]:
    """A paragraph, or the items of a list, each wrapped anew."""
    items: list[str] = []
    for line in lines:
        if items and not re.match(r"(?:[-*]|\d+\.) ", line):
            items[-1] += " " + line.strip()
        else:
            items.append(line.strip())
    for item in items:
        mark = re.match(r"(?:[-*]|\d+\.) ", item)
        text = _LINK.sub(r"\1", item)
        yield look.wrapped(text, "", " " * len(mark[0]) if mark else "")


def _table(lines: Sequence[str], look: Look) -> Iterator[str]:
    """Columns of equal width, wrapped where they do not all fit; the last one is not filled up."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in lines]
    rows = [row for row in rows if not set("".join(row)) <= set("-:| ")]
    columns = max(map(len, rows))
    rows = [row + [""] * (columns - len(row)) for row in rows]
    widths = _fitting(rows, look.width)
    for number, row in enumerate(rows):
        cells = [
            replace(look, width=width).filled(cell, "", "").split("\n")
            for cell, width in zip(row, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=""):
            filled = [
                part + " " * (width - text_width(part)) for part, width in zip(parts, widths, strict=True)
            ]
            text = "  " + "  ".join(filled).rstrip()
            yield look.paint(text, bold=True) if number == 0 else text


def _fitting(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Widths of the columns that fit the room: headings give way, then the widest.

    A column of long words stays wider than these at last, in the rows that have one.
    """
    columns = list(zip(*rows, strict=True))
    widths = [max(map(text_width, column)) for column in columns]
    words = [max(text_width(word) for cell in column for word in cell.split() or [""]) for column in columns]
    below = [max(least, *map(text_width, column[1:])) for least, column in zip(words, columns, strict=True)]
    for least in (below, words, [_NARROWEST] * len(widths)):
        while sum(widths) + 2 * len(widths) > room:
            spare = [number for number, width in enumerate(widths) if width > least[number]]
            if not spare:
                break
            widths[max(spare, key=lambda number: widths[number])] -= 1
    return widths


def _facts(page: Page, look: Look) -> list[str]:
    """The facts of the front matter: effects by case and version, and graph break ids."""
    lines = [""] if page.effects or page.gb else []
    width = max((len(row.effect) for row in page.effects), default=0)
    for row in page.effects:
        torch = "" if row.torch == "*" else f" (torch {row.torch})"
        effect = look.paint(f"{row.effect:<{width}}", bold=True)
        lines.append(look.beside(f"  {effect}  ", f"{row.when}{torch}"))
    if page.gb:
        lines.append(look.wrapped("Graph break registry: " + ", ".join(page.gb), "  ", "    "))
    return lines
