"""Lints generated and mutated sources, and whole libraries, with every rule on and every module assumed.

    python tools/fuzz.py --mutated 2000 --generated 300 FOLDER…      mutate files of these folders
    python tools/fuzz.py --whole FOLDER…                             lint these folders as they are
    python tools/fuzz.py --attacks 100                               attack each part of a run so many times

The attacks: fixes in odd encodings and line ends, damaged caches, trees of links and devices, garbage where a
configuration should be, and names that speak to the reader of a format. A trial depends on nothing but the
seed, its family and its number.

A crash, a run of more than ten seconds per file, or a broken answer is printed with what caused it, a source
is kept in a folder as well, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
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


def lint(folder: Path, *args: str) -> tuple[int, str, str]:
    """Exit status, output and messages of a run in a folder."""
    from dynamo_lint import cli

    out, err = io.StringIO(), io.StringIO()
    here = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = cli.run([*args, "-q", "-j", "1"])
    finally:
        os.chdir(here)
    return status, out.getvalue(), err.getvalue()


def problem(folder: Path, name: str, allowed: float) -> str | None:
    """What is wrong with linting a path, if anything."""
    started = time.perf_counter()
    status, out, err = lint(folder, name, "--isolated", "--no-cache", "--output-format", "json", *EVERYTHING)
    took = time.perf_counter() - started
    if status not in (0, 1):
        return f"exit status {status}: {err.strip()}"
    if took > allowed:
        return f"took {took:.1f} s"
    try:
        json.loads(out)
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


HAZARD = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._n = 0

    def forward(self, x):
        self._n += 1
        return x * 2  # é


step = torch.compile(Model())
"""
ENCODINGS = (
    "utf-8",
    "utf-8-sig",
    "latin-1",
    "cp1252",
    "iso-8859-15",
    "cp437",
    "mac-roman",
    "koi8-r",
    "gbk",
    "utf-7",
)
NASTY = (
    "\x1b[2J", "\x9b1m", "\u202e", "\u2066", "\u2028", "\udcff", "\x85", "\r", "\n", "\n::error ::x",
    "::error ::", "##[error]",
    "##vso[x]", "%0A", "`", "|", "<b>", "](x)", "&", "]]>", "'", '"', "\\", " ", ",", ":", "a", "名",
)  # fmt: skip


def attack_fixes(folder: Path, chance: random.Random) -> str | None:
    """Fix a file of odd bytes: what is not the fix stays as it is, and there is nothing to fix afterwards."""
    encoding = chance.choice(ENCODINGS)
    text = HAZARD.replace("é", "" if encoding in ("koi8-r", "gbk", "utf-7") else "é").replace(
        "    ", chance.choice(("    ", "\t", " "))
    )
    lines = ([] if encoding.startswith("utf-8") else [f"# -*- coding: {encoding} -*-"]) + text.splitlines()
    for _ in range(chance.randrange(4)):
        lines.insert(
            chance.choice((1, 2, len(lines))),
            chance.choice(("\f", "# a\\", "'''a", "'''", "x = 1; y = 2", "")),
        )
    ends = chance.choice((["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"]))
    source = "".join(line + chance.choice(ends) for line in lines)
    before = (source if chance.random() < 0.7 else source.rstrip("\r\n")).encode(encoding)
    (folder / "m.py").write_bytes(before)
    args = ("m.py", "--isolated", "--no-cache", "--fix", "--unsafe-fixes")
    status, _, err = lint(folder, *args)
    after = (folder / "m.py").read_bytes()
    if status not in (0, 1) or "internal" in err:
        return f"{before!r}: exit status {status}: {err}"
    lint(folder, *args)
    if (folder / "m.py").read_bytes() != after:
        return f"{before!r}: fixing twice is not fixing once"
    if len(list(folder.iterdir())) != 1:
        return "a draft was left"
    kept = [line for line in before.splitlines(keepends=True) if b"_n" not in line]
    rest = iter(after.splitlines(keepends=True))
    return None if all(line in rest for line in kept) else f"{before!r} became {after!r}"


def attack_cache(folder: Path, chance: random.Random) -> str | None:
    """Damage the cache: the verdict stays."""
    (folder / "m.py").write_text(HAZARD)
    cache = folder / "cache"
    args = ("m.py", "--isolated", "--output-format", "json", "--cache-dir", "cache")
    expected = lint(folder, *args)[:2]
    for file in chance.sample(sorted(cache.iterdir()), 1):
        raw = bytearray(file.read_bytes())
        match chance.randrange(5):
            case 0:
                del raw[chance.randrange(len(raw) + 1) :]
            case 1:
                raw[chance.randrange(len(raw) + 1) :] = chance.randbytes(chance.randrange(5000))
            case 2:
                file.unlink()
                chance.choice((file.mkdir, lambda: os.mkfifo(file), lambda: file.symlink_to("/dev/zero")))()  # noqa: B023
                continue
            case _:
                for _ in range(chance.randrange(1, 200)):
                    if raw:
                        raw[chance.randrange(len(raw))] = chance.randrange(256)
        file.write_bytes(raw)
    found = lint(folder, *args)
    return None if found[:2] == expected else f"{found[0]}, {found[2]}"


