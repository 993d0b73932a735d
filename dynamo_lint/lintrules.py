"""The rules about the lint itself: files it could not read, entries it could not resolve, idle comments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dynamo_lint.findings import Finding, Fix, Span

if TYPE_CHECKING:
    from dynamo_lint.index.facts import FileFacts
    from dynamo_lint.regions.model import Unresolved

LINT_RULES: Mapping[str, str] = {
    "DYN901": "unreadable-file",
    "DYN902": "unresolved-entry",
    "DYN903": "unused-suppression",
    "DYN904": "unknown-suppression",
    "DYN905": "unused-baseline-entry",
    "DYN906": "skipped-function",
}
"""Names by code."""

QUIET_RULES = frozenset({"DYN902"})
"""Off unless selected by their own code or prefix, or by `pedantic`."""


def lint_finding(
    code: str, span: Span, subject: str, message: str, cost: str, fix: str | Fix, severity: str = "note"
) -> Finding:
    """A finding about the lint; it has no effect at run time, so its effect is empty."""
    return Finding(
        code=code,
        name=LINT_RULES[code],
        span=span,
        message=message,
        cost=cost,
        severity=severity,
        effect="",
        confidence="certain",
        symbol=f"{span.path}::<module>",
        subject=subject,
        fix=fix if isinstance(fix, Fix) else Fix("display", fix),
    )


def declaration(site: Unresolved, files: Mapping[str, FileFacts]) -> str:
    """The configuration line that declares what a compile site compiles: by its candidates if it has any."""
    module = files[site.path].module if site.path in files else "package.module"
    names = site.candidates or (f"{module}:ClassOrFunction",)
    return f"regions = [{', '.join(json.dumps(name) for name in names)}]"
