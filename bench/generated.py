"""Makes tests/run/generated.json: `python bench/generated.py [--seed N]`.

Programs from Python's whole grammar, which take longer to make than to lint. Tests lint these and a few fresh
ones; each night others are made (tools/fuzz.py).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import hypothesmith

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.fuzz import examples

FILE = ROOT / "tests" / "run" / "generated.json"
COUNT = 200


def main() -> int:
    """Make the programs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    save(examples(hypothesmith.from_grammar(), COUNT, parser.parse_args().seed))
    return 0


def save(programs: list[bytes]) -> None:
    """Write them, one a line."""
    lines = [json.dumps(one.decode("utf-8", "surrogatepass")) for one in programs]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
