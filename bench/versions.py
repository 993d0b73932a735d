"""Measures every program under other versions of torch: `python bench/versions.py 2.16.0`, or a Python.

Runs the programs of tests/truth, those of the rule pages and their proofs under each torch that is named: a
version is installed from PyPI into a folder that is deleted afterwards, a Python has one. What they cost goes
to tests/truth/verdicts.json and rules/measured.json (see tests/verdicts.py), which tests hold the linter to.
Only what these do not know yet is run, unless `--again`, first what the versions around do not tell; a run
that is interrupted keeps what it has measured. Each takes ten minutes of one core, and 6 GB.

What it measures under the torch that pyproject.toml pins stands for a run in the tests, so `python
bench/versions.py .venv/bin/python` after programs were added or edited spares everybody to run them.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests import verdicts
from tests.truths import THEMES, Case, cases, hazards_of_pages

LIMIT = 4
"""A recompile limit that storms hit twice as fast as the default one."""
CHILD = ROOT / "bench" / "under_torch.py"


class Job(NamedTuple):
    """Something to run: a program, or a probe of the proofs of a rule."""

    name: str
    digest: str
    case: Case | None = None
    proof: Path | None = None
    probe: str = ""

    def counted(self, row: verdicts.Row) -> str | None:
        """What a row says of its graphs: empty where they are not counted, None where they have yet to be."""
        if self.case is None or self.case.theme not in verdicts.COUNTED:
            return ""
        return row.get("graphs") if row.get("text") == self.digest else None


def main() -> int:
    """Measure under each torch that is named, and write the tables after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("torch", nargs="+", metavar="VERSION|PYTHON")
    parser.add_argument("--again", action="store_true", help="also what the tables know")
    arguments = parser.parse_args()
    for named in arguments.torch:
        with interpreter(named) as python:
            for path, jobs in (verdicts.PROGRAMS, programs()), (verdicts.ROWS, proofs()):
                measure(python, path, jobs, arguments.again)
    return 0


@contextmanager
def interpreter(named: str) -> Iterator[str]:
    """A Python with the torch that is named."""
    if not named[0].isdigit():
        yield named
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = str(Path(folder) / "bin" / "python")
        install = [python, "-m", "pip", "install", "-q", "--no-cache-dir", f"torch=={named}", "numpy"]
        # A constraint of this machine must not choose the version.
        subprocess.run(install, check=True, env={**os.environ, "PIP_CONSTRAINT": os.devnull})
        yield python


def surroundings_of(python: str) -> dict[str, str]:
    """The versions of a Python and of the torch that it has."""
    # It may have nothing that is ours.
    imports = "import json, platform\nfrom importlib import metadata\n"
    asked = f"{imports}{inspect.getsource(verdicts.surroundings)}print(json.dumps(surroundings()))"
    done = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True)
    answer: dict[str, str] = json.loads(done.stdout)
    return answer


def pinned() -> str:
    """The version of torch that the tests run with."""
    (found,) = re.findall(r'"torch==([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(found)


def programs() -> list[Job]:
    """The programs of tests/truth and of the rule pages."""
    found = [case for theme in THEMES for case in cases(theme)]
    return [Job(case.id, case.digest, case) for case in [*found, *hazards_of_pages()]]


def proofs() -> list[Job]:
    """The probe behind each row of the cost tables."""
    return [
        Job(f"{path.stem}: {ast.get_docstring(node)}", verdicts.digest_of(path), None, path, node.name)
        for path in sorted((ROOT / "tests" / "proofs").glob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("probe_")
    ]


def measure(python: str, path: Path, jobs: list[Job], again: bool) -> None:
    """Run what a table does not know under one torch, and write the table."""
    table = verdicts.load(path)
    here = surroundings_of(python)
    full = here["torch"]
    short = ".".join(full.split(".")[:2])
    for_tests = full == pinned()
    known = {
        job.name: verdicts.spread(table["rows"].get(job.name, {}), list(table["torch"]), job.digest)
        for job in jobs
    }
    counted = {job.name: job.counted(table["rows"].get(job.name, {})) for job in jobs}
    if table["torch"].get(short) != full or (for_tests and table["run"] != here):  # another patch, or Python
        for row in known.values():
            row.pop(short, None)
    todo = [
        job
        for job in jobs
        if again
        or known[job.name].get(short, verdicts.UNKNOWN) == verdicts.UNKNOWN
        or (for_tests and counted[job.name] is None)
    ]
    todo.sort(key=lambda job: verdicts.bridged(known[job.name]).get(short) not in (None, verdicts.UNKNOWN))
    told: dict[str, dict[str, Any]] = {}
    try:
        for job, answer in zip(todo, run(python, todo), strict=True):
            told[job.name] = answer
    finally:
        versions = sorted({*table["torch"], short}, key=verdicts.version)
        rows = {}
        for job in jobs:
            measured = {one: known[job.name].get(one, verdicts.UNKNOWN) for one in versions}
            if job.name in told:
                measured[short] = (verdicts.words if job.case else verdicts.cells)(told[job.name])
                if for_tests and counted[job.name] != "":
                    counted[job.name] = verdicts.graphs(told[job.name])
            rows[job.name] = verdicts.packed(measured, job.digest)
            if graphs := counted[job.name]:
                rows[job.name]["graphs"] = graphs
        whole = {"torch": {**table["torch"], short: full}, "run": here if for_tests else table["run"]}
        verdicts.save(path, {**whole, "rows": rows})
        print(f"torch {full}: {len(told)} of {len(todo)} measured for {path.relative_to(ROOT)}")


def run(python: str, jobs: list[Job]) -> Iterator[dict[str, Any]]:
    """What each job came to, under the torch of a Python."""
    if not jobs:
        return
    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps(_asked(job, Path(folder) / str(number))) for number, job in enumerate(jobs)]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "CUDA_VISIBLE_DEVICES": "",
        }
        command = ["nice", python, str(CHILD)]
        asked = Path(folder) / "jobs"
        asked.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with (
            asked.open(encoding="utf-8") as source,
            subprocess.Popen(
                command, stdin=source, stdout=subprocess.PIPE, text=True, env=environment
            ) as child,
        ):
            assert child.stdout is not None
            answers = map(json.loads, child.stdout)
            next(answers)  # the version
            for number, answer in enumerate(answers, 1):
                print(f"\r{number} of {len(jobs)}", end="", file=sys.stderr)
                yield answer
        print(file=sys.stderr)


def _asked(job: Job, folder: Path) -> dict[str, Any]:
    if job.case is None:
        return {"path": str(job.proof), "probe": job.probe}
    folder.mkdir()
    return {"path": str(job.case.write(folder)), "limit": LIMIT}


if __name__ == "__main__":
    sys.exit(main())
