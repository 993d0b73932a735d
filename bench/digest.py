"""That no verdict changed: `python bench/digest.py --write BEFORE.json`, later `--compare BEFORE.json`.

Runs `dynamo-lint regions` and `dynamo-lint check` with JSON output over the sources of each key in bench/keys
(FOLDER/<name>, see bench/regions.py; keys without sources are passed over and told), over the projects in
fixtures and over the programs of tests/truth, all at every confidence. Kept of each: a hash of both outputs,
the functions that are compiled, each with its confidence, and the findings by code, path, line, effect and
confidence. `--compare` prints which of these came (+) and went (-), and ends with 1 if anything differs. Only
the command line is used, so the code that runs may be that of another checkout than this script.

`--keys` names all that is run: keys, `fixtures/moe/hazard`, `truth/modes`; `@FILE` stands for the lines of a
file. `--table` writes how well keys are answered into bench/keys/SCORES.tsv: what is not run keeps its row.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from regions import TIERS, newer_python, score

ROOT = Path(__file__).resolve().parent.parent
KEYS = ROOT / "bench" / "keys"
SCORES = KEYS / "SCORES.tsv"
COLUMNS = ("key", "expected", *TIERS, "wrong certain", "wrong likely")
Digest = dict[str, Any]


def main() -> int:
    """Measure; 1 if anything differs from what was measured before, or could not be measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter, fromfile_prefix_chars="@"
    )
    parser.add_argument("--sources", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="whose code is run (default: this one)")
    parser.add_argument("--keys", nargs="+", metavar="NAME")
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--within", nargs="+", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.within:
        gc.disable()  # as the command does
        json.dump([_measured(folder) for folder in arguments.within], sys.stdout)
        return 0
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        groups, without = _groups(arguments.sources.resolve(), Path(folder), arguments.keys)
        found = dict(sorted(_all(groups, arguments.checkout.resolve(), arguments.jobs)))
    failed = [name for name, digest in found.items() if "failed" in digest]
    for name in failed:
        print(f"{name}: failed\n{found[name]['failed']}")
    different = 0
    if arguments.compare:
        before = json.loads(arguments.compare.read_text())
        different = sum([_differs(name, before.get(name), digest) for name, digest in found.items()])
        unknown = [] if arguments.keys else sorted(before.keys() - found.keys())
        print("".join(f"{name}: not measured now\n" for name in unknown), end="")
    if arguments.write:
        arguments.write.write_text(json.dumps(found, indent=0) + "\n")
    if arguments.table:
        _write_table({name: digest for name, digest in found.items() if "failed" not in digest})
    took = time.perf_counter() - started
    print(f"{len(found)} measured in {took:.0f} s, {different} differ, {len(failed)} failed", end="")
    print(f"; {len(without)} keys without sources: {' '.join(without)}" if without else "")
    return int(bool(different or failed))


# --- what is measured ---------------------------------------------------------------------------------------


def _groups(
    sources: Path, written: Path, wanted: list[str] | None
) -> tuple[list[dict[str, Path]], list[str]]:
    """Folders by name, each group for one process, the longest first; and the keys without sources."""
    groups: dict[str, dict[str, Path]] = {}
    without = []
    for path in sorted(KEYS.glob("*.json")):
        if wanted and path.stem not in wanted:
            continue
        needed = newer_python(json.loads(path.read_text()))
        if needed:
            print(f"{path.stem}: reading its syntax takes Python {needed}", file=sys.stderr)
        elif (sources / path.stem).is_dir():
            groups[path.stem] = {path.stem: sources / path.stem}
        else:
            without.append(path.stem)
    for folder in sorted((ROOT / "fixtures").glob("*/*")):
        name = f"fixtures/{folder.parent.name}/{folder.name}"
        groups[name] = {name: folder}
    groups |= _truth(written)
    if unknown := set(wanted or ()) - groups.keys() - set(without):
        raise SystemExit(f"there is no {', '.join(sorted(unknown))}")
    chosen = [group for name, group in groups.items() if not wanted or name in wanted]
    return sorted(chosen, key=_size, reverse=True), without


