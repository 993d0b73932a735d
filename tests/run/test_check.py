"""The pipeline on real files: module names, encodings, line ends, positions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dynamo_lint.config import Settings, override
from dynamo_lint.discovery import discover
from dynamo_lint.report import Report
from dynamo_lint.run.check import check
from dynamo_lint.run.reading import read_content
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

MODEL = """\
import torch


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x + self.calls
"""
ENTRY = "\nmodel = torch.compile(Counter())\n"


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        file = folder / (name.replace("__", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def lint(*paths: str, **options: object) -> Report:
    found = discover([Path(path) for path in paths or (".",)], [])
    return check(override(Settings(), **options), found, catalogue(), Sources(found.root))


def found(report: Report) -> list[tuple[str, int, int, str]]:
    return [(one.span.path, one.span.line, one.span.column, one.code) for one in report.findings]


def test_report_counts_files_regions_and_functions(here: Path) -> None:
    write(here, a=MODEL + ENTRY, b="x = 1\n")
    report = lint()
    assert (report.files, report.compiled.entries, report.compiled.functions) == (2, 1, 1)
    assert found(report) == [("a.py", 10, 9, "DYN101")]


def test_entry_in_a_package_is_found_from_inside_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = "import torch\nfrom pkg.sub.model import Counter\nmodel = torch.compile(Counter())\n"
    for package in ("pkg", "pkg/sub"):
        (here / package).mkdir()
        (here / package / "__init__.py").touch()
    (here / "pkg/sub/model.py").write_text(MODEL)
    (here / "pkg/sub/train.py").write_text(train)
    assert found(lint()) == [("pkg/sub/model.py", 10, 9, "DYN101")]
    assert found(lint("pkg/sub")) == [("pkg/sub/model.py", 10, 9, "DYN101")]
    monkeypatch.chdir(here / "pkg/sub")
    assert found(lint()) == [("model.py", 10, 9, "DYN101")]


def test_modules_are_named_after_packages_and_scripts_after_themselves(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "pkg/scripts").mkdir(parents=True)
    for name in ("pkg/__init__.py", "pkg/a.py", "pkg/scripts/run.py"):
        (here / name).touch()
    monkeypatch.chdir(here / "pkg")
    found = discover([Path()], [])
    content = read_content(None, found, Sources(found.root))
    assert {path: place.module for path, place in content.places.items()} == {
        "__init__.py": "pkg",
        "a.py": "pkg.a",
        "scripts/run.py": "run",
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_declared_encodings_are_read_and_columns_count_characters(here: Path, encoding: str) -> None:
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f"# coding: {declared}\n" + (MODEL + ENTRY).replace("self.calls += 1", "é = 'é'; self.calls += 1")
    (here / "a.py").write_bytes(text.encode(encoding))
    assert found(lint()) == [("a.py", 11, 18, "DYN101")]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends_do_not_move_findings_or_suppressions(here: Path, end: str) -> None:
    (here / "a.py").write_bytes((MODEL + ENTRY).replace("\n", end).encode())
    assert found(lint()) == [("a.py", 10, 9, "DYN101")]
    silenced = MODEL.replace("+= 1", "+= 1  # dynamo-lint: ignore[DYN101]") + ENTRY
    (here / "a.py").write_bytes(silenced.replace("\n", end).encode())
    assert found(lint()) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"def f(:\n", "this file was not linted"),
        (b"x = '\xff'\n", "this file was not linted"),
        (b"# coding: no-such-codec\n", "this file was not linted"),
        (b"x = 1\0\n", "this file was not linted"),
        (b"x = " + b"-" * 100_000 + b"1\n", "this file was not linted"),
    ],
)
def test_file_that_cannot_be_parsed_is_a_finding_and_an_error(
    here: Path, source: bytes, message: str
) -> None:
    (here / "bad.py").write_bytes(source)
    write(here, good=MODEL + ENTRY)
    report = lint()
    assert [(path, code) for path, _, _, code in found(report)] == [
        ("bad.py", "DYN901"),
        ("good.py", "DYN101"),
    ]
    assert report.findings[0].message.startswith(message)
    assert report.findings[0].severity == "error"
    assert [error.path for error in report.errors] == ["bad.py"]


@pytest.mark.parametrize(
    "source", [b"", b"\n\n", b"\xef\xbb\xbf", b"x = 1", b"\x0cx = 1\n", b"# only a comment"]
)
def test_odd_but_valid_files_are_no_findings(here: Path, source: bytes) -> None:
    (here / "a.py").write_bytes(source)
    assert found(lint()) == []


def test_broken_file_elsewhere_is_not_reported_for_a_named_file(here: Path) -> None:
    write(here, a=MODEL + ENTRY, bad="def f(:\n")
    (here / "pyproject.toml").touch()
    report = lint("a.py")
    assert found(report) == [("a.py", 10, 9, "DYN101")]
    assert report.errors == ()


def test_unresolved_entries_are_findings_only_when_asked_for(here: Path) -> None:
    write(here, a="import torch\n\ndef run(fn):\n    return torch.compile(fn)\n")
    assert found(lint()) == []
    report = lint(select=("DYN902",))
    assert found(report) == [("a.py", 4, 1, "DYN902")]
    assert report.findings[0].fix is not None
    assert report.findings[0].fix.message == "put `# dynamo-lint: region` on the line above what it compiles"
    write(here, a="import torch\n\ndef run(fn):\n    return torch.compile(fn)\n", b=MODEL)
    (fix,) = [finding.fix for finding in lint(select=("DYN902",)).findings]
    assert fix is not None
    assert fix.message == 'declare what it compiles, for example: `regions = ["b:Counter"]`'


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="it is read")
def test_a_file_for_a_newer_python_is_a_warning_that_says_what_to_do(here: Path) -> None:
    write(here, a=MODEL + ENTRY, newer='x = t"{a}"\n')
    (pyproject := here / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.10"\n')
    report = lint(select=("DYN901",))
    (one,) = report.findings
    running = ".".join(map(str, sys.version_info[:2]))
    assert (one.severity, one.span.path) == ("warning", "newer.py")
    assert one.message.endswith(f"it needs Python 3.14, and dynamo-lint runs under Python {running}")
    assert one.fix is not None
    assert one.fix.message.startswith("run dynamo-lint under Python 3.14 or newer")
    pyproject.unlink()
    assert found(lint(select=("DYN901",))) == found(report)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="it is read")
def test_a_file_of_a_project_for_newer_pythons_is_counted_only(here: Path) -> None:
    write(here, a=MODEL + ENTRY, newer='x = t"{a}"\n', broken="def f(:\n")
    (here / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.14"\n')
    report = lint()
    assert [(path, code) for path, _, _, code in found(report)] == [
        ("a.py", "DYN101"),
        ("broken.py", "DYN901"),
    ]
    assert [(error.path, error.needs) for error in report.errors] == [
        ("broken.py", None),
        ("newer.py", (3, 14)),
    ]


def test_what_was_not_analysed_to_the_end_is_counted_where_no_finding_tells_of_it(here: Path) -> None:
    write(here, a="import torch\n@torch.compile\ndef f(x):\n    return x" + ".a()" * 4000 + "\n")
    assert [one.code for one in lint(select=("DYN906",)).findings] == ["DYN906"]
    assert [lint(select=(code,)).unfinished for code in ("DYN906", "DYN1")] == [0, 1]


def test_equal_findings_get_fingerprints_of_their_own(here: Path) -> None:
    write(
        here,
        a="import os\nimport torch\n\n@torch.compile\ndef f(x):\n"
        "    if os.environ['K']:\n        x = x + 1\n"
        "    if os.environ['K']:\n        x = x + 1\n    return x\n",
    )
    prints = [one.fingerprint for one in lint().findings]
    assert len(prints) == len(set(prints)) == 2


@pytest.mark.parametrize(("run", "ends"), [("train", False), ("sizes", True)])
def test_what_a_file_does_when_it_is_run_by_itself_is_not_done_by_its_importers(
    here: Path, run: str, ends: bool
) -> None:
    sizes = 'WIDTH = 4\nif __name__ == "__main__":\n    assert WIDTH == 5\n'
    steps = "\nmodel = torch.compile(Counter())\nfor _ in range(3):\n    model(torch.ones(WIDTH))\n"
    texts = {"sizes": sizes, "train": f"from sizes import WIDTH\n{MODEL}"}
    texts[run] += steps if run == "train" else MODEL + steps
    write(here, **texts)
    programs = [site.why for site in lint().compiled.unresolved if site.kind == "program"]
    assert any("an exception that nothing catches" in why for why in programs) is ends
