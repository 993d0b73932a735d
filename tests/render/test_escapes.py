"""Names, sources and outputs of probes may hold anything: no format lets it be more than text."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamo_lint.config import OUTPUT_FORMATS
from dynamo_lint.confirm.model import Cause, GraphBreak, Receipt, Recompile, Reply
from dynamo_lint.confirm.run import Comparison
from dynamo_lint.confirm.verdicts import ProbeReport, Verdict
from dynamo_lint.findings import FileError
from dynamo_lint.render import formats, receipt, receipt_json, regions, services
from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import json_text, markdown, sarif_text
from dynamo_lint.render.text import summary
from dynamo_lint.report import Report
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look, clean
from tests.render.test_formats import ELSEWHERE, FIXABLE, SARIF
from tests.render.test_render import COUNTS, FILES, FINDINGS, HOT, REGIONS

ROOT = Path("/project")
NASTY = (
    *(chr(code) for code in (*range(1, 32), 0x7F, *range(0x80, 0xA0))),
    *"\u061c\u200b\u200e\u200f\u2028\u2029\u2066\u2067\u2068\u2069\u202a\u202b\u202c\u202d\u202e\ufeff\ufffe\uffff",
    *("\udc80", "\udcff", "\ud800", "\U0001f600", "名", "e\u0301"),
    *("\x1b[2J", "\x1b]8;;http://x\x07", "\x9b31m", "\r\n", "\n\n", "\x00"),
    *(
        "::error ::",
        "\n::error file=a::b",
        " ::stop-commands::x",
        "::add-mask::",
        "##[error]",
        "##vso[task.x]",
    ),
    *(
        "%0A",
        "%0D%0A::error::",
        "%25",
        "\\",
        "\\n",
        "\\u202e",
        "\\ud800",
        '"',
        "'",
        "`",
        "``",
        "```",
        "|",
        "\\|",
    ),
    *(
        "<img src=x>",
        "</failure>",
        "]]>",
        "&lt;",
        "<!--",
        "<a href=x>",
        "[a](http://x)",
        "![a](http://x)",
        "](0)",
    ),
    *(
        "# ",
        "- ",
        "> ",
        "*",
        "_",
        "~~",
        "$x$",
        "@name",
        "http://x.y",
        "www.x.y",
        "{0}",
        "a",
        " ",
        ":",
        ",",
        ".",
        "/",
    ),
)
texts = st.lists(st.sampled_from(NASTY), max_size=12).map("".join)
examples = settings(max_examples=100, deadline=None)

KEPT = {
    "severity",
    "effect",
    "confidence",
    "code",
    "applicability",
    "verdict",
    "stage",
    "fingerprint",
    "idiom",
}
"""Fields whose words are ours."""
ORDER = re.compile(r"\s*::(error|stop-commands|add-mask)\b|.*##(vso)?\[", re.IGNORECASE)
"""What GitHub and Azure would obey."""


def tainted(value: Any, text: str, name: str = "") -> Any:
    """The same object with the text at the end of each text in it, and at the beginning of each path."""
    match value:
        case str() if name not in KEPT:
            # A path has no zeros, and of the halves of pairs only those that stand for bytes.
            return re.sub("[\0\ud800]", "", text + value) if name == "path" else value + text
        case tuple():
            items = [tainted(item, text, name) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        case _ if (
            is_dataclass(value) and not isinstance(value, type) and type(value).__name__ != "Confidence"
        ):
            own = {field.name: getattr(value, field.name) for field in fields(value)}
            return replace(value, **{key: tainted(item, text, key) for key, item in own.items()})
    return value


def report(text: str) -> tuple[Report, View]:
    findings = (FIXABLE, replace(FIXABLE, fix=ELSEWHERE), *FINDINGS, replace(FINDINGS[0], message=text))
    findings = tuple(replace(one, name=FIXABLE.name) for one in tainted(findings, text))
    source = "".join(f"x = {text!r} # {text.replace(chr(10), '')}\n" for _ in range(15))
    overlay = {one.span.path: source.encode("utf-8", "surrogatepass") for one in findings}
    found = Report(
        ROOT, (2, 13), 3, tainted(COUNTS, text), findings, (tainted(FileError("a.py", 1, "no"), text),)
    )
    return found, View(Look(root=ROOT, cwd=ROOT), Sources(ROOT, overlay), ROOT)


def check_lines(text: str, commands: int = 0) -> None:
    """Only printable characters, tabs and line feeds, and no orders but our own."""
    bad = {char for char in set(text) if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {
        *"\t\n"
    }
    assert not bad, [line for line in text.split("\n") if bad & set(line)]
    orders = [line for line in text.split("\n") if ORDER.match(line)]
    assert len(orders) == commands, orders


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
@examples
@given(texts)
def test_no_format_prints_what_steers_its_reader(name: str, text: str) -> None:
    found, view = report(text)
    said = formats.render(name, found, view)
    total = len(found.findings)
    match name:
        case "github":
            lines = said.splitlines()
            assert len(lines) == total
            assert all(
                re.match(r"::(error|warning|notice) file=[^:,]+,line=\d+,[^:]*::", one) for one in lines
            )
            check_lines("\n".join(one.partition("::")[2].partition("::")[2] for one in lines))
        case "junit":
            assert len(list(ElementTree.fromstring(said).iter("testcase"))) == total
            assert said.isascii()
        case "full" | "concise" | "grouped" | "html":
            check_lines(said)
        case _:
            assert said.isascii()
            check_lines(said)
            documents = [json.loads(line) for line in (said.splitlines() if name == "json-lines" else [said])]
            if name in ("sarif", "gitlab", "rdjson"):
                json.dumps(documents, ensure_ascii=False).encode()  # no half of a pair
                check_lines("\n".join(messages(documents)))


def messages(document: Any) -> list[str]:
    """What a service shows of a document."""
    if isinstance(document, list):
        return [text for item in document for text in messages(item)]
    if not isinstance(document, dict):
        return []
    own = [document[key] for key in ("message", "text", "description") if isinstance(document.get(key), str)]
    inner = (
        value for key, value in document.items() if key not in ("rules", "suggestions", "insertedContent")
    )
    return [*own, *(text for value in inner for text in messages(value))]


@settings(max_examples=20, deadline=None)
@given(texts)
def test_sarif_stays_valid_and_has_no_links(text: str) -> None:
    document = json.loads(formats.render("sarif", *report(text)))
    SARIF.validate(document)
    assert "](" not in "".join(messages(document["runs"][0]["results"]))


@examples
@given(texts)
def test_the_step_summary_is_a_table_of_text_and_code(text: str) -> None:
    found, view = report(text)
    said = services.overflow(replace(found, findings=found.findings * 12), view)
    check_lines(said)
    rows = [line for line in said.split("\n") if line.startswith("| ")][1:]
    assert len(rows) == len(found.findings) * 12 - said.count("more are") - 3 * 10
    for row in rows:
        assert_is_text(row.replace(re.findall(r"\[DYN\d+\]\(https://[^)]+\)", row)[0], ""), pipes=4)


def assert_is_text(line: str, pipes: int = 0) -> None:
    """Markdown as GitHub reads it: code first, then escapes; nothing else may be left."""
    line = re.sub(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", lambda one: " " + "|" * one[2].count("|"), line)
    line = re.sub(r"<code>([^<>`|]*)</code>", " ", line)
    line = re.sub(r"\\[!-/:-@[-`{-~]", " ", line)
    assert line.count("|") == pipes
    assert not set(line) & set("`*_<>[]~$#@")
    assert not re.search(r"&(?!#\d+;)|://|www\.", line)


@examples
@given(texts)
def test_markdown_shows_the_characters_of_a_text(text: str) -> None:
    assert_is_text(markdown(text))
    assert markdown("a `b_c` d_e `f` (see `g | h`).") == "a `b_c` d\\_e `f` (see <code>g &#124; h</code>)."
    assert markdown("`a``b` and `c") == "`a` `b` and 'c"
    assert markdown("a\\`b` `c`") == "a\\\\<code>b</code> `c`"
    assert sarif_text("`a[0](b)`") == "`a[0] (b)`"


@examples
@given(texts)
def test_receipts_and_regions_print_no_more_than_text(text: str) -> None:
    cause = Cause("value", "x", "x == 1", "M", (), "n", "", "1", "2", "", "/m.py", 3)
    other = replace(cause, aspect="shape")
    known = Receipt(
        "2.13", "aot_eager", 2, (),
        tuple(Recompile("f", "/m.py", 1, 1, "", "", False, ("why",), causes) for causes in (((cause,),), ((other,),), ())),
        (GraphBreak("/m.py", 2, "f", "GB1", "why", False, 0, "", 1, ()), GraphBreak("m.py", 2, "f", "", "why", True, 0, "", 1, ())),
        (), (), {}, matches_eager=False, mismatch="call 0", problems=("problem",),
    )  # fmt: skip
    verdicts = tuple(Verdict(FIXABLE, word, "why", (0,), (0,)) for word in ("confirmed", "unobserved"))
    detail = f"{text}\n{text}"
    reply = Reply("done", text, detail, tainted(known, text), 8, True, (1,), problems=(text,))
    probes = [ProbeReport(f"p{text}", f"{text}m.py", 1, reply, tainted(verdicts, text), (0, 1, 2), (0, 1))]
    comparison = [Comparison(probes[0], probes[0], False, (f"+ {text}",))]
    look = Look(root=ROOT, cwd=ROOT)
    for said in (
        receipt.render(probes, look),
        receipt.conclusion(probes),
        receipt.fixed(comparison, 1, look),
        regions.render_text(tainted(REGIONS, text), FILES, look),
        regions.render_why([tainted(HOT, text)], report(text)[1].sources, look),
        regions.render_why_not({text: [text]}, look),
        summary(report(text)[0], look),
    ):
        check_lines(said)
    for said in (
        receipt_json.render(probes, ROOT, receipt_json.fixed(comparison, 1)),
        regions.render_json(tainted(REGIONS, text), FILES, look),
    ):
        assert said.isascii()
        json.loads(said)


@examples
@given(texts, texts)
def test_text_for_a_log_is_as_long_as_it_was_and_clean_text_stays(one: str, other: str) -> None:
    assert len(clean(one)) == len(one)
    assert clean(clean(one)) == clean(one)
    check_lines(f"{clean(one)}{clean(other)}")
    check_lines(Look(width=20).wrapped(f"{one} {other}"))


def test_ordinary_code_is_printed_as_it_is() -> None:
    for line in (
        "x[:, ::2]",
        "a[..., ::step]",
        "x = y[::group]",
        "# ## heading",
        "src/a.py::f",
        "##",
        "名前 = 'é'",
    ):
        assert clean(line) == line


def test_half_a_surrogate_pair_is_replaced_for_services_and_kept_for_readers_of_our_own_format() -> None:
    value = {"a": "\udcff\\udcff\U0001f600\ud800\\##[a]"}
    assert json.loads(json_text(value)) == {"a": "\ufffd\\udcff\U0001f600\ufffd\\##[a]"}
    assert json.loads(json_text(value, exact=True)) == value


def test_a_failed_probe_is_painted(tmp_path: Path) -> None:
    probe = ProbeReport("p", "m.py", 1, Reply("done", "broken"))
    assert "\x1b[31m\x1b[1mfailed\x1b[0m: broken" in receipt.render([probe], Look(colour=True))
