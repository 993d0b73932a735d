"""The comments that declare a region or cut one, and the definition each stands beside."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable

from dynamo_lint.index.ir import Class, Function, Marker

_MARKER = re.compile(r"#\s*dynamo-lint:\s*(region-begin|region-end|region|eager)\b(?!-)")


def find_markers(
    text: str, region_comment: str | None, bodies: Iterable[tuple[Function | Class, ast.stmt]]
) -> tuple[Marker, ...]:
    """Region markers of one file, in line order.

    `bodies` pairs each definition with its first statement: a marker belongs to a definition if it stands
    directly above it, on its header, or before its first statement. `region_comment` is a project's own
    comment text that means `region`. What stands between `region-begin` and `region-end` is marked as
    if each of its definitions were.
    """
    if "dynamo-lint:" not in text and (not region_comment or region_comment not in text):
        return ()
    bodies = list(bodies)
    places = [(fact.first_line - 1, first.lineno, fact.key) for fact, first in bodies]
    found = []
    begins: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        match = _MARKER.match(token.string)
        if not match and not (region_comment and region_comment in token.string):
            continue
        line = token.start[0]
        kind = match[1] if match else "region"
        if kind == "region-begin":
            begins.append(line)
            continue
        if kind == "region-end":
            begin = begins.pop() if begins else None
            inside = _enclosed(begin, line, (fact for fact, _ in bodies)) if begin is not None else []
            found += [Marker(begin or line, "region", key) for key in inside]
            if begin is None or not inside:
                found.append(Marker(begin or line, kind if begin is None else "region", None))
            continue
        # A comment that opens a class body also stands above its first method: it is about the class.
        keys = [(start, key) for start, body, key in places if start <= line < max(body, start + 2)]
        found.append(Marker(line, kind, min(keys)[1] if keys else None))
    found += [Marker(line, "region-begin", None) for line in begins]
    return tuple(sorted(found, key=lambda marker: marker.line))


def _enclosed(begin: int, end: int, facts: Iterable[Function | Class]) -> list[str]:
    """The definitions that lie whole between two lines, less those inside another of them."""
    whole = [fact for fact in facts if begin < fact.first_line and fact.end_line < end]
    return [
        fact.key
        for fact in sorted(whole, key=lambda fact: fact.first_line)
        if not any(
            o.first_line <= fact.first_line and fact.end_line <= o.end_line for o in whole if o is not fact
        )
    ]
