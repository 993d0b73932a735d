"""The rules about the lint itself: files it could not read, entries it could not resolve, idle comments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dynamo_lint.findings import Finding, Fix, Span

if TYPE_CHECKING:
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


def advice(site: Unresolved, quote: str = "") -> str:
    """Return the advice for a compile site: a line of configuration that names what exists, or a comment."""
    names = site.candidates or site.examples
    if not names and site.lacks == "forward":
        return "define a forward, or compile the method that is called"
    if not names and site.lacks == "code":
        comment = f"{quote}# dynamo-lint: region{quote}"
        return f"nothing to do, unless it runs your code: then put {comment} above that code"
    if not names:
        return f"put {quote}# dynamo-lint: region{quote} on the line above what it compiles"
    line = f"{quote}regions = [{', '.join(json.dumps(name) for name in names)}]{quote}"
    return f"declare what it compiles{'' if site.candidates else ', for example'}: {line}"
