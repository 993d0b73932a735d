"""The pages: complete, one file, nothing but text from outside, and small enough to open."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings

from dynamo_lint.confirm.model import Cause, Compile, GraphBreak, Receipt, Recompile, Reply
from dynamo_lint.confirm.run import Comparison
from dynamo_lint.confirm.verdicts import ProbeReport, Verdict
from dynamo_lint.findings import EFFECTS, SEVERITIES, Edit, FileError, Finding, Fix, Span
from dynamo_lint.logs.model import KINDS, Job, LogReport, Moment
from dynamo_lint.render.formats import View
from dynamo_lint.render.html import check, confirm, words
from dynamo_lint.render.html.drawing import MOST_LANES, bar, timeline
from dynamo_lint.render.html.findings import excerpt, hunks
from dynamo_lint.render.html.logs import render_log
from dynamo_lint.render.html.page import FOLDER, prose
from dynamo_lint.report import Compiled, Report
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look
from tests.commands.test_cli import COUNTER
from tests.render import example_job
from tests.render.test_escapes import ORDER, check_lines, tainted, texts
from tests.render.test_formats import FIXABLE
from tests.render.test_render import COUNTS, FINDINGS, MOE, finding

ROOT = Path(__file__).parent.parent.parent
SOURCES = Sources(ROOT, {"src/moe.py": MOE.format(long="pass").encode(), "train.py": b"a\nlayer.compile()\n"})
CAUSE = Cause("EQUALS_MATCH", "L['self'].n", "self.n == 1", "M", ("M",), "n", "", "1", "2", "", "m.py", 3)
RECEIPT = Receipt(
    "2.13", "aot_eager", 4, (Compile("f", "m.py", 1, 0, "", "0/0"),),
    (Recompile("f", "m.py", 1, 1, "", "0/1", False, ("n == 1",), ((CAUSE,),)),),
    (GraphBreak("m.py", 2, "f", "GB0059", "why", True, 0, "", 1, ()), GraphBreak("m.py", 4, "f", "GB0025", "", False, 0, "", 1, ())),
    (0, 1), (), {}, matches_eager=True, problems=("problem",),
)  # fmt: skip
REPLY = Reply("done", receipt=RECEIPT, hit_limit=True, eager_calls=(3,))
PROBES = [
    ProbeReport(
        "probe_it", "m.py", 1, REPLY,
        (Verdict(FIXABLE, "confirmed", "1 recompile", (0,)), Verdict(FINDINGS[1], "unobserved", "never ran")),
        (0,), (0,),
    ),
    ProbeReport("probe_fails", "m.py", 9, Reply("eager", "NameError: n", "line 1\nline 2")),
]  # fmt: skip
HOSTILE = "</script></style></title><img src=x onerror=alert(1)>\"'><!--{{ 7 * 7 }}"


def checked(*findings: Finding, counts: Compiled = COUNTS, errors: tuple[FileError, ...] = ()) -> str:
    view = View(Look(root=ROOT, cwd=ROOT), SOURCES, ROOT)
    return check.render(Report(ROOT, (2, 13), 3, counts, findings, errors), view)


def confirmed(probes: list[ProbeReport] = PROBES) -> str:
    return confirm.render(probes, SOURCES, ([Comparison(probes[0], probes[0], True, ("+ add",))], 2))


def logged(report: LogReport | None = None) -> str:
    view = View(Look(root=ROOT, cwd=ROOT), SOURCES, ROOT)
    return render_log(report or example_job.report((FIXABLE, *FINDINGS)), view, "job.log")


PAGES: dict[str, Callable[[], str]] = {
    "check": lambda: checked(FIXABLE, *FINDINGS, errors=(FileError("a.py", 1, "no"),)),
    "confirm": confirmed,
    "logs": logged,
}


def hostile(text: str) -> dict[str, Callable[[], str]]:
    found = tuple(tainted(one, text) for one in (FIXABLE, *FINDINGS))
    job = tainted(example_job.report((FIXABLE, *FINDINGS)), text)
    ranks = {number: tainted(rank, text) for number, rank in job.job.ranks.items()}
    return {
        "check": lambda: checked(*found, counts=tainted(COUNTS, text), errors=(FileError(text, 1, text),)),
        "confirm": lambda: confirmed([tainted(probe, text) for probe in PROBES]),
        "logs": lambda: logged(replace(job, job=replace(job.job, ranks=ranks))),
    }


class Outline(HTMLParser):
    """The tags of a page with their attributes, the text of some, and its identifiers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self.open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open = tag
        self.inside.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open:
            self.inside[self.open][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_one_title_headings_in_order_and_a_way_past_the_controls(name: str) -> None:
    page = Outline(PAGES[name]())
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert page.all("html") == [{"lang": "en"}]
    assert next(one["href"] for one in page.all("a")) == "#main"
    identifiers = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for link in page.all("a"):
        assert not str(link["href"]).startswith("#") or str(link["href"])[1:] in identifiers


@pytest.mark.parametrize("name", PAGES)
def test_every_control_has_a_label_and_stays_hidden_where_no_script_runs(name: str) -> None:
    text = PAGES[name]()
    page = Outline(text)
    assert "hidden" in page.all("form")[0]
    form = text[text.index("<form") : text.index("</form>")]
    bare = re.sub(r"<label.*?</label>", "", form, flags=re.DOTALL)
    assert len(re.findall("<(?:input|select)", form)) > 2
    assert not re.search("<(?:input|select)", bare)
    assert all(label for label in re.findall(r"<label[^>]*>.*?<span>(.+?)</span>", form, re.DOTALL))
    assert "off" not in {word for _, one in page.tags for word in str(one.get("class", "")).split()}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_nothing_and_runs_nothing_but_its_own_script(name: str) -> None:
    text = PAGES[name]()
    page = Outline(text)
    assert not [
        one for _, one in page.tags if {"src", "srcset", "style", "action", "data", "poster"} & set(one)
    ]
    assert not [key for _, one in page.tags for key in one if key.startswith("on")]
    assert not page.all("link")
    assert not page.all("iframe")
    assert not page.all("object")
    assert not page.all("base")
    for tag, one in page.tags:
        if "href" in one:
            assert str(one["href"]).startswith(("#", "https://github.com/dynamo-lint/")), (tag, one)
    assert not re.search(r"url\(|@import", page.inside["style"][0])
    policy = next(str(one["content"]) for one in page.all("meta") if "http-equiv" in one)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (body,) = page.inside[tag]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    "text", [HOSTILE, f"`{HOSTILE}`", f"\n{HOSTILE}\u202e\x1b[2J"], ids=["plain", "code", "odd"]
)
def test_names_sources_and_messages_stay_text(name: str, text: str) -> None:
    said = hostile(text)[name]()
    page = Outline(said)
    assert not page.all("img")
    assert not [key for _, one in page.tags for key in one if key.startswith("on")]
    assert page.inside["script"] == [(FOLDER / "report.js").read_text(encoding="utf-8")]
    assert page.inside["style"] == [(FOLDER / "report.css").read_text(encoding="utf-8")]
    assert "&lt;img src=x onerror=alert(1)&gt;" in said
    assert "49" not in said.replace("&#49", "").split("<h1>")[1].split("</h1>")[0]
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in Outline(PAGES[name]()).tags} | {"br", "sup"}


