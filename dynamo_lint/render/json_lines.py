"""One JSON object a finding and a line, with the same keys as in `json`: for streams and `jq`."""

from __future__ import annotations

import json

from dynamo_lint.render.json_format import finding_object
from dynamo_lint.report import Report


def render(report: Report) -> str:
    """The findings only; what was read and judged stands in `json`."""
    return "".join(json.dumps(finding_object(finding)) + "\n" for finding in report.findings)
