"""Each key of a contract stands in the reference with an example that is read, and refuses what it cannot mean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.config import load
from dynamo_lint.contract import Contract, Expectation
from dynamo_lint.raw_values import stated

REFERENCE = (Path(__file__).parent.parent.parent / "docs" / "reference" / "configuration.md").read_text()
ROW = re.compile(r"^\| (`[a-z`, -]+`) \| (.+?) \| .*\|$", re.MULTILINE)
VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
OF_NUMBERS = {"min": "TORCHINDUCTOR_COMPILE_THREADS", "max": "TORCHINDUCTOR_COMPILE_THREADS"}
BAD = {
    "max-recompiles": "-1",
    "max-recompiles-after": "40",
    "max-autotune-configs": "0",
    "expected-breaks": '{ "net.py" = -2 }',
    "enforce": '"always"',
    "off-switches": "false",
    "mutable-state": '"never"',
    "settings-site": '"configure"',
    "guard-surface": '"guards.txt"',
    "dynamic-axes": '["train:x"]',
    "torch": '"2.13 or so"',
    "settings": "{ capture_scalar_outputs = [1] }",
    "environment": "{ TORCHINDUCTOR_CACHE_DIR = 1 }",
    "ignore-log": "3",
}
"""Values of the wrong sort, beside a list of a number, which none of the other keys takes."""
BAD_DEMANDS = {
    "equals": "1",
    "required": '"yes"',
    "forbidden": "1",
    "min": '"many"',
    "max": "-1",
    "writable": '"yes"',
    "free-gb": '"much"',
    "not-under": "5",
    "exists": '"yes"',
    "volume": '"other"',
    "mount": '"mnt/scratch"',
    "per-run": '"$SLURM_JOB_ID"',
    "when": '"always"',
}


def section(title: str) -> str:
    return REFERENCE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def examples(title: str) -> list[tuple[str, str]]:
    """Each key of the tables of a section with each of its examples."""
    found = []
    for keys, cell in ROW.findall(section(title)):
        for key in re.findall(r"`([^`]+)`", keys):
            found += [(key, one) for one in re.findall(r"`([^`]+)`", cell)]
    return found


RUNS, CODE = examples("What a run may cost"), examples("The contract")
DEMANDS = examples("What an environment must hold")
KEYS = {key.replace("_", "-") for key in Contract.__dataclass_fields__}


def test_every_key_has_an_example() -> None:
    assert {key for key, _ in (*RUNS, *CODE)} >= KEYS
    assert {key for key, _ in DEMANDS} == {key.replace("_", "-") for key in Expectation.__dataclass_fields__}


@pytest.mark.parametrize(("key", "example"), [*RUNS, *CODE])
def test_the_example_of_a_key_is_read(key: str, example: str, tmp_path: Path) -> None:
    text = example if example.startswith(f"{key} =") else f"{key} = {example}"
    (tmp_path / "dynamo-lint.toml").write_text(f"[contract]\n{text}\n")
    contract = load(tmp_path, None, False).contract
    assert key in stated(contract)


@pytest.mark.parametrize(("key", "example"), DEMANDS)
def test_the_example_of_a_demand_is_read(key: str, example: str, tmp_path: Path) -> None:
    variable = OF_NUMBERS.get(key, VARIABLE)
    more = "required = true, " if key == "when" else ""
    text = f"[contract.environment]\n{variable} = {{ {more}{key} = {example} }}\n"
    (tmp_path / "dynamo-lint.toml").write_text(text)
    ((_, wanted),) = load(tmp_path, None, False).contract.environment
    assert key in stated(wanted)


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_bad_value_of_a_key_is_refused_with_its_line_and_a_hint(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dynamo-lint.toml").write_text(
        f"pedantic = false\n[contract]\n{key} = {BAD.get(key, '[1]')}\n"
    )
    monkeypatch.chdir(tmp_path)
    status = cli.run(["check", "."])
    said = capsys.readouterr().err
    assert (status, "dynamo-lint.toml:3: " in said, f"contract.{key}" in said) == (2, True, True), said
    assert re.search("expected|did you mean|no such|it is", said), said


@pytest.mark.parametrize("key", sorted(BAD_DEMANDS))
def test_a_bad_value_of_a_demand_is_refused_with_its_line_and_a_hint(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variable = OF_NUMBERS.get(key, VARIABLE)
    text = f"[contract.environment]\nTORCH_LOGS = {{ forbidden = true }}\n{variable} = {{ {key} = {BAD_DEMANDS[key]} }}\n"
    (tmp_path / "dynamo-lint.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    status = cli.run(["check", "."])
    said = capsys.readouterr().err
    named = f"contract.environment.{variable}.{key}" in said
    assert (status, "dynamo-lint.toml:3: " in said, named, "expected" in said) == (2, True, True, True), said
