"""Memory, time and answers of the language server.

    python bench/server.py [PROJECT...] [--edits N] [--equal N]

First a small project is edited `--edits` times, and the memory of the server is told after every 50 of them:
it must not grow. Then files of each PROJECT are edited as `bench/edits.py` does it, and one with many modules
by a comment and a statement in turn, and the time from an edit to its diagnostics is told, without the pause
that waits for the next key, beside that of `ast.parse` over all of its files. With `--equal` there are that
many random edits, of the small project or else of each PROJECT, and after each one the diagnostics of all
files must be what a fresh `check` says. Nothing here needs a network.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import io
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lsprotocol import types

from bench.edits import BODIES, KINDS
from bench.speed import copied
from dynamo_lint.cli import run as lint
from dynamo_lint.fixes.bytes import parses
from dynamo_lint.server.project import PAUSE
from dynamo_lint.terminal import clean
from tests.server.client import MOE, TRAIN, Client, session, write
from tests.server.test_server import random_edits, randomly_edited

AT_ONCE = """
from dynamo_lint.cli import main
from dynamo_lint.server.project import Project
Project.touch.__defaults__ = (0.0,)
import sys
sys.argv = ["dynamo-lint", "server"]
main()
"""
"""The server without the pause that waits for the next key."""
WARM = 50
"""Edits before memory is first looked at: caches of the interpreter are full then."""
TIMED = 10
OTHERS = 20
"""Edits of any file."""


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("projects", nargs="*", type=Path)
    parser.add_argument("--edits", type=int, default=500)
    parser.add_argument("--equal", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_CACHE_HOME"] = f"{scratch}/cache"
        if given.equal:
            for project in given.projects or [write(Path(scratch) / "first" / "small", moe=MOE, train=TRAIN)]:
                copied(project, Path(scratch) / project.name)
                wrong += asyncio.run(
                    equal(Path(scratch) / project.name, given.equal, random.Random(given.seed))
                )
            return int(bool(wrong))
        asyncio.run(memory(given.edits))
        for project in given.projects:
            copied(project, Path(scratch) / project.name)
            asyncio.run(times(Path(scratch) / project.name))
    return 0


async def equal(project: Path, count: int, rng: random.Random) -> int:
    """After how many of so many edits, not saved, the diagnostics were not those of a fresh run."""
    wrong, made = 0, 0
    small = (project / "moe.py").exists()
    async with session(project, start=AT_ONCE, pulls=True, encoding="utf-8") as client:
        for path, text in small_edits(project, count, rng) if small else code_edits(project, count, rng):
            before, made = path.read_text(), made + 1
            client.open(path)
            client.edit(path, 2, text)
            shown = await workspace(client)
            path.write_text(text)
            fresh = said(project)
            if shown != fresh:
                wrong += 1
                print(f"  wrong after edit {made} of {path.name}: {sorted(shown ^ fresh)[:4]}", flush=True)
            if not small:
                path.write_text(before)
            if made % (100 if small else 5) == 0:
                print(f"  {made} edits, {wrong} differ", file=sys.stderr, flush=True)
            document = types.TextDocumentIdentifier(path.as_uri())
            client.text_document_did_close(types.DidCloseTextDocumentParams(document))
    print(f"{project.name}: {made} edits, each compared with a fresh check; {wrong} differ", flush=True)
    return wrong


def small_edits(folder: Path, count: int, rng: random.Random) -> Iterator[tuple[Path, str]]:
    """Edits of the small project, one upon the other: of those that do not parse most are taken back."""
    first = {path: path.read_text() for path in sorted(folder.glob("*.py"))}
    for _ in range(count):
        path = rng.choice(list(first))
        text = path.read_text()
        start, end, new = randomly_edited(text, rng)
        back = not parses(text.encode()) and rng.random() < 0.7
        yield path, first[path] if back else text[:start] + new + text[end:]


def code_edits(project: Path, count: int, rng: random.Random) -> Iterator[tuple[Path, str]]:
    """Edits as they happen, each of the first state of a file."""
    kinds = {**KINDS, **BODIES}
    names = [*BODIES, *BODIES, "comment", "docstring"]
    paths = sorted(files(project))
    while count:
        path = rng.choice(paths)
        if (new := kinds[rng.choice(names)](rng, path)) is not None:
            count -= 1
            yield path, new.decode()


_Said = set[tuple[str, str, int, str, str]]
"""File, code, line, fingerprint and message of findings."""


async def workspace(client: Client) -> _Said:
    """What the server says of all files."""
    asked = types.WorkspaceDiagnosticParams([])
    reports = (await client.workspace_diagnostic_async(asked)).items
    return {
        (uri.rpartition("/")[2], str(one.code), one.range.start.line + 1, str(one.data), told(one.message))
        for uri, items in ((report.uri, getattr(report, "items", ())) for report in reports)
        for one in items
    }


def told(message: str) -> str:
    """The first line of a diagnostic, without the doubt behind it."""
    first = message.partition("\n")[0]
    return re.sub(r" \((likely|possible)\)$", "", first)


def said(project: Path) -> _Said:
    """What a fresh run says of them."""
    before, out = Path.cwd(), io.StringIO()
    os.chdir(project)
    try:
        with contextlib.redirect_stdout(out):
            lint(["--output-format", "json", "--no-cache", "-q", "-j", "1", "--exit-zero"])
    finally:
        os.chdir(before)
    return {
        (
            one["path"].rpartition("/")[2],
            one["code"],
            one["line"],
            one["fingerprint"],
            clean(one["message"]).partition("\n")[0],
        )
        for one in json.loads(out.getvalue())["findings"]
    }


async def memory(edits: int) -> None:
    """What the server holds after the first edits, and after all."""
    with tempfile.TemporaryDirectory() as name:
        folder = write(Path(name), moe=MOE, train=TRAIN)
        rng = random.Random(1)
        async with session(folder, start=AT_ONCE, pulls=True, encoding="utf-8") as client:
            sizes = []
            for count in (WARM, *[50] * ((edits - WARM) // 50)):
                await judged_edits(client, folder, count, rng)
                sizes.append(resident(client))
                print(f"  {sizes[-1]:.0f} MB", file=sys.stderr, flush=True)
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
    unit = parsing(sources)
    path = max(files(project), key=lambda path: path.read_bytes().count(b"nn.Module"))
    text = path.read_text()
    taken = {kind: list[float]() for kind in ("comment", "statement", "any file")}
    async with session(project, pulls=True) as client:
        start = time.perf_counter()
        client.open(path)
        await client.pull(path)
        first = time.perf_counter() - start
        for version in range(2, 2 * TIMED + 2):
            kind = "statement" if version % 2 else "comment"
            line = f"edit_{version} = {version}\n" if version % 2 else f"# edit {version}\n"
            taken[kind].append(await answered(client, path, version, text + line))
        client.edit(path, 100, text)
        for other, new in code_edits(project, OTHERS, random.Random(7)):
            if other != path:
                client.open(other)
            taken["any file"].append(await answered(client, other, 101 + len(taken["any file"]), new))
            client.edit(other, 201 + len(taken["any file"]), other.read_text())
        size = resident(client)
    unit = min(unit, parsing(sources))
    medians = {kind: statistics.median(seconds) for kind, seconds in taken.items()}
    told = ", ".join(f"{kind} {one:.2f} s = {one / unit:.2f} units" for kind, one in medians.items())
    print(f"{project.name}: {len(sources)} files, ast.parse (the unit) {unit:.2f} s, first {first:.1f} s")
    print(f"  from an edit to its diagnostics: {told}; memory {size:.0f} MB")


def parsing(sources: list[bytes]) -> float:
    """Seconds that the parser takes for all files, on the machine as it is now."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in sources:
            ast.parse(source)
    return time.perf_counter() - start


async def answered(client: Client, path: Path, version: int, text: str) -> float:
    """Seconds from an edit to its diagnostics, without the pause."""
    client.edit(path, version, text)
    start = time.perf_counter()
    await client.pull(path)
    return time.perf_counter() - start - PAUSE


def files(project: Path) -> Iterator[Path]:
    """The Python files of a project."""
    return (path for path in project.rglob("*.py") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
