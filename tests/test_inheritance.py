"""A configuration that extends another one: what it gets, and what is said where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.config import ConfigError, load
from dynamo_lint.contract import Contract, ExpectedBreaks
from dynamo_lint.discovery import patterns
from dynamo_lint.inheritance import moved

OUTER = """
[tool.dynamo-lint]
select = ["DYN1"]
pedantic = true
severity = { DYN1 = "note", DYN2 = "error" }
per-file-ignores = { "a/tests/**" = ["DYN1"], "b/x.py" = ["DYN2"], "gen" = ["DYN3"] }
baseline = "accepted.json"

[tool.dynamo-lint.contract]
max-breaks = 2
guard-surface = "guards.json"
expected-breaks = { "a/net.py" = 1, "b/net.py" = 3 }
"""
INNER = """
extend = "../pyproject.toml"
pedantic = false
severity = { DYN1 = "error" }
per-file-ignores = { "gen" = ["DYN4"] }
contract = { max-breaks = 0 }
"""


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_nearer_keys_win_tables_are_merged_and_paths_count_from_their_own_file(tmp_path: Path) -> None:
    outer = write(tmp_path / "pyproject.toml", OUTER)
    inner = write(tmp_path / "a/dynamo-lint.toml", INNER)
    settings = load(tmp_path / "a")
    assert (settings.source, settings.select, settings.pedantic) == (inner, ("DYN1",), False)
    assert settings.severity == {"DYN1": "error", "DYN2": "error"}
    assert settings.per_file_ignores == {"/tests/**": ("DYN1",), "gen": ("DYN4",)}
    assert settings.baseline == tmp_path / "accepted.json"
    assert settings.contract == Contract(
        max_breaks=0, guard_surface="../guards.json", expected_breaks=(ExpectedBreaks("net.py", "", 1),)
    )
    assert settings.place("select") == f"{outer}:3: "
    assert settings.place("severity", "DYN1") == f"{inner}:4: "
    assert settings.place("severity", "DYN2") == f"{outer}:5: "


def test_a_file_that_is_extended_may_extend_another(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[tool.dynamo-lint]\nassume = "blocks"\nfail-level = "note"\n')
    write(tmp_path / "a/dynamo-lint.toml", 'extend = "../pyproject.toml"\nfail-level = "error"\n')
    write(tmp_path / "a/b/dynamo-lint.toml", 'extend = "../dynamo-lint.toml"\n')
    settings = load(tmp_path / "a/b")
    assert (settings.assume, settings.fail_level, settings.extend) == (
        "blocks",
        "error",
        "../dynamo-lint.toml",
    )


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, '{a}:2: extend = "../base.toml": there is no such file'),
        (
            {"base.toml": 'extend = "a/dynamo-lint.toml"\n'},
            '{base}:1: extend = "a/dynamo-lint.toml": the files extend each other in a circle: '
            "a/dynamo-lint.toml -> base.toml -> a/dynamo-lint.toml",
        ),
        ({"base.toml": "\nunknown = 1\n"}, "{base}:2: unknown key 'unknown'"),
        ({"base.toml": "contract = { settings = { nothing_like_it = 1 } }\n"}, "{base}:1: contract.settings"),
        ({"base.toml/x": ""}, '{a}:2: extend = "../base.toml": there is no such file'),
    ],
    ids=["missing", "circle", "unknown key", "unknown setting", "folder"],
)
def test_what_cannot_be_extended_is_told_with_file_and_line(
    tmp_path: Path, files: dict[str, str], told: str
) -> None:
    inner = write(tmp_path / "a/dynamo-lint.toml", '\nextend = "../base.toml"\n')
    for name, text in files.items():
        write(tmp_path / name, text)
    with pytest.raises(ConfigError) as error:
        load(tmp_path / "a")
    assert str(error.value).startswith(told.format(a=inner, base=tmp_path / "base.toml"))


def test_a_pyproject_without_our_table_cannot_be_extended(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project]\n")
    inner = write(tmp_path / "a/dynamo-lint.toml", 'extend = "../pyproject.toml"\n')
    with pytest.raises(ConfigError) as error:
        load(tmp_path / "a")
    wrong = "there is no [tool.dynamo-lint] table in it"
    assert str(error.value) == f'{inner}:1: extend = "../pyproject.toml": {wrong}'


def test_a_file_out_of_the_project_is_not_extended(tmp_path: Path) -> None:
    write(tmp_path / "other/base.toml", "")
    write(tmp_path / "project/dynamo-lint.toml", f'extend = "{tmp_path}/other/base.toml"\n')
    with pytest.raises(ConfigError, match=r"dynamo-lint\.toml:1: extend = .*leads out of the project"):
        load(tmp_path / "project")


@pytest.mark.parametrize(
    "pattern", ["a", "/a", "a/", "a/x.py", "/a/b/*.py", "*/x.py", "x.py", "**/x.py", "b/**"]
)
@pytest.mark.parametrize("path", ["x.py", "b/x.py", "b/c/x.py", "a/x.py", "y.py"])
def test_a_moved_pattern_matches_what_it_matched(pattern: str, path: str) -> None:
    told = moved({"per_file_ignores": {pattern: ()}}, Path("/top"), Path("/top/a"), Path("/top/a"))
    patterns_there = tuple(told["per_file_ignores"])
    before = bool(patterns([pattern])(f"a/{path}"))
    assert bool(patterns_there and patterns(patterns_there)(path)) == before, patterns_there


@pytest.mark.parametrize(
    ("pattern", "there"), [("gen/x.py", ("/shared/gen/x.py",)), ("gen", ("gen",)), ("!gen", ("!gen",))]
)
def test_a_pattern_of_a_file_below_counts_from_its_folder(pattern: str, there: tuple[str, ...]) -> None:
    told = moved({"exclude": (pattern,)}, Path("/top/shared"), Path("/top"), Path("/top"))
    assert told["exclude"] == there


def test_a_pattern_that_excludes_a_whole_folder_does_not_when_that_is_named() -> None:
    told = moved({"exclude": ("/a", "b/x.py", "gen")}, Path("/top"), Path("/top/a"), Path("/top/a"))
    assert told["exclude"] == ("gen",)
