"""SARIF 2.1.0, as GitHub code scanning reads it (docs.github.com, "SARIF support for code scanning")."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from dynamo_lint import REPOSITORY, __version__
from dynamo_lint.calls.model import Step
from dynamo_lint.findings import Edit, Finding, Fix, Span
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.pages import Page, load_pages, page_url
from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import json_text, sarif_text, sentence
from dynamo_lint.report import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

PRECISION = {"certain": "very-high", "likely": "high", "possible": "medium"}

PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}

WORST = (({"storm", "stale", "eager"}, "error"), ({"break", "per-value", "per-instance"}, "warning"))
"""The effects that make a rule an error or a warning at its worst."""

LONGEST_DESCRIPTION = 1024
"""Characters that GitHub keeps of a description."""

WINDOW = 100
BASE = 37
END = 0xFFFF
"""Stands behind the last character of a file; after it come zeros."""


def render(report: Report, view: View) -> str:
    """One run. It names all rules, so that the list does not depend on what was found."""
    pages = load_pages()
    numbers = {code: number for number, code in enumerate(pages)}
    hashes = _hashes(report, view)
    run = {
        "tool": {
            "driver": {
                "name": "dynamo-lint",
                "version": __version__,
                "semanticVersion": __version__,
                "informationUri": REPOSITORY,
                "rules": [_rule(page, view.min_confidence) for page in pages.values()],
            }
        },
        "automationDetails": {"id": "dynamo-lint/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {
                        "level": "error",
                        "message": _message(error.message),
                        "locations": [_line(view, error.path, error.line)],
                    }
                    for error in report.errors
                ],
            }
        ],
        "results": [
            _result(finding, numbers, hashes.get((finding.span.path, finding.span.line)), view)
            for finding in report.findings
        ],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(page: Page, min_confidence: str) -> dict[str, Any]:
    summary = page.summary[:LONGEST_DESCRIPTION]
    effects = {row.effect for row in page.effects}
    worst = next((level for bad, level in WORST if effects & bad), "note")
    return {
        "id": page.code,
        "name": page.name,
        "shortDescription": {"text": f"{page.code} {page.name}"},
        "fullDescription": {"text": summary},
        "help": {"text": page.body, "markdown": page.body},
        "helpUri": page_url(page.code, page.name),
        "defaultConfiguration": {"level": worst},
        "properties": {
            "tags": ["pytorch", "torch.compile", *sorted(effects)],
            "problem.severity": PROBLEM[worst],
            # The least that a finding of this run can have; GitHub reads it here and not at the result.
            "precision": PRECISION[min_confidence],
        },
    }


def _result(
    finding: Finding, numbers: Mapping[str, int], line_hash: str | None, view: View
) -> dict[str, Any]:
    prints = {"dynamoLint/v1": finding.fingerprint}
    if line_hash is not None:
        prints["primaryLocationLineHash"] = line_hash
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": _message("\n".join(view.explained(finding))),
        "locations": [
            _location(view, finding.span)
            | {"logicalLocations": [{"fullyQualifiedName": sarif_text(finding.symbol), "kind": "function"}]}
        ],
        "partialFingerprints": prints,
        "properties": {
            "confidence": finding.confidence,
            "precision": PRECISION[finding.confidence],
            "problem.severity": PROBLEM[finding.severity],
            "subject": finding.subject,
        }
        | ({"effect": finding.effect} if finding.effect else {}),
    }
    if finding.code in numbers:
        result["ruleIndex"] = numbers[finding.code]
    if finding.chain:
        steps = [_step(step, finding, view) for step in finding.chain]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if finding.related:
        result["relatedLocations"] = [
            _line(view, place.path, place.line) | {"id": number, "message": _message(place.message)}
            for number, place in enumerate(finding.related, 1)
        ]
    edits = finding.fix.edits if finding.fix is not None else ()
    if finding.fix is not None and edits and not any(is_notebook(edit.span.path) for edit in edits):
        result["fixes"] = [_fix(finding.fix, view)]
    return result


def _message(text: str) -> dict[str, str]:
    return {"text": sarif_text(text)}


def _step(step: Step, finding: Finding, view: View) -> dict[str, Any]:
    at_finding = (step.path, step.line) == (finding.span.path, finding.span.line)
    place = _location(view, finding.span) if at_finding else _line(view, step.path, step.line)
    return {"location": place | {"message": _message(step.note)}}


def _fix(fix: Fix, view: View) -> dict[str, Any]:
    files: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        files.setdefault(edit.span.path, []).append(edit)
    return {
        "description": _message(sentence(fix.message)),
        "artifactChanges": [
            {
                "artifactLocation": {"uri": _uri(view, path)},
                "replacements": [
                    {"deletedRegion": _region(view, edit.span), "insertedContent": {"text": edit.replacement}}
                    for edit in edits
                ],
            }
            for path, edits in files.items()
        ],
    }


def _location(view: View, span: Span) -> dict[str, Any]:
    return _at(view, span.path, _region(view, span))


def _line(view: View, path: str, line: int) -> dict[str, Any]:
    return _at(view, path, {"startLine": view.line(path, line)})


def _at(view: View, path: str, region: dict[str, int]) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(view, path)}, "region": region}}


def _region(view: View, span: Span) -> dict[str, int]:
    """The lines and columns of a span; of a notebook the lines alone, since its JSON has other columns."""
    if is_notebook(span.path):
        return {"startLine": view.line(span.path, span.line), "endLine": view.line(span.path, span.end_line)}
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _uri(view: View, path: str) -> str:
    return quote(os.fsencode(view.path(path)))


def _hashes(report: Report, view: View) -> dict[tuple[str, int], str]:
    """GitHub's own line hash for each line with a finding, for uploads that bypass its action."""
    lines: dict[str, set[int]] = {}
    for finding in report.findings:
        lines.setdefault(finding.span.path, set()).add(finding.span.line)
    return {
        (path, line): found for path, wanted in lines.items() for line, found in _of_file(view, path, wanted)
    }


def _of_file(view: View, path: str, wanted: Iterable[int]) -> Iterable[tuple[int, str]]:
    if is_notebook(path):
        return ()  # GitHub's are of the JSON
    try:
        return line_hashes(view.sources.text(path), wanted).items()
    except (OSError, ValueError, SyntaxError):
        return ()


def line_hashes(text: str, wanted: Iterable[int]) -> dict[int, str]:
    """The hashes of the wanted lines, by line number from 1; `text` has `\\n` line ends.

    GitHub code scanning recognises a line by them (github/codeql-action: src/fingerprints.ts): by the 100
    characters that start with it, blanks and tabs left out, as a polynomial in 37 modulo 2**64; the n-th line
    of a file with the same hash ends in `:n`.
    """
    bare = text.replace(" ", "").replace("\t", "")
    units = bare.encode("utf-16-le", errors="surrogatepass")
    values = [units[i] | units[i + 1] << 8 for i in range(0, len(units), 2)]
    starts = [0, *(at + 1 for at, value in enumerate(values) if value == ord("\n"))]
    values += [END, *[0] * WINDOW]
    last = max(wanted := set(wanted), default=0)
    seen: Counter[int] = Counter()
    found = {}
    for line, start in enumerate(starts[:last], 1):
        digest = 0
        for value in values[start : start + WINDOW]:
            digest = digest * BASE + value & 0xFFFF_FFFF_FFFF_FFFF
        seen[digest] += 1
        if line in wanted:
            found[line] = f"{digest:x}:{seen[digest]}"
    return found