@pytest.mark.parametrize("name", PAGES)
@settings(max_examples=25, deadline=None)
@given(text=texts)
def test_a_page_has_only_characters_that_can_be_seen_and_no_orders(name: str, text: str) -> None:
    check_lines(hostile(text)[name]())


def test_a_source_is_shown_as_it_is_and_can_steer_nothing() -> None:
    source = f"x = 1\ny = '{HOSTILE}' # \u202e ::error ::\n\tself.n += 1\n".encode()
    at = finding(2, 1, 2, 6, chain=(), related=(), fix=None)
    view = View(Look(root=ROOT, cwd=ROOT), Sources(ROOT, {"src/moe.py": source}), ROOT)
    said = check.render(Report(ROOT, (2, 13), 1, COUNTS, (at,)), view)
    check_lines(said)
    assert "\n<b><u>y = &#39;</u>&lt;/script&gt;&lt;/style&gt;" in said
    assert "\n</b>    self.n += 1</pre>" in said
    assert not [line for line in said.split("\n") if ORDER.match(line)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `b<c` d", "a <code>b&lt;c</code> d"),
        ("a ` b", "a ` b"),
        ("", ""),
        ("`a``b`", "<code>a</code><code>b</code>"),
        ("<b> & `</code>`", "&lt;b&gt; &amp; <code>&lt;/code&gt;</code>"),
    ],
)
def test_only_code_in_backticks_is_more_than_text(text: str, shown: str) -> None:
    assert str(prose(text)) == shown


