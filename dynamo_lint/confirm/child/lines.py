"""Which lines of the project really run: told by the interpreter itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

Lines = dict[str, set[int]]
Entered = Callable[[FrameType], None]
OWN = Path(__file__).parent.parent.parent
TOOLS = (4, 3, 5)
"""Ids of `sys.monitoring` that coverage tools, debuggers and profilers leave free."""


@contextmanager
def lines_run(root: Path, entered: Entered = lambda frame: None) -> Iterator[Lines]:
    """Collect the lines of files below `root` that run; `entered` sees each of their functions start."""
    lines: Lines = {}

    @lru_cache(maxsize=8192)
    def wanted(path: str) -> bool:
        inside = Path(path)
        if path.startswith("<") or not inside.is_relative_to(root) or inside.is_relative_to(OWN):
            return False
        return "site-packages" not in inside.relative_to(root).parts

    start = _monitored if sys.version_info >= (3, 12) else _traced
    with start(lines, wanted, entered):
        yield lines


@contextmanager
def _traced(lines: Lines, wanted: Callable[[str], bool], entered: Entered) -> Iterator[None]:
    def local(frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            lines[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        path = frame.f_code.co_filename
        if event != "call" or not wanted(path):
            return None
        lines.setdefault(path, set()).add(frame.f_lineno)
        entered(frame)
        return local

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def _monitored(lines: Lines, wanted: Callable[[str], bool], entered: Entered) -> Iterator[None]:
    monitoring: Any = getattr(sys, "monitoring")  # noqa: B009  (mypy checks Python 3.10, which has none)
    tool = next((one for one in TOOLS if monitoring.get_tool(one) is None), None)
    if tool is None:
        with _traced(lines, wanted, entered):
            yield
        return

    def line(code: CodeType, number: int) -> Any:
        if wanted(code.co_filename):
            lines.setdefault(code.co_filename, set()).add(number)
        return monitoring.DISABLE

    def start(code: CodeType, _offset: int) -> Any:
        if not wanted(code.co_filename):
            return monitoring.DISABLE
        lines.setdefault(code.co_filename, set()).add(code.co_firstlineno)
        entered(sys._getframe(1))
        return None

    events = monitoring.events
    monitoring.use_tool_id(tool, "dynamo-lint")
    monitoring.register_callback(tool, events.LINE, line)
    monitoring.register_callback(tool, events.PY_START, start)
    monitoring.set_events(tool, events.LINE | events.PY_START)
    monitoring.restart_events()
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, events.LINE, None)
        monitoring.register_callback(tool, events.PY_START, None)
        monitoring.free_tool_id(tool)
