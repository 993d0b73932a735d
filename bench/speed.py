"""How long linting takes beside other tools on the same files, in units of `ast.parse` over these files.

    python bench/speed.py litgpt=/path/to/litgpt timm=/path/to/timm --tools /venv/with/peers/bin

Every round runs each command once, in turn, so that a machine that is busy is busy for all of them. The unit
is one process that reads the files and calls `ast.parse`. A command is run `--rounds` times, or fewer if its
runs have taken `--enough` seconds together: the long ones vary little. Each run is noted in `--state` when it
ends, and one that stands there is not repeated: what was broken off goes on where it stopped. The tables,
medians and ratios, are written to `--report`. Growth is measured on subsets of all corpora together. Nothing
here needs a network, and a tool or corpus that is missing is told and passed over.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
UNIT_NAME, COLD = "`ast.parse` (the unit)", "dynamo-lint, cold"
UNIT = """
import ast, sys, warnings
from pathlib import Path
warnings.simplefilter("ignore")
for path in Path(sys.argv[1]).rglob("*.py"):
    try:
        ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        pass
"""
LIBCST = """
import sys
from pathlib import Path
import libcst as cst
from libcst.metadata import MetadataWrapper, QualifiedNameProvider
class Visitor(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (QualifiedNameProvider,)
    def visit_Call(self, node):
        self.get_metadata(QualifiedNameProvider, node.func, set())
for path in Path(sys.argv[1]).rglob("*.py"):
    try:
        MetadataWrapper(cst.parse_module(path.read_bytes()), unsafe_skip_copy=True).visit(Visitor())
    except (cst.ParserSyntaxError, RecursionError, ValueError):
        pass
"""
PEERS = ("ruff", "pylint", "mypy")
MARK = "\n# edited by bench/speed.py: {}\n_edited = {}\n"
IN_BODY = '_edited_{0} = print("edited by bench/speed.py", {0})'
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 1_800_000)
"""Lines of the subsets on which growth is measured."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One command; `prepare` brings about what it is to meet."""

    name: str
    command: list[str]
    version: str
    rounds: int
    prepare: Callable[[], object] = lambda: None
    limit: float = 900.0
    """Seconds after which it is killed."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a command took; `mib` is 0 where memory was not watched."""

    corpus: str
    measure: str
    version: str
    lines: int
    wall: float
    cpu: float
    mib: float
    ended: bool
    """False for a run that was killed at the limit."""


class Notes:
    """The runs so far, kept in a file of JSON lines."""

    def __init__(self, file: Path) -> None:
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self.runs = [Run(**json.loads(line)) for line in lines]

    def of(self, corpus: str, measure: Measure) -> list[Run]:
        """The runs of a command in the version that is here now."""
        wanted = (corpus, measure.name, measure.version)
        return [run for run in self.runs if (run.corpus, run.measure, run.version) == wanted]

    def add(self, run: Run) -> None:
        """Keep one run."""
        self.runs.append(run)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps({name: getattr(run, name) for name in Run.__slots__}) + "\n")


def timed(
    command: list[str], cwd: Path, limit: float, watch: bool = False
) -> tuple[float, float, float, bool]:
    """Wall and processor seconds of a command, its peak in MiB if it is watched, and whether it ended."""
    started, most = time.perf_counter(), 0.0
    # An installed program has its bytecode: to compile it anew takes as long as a small project.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=quiet, stderr=quiet, start_new_session=True
    )
    ended = True
    while True:
        pid, _, used = os.wait4(process.pid, os.WNOHANG)
        wall = time.perf_counter() - started
        if pid:
            process.returncode = 0
            return wall, used.ru_utime + used.ru_stime, most, ended
        if wall > limit and ended:
            os.killpg(process.pid, signal.SIGKILL)
            ended = False
        if watch:
            most = max(most, sum(map(_mib, _tree(process.pid))))
        time.sleep(0.1 if watch else min(0.05, 0.002 + wall / 50))


def _tree(pid: int) -> Iterator[int]:
    """A process and those that it has started."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from _tree(int(child))


def _mib(pid: int) -> float:
    """The memory of a process; what several share is counted once in all."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


