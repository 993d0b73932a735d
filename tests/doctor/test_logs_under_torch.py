"""What `doctor` says of values of TORCH_LOGS is held against torch itself.

What torch has answered before is asked again only for a sample: see tests/receipts.py.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from tests.receipts import outcome_of

REFUSED = ("", "dynamo,", "dynamo , aot")
"""Values with which torch cannot be imported."""
IMPORT = "import torch"


def recorded_as(value: str) -> str:
    """The name of the row of a value."""
    return f"doctor: TORCH_LOGS={value}"


@pytest.mark.parametrize("value", REFUSED)
def test_what_is_said_of_the_logs_holds_under_torch(value: str, pytestconfig: pytest.Config) -> None:
    def run() -> tuple[int, bool]:
        done = subprocess.run(
            [sys.executable, "-c", IMPORT],
            env={**os.environ, "TORCH_LOGS": value},
            capture_output=True,
            check=False,
        )
        return done.returncode, b"AttributeError" in done.stderr

    texts = [("code", IMPORT), ("TORCH_LOGS", value)]
    assert outcome_of(recorded_as(value), texts, run, pytestconfig) == [1, value == ""]