def test_what_costs_most_stands_on_top() -> None:
    def one(code: str, severity: str, effect: str, line: int, entries: int | None = None) -> Finding:
        return finding(line, 1, line, 2, code=code, severity=severity, effect=effect, entries=entries)

    said = checked(
        one("DYN103", "note", "once", 1),
        one("DYN102", "warning", "per-value", 2, 3),
        one("DYN102", "warning", "per-value", 3, 40),
        one("DYN101", "error", "storm", 4),
        one("DYN202", "error", "eager", 5),
        one("DYN109", "error", "stale", 6),
    )
    shown = re.findall(r'class="at">src/moe.py:(\d+)<', said)
    assert shown == ["6", "4", "5", "3", "2", "1"]


def test_a_page_says_whether_the_run_fails() -> None:
    assert "<dt>Exit status</dt><dd>0 (fails from warning on)</dd>" in checked()
    assert "<dt>Exit status</dt><dd>1 (fails from warning on)</dd>" in checked(FIXABLE)


def test_an_empty_report_says_what_was_and_what_was_not_checked() -> None:
    assert "<h1>No findings</h1>" in checked()
    nothing = checked(counts=Compiled(0, 0))
    assert "<h1>Nothing was checked</h1>" in nothing
    assert "<form" not in nothing
    assert "<h1>0 probes under torch</h1>" in confirm.render([], SOURCES)


def test_sites_that_are_no_entries_and_files_that_were_not_read_are_listed() -> None:
    said = PAGES["check"]()
    for text in ("fn_table", "F.linear", "<i>a.py:1</i> no", "<code>m:A</code>"):
        assert text in said


def test_a_log_that_proves_nothing_says_so_on_top() -> None:
    said = logged(LogReport(Job(notes=("no-log-lines",))))
    assert "<h1>This log proves nothing</h1>" in said
    assert "TORCH_LOGS=recompiles" in said
    assert said.index("proves nothing") < said.index("<main")


def test_what_a_log_cannot_tell_is_never_a_zero() -> None:
    said = logged()
    assert "<div><dt>Compiles</dt><dd>not in this log</dd></div>" in said
    assert "this log cannot tell" in said
    assert '<td class="num">not logged<td class="num">7' in said
    silent = replace(example_job.JOB, recompiles=(), breaks=())
    said = logged(LogReport(silent))
    assert "<div><dt>Recompiles</dt><dd>none logged</dd></div>" in said
    assert "<div><dt>Graph breaks</dt><dd>none logged</dd></div>" in said
    traced = logged(LogReport(replace(silent, proof="trace")))
    assert "<div><dt>Graph breaks</dt><dd>0</dd></div>" in traced


def test_a_log_tells_of_diverging_ranks_before_all_else_and_of_causes_before_frames() -> None:
    said = logged()
    titles = re.findall(r"<h2[^>]*>(.*?)(?: <small| <span|</h2>)", said)
    assert titles[:4] == ["Ranks", "Lines to change", "Compiles against the limit", "Over time"]
    assert '<b>2</b> on rank 1</span>; <span class="rank"><b>0</b> on rank 0</span>' in said
    alike = example_job.report()
    calm = logged(replace(alike, job=replace(alike.job, notes=())))
    assert calm.index("Lines to change") < calm.index("<h2>Ranks</h2>")


def test_a_log_cannot_have_a_file_shown_that_is_no_source_of_the_job(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "secret.py").write_text("PASSWORD = 1\n")
    (tmp_path / "job/notes.txt").write_text("PASSWORD = 2\n")
    (tmp_path / "job/link.py").symlink_to(tmp_path / "secret.py")
    (tmp_path / "job/own.py").write_text("shown = 3\n")
    view = View(Look(root=tmp_path / "job", cwd=tmp_path), Sources(tmp_path / "job"), tmp_path)
    paths = (
        "../secret.py",
        str(tmp_path / "secret.py"),
        "own.py/../../secret.py",
        "notes.txt",
        "link.py",
        "own.py",
    )
    causes = tuple(replace(example_job.report().causes[2], path=path, line=1) for path in paths)
    breaks = tuple(replace(example_job.JOB.breaks[0], path=path, line=1) for path in paths)
    said = render_log(LogReport(replace(example_job.JOB, breaks=breaks), causes), view)
    assert "PASSWORD" not in said
    assert said.count("shown = 3") == 2


