"""Comments that silence what a run reports, with the reason, for `check --add-ignore`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from dynamo_lint import suppressions
from dynamo_lint.discovery import CODE, Discovered
from dynamo_lint.findings import Edit, Finding, Fix, Span
from dynamo_lint.fixes.bytes import CannotEdit, apply, parses
from dynamo_lint.fixes.cells import apply_to_cells
from dynamo_lint.index.notebooks import code_of, is_notebook
from dynamo_lint.report import Report
from dynamo_lint.run.rewrite import Rewritten
from dynamo_lint.sources import Sources
from dynamo_lint.trouble import Trouble

Lint = Callable[[Mapping[str, bytes]], Report]
"""The report with other bytes for some files."""
_NOT_SILENCED = {
    "DYN901": "what cannot be read has no comments; `exclude` leaves the file out",
    "DYN903": "take the unused comment out, as `--fix` does",
    "DYN904": "mend or remove the comment, as `--fix` does",
    "DYN905": "run with `--update-baseline`",
}
"""Rules that are about no line of code, with what to do instead."""


def check_reason(reason: str) -> str:
    """The reason without blanks around it; raises `Trouble` for one that cannot stand in a comment."""
    if not (reason := reason.strip()) or not reason.isprintable():
        raise Trouble(
            '--add-ignore needs a reason in one line, such as --add-ignore "only in the debug build"'
        )
    if suppressions.begins_another(reason):
        raise Trouble("--add-ignore: the reason holds a `#` that would begin another comment; leave it out")
    return reason


def silence(reason: str, report: Report, found: Discovered, sources: Sources, lint: Lint) -> Rewritten:
    """The files with a comment for each finding of a report that one silences; the others say why not.

    The result is linted: a comment that does not silence its finding, or is unused, is not written.
    """
    refused: dict[str, tuple[Finding, str]] = {}
    edits: dict[str, tuple[Finding, int]] = {}
    for finding in report.findings:
        why = _obstacle(finding, found)
        line = (
            None if why else suppressions.line_for_comment(sources.text(finding.span.path), finding.span.line)
        )
        if line is None:
            refused[finding.fingerprint] = (finding, why or "no comment can stand at its line")
        else:
            edits[finding.fingerprint] = (finding, line)
    before = {one.fingerprint for one in report.findings}
    while True:
        files, wrong = _edited(reason, edits.values(), sources)
        left = report
        if edits and not wrong:
            left = lint(files)
            wrong = _useless(edits.values(), left, before)
        if not wrong:
            break
        for fingerprint, why in wrong.items():
            finding, _ = edits.pop(fingerprint)
            refused[fingerprint] = (finding, why)
    return Rewritten(
        files=files,
        originals={path: sources.stored(path) for path in files},
        applied=tuple(_with_edit(finding, line) for finding, line in edits.values()),
        refused=tuple(refused.values()),
        report=left,
    )


def _obstacle(finding: Finding, found: Discovered) -> str | None:
    """Why no comment is written for a finding at all."""
    path = finding.span.path
    if finding.code in _NOT_SILENCED:
        return _NOT_SILENCED[finding.code]
    if path not in found.reported:
        return f"name {path} to have it changed"
    return None if path.endswith(CODE) else "comments are read in Python and in notebooks only"


def _useless(edits: Iterable[tuple[Finding, int]], left: Report, before: set[str]) -> dict[str, str]:
    """Those comments that do not do what they are for, by the fingerprint of the finding."""
    still = {one.fingerprint for one in left.findings}
    unused = {
        (one.span.path, one.span.line, one.subject)
        for one in left.findings
        if one.code == suppressions.UNUSED and one.fingerprint not in before
    }
    wrong = {}
    for finding, line in edits:
        if finding.fingerprint in still:
            wrong[finding.fingerprint] = "a comment at its line does not silence it"
        elif (finding.span.path, line, finding.code) in unused:
            wrong[finding.fingerprint] = "any comment beside it ends the finding: write the reason there"
    return wrong


def _edited(
    reason: str, edits: Iterable[tuple[Finding, int]], sources: Sources
) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files with their comments, and why some cannot be written, by the fingerprint of the finding."""
    places: dict[str, dict[int, list[Finding]]] = {}
    for finding, line in edits:
        places.setdefault(finding.span.path, {}).setdefault(line, []).append(finding)
    files: dict[str, bytes] = {}
    wrong: dict[str, str] = {}
    for path, lines in places.items():
        comments = {
            line: _comment(sources, path, line, sorted({one.code for one in findings}), reason)
            for line, findings in lines.items()
        }
        try:
            files[path] = _applied(sources, path, [*comments.values()])
        except CannotEdit:
            for line, findings in lines.items():
                if why := _fault(sources, path, comments[line]):
                    wrong |= {one.fingerprint: why for one in findings}
    return files, wrong


def _fault(sources: Sources, path: str, edit: Edit) -> str | None:
    try:
        _applied(sources, path, [edit])
    except CannotEdit as error:
        return str(error)
    return None


def _applied(sources: Sources, path: str, edits: Sequence[Edit]) -> bytes:
    stored = sources.stored(path)
    made = apply_to_cells(stored, edits) if is_notebook(path) else apply(stored, edits)
    if not parses(code_of(path, made)):
        raise CannotEdit("the file would no longer parse")
    return made


def _comment(sources: Sources, path: str, line: int, codes: Sequence[str], reason: str) -> Edit:
    """The comment at the end of a line, in place of the blanks there."""
    text = sources.line(path, line)
    span = Span(path, line, len(text.rstrip()) + 1, line, len(text) + 1)
    return Edit(span, f"  {suppressions.written(codes, reason)}")


def _with_edit(finding: Finding, line: int) -> Finding:
    """The finding with the place of its comment as its fix, which is what says where it is written."""
    place = Span(finding.span.path, line, 1, line, 1)
    return replace(finding, fix=Fix("safe", "silence it", (Edit(place, ""),)))
