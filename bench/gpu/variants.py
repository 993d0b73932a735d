"""Write what `measure.py` times into a folder: a package as written, after `--fix`, after the advice as well.

    python bench/gpu/variants.py FOLDER

`FOLDER/written` and `FOLDER/fixed` hold the same package, the second as `dynamo-lint check --fix` leaves it;
`FOLDER/advised` has what the remaining findings advise as well, by hand. No GPU is needed, and no torch.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Write the three variants and print what the linter says of each."""
    if len(sys.argv) != 2:
        sys.exit("usage: variants.py FOLDER")
    folder = Path(sys.argv[1])
    for variant, source in (("written", "written"), ("fixed", "written"), ("advised", "advised")):
        target = folder / variant
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(HERE / source, target, ignore=shutil.ignore_patterns("__pycache__"))
    _lint(folder / "fixed", "--fix")
    for variant in ("written", "fixed", "advised"):
        print(f"{variant}:")
        print(_lint(folder / variant, "--output-format", "concise"))


def _lint(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "dynamo_lint", "check", "--isolated", "--exit-zero", *options, "."]
    lint = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if lint.returncode:
        sys.exit(lint.stderr)
    return lint.stdout


if __name__ == "__main__":
    main()
