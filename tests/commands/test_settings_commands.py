"""`init`, `config`, `config-schema` and `clean`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dynamo_lint import cli
from dynamo_lint.config import KEYS, load
from dynamo_lint.config_schema import schema
from dynamo_lint.selectors import UnknownSelector
from dynamo_lint.toml import tomllib
from tests.commands.test_cli import COUNTER
from tests.docs.test_commands import DOCS, snippets

VALIDATOR = jsonschema.Draft7Validator(schema())


# --- config-schema ---------------------------------------------------------------------------------------


def settings_of(text: str) -> dict[str, Any] | None:
    """The settings in a TOML text, if it is about ours."""
    table = tomllib.loads(text)
    return table.get("tool", {}).get("dynamo-lint") if "tool" in table or "project" in table else table


def test_the_schema_is_one_and_has_every_key(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["config-schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    jsonschema.Draft7Validator.check_schema(printed)
    assert list(printed["properties"]) == list(KEYS)
    assert printed == json.loads(json.dumps(schema()))
    assert cli.run(["config-schema", "-o", "schema.json"]) == 0
    assert json.loads((here / "schema.json").read_text()) == printed


def test_what_the_documentation_shows_is_valid() -> None:
    shown = [
        table
        for document in DOCS
        for text in snippets(document, "toml")
        if (table := settings_of(text)) is not None
    ]
    assert len(shown) > 5
    for table in shown:
        VALIDATOR.validate(table)
    for key, about in KEYS.items():
        if about.example:
            VALIDATOR.validate(tomllib.loads(f"{key} = {about.example}"))
        for word in about.choices:
            VALIDATOR.validate({key: word})
        default = schema()["properties"][key].get("default")
        assert default is None or VALIDATOR.is_valid({key: default})


@pytest.mark.parametrize(
    "table",
    [
        {"selct": ["DYN1"]},
        {"select": "DYN1"},
        {"fail-level": "fatal"},
        {"recompile-limit": 0},
        {"pedantic": "yes"},
        {"torch-version": 2.1},
        {"severity": {"DYN1": "bad"}},
        {"overrides": [{"select": ["DYN1"]}]},
        {"overrides": [{"paths": ["a"], "pedantic": True}]},
        {"contract": {"max-breaks": -1}},
        {"contract": {"environment": {"A": {"need": True}}}},
    ],
)
def test_what_no_run_would_take_is_invalid(table: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(table)


VALUES = [
    True,
    0,
    1,
    -1,
    1.5,
    "",
    "x",
    "2.13",
    ">=0.1",
    "likely",
    "full",
    [],
    ["a"],
    ["DYN1"],
    [1],
    {},
    {"a": "x"},
]


@pytest.mark.parametrize("key", KEYS)
def test_the_schema_takes_what_a_run_takes(key: str) -> None:
    for value in [
        *VALUES,
        {"a": ["DYN1"]},
        {"DYN1": "off"},
        {"max-breaks": 1, "torch": ">=2"},
        [{"paths": ["a"]}],
    ]:
        try:
            KEYS[key].read(value)
        except (ValueError, UnknownSelector):
            continue
        assert VALIDATOR.is_valid({key: value}), (key, value)


# --- config ----------------------------------------------------------------------------------------------


def test_a_key_is_explained_with_the_value_in_force(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "dynamo-lint.toml").write_text('\nfail-level = "error"\n')
    assert cli.run(["config", "fail_level", "regions"]) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.splitlines() == [
        "fail-level",
        "  lowest severity that makes the exit status 1",
        '  default:  "warning"',
        '  one of:   "note", "warning", "error"',
        '  in force: "error" (dynamo-lint.toml:2)',
    ]
    assert '  example:  regions = ["pkg.moe:MoE"]\n  in force: [] (default)\n' in second
    assert cli.run(["config", "--isolated", "fail-level"]) == 0
    assert 'in force: "warning" (default)' in capsys.readouterr().out


def test_every_key_can_be_asked_for_and_all_at_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["config", *KEYS]) == 0
    assert capsys.readouterr().out.count("in force:") == len(KEYS)
    assert cli.run(["config"]) == 0
    assert "pedantic = false  # default\n" in capsys.readouterr().out


def test_a_key_that_is_none_is_met_with_a_guess_and_one_inside_with_its_table(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["config", "fail-leval"]) == 2
    assert "is called 'fail-leval'; did you mean 'fail-level'?" in capsys.readouterr().err
    assert cli.run(["config", "contract.max-breaks"]) == 0
    assert capsys.readouterr().out.startswith("contract\n")


def test_a_folder_that_has_the_name_of_a_command_is_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "config").mkdir()
    (here / "config/a.py").write_text(COUNTER)
    assert cli.run(["config"]) == 0
    assert capsys.readouterr().err == "`config` is a command; `dynamo-lint ./config` lints the folder\n"
    assert cli.run(["./config", "-q"]) == 1


# --- init ------------------------------------------------------------------------------------------------


def test_a_first_configuration_is_written_and_never_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["init"]) == 0
    assert capsys.readouterr().err == "dynamo-lint.toml: written\n"
    text = (here / "dynamo-lint.toml").read_text()
    assert load(here).required_version is not None
    for line in text.splitlines():  # what is commented out can be put in force as it stands
        if line.startswith("# ") and " = " in line:
            VALIDATOR.validate(tomllib.loads(line.removeprefix("# ")))
    assert cli.run(["init"]) == 2
    assert "dynamo-lint.toml: is a configuration already" in capsys.readouterr().err
    assert (here / "dynamo-lint.toml").read_text() == text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_a_pyproject_gets_a_section_and_keeps_the_rest(here: Path, end: str, last: str) -> None:
    text = f'[project]\nname = "ü"  # mine{last}'.replace("\n", end)
    (here / "pyproject.toml").write_bytes(text.encode())
    assert cli.run(["init", "."]) == 0
    raw = (here / "pyproject.toml").read_bytes().decode()
    assert raw.startswith(text)
    assert f"{end}{end}[tool.dynamo-lint]{end}" in raw
    assert raw.count("\n") == raw.count(end)
    assert load(here).source == here / "pyproject.toml"
    assert cli.run(["init"]) == 2
    assert (here / "pyproject.toml").read_bytes().decode() == raw


@pytest.mark.parametrize("text", ["tool = {}\n", "[project\n", "[tool]\ndynamo-lint = 1\n"])
def test_a_pyproject_that_takes_no_section_is_left_as_it_is(
    here: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (here / "pyproject.toml").write_text(text)
    assert cli.run(["init"]) == 2
    assert "pyproject.toml" in capsys.readouterr().err
    assert (here / "pyproject.toml").read_text() == text
    assert not (here / "dynamo-lint.toml").exists()


def test_a_configuration_above_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "dynamo-lint.toml").write_text('torch-version = "2.9"\n')
    (here / "sub").mkdir()
    assert cli.run(["init", "sub"]) == 0
    assert "It takes the place of dynamo-lint.toml in this folder and below." in capsys.readouterr().err
    assert (
        '# torch-version = "2.9"  # now: set above this folder' in (here / "sub/dynamo-lint.toml").read_text()
    )


# --- clean -----------------------------------------------------------------------------------------------


@pytest.fixture
def linted(here: Path, folder_for_caches: Path) -> Path:
    """The folder of all caches, with that of the project here and that of another."""
    for folder in (here / "one", here / "two"):
        folder.mkdir()
        (folder / "dynamo-lint.toml").touch()
        (folder / "a.py").write_text(COUNTER)
        cli.run([str(folder), "-q"])
    return folder_for_caches / "dynamo-lint"


def projects(home: Path) -> list[Path]:
    return [path for path in home.iterdir() if path.is_dir()]


def test_the_cache_of_a_project_is_removed_and_measured(
    here: Path, linted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(projects(linted)) == 2
    capsys.readouterr()
    assert cli.run(["clean", "one"]) == 0
    said = capsys.readouterr().err
    (left,) = projects(linted)
    assert said.startswith(f"{linted}/")
    assert "bytes\n" in said
    assert " 0 bytes" not in said
    assert cli.run(["clean", "one"]) == 0
    assert f"no cache of {here / 'one'}" in capsys.readouterr().err
    assert cli.run(["clean", "--all"]) == 0
    assert str(left) in capsys.readouterr().err
    assert projects(linted) == []
    assert (linted / "key").is_file()
    assert cli.run(["clean", "--all"]) == 0


def test_only_what_a_run_writes_is_removed_and_no_link_followed(
    here: Path, linted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = projects(linted)
    (one / "mine.txt").write_text("mine")
    outside = here / f"{'0' * 16}-{'0' * 16}.pack"
    outside.write_text("x")
    (one / outside.name).symlink_to(outside)
    (linted / ("f" * 32)).symlink_to(here)
    assert cli.run(["clean", "--all"]) == 0
    assert sorted(path.name for path in one.iterdir()) == [outside.name, "mine.txt"]
    assert outside.read_text() == "x"
    assert not two.exists()


def test_a_named_folder_is_cleared_of_a_cache_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(COUNTER)
    (here / "dynamo-lint.toml").touch()
    cli.run(["--cache-dir", "cache", "-q"])
    assert list((here / "cache").glob("*.pack"))
    assert cli.run(["clean", "--cache-dir", "cache"]) == 0
    assert not (here / "cache").exists()
    assert cli.run(["clean", "--cache-dir", "cache"]) == 0
    assert "no cache of cache" in capsys.readouterr().err
    assert cli.run(["clean", "--all", "--cache-dir", "cache"]) == 2
