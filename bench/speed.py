"""How long linting takes beside other tools on the same files, in units of `ast.parse` over these files.

    python bench/speed.py litgpt=/path/to/litgpt timm=/path/to/timm --tools /venv/with/peers/bin

Every round runs each command once, in turn, so that a machine that is busy is busy for all of them; medians
are printed, wall and CPU time apart. The unit is a process that reads the files and calls `ast.parse`.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

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
MARK = "\n# edited by bench/speed.py: {}\n_edited = {}\n"


@dataclass(slots=True)
class Measure:
    """One command and what its runs took."""

    name: str
    command: list[str]
    prepare: Callable[[], None] = lambda: None
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self, cwd: Path) -> None:
        """Run once; nothing but time is kept."""
        self.prepare()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        subprocess.run(
            self.command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
        self.wall.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measures(folder: Path, cache: Path, tools: Path | None, blocks: bool, peers: bool) -> list[Measure]:
    """The commands to compare on one corpus; `folder` is a copy that may be edited."""
    python = sys.executable
    ours = [python, "-m", "dynamo_lint", str(folder), "--isolated", "-q", "--exit-zero"]
    cached = [*ours, "--cache-dir", str(cache)]
    victim = max(folder.rglob("*.py"), key=lambda path: (path.stat().st_size < 40_000, path.stat().st_size))
    original = victim.read_bytes()
    count = iter(range(1_000_000))

    def edit() -> None:
        number = next(count)
        victim.write_bytes(original + MARK.format(number, number).encode())

    def warm() -> None:
        subprocess.run(cached, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    found = [
        Measure("ast.parse (the unit)", [python, "-c", UNIT, str(folder)]),
        Measure("dynamo-lint, cold", cached, lambda: shutil.rmtree(cache, ignore_errors=True)),
        Measure("dynamo-lint, warm", cached, warm),
        Measure("dynamo-lint, one file changed", cached, edit),
    ]
    if blocks:
        found.append(
            Measure("dynamo-lint, --assume blocks, no cache", [*ours, "--no-cache", "--assume", "blocks"])
        )
    if peers and tools is not None:
        commands = {
            "ruff": [str(tools / "ruff"), "check", "--isolated", "--no-cache", "--select", "ALL", "."],
            "pylint": [str(tools / "pylint"), "-j", "2", "--rcfile", os.devnull, "--recursive=y", "."],
            "mypy": [
                str(tools / "mypy"), "--no-incremental", "--config-file", os.devnull,
                "--ignore-missing-imports",
                "--follow-imports=silent", "--explicit-package-bases", ".",
            ],
        }  # fmt: skip
        found += [Measure(name, command) for name, command in commands.items() if Path(command[0]).exists()]
        found.append(Measure("libcst with qualified names", [python, "-c", LIBCST, str(folder)]))
    return found


def peak(command: list[str]) -> float:
    """MiB of the largest process of a command."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=-3, stderr=-3); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    return float(done.stdout)


def corpus(name: str, source: Path, options: argparse.Namespace) -> tuple[int, float]:
    """Measure one corpus and print its table; gives its lines and the ratio of a cold run."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, cache = Path(scratch) / name, Path(scratch) / "cache"
        shutil.copytree(
            source, folder, symlinks=True, ignore=shutil.ignore_patterns("*.so", "*.so.*", ".*cache")
        )
        lines = sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))
        todo = measures(folder, cache, options.tools, options.blocks, options.peers)
        for _ in range(options.rounds):
            for one in todo:
                one.run(folder)
        unit = statistics.median(todo[0].wall), statistics.median(todo[0].cpu)
        print(f"\n{name}: {lines:,} lines, medians of {options.rounds}, ratio to ast.parse")
        print(f"{'':40} {'wall s':>8} {'ratio':>7} {'CPU s':>8} {'ratio':>7}")
        for one in todo:
            wall, cpu = statistics.median(one.wall), statistics.median(one.cpu)
            print(
                f"{one.name:40} {wall:8.2f} {wall / unit[0]:7.2f} {cpu:8.2f} {cpu / unit[1]:7.2f}", flush=True
            )
        shutil.rmtree(cache, ignore_errors=True)
        print(f"peak memory of a cold run: {peak(todo[1].command):.0f} MiB", flush=True)
        return lines, statistics.median(todo[1].cpu)


def start_up(rounds: int) -> None:
    """`--version` beside importing click."""
    ours = Measure("--version", [sys.executable, "-m", "dynamo_lint", "--version"])
    click = Measure("import click", [sys.executable, "-c", "import click"])
    for _ in range(rounds):
        ours.run(Path())
        click.run(Path())
    wall = [statistics.median(one.wall) for one in (ours, click)]
    print(
        f"--version {wall[0]:.3f} s, import click {wall[1]:.3f} s, ratio {wall[0] / wall[1]:.2f}", flush=True
    )


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpora", nargs="*", metavar="NAME=FOLDER")
    parser.add_argument("--tools", type=Path, help="bin folder of an environment with ruff, pylint and mypy")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-blocks", dest="blocks", action="store_false")
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    options = parser.parse_args()
    root = str(Path(__file__).parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    start_up(options.rounds * 2)
    growth = []
    for text in options.corpora:
        name, _, folder = text.partition("=")
        growth.append((name, *corpus(name, Path(folder), options)))
    print("\ngrowth: CPU seconds of a cold run per 100,000 lines")
    for name, lines, cpu in sorted(growth, key=lambda row: row[1]):
        print(f"{name:20} {lines:>10,} lines {cpu / lines * 100_000:6.2f}")


if __name__ == "__main__":
    main()
