"""Makes tests/receipts.json: what the fixed programs, the cases and the pages come to under torch.

`python bench/receipts.py` after one of them, a fix or what runs probes was edited; with the pinned torch.
It runs the tests that ask for receipts, for these know the programs, and writes the table only if all of them
pass. Only what the table does not know yet is run under torch, unless `--again`: five minutes of one core.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests import receipts

ASKING = (
    "tests/conditions/test_arguments.py",
    "tests/confirm/test_exercised_under_torch.py",
    "tests/confirm/test_pages_confirmed_under_torch.py",
    "tests/doctor/test_logs_under_torch.py",
    "tests/evaluation/test_flow_to_compile_sites.py",
    "tests/fixes/test_fixes_under_torch.py",
    "tests/fixes/test_pages_fixed_under_torch.py",
    "tests/fixes/test_truth_fixed_under_torch.py",
    "tests/models/test_environment_under_torch.py",
    "tests/regions/test_regions_under_torch.py",
    "tests/rules/test_cases_under_torch.py",
    "tests/rules/test_fixtures_under_torch.py",
    "tests/rules/test_pages_under_torch.py",
    "tests/values/test_records.py",
    "tests/values/test_replaced_functions.py",
)
"""The tests that ask for receipts."""


def main() -> int:
    """Run what is to be run, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--again", action="store_true", help="also what the table knows")
    recorder = receipts.Recorder(parser.parse_args().again)
    os.chdir(ROOT)
    status = pytest.main(["-q", "-p", "no:cacheprovider", "-n0", *ASKING], [recorder])
    if status == pytest.ExitCode.OK:
        receipts.save(recorder.rows)
        print(f"{len(recorder.rows)} rows in {receipts.TABLE.relative_to(ROOT)}")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
