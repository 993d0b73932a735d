"""Reads the graph breaks of a probe."""

from __future__ import annotations

from pathlib import Path

from dynamo_lint.confirm.child.stacks import DEEPEST, user_frame
from dynamo_lint.confirm.receipt import Frame, GraphBreak
from dynamo_lint.logs.break_text import read_break as read_text

HOME = str(Path(__file__).parent)


def read_break(payload: str, call: int, label: str) -> GraphBreak | None:
    """The break that a `dynamo_graph_break_reason` or the text of an exception tells of."""
    told = read_text(payload)
    stack = tuple(Frame(one.path, one.line, one.function) for one in told.stack)
    here = user_frame(stack)
    if told.place is None and here is None:
        return None
    path, line = told.place or ((here.path, here.line) if here else ("", 0))
    inner = next((frame for frame in reversed(stack) if (frame.path, frame.line) == (path, line)), None)
    return GraphBreak(
        path=path,
        line=line,
        function=inner.function if inner else "",
        id=told.id,
        reason=told.reason,
        skips_frame=told.skips_frame,
        call=call,
        label=label,
        count=1,
        stack=_below_harness(stack),
    )


def _below_harness(stack: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames that the harness called, without its own."""
    own = [index for index, frame in enumerate(stack) if frame.path.startswith(HOME)]
    return stack[own[-1] + 1 if own else 0 :][-DEEPEST:]
