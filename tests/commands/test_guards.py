"""The guard surface: shown, written to a file, and held by the contract."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dynamo_lint import cli

Run = Callable[..., tuple[int, str, str]]

MODEL = """
import os

import torch
from torch import nn

DEBUG = False
COUNT = 0


class Config:
    def __init__(self, scale: float = 2.0):
        self.scale = scale
        self.unread = "x"


class Router(nn.Module):
    def __init__(self, top_k: int, config: Config):
        super().__init__()
        self.gate = nn.Linear(4, 4)
        self.top_k = top_k
        self.config = config
        self.mask = None
        self.steps = 0
        self.flag = True
        self.sizes = [4, 5]
        self.register_buffer("load", torch.zeros(4))

    def forward(self, x):
        global COUNT
        COUNT += 1
        if DEBUG or os.environ.get("TRACE") or "MORE" in os.environ:
            x = x * 2
        self.steps += 1
        if self.mask is not None and getattr(self, "flag"):
            x = x * self.sizes[0]
        return self.gate(x).topk(self.top_k).values * self.config.scale + self.load


def switch(router: Router):
    router.flag = False


net = torch.compile(Router(2, Config()))
switch(net)
"""
SURFACE = {
    ("attribute", "Config.scale", "float", "constructor"),
    ("attribute", "Router.flag", "bool", "outside"),
    ("attribute", "Router.mask", "None", "constructor"),
    ("attribute", "Router.sizes", "list or dict", "constructor"),
    ("attribute", "Router.steps", "int", "compiled"),
    ("attribute", "Router.top_k", "int", "constructor"),
    ("environment", "MORE", "str", "outside"),
    ("environment", "TRACE", "str", "outside"),
    ("global", "model:COUNT", "int", "compiled"),
    ("global", "model:DEBUG", "bool", "import"),
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = cli.run([*arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "dynamo-lint.toml").write_text('[contract]\nguard-surface = "guards.json"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_value_is_shown_with_its_type_and_who_writes_it(project: Path, run: Run) -> None:
    code, out, _ = run("regions", "--guards", "--output-format", "json", "--no-cache")
    rows = json.loads(out)["guards"]
    assert code == 0
    assert {(row["kind"], row["name"], row["type"], row["writers"]) for row in rows} == SURFACE
    assert {row["region"] for row in rows} == {"model.py::Router"}
    (top_k,) = [row for row in rows if row["name"] == "Router.top_k"]
    assert (top_k["set"], top_k["read"]) == (
        [{"path": "model.py", "line": 21}],
        {"path": "model.py", "line": 37},
    )


def test_people_get_a_line_for_each_value_below_its_region(project: Path, run: Run) -> None:
    code, out, _ = run("regions", "--guards", "--no-cache")
    assert code == 0
    assert out.startswith("model.py::Router\n")
    assert "attribute Router.top_k: int, set at model.py:21, written by its constructor alone" in out


def test_a_value_that_the_file_does_not_list_is_a_finding_where_it_is_read(project: Path, run: Run) -> None:
    assert run("regions", "--guards", "--update", "--no-cache")[0] == 0
    chosen = ("check", "--select", "DYN527", "--output-format", "json")
    code, out, _ = run(*chosen)
    assert (code, json.loads(out)["findings"]) == (0, [])
    text = MODEL.replace("self.sizes[0]", "self.sizes[0] * self.extra")
    (project / "model.py").write_text(text.replace("self.flag = True", "self.flag, self.extra = True, 3"))
    code, out, _ = run(*chosen)
    (finding,) = json.loads(out)["findings"]
    assert (code, finding["line"], finding["severity"]) == (1, 36, "warning")
    assert "reads the attribute `Router.extra`" in finding["message"]


def test_the_file_that_changes_is_read_again_past_the_cache(project: Path, run: Run) -> None:
    run("regions", "--guards", "--update")
    assert run("check", "--select", "DYN527")[0] == 0
    document = json.loads((project / "guards.json").read_text())
    document["guards"] = [row for row in document["guards"] if row["name"] != "Router.top_k"]
    (project / "guards.json").write_text(json.dumps(document))
    assert run("check", "--select", "DYN527")[0] == 1


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (None, "no such file; write it with `dynamo-lint regions --guards --update`"),
        ("{", "is no guard surface"),
        ("[]", 'needs "schema_version": 1 and "guards"'),
        ('{"schema_version": 1, "guards": [{"region": 1}]}', 'entry 0 needs "region", "kind"'),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_key_and_line(
    content: str | None, hint: str, project: Path, run: Run
) -> None:
    if content is not None:
        (project / "guards.json").write_text(content)
    code, _, err = run("check", "--no-cache")
    assert code == 2
    assert "dynamo-lint.toml:2: contract.guard-surface: " in err
    assert hint in err


def test_it_does_not_matter_where_a_run_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/model.py").write_text(MODEL)
    (tmp_path / "dynamo-lint.toml").write_text('[contract]\nguard-surface = "lists/guards.json"\n')
    (tmp_path / "lists").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run("regions", "src", "--guards", "--update")[0] == 0
    rows = json.loads((tmp_path / "lists/guards.json").read_text())["guards"]
    assert {row["region"] for row in rows} == {"../src/model.py::Router"}
    assert run("check", ".", "--select", "DYN527", "--no-cache")[0] == 0
    monkeypatch.chdir(tmp_path / "src")
    assert run("check", "model.py", "--select", "DYN527", "--no-cache")[0] == 0
    assert run("check", "--select", "DYN527", "--no-cache")[0] == 0


def test_an_update_needs_a_file_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "dynamo-lint.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    code, _, err = run("regions", "--guards", "--update")
    assert (code, "`guard-surface` in the contract" in err) == (2, True)
    code, _, err = run("regions", "--update")
    assert (code, "--update needs `--guards`" in err) == (2, True)


DRIVEN = """
import torch
from torch import nn


