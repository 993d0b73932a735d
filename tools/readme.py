"""Regenerate what README.md and docs/ take from the code, or check that it is true today.

Two kinds of blocks are filled. Between `<!-- output: COMMAND -->` and `<!-- /output -->` goes what the
command prints: it really runs, in a copy of EXAMPLES, without colour and 100 columns wide. Between
`<!-- table: NAME -->` and `<!-- /table -->` goes a table made from rule pages, settings or options.

    python tools/readme.py            rewrite the files
    python tools/readme.py --check    exit 1 if one is stale
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.tables import TABLES  # noqa: E402

OUTPUT = re.compile(r"(<!-- output: (?P<command>.+?) -->\n).*?(<!-- /output -->)", re.DOTALL)
TABLE = re.compile(r"(<!-- table: (?P<name>.+?) -->\n).*?(<!-- /table -->)", re.DOTALL)

EXAMPLES = ("pyproject.toml", "fixtures", "tests/logs/jobs", "tests/logs/programs")
"""What the commands are about. The rest of the repository would be read as well, a minute each time."""


@contextmanager
def examples() -> Iterator[Path]:
    """A folder with a copy of EXAMPLES."""
    with tempfile.TemporaryDirectory() as folder:
        for name in EXAMPLES:
            copy = Path(folder, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copy)
        yield Path(folder)


def files() -> list[Path]:
    """The files with blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def output(command: str) -> str:
    """What a command prints, stdout and stderr together as a terminal shows them."""
    program, *arguments = shlex.split(command)
    if program != "dynamo-lint":
        sys.exit(f"only dynamo-lint can be run in an output block, not {program!r}")
    with examples() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "dynamo_lint", *arguments],
            cwd=folder,
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


def refreshed(text: str, folder: Path) -> str:
    """The text of a file in `folder` with every block filled anew."""

    def fill(match: re.Match[str]) -> str:
        command = match["command"]
        return f"{match[1]}```console\n$ {command}\n{output(command)}```\n{match[3]}"

    def tabulate(match: re.Match[str]) -> str:
        if match["name"] not in TABLES:
            sys.exit(f"no table is called {match['name']!r}; there are {', '.join(TABLES)}")
        return f"{match[1]}{TABLES[match['name']](os.path.relpath(ROOT, folder))}{match[3]}"

    return TABLE.sub(tabulate, OUTPUT.sub(fill, text))


def main() -> int:
    """The exit status."""
    stale = []
    for file in files():
        text = file.read_text(encoding="utf-8")
        fresh = refreshed(text, file.parent)
        if fresh != text:
            stale.append(file.relative_to(ROOT).as_posix())
            if sys.argv[1:] != ["--check"]:
                file.write_text(fresh, encoding="utf-8")
    if sys.argv[1:] != ["--check"]:
        return 0
    for name in stale:
        sys.stderr.write(f"{name} shows what is no longer true; run `python tools/readme.py`\n")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
