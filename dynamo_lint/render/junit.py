"""JUnit XML, which most CI services can show: a suite for each file, a test for each finding."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree

from dynamo_lint.findings import Finding
from dynamo_lint.render.prose import explained
from dynamo_lint.render.view import View
from dynamo_lint.report import Report
from dynamo_lint.terminal import clean


def render(report: Report, view: View) -> str:
    """The document; a test has failed where its finding fails the run.

    One passed test stands for a run without findings, since some services refuse an empty report.
    """
    total = len(report.findings)
    failures = str(sum(map(report.is_failure, report.findings)))
    suites = ElementTree.Element(
        "testsuites", name="dynamo-lint", tests=str(max(total, 1)), failures=failures, errors="0"
    )
    for path, group in groupby(report.findings, key=lambda finding: finding.span.path):
        findings = list(group)
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=clean(view.path(path)),
            tests=str(len(findings)),
            failures=str(sum(map(report.is_failure, findings))),
            errors="0",
        )
        for finding in findings:
            _case(suite, finding, clean(view.path(path)), report.is_failure(finding))
    if not total:
        suite = ElementTree.SubElement(
            suites, "testsuite", name="dynamo-lint", tests="1", failures="0", errors="0"
        )
        ElementTree.SubElement(suite, "testcase", name="no findings", classname="dynamo-lint")
    ElementTree.indent(suites)
    # In ASCII it is the same document whatever encoding stdout has.
    text = ElementTree.tostring(suites, encoding="us-ascii").decode("ascii")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, finding: Finding, path: str, failed: bool) -> None:
    span = finding.span
    case = ElementTree.SubElement(
        suite,
        "testcase",
        name=f"{finding.code} {finding.name} at {span.line}:{span.column}",
        classname=path.removesuffix(".py").replace("/", "."),
        file=path,
        line=str(span.line),
    )
    text = f"{path}:{span.line}:{span.column}\n" + "\n".join(map(clean, explained(finding)))
    kind = f"{finding.severity} {finding.effect}".strip()
    # XML can't carry control characters at all, not even escaped.
    if failed:
        ElementTree.SubElement(case, "failure", message=clean(finding.message), type=kind).text = text
    else:
        ElementTree.SubElement(case, "system-out").text = f"{kind}: {clean(finding.message)}\n{text}"
