"""Memory and time of the language server: `python bench/server.py [PROJECT...] [--edits N]`.

First a small project is edited `--edits` times, and the memory of the server is told after every 50 of them:
it must not grow. Then a file of each PROJECT is edited, a comment and a statement in turn, and the time from
an edit to its diagnostics is told, without the pause that waits for the next key, beside that of `ast.parse`
over all of its files. Nothing here needs a network.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from dynamo_lint.server.project import PAUSE
from tests.server.client import MOE, TRAIN, Client, session, write
from tests.server.test_server import random_edits

WARM = 50
"""Edits before memory is first looked at: caches of the interpreter are full then."""
TIMED = 10


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("projects", nargs="*", type=Path)
    parser.add_argument("--edits", type=int, default=500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        asyncio.run(memory(given.edits))
        for project in given.projects:
            asyncio.run(times(project.absolute()))
    return 0


async def memory(edits: int) -> None:
    """What the server holds after the first edits, and after all."""
    with tempfile.TemporaryDirectory() as name:
        folder = write(Path(name), moe=MOE, train=TRAIN)
        rng = random.Random(1)
        async with session(folder, pulls=True, encoding="utf-8") as client:
            sizes = []
            for count in (WARM, *[50] * ((edits - WARM) // 50)):
                await judged_edits(client, folder, count, rng)
                sizes.append(resident(client))
        print(f"memory of the server in MB, every 50 edits: {' '.join(f'{size:.0f}' for size in sizes)}")


async def judged_edits(client: Client, folder: Path, count: int, rng: random.Random) -> None:
    """Edits, each of which is judged before the next."""
    for _ in range(count):
        await random_edits(client, folder, 1, rng)
    write(folder, moe=MOE, train=TRAIN)


def resident(client: Client) -> float:
    """The memory of the server, in millions of bytes."""
    assert client._server is not None
    pages = int(Path(f"/proc/{client._server.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def times(project: Path) -> None:
    """How long an edit takes, and the parser beside it."""
    sources = [path.read_bytes() for path in files(project)]
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in sources:
            ast.parse(source)
    unit = time.perf_counter() - start
    path = max(files(project), key=lambda path: path.read_bytes().count(b"nn.Module"))
    text, taken = path.read_text(), {"comment": list[float](), "statement": list[float]()}
    async with session(project, pulls=True) as client:
        start = time.perf_counter()
        client.open(path)
        await client.pull(path)
        first = time.perf_counter() - start
        for version in range(2, 2 * TIMED + 2):
            kind = "statement" if version % 2 else "comment"
            line = f"edit_{version} = {version}\n" if version % 2 else f"# edit {version}\n"
            client.edit(path, version, text + line)
            start = time.perf_counter()
            await client.pull(path)
            taken[kind].append(time.perf_counter() - start - PAUSE)
        size = resident(client)
    medians = {kind: statistics.median(seconds) for kind, seconds in taken.items()}
    told = ", ".join(f"{kind} {one:.2f} s = {one / unit:.1f} units" for kind, one in medians.items())
    print(f"{project.name}: {len(sources)} files, ast.parse (the unit) {unit:.2f} s, first {first:.1f} s")
    print(f"  from an edit to its diagnostics: {told}; memory {size:.0f} MB")


def files(project: Path) -> Iterator[Path]:
    """The Python files of a project."""
    return (path for path in project.rglob("*.py") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
