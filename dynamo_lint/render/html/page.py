"""The frame of all pages: templates in which every value is text, one style, one script, no network."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from dynamo_lint import __version__
from dynamo_lint.dataclass import dataclass
from dynamo_lint.render.html import words
from dynamo_lint.render.prose import applicable, claim, html_text, sentence

FOLDER = Path(__file__).parent
MOST = 200
"""Entries of one kind that a page of `logs` or `confirm` shows in full; it says what more there is."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One control of the filter."""

    key: str
    """As in the attributes `data-KEY` of the entries and in the page's address."""
    label: str
    values: tuple[tuple[str, int], ...]
    buttons: bool = False
    """A few values, each switched by itself; else one of them is chosen from a list."""


def counts(values: Iterable[str], order: Sequence[str] = ()) -> tuple[tuple[str, int], ...]:
    """Each value with its number, in the order of a list of them, or else of the alphabet."""
    return tuple(
        sorted(Counter(values).items(), key=lambda one: (order.index(one[0]) if one[0] in order else -1, one))
    )


def page(template: str, **values: Any) -> str:
    """One document; its policy lets only our own style and script run, and nothing be fetched."""
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template(template)
        .render(
            style=Markup(style),  # our own file, not data
            script=Markup(script),
            policy=policy,
            version=__version__,
            **values,
        )
    )


def prose(text: str) -> Markup:
    """A text in which what stands between backticks is code."""
    pieces = html_text(text).split("`")
    if len(pieces) % 2 == 0:  # the last backtick opens nothing
        last = pieces.pop()
        pieces[-1] += f"`{last}"
    marked = (
        Markup("<code>{}</code>").format(piece) if number % 2 else escape(piece)
        for number, piece in enumerate(pieces)
    )
    return Markup("").join(marked)


def counted(number: int, word: str, plural: str = "") -> str:
    """`1 finding`, `2 findings`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else html_text(str(value)),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {"prose": prose, "sentence": sentence, "claim": claim}
    made.globals |= {"counted": counted, "MOST": MOST, "words": words, "applicable": applicable}
    return made


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
