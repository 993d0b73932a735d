"""Levels: which rules are reported where, how severe they are, and what fails the run."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dynamo_lint import cli
from dynamo_lint.config import load
from dynamo_lint.levels import PRESETS, Choices, Override, Policy, levels_of
from dynamo_lint.selectors import catalogue
from tests.commands.test_cli import COUNTER, here

__all__ = ["here"]

BOTH = COUNTER.replace("return x", "x = x if os.environ.get('A') else -x\n        return x").replace(
    "import torch", "import os, torch"
)
"""A DYN101 error and a DYN201 note."""


def found(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, list[tuple[str, str]]]:
    """The exit status, and the code and severity of each finding."""
    capsys.readouterr()
    status = cli.run([*args, "--output-format", "json", "-q"])
    document = json.loads(capsys.readouterr().out)
    return status, [(one["code"], one["severity"]) for one in document["findings"]]


ERROR, NOTE = ("DYN101", "error"), ("DYN201", "note")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [ERROR, NOTE]),
        ('severity = { DYN201 = "error" }', [ERROR, ("DYN201", "error")]),
        ('severity = { DYN1 = "note", ALL = "warning" }', [("DYN101", "note"), ("DYN201", "warning")]),
        ('severity = { environment-read = "off" }', [ERROR]),
        ('severity = { DYN3 = "off", DYN501 = "note" }', [ERROR, NOTE]),
        ('select = ["DYN1"]\nextend-select = ["DYN201"]', [ERROR, NOTE]),
        ('ignore = ["DYN201"]\nextend-ignore = ["DYN101"]', []),
        ('per-file-ignores = { "a.py" = ["DYN101"] }', [NOTE]),
        ('per-file-ignores = { "src/**" = ["DYN"] }', []),
        ('per-file-ignores = { "tests/**" = ["DYN"], "b.py" = ["ALL"] }', [ERROR, NOTE]),
        ('preset = "strict"', [ERROR, ("DYN520", "error"), ("DYN201", "error")]),
        ('preset = "strict"\ncontract = { mutable-state = "allow" }', [ERROR, ("DYN201", "error")]),
        ('preset = "strict"\nseverity = { DYN2 = "note" }', [ERROR, ("DYN520", "error"), NOTE]),
        ('[[overrides]]\npaths = ["src"]\nignore = ["DYN101"]', [NOTE]),
        (
            '[[overrides]]\npaths = ["src"]\nselect = ["DYN2"]\nseverity = { ALL = "warning" }',
            [("DYN201", "warning")],
        ),
        ('ignore = ["ALL"]\n[[overrides]]\npaths = ["src"]\nignore = []', [ERROR, NOTE]),
        (
            '[[overrides]]\npaths = ["src"]\nselect = []\n[[overrides]]\npaths = ["*.py"]\nselect = ["DYN2"]',
            [NOTE],
        ),
    ],
)
def test_the_last_table_that_matches_a_file_decides(
    here: Path, capsys: pytest.CaptureFixture[str], text: str, expected: list[tuple[str, str]]
) -> None:
    (here / "src").mkdir()
    (here / "a.py").rename(here / "src/a.py")
    (here / "src/a.py").write_text(BOTH)
    (here / "dynamo-lint.toml").write_text(text)
    status = int(any(severity != "note" for _, severity in expected))
    assert found(capsys) == (status, expected)
    assert found(capsys, "src/a.py") == (status, expected)


HOUSE = """
import os

import torch
from torch import nn

SEEN = {}
STEPS = ["near", "far"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.near = nn.Linear(4, 4)
        self.far = nn.Linear(4, 4)
        self.step = "near"
        self.last = None
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x, step: str = "near"):
        self.last = x.shape  # DYN520
        SEEN["dtype"] = x.dtype  # DYN105 DYN520
        self.near.calm = True  # DYN520
        setattr(self, "late", 1)  # DYN203 DYN520
        object.__setattr__(self, "later", 1)  # DYN203 DYN520
        self.count.add_(1)
        seen = {}
        seen["dtype"] = x.dtype
        x = getattr(self, "near")(x)  # DYN203
        x = getattr(self, self.step)(x)  # DYN203
        x = getattr(self, step)(x)  # DYN203
        for name in STEPS:
            x = getattr(self, name)(x)  # DYN203
        x = x * int("NEAR" in os.environ)  # DYN201
        x = x * int(os.environ["FAR"])  # DYN201
        x = x * int(os.getenv("SCALE", "1"))  # DYN301
        for name in os.environ:  # DYN201
            x = x + len(name)
        return other(x, dict(os.environ))  # DYN201


def other(x, known):
    return x + float(known.get("BIAS", 0)) + float(os.environ.get("BIAS", 0))  # DYN201


