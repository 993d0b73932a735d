"""The rules about the lint itself: files it could not read, entries it could not resolve, idle comments."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_lint.findings import Finding, Fix, Span
from dynamo_lint.index.facts import FileFacts

LINT_RULES: Mapping[str, tuple[str, str]] = {
    "DYN901": (
        "unreadable-file",
        "A file could not be read, decoded or parsed, so nothing in it was linted and calls into it were "
        "not followed. Repair the file, or leave it out with `exclude`.",
    ),
    "DYN902": (
        "unresolved-entry",
        "A compile site whose target could not be named, so what it compiles was not linted. Declare the "
        "target with `regions`, or its wrapper with `compile-wrappers`. Only reported when it is selected "
        "or with `--pedantic`.",
    ),
    "DYN903": (
        "unused-suppression",
        "A `# dynamo-lint: ignore[...]` comment that silences nothing. Remove the code, or the comment.",
    ),
    "DYN904": (
        "unknown-suppression",
        "A `# dynamo-lint:` comment that names no rule, or a rule that does not exist, and so does nothing.",
    ),
}
"""Findings about the lint itself: name and explanation by code."""

QUIET_RULES = frozenset({"DYN902"})
"""Off unless selected by their own code or prefix, or by `pedantic`."""


def lint_finding(
    code: str, span: Span, subject: str, message: str, cost: str, fix: str, severity: str = "note"
) -> Finding:
    """A finding about the lint; it has no effect at run time, so its effect is empty."""
    return Finding(
        code=code,
        name=LINT_RULES[code][0],
        span=span,
        message=message,
        cost=cost,
        severity=severity,
        effect="",
        confidence="certain",
        symbol=f"{span.path}::<module>",
        subject=subject,
        fix=Fix("display", fix),
    )


def declaration(path: str, files: Mapping[str, FileFacts]) -> str:
    """The configuration line that declares what a compile site in this file compiles."""
    module = files[path].module if path in files else "package.module"
    return f'regions = ["{module}:ClassOrFunction"]'