def test_ranks_that_are_alike_are_one_row() -> None:
    job = example_job.JOB
    ranks = {number: job.ranks[int(number == 7)] for number in range(64)}
    said = logged(LogReport(replace(job, ranks=ranks)))
    assert '<th scope="row">0–6, 8–63<td' in said
    assert '<th scope="row">7<td' in said
    assert "<b>2</b> on rank 7</span>" in said


def test_the_recompiles_of_a_frame_are_those_of_its_busiest_rank() -> None:
    assert 'aria-label="8 compiles, the limit is 8"' in logged()
    assert 'aria-label="3 compiles, the limit is 8"' in logged()


def test_a_page_explains_every_word_that_it_may_use() -> None:
    assert set(words.EFFECTS) == set(EFFECTS)
    assert set(words.SEVERITIES) == set(SEVERITIES)
    assert set(words.KINDS) == set(KINDS)
    guide = (ROOT / "docs/guides/findings.md").read_text(encoding="utf-8")
    for word, meaning in words.EFFECTS.items():
        assert f"| `{word}` | {meaning} |" in guide


def test_an_excerpt_marks_its_span_and_drops_what_all_lines_are_indented_by() -> None:
    shown = excerpt(Span("src/moe.py", 11, 9, 11, 34), SOURCES)
    assert shown is not None
    assert shown.numbers == "10\n11\n12\n13"
    assert (shown.before, shown.marked, shown.after) == ("        ", "self._overflow_total += 1", "")
    assert shown.above == "    def forward(self, x):\n"
    assert excerpt(Span("src/moe.py", 99, 1, 99, 1), SOURCES) is None
    assert excerpt(Span("no/such.py", 1, 1, 1, 1), SOURCES) is None


def test_a_diff_has_the_lines_that_the_edits_change_and_no_others() -> None:
    assert [(one.place, one.removed, one.added) for one in hunks(FIXABLE.fix.edits, SOURCES)] == [
        (
            "src/moe.py:7",
            ("self._overflow_total = 0",),
            ('self.register_buffer("_overflow_total", torch.zeros(()))',),
        ),
        ("src/moe.py:11", ("self._overflow_total += 1",), ("self._overflow_total.add_(1)",)),
    ]
    insert = Edit(Span("src/moe.py", 7, 33, 7, 33), "\n        self.n = 0")
    assert [(one.place, one.removed, one.added) for one in hunks((insert,), SOURCES)] == [
        ("src/moe.py:8", (), ("self.n = 0",))
    ]
    two = (Edit(Span("train.py", 2, 1, 2, 6), "x"), Edit(Span("train.py", 2, 14, 2, 15), "1"))
    assert [(one.removed, one.added) for one in hunks(two, SOURCES)] == [
        (("layer.compile()",), ("x.compile1)",))
    ]


@pytest.mark.parametrize(("compiles", "limit"), [(1, 8), (8, 8), (11, 8), (300, 256), (2, 256), (5000, 8)])
def test_a_bar_is_as_full_as_the_limit_is_used(compiles: int, limit: int) -> None:
    drawn = bar(compiles, limit)
    full = sum(cell.width for cell in drawn.cells if cell.kind != "free")
    assert full / sum(cell.width for cell in drawn.cells) == pytest.approx(
        compiles / max(compiles, limit), abs=0.01
    )
    assert any(cell.kind == "over" for cell in drawn.cells) == (compiles > limit)
    assert all(cell.x + cell.width <= drawn.width + 0.2 for cell in drawn.cells)


def test_a_timeline_has_a_lane_for_each_busy_frame_and_one_mark_for_what_falls_together() -> None:
    frames = [replace(example_job.BLOCK, line=number) for number in range(MOST_LANES + 3)]
    moments = [Moment(float(number), frame, "compile") for number, frame in enumerate(frames)]
    moments += [Moment(40.0 + number / 1e6, frames[0], "recompile", number % 8) for number in range(1000)]
    drawn = timeline(sorted(moments, key=lambda one: one.seconds))
    assert drawn is not None
    assert (len(drawn.lanes), drawn.missing) == (MOST_LANES, 3)
    assert [mark.kind for mark in drawn.lanes[0].marks] == ["compile", "recompile"]
    assert drawn.lanes[0].marks[1].title == "recompile ×1000 at 40.0 s, rank 0, 1, 2, 3…"
    assert [lane.name for lane in drawn.lanes][:2] == [
        "MoEBlock.forward moe.py:0",
        "MoEBlock.forward moe.py:1",
    ]
    assert 3 <= len(drawn.ticks) <= 12
    assert all(drawn.left <= mark.x <= drawn.width for lane in drawn.lanes for mark in lane.marks)
    assert timeline(()) is None
    assert timeline((Moment(1.0, frames[0], "compile"), Moment(1.0, frames[0], "compile"))) is None


