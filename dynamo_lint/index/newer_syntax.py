"""The version of Python that a file needs if its syntax is newer than the Python that runs."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import warnings

import libcst as cst

from dynamo_lint.index.decoding import decode

Version = tuple[int, int]
_SINCE: dict[str, Version] = {
    "TryStar": (3, 11),
    "TypeParameters": (3, 12),
    "TypeAlias": (3, 12),
    "TemplatedString": (3, 14),
}
"""The classes of libcst for syntax that came with a version: older versions of libcst lack some."""
_LONGEST = 2_000
"""Tokens of one statement: libcst's parser takes memory with the square of how deep it is nested."""


def needed(source: bytes, line: int = 0) -> Version | None:
    """The version of Python whose syntax a file has; None if the running one knows it, or no version does.

    `line` is where the running Python failed: the statement around it says enough, and the whole file is only
    looked at where that is no statement by itself.
    """
    try:
        text = decode(source)
    except (SyntaxError, ValueError):
        return None
    found = (_newest(part) for part in (_statement(text, line), text) if part)
    return next((version for version in found if version > sys.version_info[:2]), None)


def _newest(text: str) -> Version:
    """The newest version whose syntax a text has, as libcst reads it, which knows the newest everywhere."""
    try:
        if _is_long(text):
            return 0, 0
        tree = cst.parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, cst.ParserSyntaxError, tokenize.TokenError):
        return 0, 0
    newest: Version = (0, 0)
    waiting: list[cst.CSTNode] = [tree]
    while waiting:
        node = waiting.pop()
        newest = max(newest, _since(node))
        waiting += node.children
    return newest


def _statement(text: str, line: int) -> str:
    """The statement of the module around a line, as far as indentation tells; empty where there is none."""
    lines = text.split("\n")
    starts = [number for number, one in enumerate(lines, 1) if one[:1].isalpha() or one[:1] in ("@", "_")]
    first = max((number for number in starts if number <= line), default=0)
    after = min((number for number in starts if number > line), default=len(lines) + 1)
    return "\n".join([*lines[first - 1 : after - 1], ""]) if first else ""


def _is_long(text: str) -> bool:
    """Whether a statement has too many tokens; a string with code inside counts as all of its characters."""
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            tokens = 0
        tokens += len(token.string) if _holds_code(token) else 1
        if tokens > _LONGEST:
            return True
    return False


def _holds_code(token: tokenize.TokenInfo) -> bool:
    """Whether a token is a whole f-string, as it is before Python 3.12."""
    prefix = token.string.partition("'")[0].partition('"')[0].lower()
    return token.type == tokenize.STRING and not {"f", "t"}.isdisjoint(prefix) and "{" in token.string


def _since(node: cst.CSTNode) -> Version:
    """The version of Python that has brought what a node is."""
    match node:
        case cst.TypeParam(default=cst.BaseExpression()):
            return 3, 13
        case cst.ExceptHandler(type=cst.Tuple(lpar=())) | cst.ExceptStarHandler(type=cst.Tuple(lpar=())):
            return 3, 14
        case cst.Index(star="*") | cst.Annotation(annotation=cst.StarredElement()):
            return 3, 11
        case cst.FormattedString() if sys.version_info < (3, 12) and not _is_plain(node):
            return 3, 12
    return _SINCE.get(type(node).__name__, (0, 0))


def _is_plain(string: cst.FormattedString) -> bool:
    """Whether the running Python reads an f-string: before 3.12 its quotes could not stand inside it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(f"({cst.Module(()).code_for_node(string)})")
    except SyntaxError as error:
        return "unicode error" in (error.msg or "")  # wrong in every version
    return True
