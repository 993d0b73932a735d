"""A rule's page for reading in a terminal, or as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict

from dynamo_lint.pages import Page, page_url
from dynamo_lint.terminal import Look


def render_text(pages: Sequence[Page], look: Look) -> str:
    """The pages one after the other: headings bold, code indented instead of fenced."""
    return "\n".join(_text(page, look) for page in pages)


def render_json(pages: Sequence[Page]) -> str:
    """The pages as a JSON list."""
    return (
        json.dumps([asdict(page) | {"url": page_url(page.code, page.name)} for page in pages], indent=2)
        + "\n"
    )


def _text(page: Page, look: Look) -> str:
    lines: list[str] = []
    in_code = False
    for line in page.body.splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            lines.append(textwrap.indent(line, "    "))
        elif line.startswith("# "):
            lines += [look.paint(line[2:], bold=True, underline=True), *_facts(page, look)]
        elif line.startswith("#"):
            lines.append(look.paint(line.lstrip("#").strip(), bold=True))
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _facts(page: Page, look: Look) -> list[str]:
    """What the front matter knows: effects by case and version, and graph break ids."""
    lines = [""] if page.effects or page.gb else []
    width = max((len(row.effect) for row in page.effects), default=0)
    for row in page.effects:
        torch = "" if row.torch == "*" else f" (torch {row.torch})"
        lines.append(f"  {look.paint(f'{row.effect:<{width}}', bold=True)}  {row.when}{torch}")
    if page.gb:
        lines.append("  Graph break registry: " + ", ".join(page.gb))
    return lines