def test_other_formats_never_load_the_template_engine(tmp_path: Path) -> None:
    code = (
        "import sys; from dynamo_lint.cli import run; "
        "run(['model.py', '-q', '--no-cache', '--output-format', sys.argv[1]]); "
        "sys.exit('jinja2' in sys.modules)"
    )
    (tmp_path / "model.py").write_text(COUNTER)
    for name, loaded in (("full", 0), ("sarif", 0), ("html", 1)):
        done = subprocess.run(
            [sys.executable, "-c", code, name],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (loaded, b"")


def many(number: int = 5_000) -> str:
    """A page of as many findings as a large project may have, with paths, chains and fixes of usual length."""
    files = {
        f"packages/model/layers/experts/block_{file}.py": "".join(
            f"        self._overflow_total_{line} += 1  # counted for the dashboard of the run\n"
            for line in range(1, 101)
        ).encode()
        for file in range(number // 100)
    }
    found = []
    for path in files:
        for line in range(1, 101):
            name = f"_overflow_total_{line}"
            chain = tuple(replace(step, path=path) for step in FINDINGS[0].chain)
            fix = Fix(
                "safe",
                f'keep it in a buffer (`self.register_buffer("{name}", torch.zeros((), dtype=torch.long))`) and update it',
                (Edit(Span(path, line, 9, line, 9 + len(name)), f"self.{name}.add_(1)"),),
            )
            found.append(
                finding(
                    line,
                    9,
                    line,
                    35,
                    span=Span(path, line, 9, line, 35),
                    chain=chain,
                    fix=fix,
                    severity=SEVERITIES[line % 3],
                )
            )
    view = View(Look(root=ROOT, cwd=ROOT), Sources(ROOT, files), ROOT)
    return check.render(Report(ROOT, (2, 13), len(files), COUNTS, tuple(found)), view)


def test_five_thousand_findings_fit_into_five_megabytes_and_all_of_them_are_there() -> None:
    said = many()
    assert len(said.encode()) < 5_000_000
    assert said.count('<article class="item"') == 5_000
    assert "This page is long, so " in said
    assert "This page is long" not in PAGES["check"]()


def test_a_log_of_a_large_job_and_its_findings_fit_as_well() -> None:
    frames = [replace(example_job.BLOCK, line=number) for number in range(5_000)]
    found = tuple(finding(line, 9, line, 34) for line in range(5_000))
    causes = tuple(replace(example_job.report((FIXABLE,)).causes[0], line=line) for line in range(2_000))
    job = replace(
        example_job.JOB, recompiles=tuple(replace(example_job.OVERFLOW, frame=one) for one in frames)
    )
    said = logged(LogReport(job, causes, job.recompiles, found))
    assert len(said.encode()) < 5_000_000
    assert "4,800 more functions not shown." in said
    assert said.count('class="item lined"') == 7_000


def test_probes_that_observe_little_of_many_findings_fit_as_well() -> None:
    verdicts = tuple(Verdict(one, "unobserved", "never ran") for one in FINDINGS * 1_500)
    said = confirmed([replace(PROBES[0], verdicts=(*PROBES[0].verdicts, *verdicts))] * 5)
    assert len(said.encode()) < 5_000_000
    assert "5,801 more findings that this probe did not observe." in said


def test_a_finding_brings_its_chain_to_the_page_with_the_line_itself_last() -> None:
    said = checked(FIXABLE)
    chain = said[said.index('<ol class="chain">') : said.index("</ol>")]
    assert re.findall(r"<li(.*?)><b>.*?</b>(.*?)<i>(.*?)</i>(.*)", chain) == [
        ("", "", "train.py:2", "<code>layer.compile()</code>"),
        ("", " in <code>Block.forward</code>", "src/block.py:3", ""),
        (' class="here"', " in <code>MoE.forward</code>", "src/moe.py:11", ""),
    ]


def test_templates_trust_nothing_that_is_not_ours() -> None:
    for file in FOLDER.glob("*.jinja"):
        assert "|safe" not in file.read_text(encoding="utf-8").replace(" ", "")
    made = [file for file in FOLDER.glob("*.py") if "Markup(" in file.read_text(encoding="utf-8")]
    assert [file.name for file in made] == ["page.py"]
