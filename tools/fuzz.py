"""Lints generated and mutated sources, and whole libraries, with every rule on and every module assumed.

    python tools/fuzz.py --mutated 2000 --generated 300 FOLDER…      mutate files of these folders
    python tools/fuzz.py --whole FOLDER…                             lint these folders as they are

A crash, a run of more than ten seconds per file, or a broken answer is printed with what caused it, kept in
a folder, and makes the exit status 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

PATIENCE = 10.0
"""Seconds that a single file may take."""

EVERYTHING = ("--assume-compiled", "--pedantic", "--select", "ALL", "--min-confidence", "possible")
TOKENS = (
    b"self",
    b"self.n",
    b"(",
    b")",
    b"[",
    b"]",
    b"{",
    b"}",
    b":",
    b"=",
    b"+=",
    b"\n",
    b"    ",
    b"\t",
    b"\\",
)
WORDS = (
    b"lambda: ",
    b"await ",
    b"yield ",
    b"*",
    b"**",
    b":=",
    b"match x:\n",
    b"case _:\n",
    b"@",
    b"async def ",
)
SENTENCES = (
    b"@torch.compile\n",
    b"self.n += 1\n",
    b"global n\n",
    b"del self.n\n",
    b"from x import *\n",
    b"#",
)


def mutated(source: bytes, chance: random.Random) -> bytes:
    """The source with a few accidents: lost, doubled, moved and inserted bytes, words and lines."""
    lines = source.splitlines(keepends=True) or [b"\n"]
    for _ in range(chance.randrange(1, 6)):
        number = chance.randrange(len(lines))
        line = lines[number]
        place = chance.randrange(len(line) + 1)
        match chance.randrange(8):
            case 0:
                del lines[number]
                lines = lines or [b"\n"]
            case 1:
                lines.insert(chance.randrange(len(lines) + 1), line)
            case 2:
                lines[number] = line[:place] + line[place + chance.randrange(1, 9) :]
            case 3:
                lines[number] = line[:place] + chance.choice((*TOKENS, *WORDS, *SENTENCES)) + line[place:]
            case 4:
                other = chance.randrange(len(lines))
                lines[number], lines[other] = lines[other], line
            case 5:
                lines[number] = b"    " + line if chance.random() < 0.5 else line.lstrip()
            case 6:
                lines[number] = line[:place] + bytes([chance.randrange(256)]) + line[place:]
            case _:
                lines.insert(number, line[: len(line) - len(line.lstrip())] + chance.choice(SENTENCES))
    return b"".join(lines)


def generated(count: int, seed: int) -> Iterator[bytes]:
    """Programs from Python's grammar, by hypothesmith; one in four from libcst's nodes, which is slower."""
    import hypothesmith

    yield from examples(hypothesmith.from_grammar(), count - count // 4, seed)
    yield from examples(hypothesmith.from_node(), count // 4, seed)


def examples(programs: SearchStrategy[str], count: int, seed: int) -> list[bytes]:
    """Examples of a strategy, the same for the same seed."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    found: list[str] = []

    @seeded(seed)
    @settings(
        max_examples=max(count, 1), deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(programs)
    def collect(text: str) -> None:
        found.append(text)

    collect()
    return [text.encode("utf-8", "surrogatepass") for text in found]


def problem(folder: Path, name: str, allowed: float) -> str | None:
    """What is wrong with linting a path, if anything."""
    from dynamo_lint import cli

    out, err = io.StringIO(), io.StringIO()
    started = time.perf_counter()
    here = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = cli.run([name, "--isolated", "--no-cache", "-q", "--output-format", "json", *EVERYTHING])
    finally:
        os.chdir(here)
    took = time.perf_counter() - started
    if status not in (0, 1):
        return f"exit status {status}: {err.getvalue().strip()}"
    if took > allowed:
        return f"took {took:.1f} s"
    try:
        json.loads(out.getvalue())
    except ValueError as error:
        return f"the answer is no JSON: {error}"
    return None


def try_all(sources: Iterator[bytes], keep: Path) -> tuple[int, int]:
    """How many sources were linted, and how many had a problem."""
    tried = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "source.py"
        for source in sources:
            file.write_bytes(source)
            tried += 1
            if (what := problem(Path(folder), file.name, PATIENCE)) is not None:
                bad += 1
                keep.mkdir(parents=True, exist_ok=True)
                kept = keep / f"{bad}.py"
                kept.write_bytes(source)
                print(f"{kept}: {what}", flush=True)
    return tried, bad


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--mutated", type=int, default=0, metavar="N")
    parser.add_argument("--generated", type=int, default=0, metavar="N")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    failed = 0
    print(f"seed {options.seed}")
    if options.mutated:
        files = [path for folder in options.folders for path in sorted(folder.rglob("*.py"))]
        files = [path for path in files if 0 < path.stat().st_size < 60_000]
        sources = (mutated(chance.choice(files).read_bytes(), chance) for _ in range(options.mutated))
        tried, bad = try_all(sources, options.keep / "mutated")
        failed += bad
        print(f"mutated: {tried} linted, {bad} with a problem")
    if options.generated:
        tried, bad = try_all(generated(options.generated, options.seed), options.keep / "generated")
        failed += bad
        print(f"generated: {tried} linted, {bad} with a problem")
    if options.whole:
        for folder in options.folders:
            count = sum(1 for _ in folder.rglob("*.py"))
            started = time.perf_counter()
            what = problem(folder, ".", PATIENCE * max(count, 1))
            failed += what is not None
            print(f"{folder}: {count} files in {time.perf_counter() - started:.0f} s, {what or 'no problem'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    sys.exit(main())
