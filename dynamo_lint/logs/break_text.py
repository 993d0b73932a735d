"""Reads Dynamo's account of a graph break, as it stands in logs, traces and exceptions."""

from __future__ import annotations

import re
from dataclasses import dataclass

INTENDED = frozenset({"GB0025", "GB0098", "GB0099", "GB4297", "GB4636"})
"""Breaks that the code itself asks for: `torch.compiler.disable`, `graph_break()`, `skip_frame`."""

_PLACE = re.compile(r"in user code at (.+):(\d+)\s*$", re.MULTILINE)
_FRAME = re.compile(
    r'^\s*File "(?P<path>.+?)", line (?P<line>\d+), in (?P<function>.+)\n?(?P<text>.*)', re.MULTILINE
)
_IDENT = re.compile(r"/gb/gb(\d+)\.html")
_STACKS = (
    "User code traceback:",
    "occurred in the following user code:",
    "from user code:",
    "from user code at:",
)
_SKIPPED = (
    "results in a skip",
    "Skipping the function",
    "frame skipped",
    "Skipping the frame",
    "Graph break: skip:",
)
_EXPLANATION = re.compile(r"^\s*Explanation: (.+)$", re.MULTILINE)
_RAISED = re.compile(r"^torch\._dynamo\.exc\.\w+: (.+)$", re.MULTILINE)
_REASON = re.compile(r"Graph Break Reason: (.+)")


@dataclass(frozen=True, slots=True)
class StackLine:
    """One line of a stack, in a function by its bare name, and what stood there."""

    path: str
    line: int
    function: str
    text: str


@dataclass(frozen=True, slots=True)
class BreakText:
    """A graph break as Dynamo tells it."""

    place: tuple[str, int] | None
    """Path and line of the code that broke the graph, where Dynamo names them."""
    id: str
    """`GB0059` in Dynamo's registry; empty where it has none. A second one is of what follows from it."""
    reason: str
    """The sentence that says what Dynamo could not do."""
    skips_frame: bool
    """The whole function runs uncompiled, not just this line."""
    stack: tuple[StackLine, ...]
    """Outermost first; empty for a break that was told before."""


def read_break(told: str) -> BreakText:
    """The break that a `dynamo_graph_break_reason` or the text of an exception tells of."""
    # Dynamo's own stack follows the user's; in older versions its end says what Dynamo could not do.
    told, _, own = told.partition("\nTraceback (most recent call last):")
    if raised := _RAISED.search(own):
        told = f"Graph Break Reason: {raised[1]}\n{told}" if "Reason:" not in told else told
    place, ident = _PLACE.search(told), _IDENT.search(told)
    mark = next((mark for mark in _STACKS if mark in told), None)
    stack = tuple(
        StackLine(one["path"], int(one["line"]), one["function"], one["text"].strip())
        for one in (_FRAME.finditer(told.rpartition(mark)[2]) if mark else ())
    )
    return BreakText(
        place=(place[1], int(place[2])) if place else None,
        id=f"GB{ident[1]}" if ident else "",
        reason=_reason(told),
        skips_frame=any(mark in told for mark in _SKIPPED),
        stack=stack,
    )


def _reason(told: str) -> str:
    found = _EXPLANATION.search(told) or _REASON.search(told)
    return (found[1] if found else told.strip().partition("\n")[0]).strip()