class Router(nn.Module):
    def __init__(self, top_k: int):
        super().__init__()
        self.top_k = top_k
        self.steps = 0
        self.scale = 1.0

    def forward(self, x, factor: int, often: bool = False):
        self.steps += 1
        return x * self.top_k * self.scale * factor if not often else x


net = Router(2)
compiled = torch.compile(net)
for step in range(4):
    compiled(torch.ones(2), step)
"""


@pytest.fixture
def driven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.py").write_text(DRIVEN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_account_says_of_each_value_whether_it_changes_between_calls(driven: Path, run: Run) -> None:
    code, out, _ = run("regions", "--state", "--output-format", "json", "--no-cache")
    document = json.loads(out)
    rows = {row["name"]: row for row in document["state"]}
    assert code == 0
    assert {name: row["change"] for name, row in rows.items()} == {
        "Router.steps": "changed",
        "Router.forward(factor)": "changed",
        "Router.forward(often)": "kept",
        "Router.top_k": "kept",
        "Router.scale": "kept",
    }
    steps = rows["Router.steps"]
    assert (steps["was"], steps["now"], steps["recompiles"]) == ("0", "1", 3)
    assert steps["called"] == {"path": "model.py", "line": 21}
    assert (steps["checks"], steps["programs"]) == (["value"], ["model.py::<module>"])
    assert [one["code"] for one in steps["findings"]] == ["DYN101"]
    assert rows["Router.top_k"]["findings"] == []
    counts = {"read": 5, "never_change": 3, "may_change": 0, "changed": 2, "findings": 2}
    assert document["summary"] == counts


def test_without_a_program_the_account_rests_on_who_writes_a_value(driven: Path, run: Run) -> None:
    text, _, _ = DRIVEN.partition("net = ")
    (driven / "model.py").write_text(f"{text}\ndef make(count):\n    return torch.compile(Router(count))\n")
    _, out, _ = run("regions", "--state", "--output-format", "json", "--no-cache")
    rows = {row["name"]: row["change"] for row in json.loads(out)["state"]}
    assert rows["Router.top_k"] == "set-once"
    assert (rows["Router.steps"], rows["Router.forward(factor)"]) == ("changed", "may-change")


def test_what_the_setter_of_a_property_writes_may_change(driven: Path, run: Run) -> None:
    text = DRIVEN.replace("self.scale = 1.0", "self.size = 1").replace("self.scale", "self._size")
    setter = """
    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        self._size = value


def resize(net: Router, size):
    net.size = size


def make(count):
    net = torch.compile(Router(count))
    resize(net, count)
    return net
"""
    (driven / "model.py").write_text(text.partition("\n\nnet = ")[0] + setter)
    _, out, _ = run("regions", "--state", "--output-format", "json", "--no-cache")
    rows = {row["name"]: row for row in json.loads(out)["state"]}
    assert (rows["Router._size"]["change"], rows["Router._size"]["writers"]) == ("may-change", "outside")


def test_a_mode_that_a_program_switches_is_part_of_the_account(driven: Path, run: Run) -> None:
    loop = "    with torch.set_grad_enabled(step % 2 == 0):\n        compiled(torch.ones(2), 1)"
    (driven / "model.py").write_text(DRIVEN.replace("    compiled(torch.ones(2), step)", loop))
    _, out, _ = run("regions", "--state", "--output-format", "json", "--no-cache")
    (mode,) = [row for row in json.loads(out)["state"] if row["kind"] == "mode"]
    assert (mode["change"], mode["region"]) == ("changed", "model.py::Router")


def test_the_account_is_told_in_lines_and_on_a_page(driven: Path, run: Run) -> None:
    code, out, _ = run("regions", "--state", "--no-cache")
    assert code == 0
    assert "attribute Router.steps: int; changes from 0 to 1: 3 recompiles in model.py; written by" in out
    assert "argument Router.forward(often): bool; never changes in model.py; written by its callers" in out
    assert out.endswith("\n5 values read, 3 never change, 2 changed between calls, 2 findings.\n")
    code, page, _ = run("regions", "--state", "--output-format", "html", "--no-cache")
    assert (code, page.count("<tr><td>")) == (0, 5)
    assert "<b>changes from 0 to 1: 3 recompiles in model.py; written by compiled code</b>" in page
    assert run("regions", "--output-format", "html")[0] == 2


def test_the_page_of_check_counts_the_state_and_lists_what_may_change(driven: Path, run: Run) -> None:
    code, page, _ = run("check", "--output-format", "html", "--no-cache", "--exit-zero")
    assert code == 0
    assert "5 values read, 3 never change, 2 changed between calls, 2 findings." in page
    assert "attribute <code>Router.steps</code>" in page
    assert "attribute <code>Router.top_k</code>" not in page


def test_the_account_of_named_files_is_that_of_what_they_compile(driven: Path, run: Run) -> None:
    (driven / "other.py").write_text("x = 1\n")
    _, out, _ = run("regions", "--state", "other.py", "--no-cache")
    assert out == "Compiled code reads no Python values of this project.\n"
