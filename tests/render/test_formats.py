"""The formats for machines: valid by their own rules, and all telling the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator
from pytest_snapshot.plugin import Snapshot

from dynamo_lint import cli
from dynamo_lint.config import OUTPUT_FORMATS
from dynamo_lint.findings import EFFECTS, Edit, Finding, Fix, Span
from dynamo_lint.pages import load_pages
from dynamo_lint.render import formats, services
from dynamo_lint.render.formats import View
from dynamo_lint.render.sarif import line_hashes
from dynamo_lint.render.services import byte_column
from dynamo_lint.report import Compiled, Report
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look
from tests.render.test_render import COUNTS, FINDINGS, finding, root

__all__ = ["root"]

ROOT = Path(__file__).parent.parent.parent
SARIF = Draft4Validator(
    json.loads((ROOT / "tests/schemas/sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
)
"""Made once: to check the schema itself takes longer than a document."""
MACHINE = [name for name in OUTPUT_FORMATS if name not in ("full", "concise", "grouped")]

BUFFER = Fix(
    "safe",
    "keep it in a buffer",
    (
        Edit(Span("src/moe.py", 11, 9, 11, 34), "self._overflow_total.add_(1)"),
        Edit(Span("src/moe.py", 7, 9, 7, 33), 'self.register_buffer("_overflow_total", torch.zeros(()))'),
    ),
)
FIXABLE = finding(11, 9, 11, 34, fix=BUFFER)
ELSEWHERE = Fix("unsafe", "move it", (Edit(Span("train.py", 1, 1, 1, 4), ""), *BUFFER.edits))


def rendered(name: str, root: Path, *findings: Finding, base: Path | None = None) -> str:
    view = View(Look(root=root, cwd=root), Sources(root), base or root)
    return formats.render(name, Report(root, (2, 13), 3, COUNTS, findings), view)


@pytest.mark.parametrize("name", [name for name in OUTPUT_FORMATS if name not in ("full", "concise", "json")])
def test_each_format_looks_as_its_snapshot(name: str, root: Path, snapshot: Snapshot) -> None:
    text = rendered(name, root, FIXABLE, *FINDINGS[1:])
    if name == "sarif":
        # The rules are the pages, which have tests of their own and change more often than the format.
        document = json.loads(text)
        document["runs"][0]["tool"]["driver"]["rules"] = []
        for result in document["runs"][0]["results"]:
            result["ruleIndex"] = 0
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if name == "html":
        # Style, script and their hashes are files of their own.
        text = re.sub(r"(<(style|script)>).*?(</\2>)", r"\1…\3", text, flags=re.DOTALL)
        text = re.sub(r"sha256-[\w+/=]+", "sha256-…", text)
    snapshot.assert_match(text, f"{name}.txt")


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_each_format_can_say_that_nothing_was_found(name: str, root: Path) -> None:
    text = rendered(name, root)
    if name in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(text)
    elif name == "html":
        assert "<h1>No findings</h1>" in text
    elif name == "junit":
        assert [suite.get("failures") for suite in ElementTree.fromstring(text)] == ["0"]
    else:
        assert text == ""


PLACES: dict[str, Callable[[str], Iterator[tuple[str, int, str]]]] = {
    "full": lambda text: (
        (path, int(line), code)
        for path, line, code in re.findall(r"^(\S+\.py):(\d+):\d+: \w+ (DYN\d+)", text, re.MULTILINE)
    ),
    "concise": lambda text: (
        (path, int(line), code)
        for path, line, code in re.findall(r"^(\S+\.py):(\d+):\d+: \w+ (DYN\d+)", text, re.MULTILINE)
    ),
    "grouped": lambda text: (
        (block.partition(":\n")[0], int(line), code)
        for block in text.split("\n\n")
        for line, code in re.findall(r"^  (\d+):\d+ +(DYN\d+)", block, re.MULTILINE)
    ),
    "json": lambda text: ((one["path"], one["line"], one["code"]) for one in json.loads(text)["findings"]),
    "json-lines": lambda text: (
        (one["path"], one["line"], one["code"]) for one in map(json.loads, text.splitlines())
    ),
    "sarif": lambda text: (
        (
            one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            one["locations"][0]["physicalLocation"]["region"]["startLine"],
            one["ruleId"],
        )
        for one in json.loads(text)["runs"][0]["results"]
    ),
    "github": lambda text: (
        (path, int(line), code)
        for path, line, code in re.findall(
            r"^::\w+ file=(.+?),line=(\d+),.*?title=(DYN\d+)", text, re.MULTILINE
        )
    ),
    "gitlab": lambda text: (
        (one["location"]["path"], one["location"]["lines"]["begin"], one["check_name"])
        for one in json.loads(text)
    ),
    "rdjson": lambda text: (
        (one["location"]["path"], one["location"]["range"]["start"]["line"], one["code"]["value"])
        for one in json.loads(text)["diagnostics"]
    ),
    "junit": lambda text: (
        (case.get("file", ""), int(case.get("line", "")), case.get("name", "").split()[0])
        for case in ElementTree.fromstring(text).iter("testcase")
    ),
    "html": lambda text: iter(
        sorted(
            (path, int(line), code)
            for code, group in re.findall(
                r'<section [^>]*data-code="(\w+)"[^>]*>(.*?)</section>', text, re.DOTALL
            )
            for path, line in re.findall(r'class="at">(.+?):(\d+)</a>', group)
        )
    ),
}
"""How to read path, line and code of each finding from each format; a page has them by what they cost."""


def test_every_format_lists_the_same_findings_in_the_same_order_for_any_number_of_jobs(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for code, page in load_pages().items():
        if code.startswith("DYN1"):
            program = re.findall(
                r"^## Hazard$.*?^```python\n(.*?)^```$", page.body, re.MULTILINE | re.DOTALL
            )[0]
            (here / f"{code.lower()}.py").write_text(program)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "GITHUB_STEP_SUMMARY", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    command = [".", "-q", "--min-confidence", "possible", "--output-format"]
    told = {}
    for name in OUTPUT_FORMATS:
        assert cli.run([*command, name]) == 1
        told[name] = list(PLACES[name](capsys.readouterr().out))
    for jobs in ("1", "2", "3"):
        assert cli.run([*command, "sarif", "--jobs", jobs, "--no-cache"]) == 1
        told[f"{jobs} jobs"] = list(PLACES["sarif"](capsys.readouterr().out))
    assert len(told["json"]) > 3
    for name, places in told.items():
        assert places == told["json"], name


def test_every_effect_of_a_finding_is_one_of_the_interface_even_where_it_is_about_the_lint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("def f(:\n")
    (tmp_path / "b.py").write_text("x = 1  # dynamo-lint: ignore[DYN777]\n")
    cli.run([str(tmp_path), "--output-format", "json", "--isolated"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [one["code"] for one in findings] == ["DYN901", "DYN904"]
    assert all(one["effect"] in EFFECTS for one in findings)
    assert [one["entries"] for one in findings] == [0, 0]


# SARIF


@pytest.mark.parametrize(
    "findings", [(), FINDINGS, (FIXABLE, replace(FIXABLE, fix=ELSEWHERE), *FINDINGS)], ids=len
)
def test_sarif_is_valid_by_its_schema(root: Path, findings: tuple[Finding, ...]) -> None:
    SARIF.validate(json.loads(rendered("sarif", root, *findings)))


def test_sarif_of_a_real_run_is_valid_and_names_all_rules(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    cli.run(["fixtures", "--output-format", "sarif", "-q"])
    document = json.loads(capsys.readouterr().out)
    SARIF.validate(document)
    (run,) = document["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(catalogue())
    for rule in run["tool"]["driver"]["rules"]:
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["properties"]["tags"]) <= 10
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["codeFlows"]
        assert "primaryLocationLineHash" in result["partialFingerprints"]


def test_sarif_shows_the_chain_as_a_code_flow_that_ends_at_the_finding(root: Path) -> None:
    (result,) = json.loads(rendered("sarif", root, FIXABLE))["runs"][0]["results"]
    steps = [step["location"] for step in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [step["message"]["text"] for step in steps] == ["compiled here", "called here", "changed here"]
    assert steps[-1]["physicalLocation"] == result["locations"][0]["physicalLocation"]


def test_sarif_precision_follows_confidence(root: Path) -> None:
    findings = [replace(FIXABLE, confidence=word) for word in ("certain", "likely", "possible")]
    results = json.loads(rendered("sarif", root, *findings))["runs"][0]["results"]
    assert [one["properties"]["precision"] for one in results] == ["very-high", "high", "medium"]


def test_sarif_fingerprint_does_not_know_the_line(root: Path) -> None:
    moved = replace(FIXABLE, span=Span("src/moe.py", 14, 9, 14, 34))
    prints = [
        json.loads(rendered("sarif", root, one))["runs"][0]["results"][0]["partialFingerprints"]
        for one in (FIXABLE, moved)
    ]
    assert prints[0]["dynamoLint/v1"] == prints[1]["dynamoLint/v1"] == FIXABLE.fingerprint


def test_sarif_paths_count_from_the_checkout_and_are_quoted(root: Path) -> None:
    odd = replace(FIXABLE, span=Span("src/a b#1.py", 1, 1, 1, 2), chain=())
    (result,) = json.loads(rendered("sarif", root, odd, base=root.parent))["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == f"{root.name}/src/a%20b%231.py"


@pytest.mark.parametrize(
    ("text", "hashes"),
    [
        # Values that github/codeql-action expects of its own hash (src/fingerprints.test.ts).
        ("", ["c129715d7a2bc9a3:1"]),
        (
            " a\nb\n  \t\tc\n d",
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"],
        ),
        (
            "Lorem ipsum dolor sit amet.\n" * 10,
            [
                *(f"a7f2ff13bc495cf2:{number}" for number in range(1, 7)),
                "a7f2ff1481e87703:1",
                "a9cf91f7bbf1862b:1",
                "55ec222b86bcae53:1",
                "cc97dc7b1d7d8f7b:1",
                "c129715d7a2bc9a3:1",
            ],
        ),
    ],
    ids=["empty", "blanks", "repeated"],
)
def test_line_hashes_are_those_of_github(text: str, hashes: list[str]) -> None:
    assert line_hashes(text, range(1, len(hashes) + 1)) == dict(enumerate(hashes, 1))


def test_a_line_that_does_not_exist_has_no_hash() -> None:
    assert line_hashes("a\n", [3]) == {}


# GitHub


def test_github_annotations_are_escaped(root: Path) -> None:
    odd = replace(FIXABLE, span=Span("a,b:c.py", 1, 1, 1, 2), message="100% of\r\nlines")
    line = rendered("github", root, odd)
    assert line.startswith("::error file=a%2Cb%3Ac.py,line=1,endLine=1,col=1,endColumn=2,title=DYN101 ")
    assert "::100%25 of␍ lines." in line
    assert line.count("\n") == 1


def test_github_annotations_show_control_characters(root: Path) -> None:
    assert "\x1b" not in rendered("github", root, replace(FIXABLE, span=Span("\x1b[2Ja.py", 1, 1, 1, 2)))


def test_no_file_name_ends_its_cell_in_the_step_summary(root: Path) -> None:
    odd = replace(FIXABLE, span=Span("x|`<img src=a>`|.py", 1, 1, 1, 2))
    view = View(Look(root=root, cwd=root), Sources(root), root)
    text = services.overflow(Report(root, (2, 13), 1, COUNTS, (odd,) * 12), view)
    row = text.strip().splitlines()[-1]
    assert row.startswith("| <code>x&#124;&#96;&#60;img src&#61;a&#62;&#96;&#124;.py:1</code> | [DYN101](")


def test_github_annotations_over_several_lines_have_no_columns(root: Path) -> None:
    assert "col=" not in rendered("github", root, FINDINGS[1])


def test_what_github_would_not_annotate_goes_to_the_step_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counter = (
        "import torch\nclass A(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "".join(f"        self.n{i} = 0\n" for i in range(13))
        + "    def forward(self, x):\n"
        + "".join(f"        self.n{i} += 1\n" for i in range(13))
        + "        return x\nm = torch.compile(A())\n"
    )
    (tmp_path / "a.py").write_text(counter)
    page = tmp_path / "summary.md"
    page.write_text("# before\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    assert cli.run(["--isolated", "--output-format", "github"]) == 1
    assert capsys.readouterr().out.count("::error ") == 13
    text = page.read_text()
    assert text.startswith("# before\n### dynamo-lint: 3 of 13 findings without an annotation\n")
    assert [f"A.n{i}" in text or f"self.n{i}`" in text for i in (9, 10, 11, 12)] == [False, True, True, True]
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no/such/page"))
    assert cli.run(["--isolated", "--output-format", "github"]) == 1
    assert "the step summary cannot be written" in capsys.readouterr().err


def test_step_summary_stays_within_what_github_accepts(root: Path) -> None:
    many = [replace(FIXABLE, message="x" * 10_000) for _ in range(300)]
    view = View(Look(root=root, cwd=root), Sources(root), root)
    text = services.overflow(Report(root, (2, 13), 1, COUNTS, tuple(many)), view)
    assert len(text.encode()) < 1024 * 1024
    assert re.search(r"\n\d+ more are in the log", text)


# GitLab, reviewdog, JUnit


def test_gitlab_issues_have_what_the_report_format_requires(root: Path) -> None:
    for issue in json.loads(rendered("gitlab", root, *FINDINGS)):
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["description"].startswith(issue["check_name"])


def test_reviewdog_suggestion_is_one_stretch_with_all_edits(root: Path) -> None:
    (one,) = json.loads(rendered("rdjson", root, FIXABLE))["diagnostics"]
    (suggestion,) = one["suggestions"]
    assert suggestion["range"] == {"start": {"line": 7, "column": 9}, "end": {"line": 11, "column": 34}}
    assert suggestion["text"].splitlines() == [
        'self.register_buffer("_overflow_total", torch.zeros(()))',
        "        self.名前 = 0",
        "",
        "    def forward(self, x):",
        "        self._overflow_total.add_(1)",
    ]


def test_half_a_fix_is_no_suggestion(root: Path) -> None:
    (one,) = json.loads(rendered("rdjson", root, replace(FIXABLE, fix=ELSEWHERE)))["diagnostics"]
    assert one["suggestions"] == []


@given(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), st.data())
@settings(max_examples=50, deadline=None)
def test_byte_columns_point_at_the_same_character(line: str, data: st.DataObject) -> None:
    column = data.draw(st.integers(1, len(line) + 1))
    sources = Sources(ROOT, {"a.py": line.encode()})
    text = sources.line("a.py", 1)
    assert text.encode()[: byte_column(sources, "a.py", 1, column) - 1].decode() == text[: column - 1]


def test_junit_survives_what_xml_cannot_say(root: Path) -> None:
    odd = replace(FIXABLE, message="\x00\x1b[2J <&>\udcff", span=Span("a\x07.py", 1, 1, 1, 2))
    (suite,) = ElementTree.fromstring(rendered("junit", root, odd))
    assert suite.get("name") == "a␇.py"


def test_every_machine_format_is_free_of_colour(root: Path) -> None:
    for name in MACHINE:
        view = View(Look(colour=True, root=root, cwd=root), Sources(root), root)
        report = Report(root, (2, 13), 3, Compiled(0, 0), FINDINGS)
        assert "\x1b" not in formats.render(name, report, view)


@pytest.mark.parametrize("name", ["json", "json-lines"])
def test_context_holds_the_lines_that_a_finding_names(name: str, root: Path) -> None:
    view = View(Look(root=root, cwd=root), Sources(root), root, context=True)
    text = formats.render(name, Report(root, (2, 13), 3, COUNTS, (FINDINGS[0],)), view)
    document = json.loads(text)
    made = document["findings"][0] if name == "json" else document
    context, lines = made.pop("context"), (root / made["path"]).read_text().split("\n")
    around = [one["line"] for one in context["finding"]]
    assert around == list(range(made["line"] - 2, around[-1] + 1))
    assert around[-1] <= len(lines)
    assert all(one["text"] == lines[one["line"] - 1] for one in context["finding"])
    assert [one["line"] for one in context["chain"]] == [one["line"] for one in made["chain"]]
    assert made == json.loads(rendered("json-lines", root, FINDINGS[0]))


def test_context_is_refused_where_no_format_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([".", "--context"]) == 2
    assert "--context works with the formats json and json-lines only" in capsys.readouterr().err
