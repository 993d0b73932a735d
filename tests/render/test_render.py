"""Renderers, compared with snapshots that a reviewer can read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from pytest_snapshot.plugin import Snapshot

from dynamo_lint.calls.model import Step
from dynamo_lint.findings import Edit, FileError, Finding, Fix, Related, Span
from dynamo_lint.index.ir import FileFacts, Function
from dynamo_lint.pages import load_pages, parse_page
from dynamo_lint.program.refs import Confidence, FunctionRef
from dynamo_lint.regions.model import CompiledFunction, Entry, Regions, Skipped, Unresolved
from dynamo_lint.render import formats, page
from dynamo_lint.render import regions as regions_text
from dynamo_lint.render.text import summary
from dynamo_lint.report import Compiled, Report, Site
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look, text_width

MOE = """\
import torch


class MoE(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._overflow_total = 0
        self.名前 = 0

    def forward(self, x):
        self._overflow_total += 1
\tself.名前 = (self.名前 +   # in two lines
            1)
        {long}
        return x
"""
LONG = (
    "y = torch.cat(["
    + ", ".join(f"x[{i}]" for i in range(40))
    + "]); self._overflow_total += 1; z = "
    + "1 + " * 40
)
TRAIN = "for layer in model.layers:\n    layer.compile()\n"

COMPILED = Step("train.py", 2, "train.py::<module>", "compiled here")
CALLED = Step("src/block.py", 3, "src/block.py::Block.forward", "called here")


def finding(line: int, column: int, end_line: int, end_column: int, **changes: object) -> Finding:
    values: dict[str, object] = {
        "code": "DYN101",
        "name": "mutated-scalar-attribute",
        "span": Span("src/moe.py", line, column, end_line, end_column),
        "message": "`self._overflow_total` is a Python int that changes on every call of `MoE.forward`",
        "cost": "one recompile per call until the recompile limit (8); after that this code is never compiled again and runs eagerly",
        "severity": "error",
        "effect": "storm",
        "confidence": "certain",
        "symbol": "src/moe.py::MoE.forward",
        "subject": "MoE._overflow_total",
        "region": ("train.py", 2),
        "chain": (COMPILED, CALLED, Step("src/moe.py", line, "src/moe.py::MoE.forward", "changed here")),
        "related": (Related("src/moe.py", 7, 9, "initialised here"),),
        "fix": Fix(
            "display",
            'keep it in a buffer: `self.register_buffer("_overflow_total", torch.zeros((), '
            "dtype=torch.long))` in `__init__`, and update it in place",
        ),
        "fingerprint": "00c0ffee00c0ffee",
    }
    return Finding(**(values | changes))  # type: ignore[arg-type]


FINDINGS = (
    finding(11, 9, 11, 34),
    finding(
        12,
        2,
        13,
        15,
        subject="MoE.名前",
        confidence="likely",
        severity="warning",
        effect="per-value",
        entries=4,
    ),
    finding(14, LONG.index("self._over") + 9, 14, LONG.index("; z") + 9, related=(), fix=None, chain=()),
    finding(
        99,
        1,
        99,
        1,
        code="DYN201",
        name="environment-read",
        message="a line that is not in the file any more",
        cost="one recompile per value.",
        severity="note",
        chain=(),
        related=(),
        region=None,
    ),
)
ENTRY = Entry(
    "train.py", 2, "method", "src/moe.py::MoE", Confidence.CERTAIN, regional=True, condition="cfg.compile"
)
FORWARD = FunctionRef("src/moe.py", "MoE.forward")
HOT = CompiledFunction(FORWARD, None, Confidence.CERTAIN, (0,), (COMPILED, CALLED), compiled=True)
HELPER = CompiledFunction(FunctionRef("src/block.py", "route"), None, Confidence.LIKELY, (0, 1), (COMPILED,))
SHARED = Entry("eval.py", 9, "call", "src/moe.py::MoE", Confidence.LIKELY)
OUTSIDE = Entry("eval.py", 12, "call", "torchvision.resnet50", Confidence.CERTAIN)
REGIONS = Regions(
    (ENTRY, SHARED, OUTSIDE),
    (HOT, HELPER),
    (Unresolved("train.py", 60, "torch.compile(fn_table[name])", "`fn_table` is filled while running"),),
    skipped=(Skipped("train.py", 70, "torch.compile(F.linear)", "F.linear is not part of this project"),),
)
FILES = {
    "src/moe.py": FileFacts(
        "src/moe.py", "src.moe", functions={"MoE.forward": Function("MoE.forward", "MoE.forward", 10, 10, 15)}
    ),
    "train.py": FileFacts("train.py", "train"),
}


SITE = Site("train.py", 60, "torch.compile(fn_table[name])", "`fn_table` is filled while running", ("m:A",))
SKIPPED = Site("train.py", 70, "torch.compile(F.linear)", "F.linear is not part of this project")
COUNTS = Compiled(len(REGIONS.entries), len({hot.function for hot in REGIONS.hot}), (SITE,), (SKIPPED,))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/moe.py").write_text(MOE.format(long=LONG), encoding="utf-8")
    (tmp_path / "src/block.py").write_text("a = 1\nb = 2\n    x = x + self.moe(x)\n")
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def report(root: Path, findings: tuple[Finding, ...] = FINDINGS) -> Report:
    return Report(root, (2, 13), files=3, compiled=COUNTS, findings=findings)


def shown(name: str, found: Report, look: Look | None = None) -> str:
    """A report in a format, as seen from its root unless somebody looks otherwise."""
    look = look or Look(root=found.root, cwd=found.root)
    return formats.render(name, found, formats.View(look, Sources(found.root), found.root))


def test_full_output_shows_line_chain_cost_and_fix(root: Path, snapshot: Snapshot) -> None:
    look = Look(width=100, root=root, cwd=root)
    snapshot.assert_match(shown("full", report(root), look), "full.txt")


def test_full_output_in_a_narrow_terminal_stays_within_it(root: Path) -> None:
    text = shown("full", report(root, FINDINGS[:3]), Look(width=72, root=root, cwd=root))
    framed = [line for line in text.splitlines() if " | " in line]
    assert len(framed) == 6
    assert all(text_width(line) <= 72 for line in framed)


def test_full_output_without_colour_has_no_escape_codes_and_with_colour_says_the_same(root: Path) -> None:
    import click

    plain = shown("full", report(root))
    coloured = shown("full", report(root), Look(colour=True, root=root, cwd=root))
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert click.unstyle(coloured) == plain


def test_carets_stand_under_the_span_after_wide_characters_and_tabs(root: Path) -> None:
    (root / "w.py").write_text("\tx = '名前'; self.n += 1\n", encoding="utf-8")
    one = finding(1, 13, 1, 24, chain=(), related=())
    span = Span("w.py", 1, 12, 1, 23)
    moved = Finding(**{f: getattr(one, f) for f in one.__slots__} | {"span": span})  # type: ignore[arg-type]
    lines = shown("full", report(root, (moved,))).splitlines()
    code, carets = (line for line in lines if " | " in line)
    assert text_width(code[: code.index("self.n")]) == carets.index("^")
    assert carets.count("^") == len("self.n += 1")


def test_escape_codes_in_source_and_messages_do_not_reach_the_terminal(root: Path) -> None:
    (root / "evil.py").write_text("x = '\x1b[2J'\n")
    evil = finding(1, 1, 1, 5, message="\x1b[31mred", chain=(), related=())
    moved = Finding(**{f: getattr(evil, f) for f in evil.__slots__} | {"span": Span("evil.py", 1, 1, 1, 5)})  # type: ignore[arg-type]
    assert "\x1b" not in shown("full", report(root, (moved,))) + shown("concise", report(root, (moved,)))


def test_places_outside_the_working_directory_are_absolute(root: Path, tmp_path: Path) -> None:
    look = Look(root=root, cwd=tmp_path / "elsewhere")
    assert shown("concise", report(root), look).startswith(
        f"{root.as_posix()}/src/moe.py:11:9: error DYN101 [storm] "
    )


def test_other_lines_outside_the_working_directory_are_below_the_root(root: Path, tmp_path: Path) -> None:
    look = Look(root=root, cwd=tmp_path / "elsewhere")
    text = shown("full", report(root, FINDINGS[:1]), look)
    assert text.startswith(f"{root.as_posix()}/src/moe.py:11:9: ")
    assert "\n  train.py:2 " in text


def test_concise_output_is_one_line_a_finding(root: Path, snapshot: Snapshot) -> None:
    newline = finding(11, 9, 11, 34, message="two\nlines")
    snapshot.assert_match(shown("concise", report(root, (*FINDINGS, newline))), "concise.txt")


def test_json_output_follows_the_contract(root: Path, snapshot: Snapshot) -> None:
    text = shown("json", report(root))
    assert json.loads(text)["findings"][1]["subject"] == "MoE.名前"
    snapshot.assert_match(text, "report.json")


def test_json_findings_have_all_keys_whatever_is_unknown(root: Path) -> None:
    findings = json.loads(shown("json", report(root)))["findings"]
    assert len({tuple(sorted(found)) for found in findings}) == 1
    assert findings[2]["fix"] is None
    assert findings[3]["region"] is None


def test_json_of_an_empty_report_is_valid(root: Path) -> None:
    document = json.loads(shown("json", Report(root, (2, 6), 0, Compiled(0, 0))))
    assert document["findings"] == document["errors"] == []
    assert document["torch_version"] == "2.6"


def test_json_lists_files_that_could_not_be_linted(root: Path) -> None:
    broken = Report(root, (2, 13), 1, Compiled(1, 1), errors=(FileError("a\udcff.py", 3, "invalid syntax"),))
    assert json.loads(shown("json", broken))["errors"] == [
        {"path": "a\udcff.py", "line": 3, "cell": None, "cell_line": None, "message": "invalid syntax"}
    ]


def test_statistics_count_by_rule(root: Path) -> None:
    assert shown("statistics", report(root)) == (
        "     3  DYN101  mutated-scalar-attribute\n     1  DYN201  environment-read\n"
    )


def test_summary_counts_findings_by_severity_and_names_the_next_step(root: Path) -> None:
    assert summary(report(root), Look()) == (
        "Found 2 errors, 1 warning, 1 note in 1 of 3 files; 2 compiled functions from 3 compile entries; "
        "1 compile site was not understood (see `dynamo-lint regions`).\n"
        "Run `dynamo-lint rule DYN101 DYN201` for the reason and examples.\n"
    )


def test_sentences_are_wrapped_for_a_terminal_and_stay_one_line_in_a_pipe(root: Path) -> None:
    found = report(root)
    lines = summary(found, Look(width=60, wraps=True)).splitlines()
    assert max(map(len, lines)) <= 60
    assert len(lines) > len(summary(found, Look(width=60)).splitlines())


def test_the_way_to_a_finding_fits_a_narrow_terminal(root: Path) -> None:
    look = Look(width=60, root=root, cwd=root)
    # The line that names the place stays whole, for editors and searches.
    places = re.compile(r"\S+:\d+:\d+: ")
    lines = [line for line in shown("full", report(root), look).splitlines() if not places.match(line)]
    assert max(map(text_width, lines)) <= 60


def test_a_painted_sentence_is_wrapped_by_what_is_seen_of_it() -> None:
    plain, painted = (Look(colour, 30) for colour in (False, True))
    words = "one two three four five six seven eight"
    wrapped = painted.filled(painted.paint(words, bold=True))
    assert click.unstyle(wrapped) == plain.filled(words)
    assert plain.filled("漢字 " * 8).splitlines()[0] == "  漢字 漢字 漢字 漢字 漢字"


def test_summary_of_clean_code_says_what_was_judged(root: Path) -> None:
    clean = Report(root, (2, 13), 3, Compiled(1, 1))
    assert summary(clean, Look()) == "No findings: 1 compiled function from 1 compile entry in 3 files.\n"


def said(root: Path, compiled: Compiled, **more: object) -> str:
    return summary(Report(root, (2, 13), 3, compiled, **more), Look()).splitlines()[0]  # type: ignore[arg-type]


def test_summary_is_clean_only_where_every_compile_site_was_understood(root: Path) -> None:
    one, three = (said(root, Compiled(1, 2, (SITE,) * number)) for number in (1, 3))
    assert one == (
        "No findings, but 1 compile site was not understood (see `dynamo-lint regions`): "
        "2 compiled functions from 1 compile entry in 3 files."
    )
    assert three.startswith(
        "No findings, but 3 compile sites were not understood (see `dynamo-lint regions`): "
    )
    assert said(root, Compiled(0, 0, (SITE,))) == (
        "Nothing was checked: no compiled code found in 3 files; "
        "1 compile site was not understood (see `dynamo-lint regions`)."
    )


def test_summary_is_clean_where_sites_compile_nothing_of_the_linted_code(root: Path) -> None:
    assert said(root, Compiled(1, 1, (), (SKIPPED,))).startswith("No findings: 1 compiled")


def test_summary_counts_what_was_given_up_and_no_finding_tells_of(root: Path) -> None:
    newer, broken = FileError("a.py", 1, "", (3, 12)), FileError("b.py", 1, "invalid syntax")
    assert said(root, Compiled(1, 1), errors=(newer, newer, broken), unfinished=1).startswith(
        "No findings, but 1 function or class was not analysed to the end (see `--select DYN906`), "
        "2 files were not read (they need Python 3.12), 1 file was not read (see `--select DYN901`): "
    )
    told = finding(1, 1, 1, 1, code="DYN901", span=Span("b.py", 1, 1, 1, 1))
    assert "not read" not in said(root, Compiled(1, 1), findings=(told,), errors=(broken,))


def test_summary_says_what_was_not_judged_where_little_is_compiled_and_nothing_was_assumed(
    root: Path,
) -> None:
    little, much = (Report(root, (2, 13), 3, Compiled(1, functions)) for functions in (2, 3))
    assert "`--assume blocks` adds blocks" in summary(little, Look(), assumed=False)
    assert "--assume" not in summary(little, Look(), assumed=True)
    assert "--assume" not in summary(much, Look(), assumed=False)


def test_summary_counts_what_can_be_fixed(root: Path) -> None:
    edit = Edit(Span("src/moe.py", 1, 1, 1, 2), "")
    fixes = [
        Fix("safe", "", (edit,)),
        Fix("unsafe", "", (edit,)),
        Fix("unsafe", "", (edit,)),
        Fix("safe", ""),
    ]
    findings = tuple(finding(11, 9, 11, 34, fix=fix) for fix in fixes)
    text = summary(report(root, findings), Look())
    assert (
        "1 fixable with `--fix`, 2 more with `--fix --unsafe-fixes`; `--diff`, with `--unsafe-fixes`, shows"
        in text
    )
    assert "fixable" not in summary(report(root, findings[3:]), Look())


def test_full_output_says_when_the_way_out_can_be_had_for_the_asking(root: Path) -> None:
    edit = Edit(Span("src/moe.py", 1, 1, 1, 2), "")
    for applicability, said in (
        ("safe", "(`--fix` does it)"),
        ("unsafe", "(`--fix --unsafe-fixes` does it)"),
    ):
        one = finding(11, 9, 11, 34, fix=Fix(applicability, "use a buffer", (edit,)))
        text = shown("full", report(root, (one,)))
        assert f"fix:  use a buffer {said}\n" in text


def test_summary_of_code_that_compiles_nothing_names_the_ways_to_declare_regions(root: Path) -> None:
    text = summary(Report(root, (2, 13), 3, Compiled(0, 0)), Look())
    assert "No findings" not in text
    for way in ("regions = [", "# dynamo-lint: region", "--assume blocks", "--assume-compiled"):
        assert way in text


def test_regions_are_a_tree_that_lists_each_function_once(root: Path, snapshot: Snapshot) -> None:
    text = regions_text.render_text(REGIONS, FILES, Look(root=root, cwd=root))
    snapshot.assert_match(text, "regions.txt")


def test_regions_json_follows_the_contract(root: Path, snapshot: Snapshot) -> None:
    snapshot.assert_match(regions_text.render_json(REGIONS, FILES, Look()), "regions.json")


def test_a_function_hot_for_several_receivers_is_one_function_in_json(root: Path) -> None:
    guess = CompiledFunction(FORWARD, None, Confidence.POSSIBLE, (1,), (COMPILED,))
    regions = Regions((ENTRY, SHARED), (guess, HOT), ())
    functions = json.loads(regions_text.render_json(regions, {}, Look()))["functions"]
    assert functions == [
        {
            "id": "src/moe.py::MoE.forward",
            "path": "src/moe.py",
            "line": 1,
            "cell": None,
            "cell_line": None,
            "confidence": "certain",
            "entries": [0, 1],
            "chain": ["train.py:2", "src/block.py:3"],
        }
    ]


def test_why_prints_the_chain_with_its_source_lines(root: Path) -> None:
    assert regions_text.render_why([HOT], Sources(root), Look(root=root, cwd=root)) == (
        "src/moe.py::MoE.forward is compiled (certain):\n"
        "    train.py:2      compiled here  layer.compile()\n"
        "    src/block.py:3  called here    x = x + self.moe(x)\n"
    )


def test_a_rule_page_reads_well_without_markdown(snapshot: Snapshot) -> None:
    text = """\
+++
code = "DYN101"
name = "mutated-scalar-attribute"
summary = "An attribute changes."
fix = "display"
gb = ["GB0190"]
[[effect]]
when = "int"
effect = "storm"
torch = ">=2.8"
[[effect]]
when = "bool"
effect = "per-value"
torch = "*"
+++
# DYN101 mutated-scalar-attribute

## What it does
Finds `self.n += 1`, and says so in a paragraph that is longer than a terminal is wide, broken
where the author
broke it, with a [link](https://example.org).

- a list with an item
  in two lines
- and another

| What changes | Effect |
|---|---|
| an int: `self.n += 1` | storm |
| a bool | per-value |

```python
# not a heading
if n:

    pass
```
"""
    snapshot.assert_match(page.render_text([parse_page("x.md", text)], Look()), "page.txt")


def test_rule_pages_fit_the_width_but_for_their_code() -> None:
    text = page.render_text([*load_pages().values()], Look(width=80))
    long = [line for line in text.splitlines() if text_width(line) > 80 and not line.startswith("    ")]
    # A row of a table with a word that is wider than its column.
    assert all(re.search(r"  \S{30,}", line) for line in long)
    assert len(long) < 20


def test_what_a_guard_is_stands_once_below_the_pages_that_speak_of_guards(root: Path) -> None:
    assert page.render_text([*load_pages().values()], Look()).count("A guard is the check") == 1
    assert "A guard is" not in shown("full", report(root)) + summary(report(root), Look())


def test_nothing_is_advised_about_regions_where_a_file_could_not_be_read(root: Path) -> None:
    broken = FileError("a.py", 1, "invalid syntax")
    assert "--assume" not in summary(Report(root, (2, 13), 1, Compiled(0, 0), errors=(broken,)), Look())
    newer = FileError("a.py", 1, "", (3, 12))
    assert "--assume" in summary(Report(root, (2, 13), 1, Compiled(0, 0), errors=(newer,)), Look())
