"""The output formats by name; each is one module, loaded when it is used."""

from __future__ import annotations

from dynamo_lint.render.view import View
from dynamo_lint.report import Report


def render(name: str, report: Report, view: View) -> str:
    """The report in the format of that name."""
    match name:
        case "concise":
            from dynamo_lint.render import concise

            return concise.render(report, view.look)
        case "grouped":
            from dynamo_lint.render import grouped

            return grouped.render(report, view.look)
        case "json":
            from dynamo_lint.render import json_format

            return json_format.render(report)
        case "json-lines":
            from dynamo_lint.render import json_lines

            return json_lines.render(report)
        case "sarif":
            from dynamo_lint.render import sarif

            return sarif.render(report, view)
        case "github":
            from dynamo_lint.render import github

            return github.render(report, view)
        case "gitlab":
            from dynamo_lint.render import gitlab

            return gitlab.render(report, view)
        case "rdjson":
            from dynamo_lint.render import rdjson

            return rdjson.render(report, view)
        case "junit":
            from dynamo_lint.render import junit

            return junit.render(report, view)
        case "html":
            from dynamo_lint.render.html import check

            return check.render(report, view)
        case _:
            from dynamo_lint.render import full

            return full.render(report, view.sources, view.look)
