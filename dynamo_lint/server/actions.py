"""Code actions: the edits that fix or silence a finding, for the client to make."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from lsprotocol import types

from dynamo_lint.findings import Edit, Finding, Span
from dynamo_lint.fixes.bytes import CannotEdit, read
from dynamo_lint.fixes.cells import changed_cells
from dynamo_lint.index.notebooks import LINE_END, is_notebook
from dynamo_lint.lintrules import LINT_RULES
from dynamo_lint.run.rewrite import Rewritten
from dynamo_lint.server.places import Places
from dynamo_lint.server.positions import unit_offset
from dynamo_lint.suppressions import suppressing
from dynamo_lint.terminal import clean, clipped

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.dynamo-lint"
KINDS = (types.CodeActionKind.QuickFix.value, FIX_ALL)
REASON = "TODO: say why this stays"
_LONGEST_TITLE = 120
_WORDS = {
    "safe": ("Fix", ""),
    "unsafe": ("Fix", " (unsafe: it can change what the code does)"),
    "display": ("Suggestion for", " (yours to judge or complete)"),
}
"""By applicability, how the title of a fix begins and ends."""


class CannotOffer(Exception):
    """An edit that cannot be told to the client: of a notebook that it does not show, or across cells."""


def is_wanted(kind: str, only: Iterable[str] | None) -> bool:
    """Whether a client that asks for some kinds takes this one: it, or one above it."""
    return only is None or any(not one or f"{kind}.".startswith(f"{one}.") for one in only)


def actions(
    finding: Finding, about: list[types.Diagnostic], places: Places, versioned: bool
) -> Iterator[types.CodeAction]:
    """The quick fixes of a finding: its own, and a comment that silences it; `about` is as it was shown."""
    if (fix := finding.fix) is not None and fix.edits:
        verb, doubt = _WORDS[fix.applicability]
        title = clipped(clean(f"{verb} {finding.code}: {fix.message}"), _LONGEST_TITLE - len(doubt)) + doubt
        try:
            edit = workspace_edit(_in_documents(fix.edits, places), places, versioned)
        except CannotOffer:
            pass
        else:
            kind, preferred = types.CodeActionKind.QuickFix, fix.applicability == "safe"
            yield types.CodeAction(title, kind, about, is_preferred=preferred, edit=edit)
    if finding.code not in LINT_RULES or finding.code in ("DYN902", "DYN906"):
        yield from _suppression(finding, about, places, versioned)


def fix_all(done: Rewritten, places: Places, versioned: bool) -> types.CodeAction | None:
    """The action that makes all safe fixes for a file; None if there is nothing to do."""
    if not done.files:
        return None
    edits: dict[str, list[types.TextEdit]] = {}
    try:
        for path, after in done.files.items():
            for uri, changes in _differences(path, done.originals[path], after, places):
                edits.setdefault(uri, []).extend(changes)
    except (CannotOffer, CannotEdit):
        return None
    edit = workspace_edit(edits, places, versioned)
    title = "Make all safe fixes of dynamo-lint in this file"
    return types.CodeAction(title, FIX_ALL, edit=edit)


def workspace_edit(
    edits: Mapping[str, list[types.TextEdit]], places: Places, versioned: bool
) -> types.WorkspaceEdit:
    """The edits of each document, for the version of it that was judged if the client can check that."""
    if not versioned:
        return types.WorkspaceEdit(changes=dict(edits))
    versions = {part.uri: part.version for file in places.open_files.values() for part in file.parts}
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)), [*changes]
            )
            for uri, changes in edits.items()
        ]
    )


def _suppression(
    finding: Finding, about: list[types.Diagnostic], places: Places, versioned: bool
) -> Iterator[types.CodeAction]:
    path = finding.span.path
    try:
        text = places.sources.text(path)
        edit = suppressing(path, text, finding.span.line, finding.code, REASON)
        if edit is None:
            return
        edits = workspace_edit(_in_documents([edit], places), places, versioned)
    except (CannotOffer, OSError, ValueError, SyntaxError):
        return
    title = f"Silence {finding.code} here with a comment"
    yield types.CodeAction(title, types.CodeActionKind.QuickFix, about, edit=edits)


def _in_documents(edits: Iterable[Edit], places: Places) -> dict[str, list[types.TextEdit]]:
    """Edits of files as edits of the documents that they are open as."""
    documents: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        uri, change = _text_edit(edit, places)
        documents.setdefault(uri, []).append(change)
    return documents


def _text_edit(edit: Edit, places: Places) -> tuple[str, types.TextEdit]:
    path, span = edit.span.path, edit.span
    if is_notebook(path):
        span = _in_one_cell(span, places)
    location = places.location(span)
    return location.uri, types.TextEdit(
        location.range, edit.replacement.replace("\n", _newline(path, places))
    )


def _in_one_cell(span: Span, places: Places) -> Span:
    """The span, which must not reach out of the cell that it begins in."""
    if places.file(span.path) is None:
        raise CannotOffer
    cell = places.sources.notebook(span.path).cell_at(span.line)
    if cell is None or cell.source.split("\n") != cell.code.split("\n"):
        raise CannotOffer
    behind = cell.first + cell.code.count("\n") + 1
    if span.end_line == behind and span.end_column == 1 and span.line < behind:
        # The end of its last line, behind which the module has a line end and the cell has none.
        return Span(span.path, span.line, span.column, behind - 1, len(cell.code.split("\n")[-1]) + 1)
    if span.end_line >= behind:
        raise CannotOffer
    return span


def _newline(path: str, places: Places) -> str:
    """How the lines of a file end."""
    try:
        raw = places.sources.stored(path)
    except OSError:
        raise CannotOffer from None
    return "\r\n" if not is_notebook(path) and b"\r\n" in raw else "\n"


def _differences(
    path: str, before: bytes, after: bytes, places: Places
) -> Iterator[tuple[str, list[types.TextEdit]]]:
    """The documents of a file that differ, each with its edits."""
    file = places.file(path)
    if not is_notebook(path):
        yield places.uri(path), [*_line_edits(read(before).text, read(after).text, places.encoding)]
        return
    if file is None:
        raise CannotOffer
    for number, old, new in changed_cells(before, after):
        yield file.parts[number - 1].uri, [*_line_edits(old, new, places.encoding)]


def _line_edits(old: str, new: str, encoding: str) -> Iterator[types.TextEdit]:
    """The stretches of lines that differ."""
    before, after = _lines(old), _lines(new)
    for kind, first, last, start, end in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if kind != "equal":
            where = types.Range(_start(before, first, encoding), _start(before, last, encoding))
            yield types.TextEdit(where, "".join(after[start:end]))


def _lines(text: str) -> list[str]:
    """Lines with their ends; without the empty one behind the last end."""
    starts = [0, *(end.end() for end in LINE_END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(starts) if start < end]


def _start(lines: list[str], number: int, encoding: str) -> types.Position:
    """Where a line begins, or behind the last one the end of the text."""
    if number < len(lines) or not lines or LINE_END.search(lines[-1]):
        return types.Position(number, 0)
    return types.Position(number - 1, unit_offset(lines[-1], len(lines[-1]) + 1, encoding))