def attack_tree(folder: Path, chance: random.Random) -> str | None:
    """Lint a tree of what is no file: it ends, and finds what is one."""
    places = [folder]
    for number in range(chance.randrange(1, 25)):
        name = chance.choice((f"n{number}", f"n{number}.py", ".gitignore", ".git", f"c{number}.yaml"))
        path = chance.choice(places) / name
        if os.path.lexists(path):
            continue
        match chance.randrange(5):
            case 0:
                os.mkfifo(path)
            case 1:
                path.symlink_to(
                    chance.choice(
                        ("/dev/zero", "/dev/stdin", "/proc/self/environ", "/etc/passwd", "/dev/null")
                    )
                )
            case 2:
                path.symlink_to(chance.choice((".", "..", name, "gone", "../..", str(folder))))
            case _:
                path.mkdir()
                places.append(path)
    (folder / "m.py").write_text(HAZARD)
    status, out, err = lint(folder, ".", "--no-cache", "--output-format", "concise")
    return None if status == 1 and "m.py:10" in out else f"exit status {status}: {err or out}"


def attack_inputs(folder: Path, chance: random.Random) -> str | None:
    """Put garbage where people put settings: at worst it is a line for people."""
    (folder / "m.py").write_text(HAZARD)
    (folder / ".git").mkdir()
    texts = {
        "pyproject.toml": '[project]\nrequires-python = ">=3.10"\n'
        '[tool.dynamo-lint]\nselect = ["DYN1"]\nexclude = ["a"]\n',
        "dynamo-lint.toml": 'assume = "none"\nregions = ["m:Model"]\nexclude = ["x/**"]\n'
        'torch-version = "2.6"\n',
        ".gitignore": "*.pyc\n!m.py\n/a/**/b\n[a-z]\\\n",
        "baseline.json": '{"schema_version": 1, "findings": '
        '[{"fingerprint": "0", "code": "DYN101", "path": "m.py"}]}',
        "m.py": HAZARD + "x = 1  # dynamo-lint: ignore[DYN101, DYN2] why\n",
    }
    for name in chance.sample(sorted(texts), chance.randrange(1, 3)):
        (folder / name).write_bytes(mutated(texts[name].encode(), chance))
    named = ("--baseline", "baseline.json") if (folder / "baseline.json").exists() else ()
    status, _, err = lint(folder, ".", "--no-cache", *named)
    told = status in (0, 1) or (status == 2 and err.count("\n") == 1 and "internal" not in err)
    return None if told else f"exit status {status}: {err}"


def attack_formats(folder: Path, chance: random.Random) -> str | None:
    """Give files and attributes names that speak to whoever reads the output: it stays text."""
    from xml.etree import ElementTree

    from dynamo_lint.config import OUTPUT_FORMATS

    name = "".join(chance.choices(NASTY, k=chance.randrange(1, 12)))[:60] + ".py"
    (folder / name).write_text(HAZARD.replace("x * 2  # é", f"x * 2  # {name!r}"))
    for form in OUTPUT_FORMATS:
        status, out, err = lint(folder, ".", "--isolated", "--no-cache", "--output-format", form)
        if status != 1 or err:
            return f"{name!r} {form}: exit status {status}: {err}"
        if any(not line.isprintable() for line in out.split("\n")):
            return f"{name!r} {form}: {out!r}"
        orders = re.findall(r"^\s*::(?:error|warning|notice)\b|##(?:vso)?\[", out, re.MULTILINE)
        if len(orders) != (form == "github"):
            return f"{name!r} {form}: an order in {out!r}"
        try:
            for document in out.splitlines() if form == "json-lines" else [out]:
                if form in ("json", "json-lines", "sarif", "gitlab", "rdjson"):
                    json.loads(document)
                elif form == "junit":
                    ElementTree.fromstring(document)
        except (ValueError, ElementTree.ParseError) as error:
            return f"{name!r} {form}: {error}"
    return None


ATTACKS: dict[str, Callable[[Path, random.Random], str | None]] = {
    "fixes": attack_fixes,
    "cache": attack_cache,
    "tree": attack_tree,
    "inputs": attack_inputs,
    "formats": attack_formats,
}


def attacked(family: str, count: int, seed: int) -> int:
    """How many trials of a family had a problem; a trial that does not end is one."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    bad = 0
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            try:
                what = ATTACKS[family](Path(folder), random.Random(f"{seed} {family} {number}"))
            except TimeoutError:
                what = f"not done in {PATIENCE:.0f} s"
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        if what is not None:
            bad += 1
            print(f"--seed {seed}: {family}, trial {number}: {ascii(what)[:2000]}", flush=True)
    signal.signal(signal.SIGALRM, before)
    return bad


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--mutated", type=int, default=0, metavar="N")
    parser.add_argument("--generated", type=int, default=0, metavar="N")
    parser.add_argument("--attacks", type=int, default=0, metavar="N")
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
    for family in ATTACKS if options.attacks else ():
        bad = attacked(family, options.attacks, options.seed)
        failed += bad
        print(f"{family}: {options.attacks} attacks, {bad} with a problem")
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
