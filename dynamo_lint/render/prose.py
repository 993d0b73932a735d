"""Findings as sentences, and text from anywhere that stays text in a medium (in logs: `terminal.clean`)."""

from __future__ import annotations

import json
import re
from typing import Any

from dynamo_lint.findings import Finding, Fix
from dynamo_lint.terminal import clean

_MARKS = re.compile(r"[\\*_\[\]<>&|~#!$^]|^[-+=]|(?<=:)//|(?<=www)\.", re.IGNORECASE)
"""Of Markdown, with the tables, links and formulas of GitHub."""
_ESCAPES = re.compile(r"\\\\|\\ud[89ab]..\\ud[c-f]..|\\ud[89a-f]..")
"""In JSON: a backslash, a pair of surrogates, a surrogate by itself."""


def explained(finding: Finding) -> list[str]:
    """Message, cost and fix, each as a sentence."""
    lines = [claim(finding.message)]
    if finding.cost:
        lines.append(f"Cost: {sentence(finding.cost)}")
    if finding.fix is not None:
        lines.append(f"Fix: {sentence(finding.fix.message)}{applicable(finding.fix)}")
    return lines


def sentence(text: str) -> str:
    """Text as one line that can be printed, with one full stop at its end."""
    return clean(text.replace("\n", " ")).rstrip(".") + "."


def claim(text: str) -> str:
    """The same with a capital letter at its beginning."""
    said = sentence(text)
    return said[:1].upper() + said[1:]


def applicable(fix: Fix, command: str = "dynamo-lint check ") -> str:
    """How the fix can be had from the command line; empty where it is only advice."""
    if not fix.edits:
        return ""
    if fix.kind == "suggested":
        return f" (`{command}--diff --suggestions` shows an edit)"
    options = "--fix" if fix.applicability == "safe" else "--fix --unsafe-fixes"
    return f" (`{command}{options}` does it)"


def json_text(value: Any, indent: int | None = 2, exact: bool = False) -> str:
    """A JSON document in ASCII, in which no log finds the order of a CI service (`##[...]`).

    A byte of a file name that is no UTF-8 is half a surrogate pair, which services refuse: it becomes U+FFFD.
    `exact` keeps it, so that readers of our own format can open the file.
    """
    text = json.dumps(value, indent=indent).replace("##", "#\\u0023") + "\n"
    return text if exact else _ESCAPES.sub(lambda one: "\\ufffd" if len(one[0]) == 6 else one[0], text)


def picked(one: object, *names: str) -> dict[str, Any]:
    """Some attributes of an object as a JSON object, under their own names."""
    return {name: getattr(one, name) for name in names}


def command_data(text: str) -> str:
    """The message of a workflow command of GitHub; its lines stay lines."""
    return "%0A".join(clean(line).replace("%", "%25") for line in text.split("\n"))


def command_property(text: str) -> str:
    """The value of a property of a workflow command of GitHub."""
    return clean(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def markdown(text: str) -> str:
    """One line of Markdown in which only code in single backticks is more than text."""
    pieces = clean(text).split("`")
    if len(pieces) % 2 == 0:  # the last backtick opens nothing
        last = pieces.pop()
        pieces[-1] += f"'{last}"
    shown = [_plain(pieces[0])]
    for before, piece, after in zip(pieces[::2], pieces[1::2], pieces[2::2], strict=False):
        # Readers differ on a backtick behind a backslash, though that is escaped itself.
        shown += [_entities(piece) if before.endswith("\\") else markdown_code(piece), _plain(after)]
    # Two stretches of code with nothing between them would be one, with backticks in it.
    shown[2:-1:2] = [piece or " " for piece in shown[2:-1:2]]
    return "".join(shown)


def markdown_code(text: str) -> str:
    """Text as code in Markdown, also in a table; what would end either early is written as entities."""
    shown = clean(text)
    if shown.strip() and not {"`", "|"} & set(shown):
        return f"`{shown}`"
    return _entities(shown)


def _entities(code: str) -> str:
    plain = (char if char.isalnum() or char in " /.:-" else f"&#{ord(char)};" for char in code)
    return f"<code>{''.join(plain)}</code>"


def sarif_text(text: str) -> str:
    """A message of SARIF, whose plain text may hold links as Markdown has them: none is one."""
    return "\n".join(clean(line).replace("](", "] (") for line in text.split("\n"))


def html_text(text: str) -> str:
    """Text for a template that escapes the marks of HTML; its lines stay lines."""
    return "\n".join(map(clean, text.split("\n")))


def _plain(text: str) -> str:
    return _MARKS.sub(lambda mark: "".join(f"\\{char}" for char in mark[0]), text).replace("@", "＠")
