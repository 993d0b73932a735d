"""One JSON object a finding and a line, with the same keys as in `json`: for streams and `jq`."""

from __future__ import annotations

from dynamo_lint.render.escapes import json_text
from dynamo_lint.render.json_format import finding_object
from dynamo_lint.report import Report


def render(report: Report) -> str:
    """The findings only; what was read and judged stands in `json`."""
    return "".join(json_text(finding_object(finding), None, exact=True) for finding in report.findings)
