"""A hover shows text of the linted code as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dynamo_lint.server.diagnostics import diagnostic
from dynamo_lint.server.hover import hover
from dynamo_lint.server.places import Places
from dynamo_lint.sources import Sources
from tests.render.test_render import FINDINGS, root

__all__ = ["root"]
HOSTILE = (
    "`os.environ['![a](https://example.org/x.png) <img src=x>']` is ![a](https://example.org/x.png)\x1b[2J"
)


def test_names_in_the_code_are_neither_markdown_nor_orders(root: Path) -> None:
    places = Places(root, Sources(root), {}, "utf-16")
    finding = replace(FINDINGS[0], message=HOSTILE, cost=HOSTILE)
    shown = hover([finding], places, (2, 13))
    assert shown is not None
    about = shown.contents.value.partition("\n---\n")[0]
    assert "\x1b" not in about
    assert "is ![a](" not in about
    assert "\x1b" not in diagnostic(finding, places).message
