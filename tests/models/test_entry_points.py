"""Models that a program finds among the entry points that its own package offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.discovery import discover
from dynamo_lint.index.config_files import summarize_config
from dynamo_lint.run.reading import read_content
from dynamo_lint.sources import Sources
from tests.programs import hot

NETS = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""
MAIN = "from importlib.metadata import entry_points\nimport importlib.metadata\n"
TOML = """
[project]
name = "ours"
[project.entry-points."ours.nets"]
net = "nets:Net"
[project.entry-points.others]
other = "nets:Other [extra]"
[project.scripts]
run = "main:run"
"""
CFG = """
[options.entry_points]
ours.nets =
    net = nets:Net
others =
    other = nets:Other
"""
SETUP = """
from setuptools import setup
setup(name="ours", entry_points={"ours.nets": ["net = nets:Net"], "others": "other = nets:Other"})
"""
POETRY = """
[tool.poetry.plugins."ours.nets"]
net = "nets:Net"
"""
TABLE = """
TABLE = {}
for point in entry_points(group="ours.nets"):
    TABLE[point.name] = point
def run(name):
    net = TABLE[name]
    if hasattr(net, "load"):
        net = net.load()
    net().compile()
"""


def found(code: str, **files: str) -> dict[str, str]:
    files = {name.replace("__", "."): text for name, text in (files or {"pyproject__toml": TOML}).items()}
    return hot({"nets.py": NETS, "main.py": MAIN + code, **files})


@pytest.mark.parametrize(
    "code",
    [
        "for point in entry_points(group='ours.nets'): point.load()().compile()",
        "points = {p.name: p for p in importlib.metadata.entry_points(group='ours.nets')}\n"
        "def run(name): points[name].load()().compile()",
        "GROUP = 'ours.nets'\nnet, = entry_points(group=GROUP)\nmodel = net.load()()\nmodel.compile()",
        "import pkg_resources\nfor p in pkg_resources.iter_entry_points('ours.nets'): p.load()().compile()",
        TABLE,
    ],
)
def test_what_an_entry_point_of_a_group_loads_is_compiled(code: str) -> None:
    assert found(code) == {"nets.py::Net.forward": "likely"}


@pytest.mark.parametrize(
    "files",
    [{"setup__cfg": CFG}, {"setup__py": SETUP}, {"pyproject__toml": POETRY}, {"tool/pyproject__toml": TOML}],
)
def test_a_package_says_what_it_offers_in_other_files_too(files: dict[str, str]) -> None:
    assert found(TABLE, **files) == {"nets.py::Net.forward": "likely"}


@pytest.mark.parametrize(
    "code",
    [
        "for point in entry_points(group='unheard.of'): point.load()().compile()",
        "for point in entry_points(group='console_scripts'): point.load()().compile()",
        "def run(group):\n    for point in entry_points(group=group): point.load()().compile()",
        "for point in entry_points(group='ours.nets'): point.load().compile()",
        "for point in entry_points(group='ours.nets'): point.name.compile()",
        "def entry_points(group): return []\nfor point in entry_points('ours.nets'): point.load()().compile()",
        "def run(cfg): cfg.others.compile()",
        "for point in entry_points(group='ours.nets'): point.load()()",
    ],
)
def test_what_is_not_loaded_by_its_group_is_not_compiled(code: str) -> None:
    assert "nets.py::Other.forward" not in found(code)


@pytest.mark.parametrize(
    "point", ["nets", "nets:", ":Net", "nets:Missing", "missing:Net", "os.path:join", "nets:Net()", "a b:c"]
)
def test_an_entry_point_that_names_no_class_of_the_project_offers_nothing(point: str) -> None:
    assert found(TABLE, pyproject__toml=TOML.replace("nets:Net", point)) == {}


@pytest.mark.parametrize(
    "text",
    [
        "project = 1",
        "[project]\nentry-points = 1",
        "[project.entry-points]\n'ours.nets' = 1",
        "[project.entry-points.'ours.nets']\nnet = 1",
        "[tool.poetry.plugins]\n",
        "",
    ],
)
def test_metadata_of_another_form_says_nothing(text: str) -> None:
    facts = summarize_config("pyproject.toml", text.encode())
    assert (facts.settings, facts.error) == ((), None)


@pytest.mark.parametrize(
    ("path", "text"), [("pyproject.toml", b"[project"), ("setup.cfg", b"net = 1"), ("setup.cfg", b"\xff\xfe")]
)
def test_metadata_that_cannot_be_read_is_told_and_says_nothing(path: str, text: bytes) -> None:
    facts = summarize_config(path, text)
    assert facts.settings == ()
    assert facts.error is not None


def test_an_entry_point_stands_on_its_line() -> None:
    rows = summarize_config("pyproject.toml", TOML.encode()).settings
    assert [(row.name, row.line) for row in rows] == [("ours.nets", 5), ("others", 7)]


@pytest.mark.parametrize(
    ("code", "read"),
    [
        (MAIN, set()),
        (TABLE, {"pyproject.toml", "setup.cfg"}),
        ("model = instantiate(cfg)", {"conf.yaml"}),
        (TABLE + "model = instantiate(cfg)", {"conf.yaml", "pyproject.toml", "setup.cfg"}),
    ],
)
def test_metadata_is_read_where_some_code_asks_for_entry_points(
    tmp_path: Path, code: str, read: set[str]
) -> None:
    for name in ("conf.yaml", "pyproject.toml", "setup.cfg", "other.toml"):
        (tmp_path / name).touch()
    (tmp_path / "main.py").write_text(code)
    discovered = discover([tmp_path], [])
    content = read_content(None, discovered, Sources(discovered.root))
    assert content.keys.keys() - {"main.py"} == read
