"""How well regions are found, and how fast: `python bench/regions.py KEY.json ... [--sources FOLDER]`.

A key names a code base and the functions that Dynamo traces in it. Its sources are looked for in
FOLDER/<name> (default: build/bench): a released version is downloaded there by pip, a repository is yours to
clone. Printed per key: how many of its functions are found at certain, likely and possible, and how many that
it does not know are claimed at certain and likely. A key that says it is a sample knows only some of the
functions: there, only what it says is not compiled counts as wrong. `bench/keys` holds such samples of code
bases that nobody tuned the tool to, written down before its first run over them.

With `--speed` the arguments are folders: reading and resolving each of them, as the command line does it, is
timed against `ast.parse` of the same files in this one process.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TIERS = ("certain", "likely", "possible")


def main() -> int:
    """Measure what was asked for; 1 if a key's sources are missing or a certain claim is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--sources", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.speed:
        for folder in arguments.paths:
            _speed(folder, arguments.jobs)
        return 0
    results = [_score(path, arguments.sources) for path in arguments.paths]
    known = [result for result in results if result is not None]
    if known:
        total = [sum(column) for column in zip(*known, strict=True)]
        print(_row("all", total))
    return int(len(known) < len(results) or any(result[4] for result in known))


def _score(path: Path, sources: Path) -> list[int] | None:
    key = json.loads(path.read_text())
    if needed := newer_python(key):
        print(f"{path.stem}: reading its syntax takes Python {needed}", file=sys.stderr)
        return None
    root = _find(path.stem, key, sources)
    if root is None:
        return None
    tiers = {one["id"]: one["confidence"] for one in _regions(root)["functions"]}
    result, missed, wrong = score(key, tiers)
    print(_row(path.stem, result))
    for name in missed:
        print(f"    missed  {name}")
    for name in wrong:
        print(f"    wrong   {name} ({tiers[name]})")
    return result


def newer_python(key: dict[str, Any]) -> str:
    """The Python that reads the syntax of a key's sources, if this one does not."""
    needed = key.get("python", "3.10")
    return needed if sys.version_info < tuple(int(number) for number in needed.split(".")) else ""


def score(key: dict[str, Any], confidence: dict[str, str]) -> tuple[list[int], list[str], list[str]]:
    """How well functions, each found at some confidence, answer a key; the missed and the wrong ones.

    The numbers: expected; of these found at certain, likely, possible; wrong at certain and likely.
    """
    expected = {entry["id"] for entry in key["in_region"]}
    free = {entry["id"] for entry in key.get("may_be_in_region", ())}
    tiers = {name: TIERS.index(tier) for name, tier in confidence.items()}
    found = [sum(name in expected and tier <= limit for name, tier in tiers.items()) for limit in range(3)]
    eager = {entry["id"] for entry in key["not_in_region"]} if key.get("sample") else tiers.keys()
    wrong = [{n for n in eager & tiers.keys() - expected - free if tiers[n] <= limit} for limit in range(2)]
    numbers = [len(expected), *found, *(len(names) for names in wrong)]
    return numbers, sorted(expected - tiers.keys()), sorted(wrong[1])


def _row(name: str, result: list[int]) -> str:
    expected, *found = result
    shares = "  ".join(f"{tier} {n:>3}" for tier, n in zip(TIERS, found, strict=False))
    # A key may expect nothing: what it names is all to be left alone.
    share = found[1] / expected if expected else 1.0
    return (
        f"{name:<16} {expected:>3} functions   found: {shares} ({share:.1%} likely or above)   "
        f"wrong: certain {found[3]}  likely {found[4]}"
    )


def _regions(root: Path) -> Any:
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
        config.write('min-confidence = "possible"\n')
        config.flush()
        options = ["--output-format", "json", "--config", config.name, "--no-cache"]
        command = [sys.executable, "-m", "dynamo_lint", "regions", ".", *options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _find(name: str, key: dict[str, Any], sources: Path) -> Path | None:
    """The folder of a key's sources, downloaded if that is possible."""
    root = sources / name
    if root.is_dir():
        return root
    if "version" not in key:
        print(f"{name}: no {root}. Get it with:", file=sys.stderr)
        print(f"    git clone https://github.com/{key['repo']} {root}", file=sys.stderr)
        print(f"    git -C {root} checkout {key['commit']}", file=sys.stderr)
        return None
    requirement = key["version"].split()[0]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, requirement]
        if subprocess.run(command, check=False).returncode:
            print(f"{name}: {requirement} cannot be downloaded", file=sys.stderr)
            return None
        for wheel in Path(folder).glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(root)
    return root


def _speed(folder: Path, jobs: int) -> None:
    texts = [path.read_bytes() for path in sorted(folder.rglob("*.py"))]
    lines = sum(text.count(b"\n") for text in texts)
    start, busy = time.perf_counter(), time.process_time()
    for text in texts:
        ast.parse(text)
    parsing, parsing_busy = time.perf_counter() - start, time.process_time() - busy
    del texts
    options = ["--no-cache", "-j", str(jobs), "--isolated"]
    command = [sys.executable, "-m", "dynamo_lint", "regions", ".", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    # Of this run alone, unlike RUSAGE_CHILDREN: the largest process of it, and the time of all of them.
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{folder}: dynamo-lint regions ended with {process.returncode}")
    running = usage.ru_utime + usage.ru_stime
    print(
        f"{folder.name:<16} {lines:>9} lines   ast.parse {parsing:6.1f} s   regions {took:6.1f} s "
        f"({took / parsing:.1f} x, {jobs} jobs)   peak {usage.ru_maxrss / 1024:.0f} MiB   "
        f"processor time {parsing_busy:.1f} s and {running:.1f} s ({running / parsing_busy:.1f} x)"
    )


if __name__ == "__main__":
    sys.exit(main())
