"""What runs under torch came to, for the texts of programs that were run as they stand: tests/receipts.json.

It is to the fixed programs of tests/truth, the classes of tests/cases and the programs of the rule pages what
tests/truth/verdicts.json is to the programs of tests/truth: a run stands as long as the text, the torch and the
Python are those of the run, but for a sample, and with `--all-under-torch`. A row has the hash of its text and the
receipts of its runs, without what is usual: `{"text": "1a2b3c4d", "runs": [{"compiles": 1, …}]}`. A row whose
text has changed since fails its test, and one of no program fails too: `python bench/receipts.py` makes all anew.

Where code of ours has a part in what a run comes to, its text is part of the row's text, and what has changed since
is run each time until the table is made anew (`outcome_of`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.proof import Receipt
from tests.verdicts import sampled, surroundings

TABLE = Path(__file__).parent / "receipts.json"
MADE_BY = "python bench/receipts.py"

Runs = tuple[Receipt, ...]


class Recorder:
    """The pytest plugin of bench/receipts.py: what the table does not know, or everything, is run and noted."""

    def __init__(self, again: bool = False) -> None:
        self.again = again
        self.rows: dict[str, dict[str, Any]] = {}


@cache
def load() -> dict[str, Any]:
    """The table: `{"run": {"torch": "2.13.0", "python": "3.11"}, "rows": {name: row}}`."""
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def save(rows: dict[str, dict[str, Any]]) -> None:
    """Write these rows, one a line, as those of this torch and Python."""
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(rows.items())]
    body = ",\n".join(lines)
    TABLE.write_text(f'{{"run": {json.dumps(surroundings())},\n"rows": {{\n{body}\n}}}}\n', encoding="utf-8")


def runs_of(
    name: str, texts: Sequence[tuple[str, str]], run: Callable[[], Runs], config: pytest.Config
) -> Runs:
    """The receipts of a program with these texts, from an earlier run or from one that is made now.

    It is an error if the texts were others when they were recorded.
    """
    row = _row(name)
    is_recording = _recorder(config) is not None
    assert is_recording or row is None or row["text"] == digest_of(texts), (
        f"its text has changed: run `{MADE_BY}`"
    )
    runs = outcome_of(name, texts, lambda: [packed(one) for one in run()], config)
    return tuple(map(unpacked, runs))


def outcome_of(
    name: str, texts: Sequence[tuple[str, str]], run: Callable[[], Any], config: pytest.Config
) -> Any:
    """What a run comes to that depends on these texts and on torch alone, as data for JSON.

    It is that of an earlier run where the texts are still those. They hold all of our code that has a part in it.
    """
    row, recorder, digest = _row(name), _recorder(config), digest_of(texts)
    known = row is not None and row["text"] == digest
    everything = recorder.again if recorder is not None else config.getoption("--all-under-torch")
    if row is not None and known and not everything and (recorder is not None or not sampled(name)):
        runs = row["runs"]
    else:
        runs = json.loads(json.dumps(run()))
        if row is not None and known and recorder is None:
            assert row["runs"] == runs, f"an earlier run came to something else: run `{MADE_BY}`"
    if recorder is not None:
        recorder.rows[name] = {"text": digest, "runs": runs}
    return runs


def digest_of(texts: Sequence[tuple[str, str]]) -> str:
    """A short hash of named texts."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:8]


def texts_of(*paths: Path) -> list[tuple[str, str]]:
    """Name and text of files, and of the Python files in folders."""
    files = [file for path in paths for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])]
    return [(file.name, file.read_text(encoding="utf-8")) for file in files]


def _row(name: str) -> dict[str, Any] | None:
    """The row of a name, if the table is of this torch and Python."""
    table = load()
    return table["rows"].get(name) if table["run"] == surroundings() else None


def _recorder(config: pytest.Config) -> Recorder | None:
    """The recorder, where bench/receipts.py runs the tests."""
    return next((one for one in config.pluginmanager.get_plugins() if isinstance(one, Recorder)), None)


def packed(receipt: Receipt) -> dict[str, Any]:
    """A receipt as data for JSON, without what is usual."""
    usual = {one.name: one.default for one in fields(Receipt) if one.default is not MISSING}
    usual |= {"limit": False, "stale": False, "breaks": 0, "break_ids": frozenset()}
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(receipt).items()
        if name not in usual or value != usual[name]
    }


def unpacked(row: dict[str, Any]) -> Receipt:
    """The receipt of such data."""
    lines = frozenset((name, line) for name, line in row.get("break_lines", ()))
    ids = frozenset(row.get("break_ids", ()))
    return Receipt(
        **{"limit": False, "stale": False, "breaks": 0, **row, "break_ids": ids, "break_lines": lines}
    )
