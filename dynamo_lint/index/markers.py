"""The comments that declare a region or cut one, and the definition each stands beside."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable

from dynamo_lint.index.facts import Class, Function, Marker

_MARKER = re.compile(r"#\s*dynamo-lint:\s*(region|eager)\b(?!-)")


def find_markers(
    text: str, region_comment: str | None, bodies: Iterable[tuple[Function | Class, ast.stmt]]
) -> tuple[Marker, ...]:
    """Region markers of one file, in line order.

    `bodies` pairs each definition with its first statement: a marker belongs to a definition if it stands
    directly above it, on its header, or before its first statement. `region_comment` is a project's own
    comment text that means `region`.
    """
    if "dynamo-lint:" not in text and (not region_comment or region_comment not in text):
        return ()
    places = [(fact.first_line - 1, first.lineno, fact.key) for fact, first in bodies]
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        match = _MARKER.match(token.string)
        if not match and not (region_comment and region_comment in token.string):
            continue
        line = token.start[0]
        # A comment that opens a class body also stands above its first method: it speaks of the class.
        keys = [(start, key) for start, body, key in places if start <= line < max(body, start + 2)]
        found.append(Marker(line, match[1] if match else "region", min(keys)[1] if keys else None))
    return tuple(found)