def ours(folder: Path, *more: str) -> list[str]:
    """The command that lints a folder."""
    return [sys.executable, "-m", "dynamo_lint", str(folder), "--isolated", "-q", "--exit-zero", *more]


def measures(
    folder: Path, cache: Path, options: argparse.Namespace, versions: dict[str, str]
) -> list[Measure]:
    """The commands to compare on one corpus; `folder` is a copy that may be edited."""
    cached = ours(folder, "--cache-dir", str(cache))
    small = [path for path in folder.rglob("*.py") if path.stat().st_size < 40_000]
    victim = max(small, key=lambda path: path.stat().st_size)
    original = victim.read_bytes()

    def fill() -> None:
        subprocess.run(cached, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def edit() -> None:
        victim.write_bytes(original)
        fill()
        number = time.time_ns()
        victim.write_bytes(original + MARK.format(number, number).encode())

    def edit_body() -> None:
        victim.write_bytes(original)
        fill()
        victim.write_bytes(with_line_in_body(original, IN_BODY.format(time.time_ns())))

    me, rounds = versions["dynamo-lint"], options.rounds
    found = [
        Measure(UNIT_NAME, [sys.executable, "-c", UNIT, str(folder)], versions["python"], rounds),
        Measure(COLD, cached, me, rounds, lambda: shutil.rmtree(cache, ignore_errors=True)),
        Measure("dynamo-lint, warm", cached, me, rounds, fill),
        Measure("dynamo-lint, one file changed", cached, me, rounds, edit),
        Measure("dynamo-lint, one function changed", cached, me, rounds, edit_body),
    ]
    if options.blocks:
        blocks = ours(folder, "--no-cache", "--assume", "blocks")
        found.append(Measure("dynamo-lint, `--assume blocks`, cold", blocks, me, rounds))
    regions = [sys.executable, "-m", "dynamo_lint", "regions", str(folder), "--isolated", "--no-cache"]
    found.append(Measure("dynamo-lint regions, cold", regions, me, rounds))
    if options.peers and count_lines(folder) <= options.peer_lines:
        found += peers(folder, options, versions)
    return found


def with_line_in_body(source: bytes, line: str) -> bytes:
    """A file with one more statement at the end of its longest function, above the last one."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    if not functions:
        return source
    last = max(functions, key=lambda node: (node.end_lineno or 0) - node.lineno).body[-1]
    lines = source.split(b"\n")
    lines.insert(last.lineno - 1, b" " * last.col_offset + line.encode())
    return b"\n".join(lines)


def peers(folder: Path, options: argparse.Namespace, versions: dict[str, str]) -> list[Measure]:
    """Other tools on the same files."""
    rounds, limit = options.peer_rounds, options.peer_limit
    metadata = [sys.executable, "-c", LIBCST, str(folder)]
    name = "libcst with qualified names"
    found = [Measure(name, metadata, versions["libcst"], rounds, limit=limit)]
    arguments = {
        "ruff": ["check", "--isolated", "--no-cache", "--select", "ALL", "."],
        "pylint": ["-j", "2", "--rcfile", os.devnull, "--recursive=y", "."],
        "mypy": [
            "--no-incremental", "--config-file", os.devnull, "--ignore-missing-imports",
            "--follow-imports=silent", "--explicit-package-bases", ".",
        ],
    }  # fmt: skip
    for name, rest in arguments.items():
        if name in versions:
            command = [str(options.tools / name), *rest]
            found.append(Measure(name, command, versions[name], rounds, limit=limit))
    return found


def count_lines(folder: Path) -> int:
    """Lines of Python below a folder."""
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))


def enough(one: Measure, runs: list[Run], seconds: float) -> bool:
    """Whether a command was run often or long enough; one that was killed would not end next time either."""
    return (
        len(runs) >= one.rounds
        or sum(run.wall for run in runs) >= seconds
        or not all(run.ended for run in runs)
    )


def run_all(corpus: str, lines: int, todo: list[Measure], cwd: Path, notes: Notes, seconds: float) -> None:
    """Run what is not noted yet, each command once a round."""
    while left := [one for one in todo if not enough(one, notes.of(corpus, one), seconds)]:
        for one in left:
            one.prepare()
            wall, cpu, mib, ended = timed(one.command, cwd, one.limit)
            notes.add(Run(corpus, one.name, one.version, lines, wall, cpu, mib, ended))
            print(
                f"{corpus}: {one.name}: {wall:.2f} s{'' if ended else ', killed'}",
                file=sys.stderr,
                flush=True,
            )


def copied(source: Path, folder: Path) -> None:
    """The Python files of a corpus, copied."""
    keep = shutil.ignore_patterns("*.so", "*.so.*", ".*cache", "__pycache__")
    shutil.copytree(source, folder, symlinks=True, ignore=keep)


def one_corpus(name: str, source: Path, options: argparse.Namespace, notes: Notes, report: list[str]) -> None:
    """Measure one corpus and report its table."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, cache = Path(scratch) / name, Path(scratch) / "cache"
        copied(source, folder)
        lines = count_lines(folder)
        todo = measures(folder, cache, options, options.versions)
        run_all(name, lines, todo, folder, notes, options.enough)
    unit = notes.of(name, todo[0])
    base = statistics.median(run.wall for run in unit), statistics.median(run.cpu for run in unit)
    report += [
        f"\n## {name}: {lines:,} lines\n",
        "| | wall s | ratio | CPU s | ratio | runs |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for one in todo:
        runs = notes.of(name, one)
        wall, cpu = (statistics.median(getattr(run, key) for run in runs) for key in ("wall", "cpu"))
        over = "" if all(run.ended for run in runs) else "> "
        report.append(
            f"| {one.name} | {over}{wall:.2f} | {over}{wall / base[0]:.2f} "
            f"| {over}{cpu:.2f} | {over}{cpu / base[1]:.2f} | {len(runs)} |"
        )


def growth(corpora: dict[str, Path], options: argparse.Namespace, notes: Notes, report: list[str]) -> None:
    """Time and memory of a cold run on subsets of all corpora together, in the order of their paths."""
    files = [(name, path) for name, source in corpora.items() for path in sorted(source.rglob("*.py"))]
    sizes: dict[int, int] = {}
    for size in SIZES:
        with tempfile.TemporaryDirectory() as scratch:
            lines = _subset(files, corpora, Path(scratch) / "code", size)
            if lines < size * 0.9:
                break
            sizes[size] = lines
            code, cache = Path(scratch) / "code", Path(scratch) / "cache"
            todo = [
                Measure(UNIT_NAME, [sys.executable, "-c", UNIT, str(code)], options.versions["python"], 3),
                Measure(COLD, ours(code, "--no-cache"), options.versions["dynamo-lint"], 3),
            ]
            run_all(f"growth {size}", lines, todo, code, notes, options.enough)
            memory = Measure("memory", ours(code, "--cache-dir", str(cache)), todo[1].version, 1)
            if not notes.of(f"growth {size}", memory):
                run = Run(
                    f"growth {size}",
                    "memory",
                    memory.version,
                    lines,
                    *timed(memory.command, code, memory.limit, True),
                )
                notes.add(run)
    report += [
        "\n## Growth\n",
        "All processes together, on subsets of all corpora; memory is what they hold at once.\n",
        "| lines | wall s | ratio to `ast.parse` | CPU s | CPU s per 100,000 lines | peak MiB |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for size, lines in sizes.items():
        by_name = defaultdict(list)
        for run in notes.runs:
            if run.corpus == f"growth {size}" and run.version in options.versions.values():
                by_name[run.measure].append(run)
        wall, cpu = (statistics.median(getattr(r, k) for r in by_name[COLD]) for k in ("wall", "cpu"))
        unit = statistics.median(run.wall for run in by_name[UNIT_NAME])
        mib = by_name["memory"][-1].mib
        report.append(
            f"| {lines:,} | {wall:.2f} | {wall / unit:.2f} "
            f"| {cpu:.2f} | {cpu / lines * 100_000:.2f} | {mib:.0f} |"
        )


def _subset(files: list[tuple[str, Path]], corpora: dict[str, Path], folder: Path, size: int) -> int:
    """Copy files until there are so many lines; gives how many there are."""
    lines = 0
    for name, path in files:
        source = path.read_bytes()
        target = folder / name / path.relative_to(corpora[name])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source)
        lines += source.count(b"\n")
        if lines >= size:
            break
    return lines


def start_up(rounds: int, report: list[str]) -> None:
    """`--version` beside importing click."""
    commands = ([sys.executable, "-m", "dynamo_lint", "--version"], [sys.executable, "-c", "import click"])
    walls = [[timed(command, ROOT, 60)[0] for command in commands] for _ in range(rounds)]
    version, click = (statistics.median(column) for column in zip(*walls, strict=True))
    report.append(
        f"\nStart-up: `--version` {version * 1000:.0f} ms, `import click` {click * 1000:.0f} ms, "
        f"ratio {version / click:.2f}."
    )


def versions_here(tools: Path) -> dict[str, str]:
    """What is measured, by name and version."""

    def said(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""

    libcst = said(
        sys.executable, "-c", "import importlib.metadata as m; print('libcst', m.version('libcst'))"
    )
    found = {
        "python": f"Python {platform.python_version()}",
        "dynamo-lint": f"dynamo-lint {said('git', 'describe', '--always', '--dirty') or 'of no commit'}",
        "libcst": libcst,
    }
    for name in PEERS:
        if (tools / name).exists():
            found[name] = said(str(tools / name), "--version")
    return found


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpora", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument(
        "--tools",
        type=Path,
        default=Path(sys.executable).parent,
        help="bin folder of an environment with ruff, pylint and mypy",
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--enough", type=float, default=20, help="seconds after which no round is added")
    parser.add_argument("--peer-rounds", type=int, default=2)
    parser.add_argument("--peer-limit", type=float, default=60, help="seconds after which a peer is killed")
    parser.add_argument(
        "--peer-lines", type=int, default=200_000, help="larger corpora are not given to peers"
    )
    parser.add_argument(
        "--state", type=Path, default=ROOT / "bench" / "speed.jsonl", help="where runs are noted"
    )
    parser.add_argument("--report", type=Path, default=ROOT / "bench" / "speed.md")
    parser.add_argument("--remark", default="", help="a sentence about the machine, for the report")
    parser.add_argument("--no-blocks", dest="blocks", action="store_false")
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument("--no-growth", dest="growth", action="store_false")
    options = parser.parse_args()
    options.tools = options.tools.absolute()
    # An installed tool has its bytecode; without this ours would be compiled again by every run.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "dynamo_lint")], check=False)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    corpora = {
        name: Path(folder).resolve() for name, _, folder in (text.partition("=") for text in options.corpora)
    }
    options.versions = versions_here(options.tools)
    notes, report, load = Notes(options.state), [], os.getloadavg()[1]
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    report += [
        "# Speed\n",
        "Written by `bench/speed.py`. Medians; the unit of ratios is one process that calls `ast.parse`.\n",
        f"{processors} processors ({platform.machine()}, {platform.system()}), load {load:.1f} at the start. "
        + "; ".join(options.versions.values())
        + f". {options.remark}".rstrip(),
    ]
    for name, folder in list(corpora.items()):
        if not any(folder.rglob("*.py")):
            report.append(f"\n`{name}` was passed over: there is no Python in {folder}.")
            del corpora[name]
    if absent := [name for name in PEERS if name not in options.versions]:
        report.append(f"\nNot installed here, and so not measured: {', '.join(absent)}.")
    if load > processors / 4:
        report.append(
            "\n**The machine had other work to do: wall times say little, processor times a little more.**"
        )
    start_up(options.rounds * 2, report)
    for name, folder in corpora.items():
        one_corpus(name, folder, options, notes, report)
    if options.growth:
        growth(corpora, options, notes, report)
    options.report.write_text("\n".join(report) + "\n", encoding="utf-8")
    print(options.report.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
