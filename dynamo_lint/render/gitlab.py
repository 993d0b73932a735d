"""GitLab's code quality report (docs.gitlab.com/ci/testing/code_quality, "report format")."""

from __future__ import annotations

from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import explained, json_text
from dynamo_lint.report import Report

SEVERITIES = {"error": "critical", "warning": "major", "note": "minor"}


def render(report: Report, view: View) -> str:
    """A list of issues. The widget shows the description only, so it carries code, cost and way out."""
    issues = [
        {
            "description": f"{finding.code}: {' '.join(explained(finding))}",
            "check_name": finding.code,
            "fingerprint": finding.fingerprint,
            "severity": SEVERITIES[finding.severity],
            "location": {
                "path": view.path(finding.span.path),
                "lines": {"begin": finding.span.line, "end": finding.span.end_line},
            },
        }
        for finding in report.findings
    ]
    return json_text(issues)
