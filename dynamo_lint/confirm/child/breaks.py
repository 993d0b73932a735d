"""Reads Dynamo's account of a graph break."""

from __future__ import annotations

import re
from pathlib import Path

from dynamo_lint.confirm.child.stacks import DEEPEST, user_frame
from dynamo_lint.confirm.receipt import Frame, GraphBreak

PLACE = re.compile(r"in user code at (.+):(\d+)$", re.MULTILINE)
FRAME = re.compile(r'^\s*File "(.+?)", line (\d+), in (.+)$', re.MULTILINE)
HOME = str(Path(__file__).parent)
IDENT = re.compile(r"/gb/gb(\d+)\.html")
STACKS = ("User code traceback:", "occurred in the following user code:", "from user code:")
SKIPPED = ("results in a skip", "Skipping the function", "frame skipped", "Skipping the frame")


def read_break(payload: str, call: int, label: str) -> GraphBreak | None:
    """The break that a `dynamo_graph_break_reason` or the text of an exception tells of."""
    # Dynamo's own stack follows the user's.
    told = payload.partition("\nTraceback (most recent call last):")[0]
    place = PLACE.search(told)
    mark = next((mark for mark in STACKS if mark in told), None)
    frames = FRAME.findall(told.rpartition(mark)[2]) if mark else []
    stack = tuple(Frame(path, int(line), name) for path, line, name in frames)
    here = user_frame(stack)
    if place is None and here is None:
        return None
    path, line = (place[1], int(place[2])) if place else (here.path, here.line) if here else ("", 0)
    inner = next((frame for frame in reversed(stack) if (frame.path, frame.line) == (path, line)), None)
    ident = IDENT.search(told)
    return GraphBreak(
        path=path,
        line=line,
        function=inner.function if inner else "",
        id=f"GB{ident[1]}" if ident else "",
        reason=_reason(told),
        skips_frame=any(mark in told for mark in SKIPPED),
        call=call,
        label=label,
        count=1,
        stack=_below_harness(stack),
    )


def _reason(told: str) -> str:
    """The sentence that says what Dynamo could not do."""
    explanation = re.search(r"^  Explanation: (.+)$", told, re.MULTILINE)
    if explanation:
        return explanation[1].strip()
    first = re.search(r"Graph Break Reason: (.+)", told)
    return (first[1] if first else told.strip().partition("\n")[0]).strip()


def _below_harness(stack: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames that the harness called, without its own."""
    own = [index for index, frame in enumerate(stack) if frame.path.startswith(HOME)]
    return stack[own[-1] + 1 if own else 0 :][-DEEPEST:]
