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