model = torch.compile(Net())
os.environ["FAR"] = "2"
print(getattr(model, "last"), dict(os.environ))
"""


def test_strict_is_the_house_policy_whatever_it_costs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(HOUSE)
    (here / "dynamo-lint.toml").write_text('preset = "strict"\n')
    cli.run(["--output-format", "json", "-q"])
    document = json.loads(capsys.readouterr().out)
    lines = enumerate(HOUSE.splitlines(), 1)
    expected = {(number, code) for number, line in lines for code in line.partition("# ")[2].split()}
    assert {(one["line"], one["code"]) for one in document["findings"]} == expected
    assert {one["severity"] for one in document["findings"]} == {"error"}
    cli.run(["--show-settings"])
    assert 'contract = { mutable-state = "forbid" }  # preset strict' in capsys.readouterr().out


def test_a_fail_level_counts_for_its_paths(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "dynamo-lint.toml").write_text(
        'ignore = ["DYN101"]\n[[overrides]]\npaths = ["core"]\nfail-level = "note"\n'
    )
    (here / "core").mkdir()
    (here / "core/b.py").touch()
    (here / "a.py").write_text(BOTH)
    assert found(capsys) == (0, [NOTE])
    (here / "a.py").rename(here / "core/a.py")
    assert found(capsys) == (1, [NOTE])
    assert found(capsys, "--fail-level", "warning") == (0, [NOTE])


def test_the_command_line_counts_before_all_tables(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(BOTH)
    (here / "dynamo-lint.toml").write_text(
        'extend-select = ["DYN201"]\n[[overrides]]\npaths = ["a.py"]\nselect = ["DYN2"]\n'
    )
    assert found(capsys) == (0, [NOTE])
    assert found(capsys, "--select", "DYN1") == (1, [ERROR])
    assert found(capsys, "--select", "ALL", "--ignore", "DYN2") == (1, [ERROR])


def test_all_selects_what_is_pedantic_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(COUNTER.replace("self.calls += 1", "x = x + getattr(self, 'calls')"))
    plain = found(capsys)
    pedantic = found(capsys, "--pedantic")
    assert "DYN203" not in {code for code, _ in plain[1]}
    assert "DYN203" in {code for code, _ in pedantic[1]}
    assert found(capsys, "--select", "ALL") == pedantic
    (here / "dynamo-lint.toml").write_text('preset = "strict"\n')
    assert ("DYN203", "error") in found(capsys)[1]
    (here / "dynamo-lint.toml").write_text('preset = "strict"\npedantic = false\n')
    assert found(capsys) == plain


def test_notes_are_no_failures_in_junit_and_keep_their_level_in_sarif(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.py").write_text(BOTH)
    for fail_level, failures in (("warning", "1"), ("note", "2")):
        cli.run(["-q", "--output-format", "junit", "--fail-level", fail_level])
        document = ElementTree.fromstring(capsys.readouterr().out)
        assert (document.get("tests"), document.get("failures")) == ("2", failures)
        assert len(list(document.iter("failure"))) == int(failures)
    (here / "dynamo-lint.toml").write_text('severity = { DYN101 = "warning" }\n')
    cli.run(["-q", "--output-format", "sarif"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [one["level"] for one in run["results"]] == ["warning", "note"]


def test_a_comment_on_a_rule_that_is_off_there_is_not_called_unused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.py").write_text(
        COUNTER.replace("self.calls = 0", "self.calls = 0  # dynamo-lint: ignore[DYN2]")
    )
    assert [code for code, _ in found(capsys)[1]] == ["DYN903", "DYN101"]
    (here / "dynamo-lint.toml").write_text('per-file-ignores = { "a.py" = ["DYN2"] }\n')
    assert found(capsys) == (1, [ERROR])


def test_a_baseline_keeps_what_is_off_in_a_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(BOTH)
    known = ["--baseline", "known.json"]
    cli.run([*known, "--update-baseline", "-q"])
    (here / "dynamo-lint.toml").write_text('per-file-ignores = { "*.py" = ["DYN2"] }\n')
    assert found(capsys, *known) == (0, [])
    cli.run([*known, "--update-baseline", "-q"])
    (here / "dynamo-lint.toml").write_text("")
    assert found(capsys, *known) == (0, [])


def test_every_preset_names_rules_that_exist() -> None:
    for preset in PRESETS.values():
        policy = Policy((Choices(severity=preset.severity),), pedantic=True)
        assert set(levels_of(policy, catalogue(), Path())("a.py").severity.values()) == {"error"}


def test_the_narrower_of_two_selectors_decides_in_whatever_order_they_stand() -> None:
    for severity in ({"DYN1": "note", "DYN101": "error"}, {"DYN101": "error", "DYN1": "note"}):
        level = levels_of(Policy((Choices(severity=severity),)), catalogue(), Path())("a.py")
        assert (level.severity["DYN101"], level.severity["DYN103"]) == ("error", "note")


def test_shown_settings_say_where_each_came_from(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "dynamo-lint.toml").write_text(
        'preset = "strict"\n\nseverity = { DYN201 = "note" }\n[[overrides]]\npaths = ["*.py"]\nignore = []\n'
        'min-confidence = "certain"\nseverity = { DYN1 = "off" }\n'
    )
    cli.run(["--show-settings", "--fail-level", "error"])
    out = capsys.readouterr().out
    assert 'preset = "strict"  # dynamo-lint.toml:1\n' in out
    assert 'severity = { DYN201 = "note" }  # dynamo-lint.toml:3\n' in out
    assert 'fail-level = "error"  # command line\n' in out
    assert "pedantic = true  # preset strict\n" in out
    assert 'min-confidence = "likely"  # default\n' in out
    assert "# baseline is not set  # default\n" in out
    again = here / "again"
    again.mkdir()
    (again / "dynamo-lint.toml").write_text(out)
    choices = Choices(ignore=(), min_confidence="certain", severity={"DYN1": "off"})
    assert load(again).overrides == load(here).overrides == (Override(("*.py",), choices),)