def _truth(written: Path) -> dict[str, dict[str, Path]]:
    sys.path.insert(0, str(ROOT))
    from tests.truths import THEMES, cases

    groups: dict[str, dict[str, Path]] = {}
    for theme in THEMES:
        group = groups[f"truth/{theme}"] = {}
        for number, case in enumerate(cases(theme)):
            group[f"truth/{case.id}"] = folder = written / theme / str(number)
            folder.mkdir(parents=True)
            case.write(folder)
    return groups


def _size(group: dict[str, Path]) -> int:
    return sum(path.stat().st_size for folder in group.values() for path in folder.rglob("*.py"))


# --- measuring ----------------------------------------------------------------------------------------------


def _all(groups: list[dict[str, Path]], checkout: Path, jobs: int) -> Iterator[tuple[str, Digest]]:
    with ThreadPoolExecutor(jobs) as pool:
        for group, digests in zip(groups, pool.map(lambda one: _group(one, checkout), groups), strict=True):
            yield from zip(group, digests, strict=True)


def _group(group: dict[str, Path], checkout: Path) -> list[Digest]:
    command = [sys.executable, __file__, "--within", *map(str, group.values())]
    environment = {"PYTHONHASHSEED": "0", **os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return [{"failed": done.stderr[-800:] or f"ended with {done.returncode}"}] * len(group)
    return list(json.loads(done.stdout))


def _measured(root: Path) -> Digest:
    """The digest of one folder, by the dynamo_lint that is first on the path."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "dynamo-lint.toml"
        config.write_text('min-confidence = "assumed"\n')
        # The second command finds in the cache what the first one has read.
        options = ["--output-format=json", f"--config={config}", f"--cache-dir={folder}/cache", "--jobs=1"]
        regions, findings = (_said(root, command, ".", *options) for command in ("regions", "check"))
    functions = [[one["id"], one["confidence"]] for one in json.loads(regions)["functions"]]
    columns = ("code", "path", "line", "effect", "confidence")
    return {
        "regions": hashlib.sha256(regions.encode()).hexdigest(),
        "check": hashlib.sha256(findings.encode()).hexdigest(),
        "functions": sorted(functions),
        "findings": sorted([one[column] for column in columns] for one in json.loads(findings)["findings"]),
    }


def _said(root: Path, *words: str) -> str:
    """What a command prints; it runs in this process, which spares starting one."""
    from dynamo_lint.cli import run

    os.chdir(root)
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as told:
        status = run(words)
    if status > 1:
        raise SystemExit(f"{root}: {words[0]} ended with {status}\n{told.getvalue()}")
    return said.getvalue()


# --- telling ------------------------------------------------------------------------------------------------


def _differs(name: str, before: Digest | None, now: Digest) -> bool:
    if before is None:
        print(f"{name}: not measured before")
        return False
    if before == now:
        return False
    texts = [what for what in ("regions", "check") if before.get(what) != now.get(what)]
    print(f"{name}: differs in what {' and '.join(texts) or 'is found'} prints")
    for what in ("functions", "findings"):
        old, new = ({json.dumps(row) for row in one.get(what, ())} for one in (before, now))
        for sign, rows in (("-", old - new), ("+", new - old)):
            print("".join(f"    {sign} {row}\n" for row in sorted(rows)), end="")
    return True


def _write_table(found: dict[str, Digest]) -> None:
    lines = SCORES.read_text().splitlines()[1:] if SCORES.exists() else []
    rows = {name: [int(cell) for cell in cells] for name, *cells in (line.split("\t") for line in lines)}
    keys = {path.stem: path for path in KEYS.glob("*.json")}
    for name in found.keys() & keys.keys():
        rows[name], _, _ = score(json.loads(keys[name].read_text()), dict(found[name]["functions"]))
    rows = {name: rows[name] for name in sorted(rows.keys() & keys.keys())}
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    table = [COLUMNS, *((name, *row) for name, row in rows.items())]
    SCORES.write_text("".join("\t".join(map(str, row)) + "\n" for row in table))


if __name__ == "__main__":
    sys.exit(main())
