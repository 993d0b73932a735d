"""Regenerate the command output shown in README.md, or check that it is what the commands print today.

A block starts with `<!-- output: COMMAND -->` and ends with `<!-- /output -->`. Each command really runs,
from the repository root, without colour and 100 columns wide; what it prints goes between the markers.

    python tools/readme.py            rewrite README.md
    python tools/readme.py --check    exit 1 if it is stale
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"(<!-- output: (?P<command>.+?) -->\n).*?(<!-- /output -->)", re.DOTALL)


def output(command: str) -> str:
    """What a command prints, stdout and stderr together as a terminal shows them."""
    program, *arguments = shlex.split(command)
    if program != "dynamo-lint":
        sys.exit(f"README.md: only dynamo-lint can be run in an output block, not {program!r}")
    done = subprocess.run(
        [sys.executable, "-m", "dynamo_lint", *arguments],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in (0, 1):
        sys.exit(f"`{command}` failed:\n{done.stdout}")
    return done.stdout


def refreshed(text: str) -> str:
    """README text with every block filled anew."""

    def block(match: re.Match[str]) -> str:
        command = match["command"]
        return f"{match[1]}```console\n$ {command}\n{output(command)}```\n{match[3]}"

    return BLOCK.sub(block, text)


def main() -> int:
    """The exit status."""
    text = README.read_text(encoding="utf-8")
    fresh = refreshed(text)
    if sys.argv[1:] == ["--check"]:
        if fresh != text:
            sys.stderr.write("README.md shows output that is no longer true; run `python tools/readme.py`\n")
        return int(fresh != text)
    README.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
