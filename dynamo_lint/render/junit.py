"""JUnit XML, which most CI services can show: a suite for each file, a test for each finding."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree

from dynamo_lint.findings import Finding
from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import explained
from dynamo_lint.report import Report
from dynamo_lint.terminal import clean


def render(report: Report, view: View) -> str:
    """The document; a test has failed where its finding fails the run.

    One more test stands for a run without findings, since some services refuse an empty report; it has failed
    where something ought to be compiled.
    """
    more = report.lacks_entries or not report.findings
    total = len(report.findings) + more
    failures = str(sum(map(report.is_failure, report.findings)) + report.lacks_entries)
    suites = ElementTree.Element(
        "testsuites", name="dynamo-lint", tests=str(total), failures=failures, errors="0"
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
    if more:
        failed = str(int(report.lacks_entries))
        suite = ElementTree.SubElement(
            suites, "testsuite", name="dynamo-lint", tests="1", failures=failed, errors="0"
        )
        name = "something is compiled" if report.lacks_entries else "no findings"
        case = ElementTree.SubElement(suite, "testcase", name=name, classname="dynamo-lint")
        if report.lacks_entries:
            ElementTree.SubElement(case, "failure", message="nothing in the project is compiled")
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
