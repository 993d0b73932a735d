"""Random edits of projects: what each costs with a cache, and whether the answer is that of a fresh run.

    python bench/edits.py litgpt=/path/to/litgpt timm=/path/to/timm --edits 100

A copy of each project is linted once with a cache. Then it is edited, each time from its first state: a
comment, a docstring, a statement of a function put in, taken away, exchanged with the next, or a number in it
changed, a file that nobody imports, a file taken away. The user processor time of the run after the edit is
told beside that of one process that calls `ast.parse` over the files, by kinds; what `--no-cache` says must
be equal.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from bench.speed import UNIT, copied

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
UNRELATED = "import json\n\n\ndef unrelated_rows(text):\n    return [row for row in json.loads(text)]\n"
Edited = Callable[[random.Random, Path], bytes | None]
"""Edits a file of a project and gives its new content; None where it has no such place."""


def main() -> int:
    """Print the figures; 1 if a cached answer was another one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("projects", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-check", dest="check", action="store_false", help="only measure")
    given = parser.parse_args()
    wrong = 0
    for text in given.projects:
        name, _, folder = text.partition("=")
        with tempfile.TemporaryDirectory() as scratch:
            copied(Path(folder), Path(scratch) / name)
            wrong += measured(Path(scratch) / name, given.edits, given.seed, given.check)
    return int(bool(wrong))


def measured(project: Path, count: int, seed: int, check: bool) -> int:
    """How many answers were wrong after edits of one project."""
    rng, cache, wrong = random.Random(seed), project.parent / "cache", 0
    taken: dict[str, list[float]] = defaultdict(list)
    unit = statistics.median(used([sys.executable, "-c", UNIT, str(project)])[0] for _ in range(3))
    run(project, "--cache-dir", str(cache))
    for kind, path, text in edits(project, count, rng):
        before = path.read_bytes() if path.exists() else None
        put(path, text)
        seconds, said = run(project, "--cache-dir", str(cache))
        taken[kind].append(seconds / unit)
        print(f"  {kind}, {path.relative_to(project)}: {seconds / unit:.2f}", file=sys.stderr, flush=True)
        if check and run(project, "--no-cache")[1] != said:
            wrong += 1
            print(f"  wrong after {kind} in {path.relative_to(project)}", flush=True)
        put(path, before)
    told = (
        f"{kind} {statistics.median(ratios):.2f} (worst {max(ratios):.2f}, {len(ratios)} times)"
        for kind, ratios in sorted(taken.items())
    )
    print(
        f"{project.name}: ast.parse {unit:.2f} s; in that unit: {', '.join(told)}; {wrong} wrong", flush=True
    )
    return wrong


def put(path: Path, text: bytes | None) -> None:
    """Give a file a content, or none."""
    if text is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(text)


def run(project: Path, *options: str) -> tuple[float, object]:
    """User seconds of a run, and its report."""
    command = [sys.executable, "-m", "dynamo_lint", str(project), "--isolated", "-q", "--exit-zero"]
    seconds, out = used([*command, "--output-format", "json", *options])
    return seconds, json.loads(out)


def used(command: list[str]) -> tuple[float, bytes]:
    """User seconds of a command and its children, and its output."""
    before = os.times().children_user
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
    return os.times().children_user - before, done.stdout


def edits(project: Path, count: int, rng: random.Random) -> Iterator[tuple[str, Path, bytes | None]]:
    """Random edits: the kind, the file and its new content."""
    paths = sorted(project.rglob("*.py"))
    while count:
        path, kind = rng.choice(paths), rng.choice([*KINDS, *BODIES, *BODIES])
        if kind == NEW:
            path = path.parent / "zz_unrelated.py"
        new = {**KINDS, **BODIES}[kind](rng, path)
        if new is None and kind != GONE:
            continue
        count -= 1
        yield "body" if kind in BODIES else kind, path, new


def comment(rng: random.Random, path: Path) -> bytes | None:
    """The file with a comment above a statement."""
    return with_line(path, rng, lines_and(path, ast.stmt)[1], b"# edited")


def with_line(path: Path, rng: random.Random, statements: list[Any], line: bytes) -> bytes | None:
    """The file with a line above one of its statements."""
    if not statements:
        return None
    at, lines = rng.choice(statements), path.read_bytes().split(b"\n")
    return joined([*lines[: at.lineno - 1], b" " * at.col_offset + line, *lines[at.lineno - 1 :]])


def docstring(rng: random.Random, path: Path) -> bytes | None:
    """The file with one more line in a docstring."""
    lines, found = lines_and(path, *FUNCTIONS, ast.ClassDef)
    texts = [one.body[0] for one in found if ast.get_docstring(one)]
    lasts = [text.end_lineno for text in texts if text.end_lineno > text.lineno]
    if not lasts:
        return None
    last = rng.choice(lasts)
    return joined([*lines[: last - 1], b"    And edited.", *lines[last - 1 :]])


def number(rng: random.Random, path: Path) -> bytes | None:
    """The file with another number in a function."""
    lines, found = lines_and(path, *FUNCTIONS)
    numbers: list[Any] = [
        part
        for one in found
        for statement in one.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Constant) and isinstance(part.value, int)
    ]
    if not numbers:
        return None
    one = rng.choice(numbers)
    line = lines[one.lineno - 1]
    lines[one.lineno - 1] = line[: one.col_offset] + str(one.value + 7).encode() + line[one.end_col_offset :]
    return joined(lines)


def inserted(rng: random.Random, path: Path) -> bytes | None:
    """The file with one more statement in a function."""
    places = [
        part for one in lines_and(path, *FUNCTIONS)[1] for part in one.body if part.lineno != one.lineno
    ]
    return with_line(path, rng, places, b"edited = print('edited')")


def deleted(rng: random.Random, path: Path) -> bytes | None:
    """The file with one statement less in a function."""
    lines, found = lines_and(path, *FUNCTIONS)
    places = [part for one in found for part in one.body[1:] if part.lineno != one.lineno]
    if not places:
        return None
    at = rng.choice(places)
    return joined([*lines[: at.lineno - 1], *lines[at.end_lineno :]])


def exchanged(rng: random.Random, path: Path) -> bytes | None:
    """The file with two neighbours in a function the other way round."""
    lines, found = lines_and(path, *FUNCTIONS)
    pairs = [
        (first, second)
        for one in found
        for first, second in pairwise(one.body)
        if first.end_lineno + 1 == second.lineno
    ]
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    above, one = lines[: first.lineno - 1], lines[first.lineno - 1 : first.end_lineno]
    other, below = lines[second.lineno - 1 : second.end_lineno], lines[second.end_lineno :]
    return joined([*above, *other, *one, *below])


NEW, GONE = "new file", "file gone"
KINDS: dict[str, Edited] = {
    "comment": comment,
    "docstring": docstring,
    NEW: lambda *_: UNRELATED.encode(),
    GONE: lambda *_: None,
}
BODIES: dict[str, Edited] = {
    "number": number,
    "inserted": inserted,
    "deleted": deleted,
    "exchanged": exchanged,
}


def lines_and(path: Path, *kinds: type[ast.AST]) -> tuple[list[bytes], list[Any]]:
    """The lines of a file, and its nodes of some kinds."""
    source = path.read_bytes()
    return source.split(b"\n"), [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


def joined(lines: list[bytes]) -> bytes | None:
    """The lines as a file; None if that is no Python any more."""
    source = b"\n".join(lines)
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    return source


if __name__ == "__main__":
    sys.exit(main())
