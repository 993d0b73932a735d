"""Records the jobs of this folder again: `python tests/logs/record.py [NAME...]` with torch installed.

Each program runs once, with TORCH_LOGS and with TORCH_TRACE; paths become those of a job under `/job`, and of a
trace only the records that tell of Dynamo are kept.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

JOBS = Path(__file__).parent / "jobs"
TRACED = ("environment", "break_in_loop", "masked_by_argument", "hit_limit")
KEPT = re.compile(
    r'\] \{"(?:str|dynamo_start|artifact": \{"name": "(?:recompile_reasons|dynamo_graph_break_reason|torch_version))|fail_reason": "'
)
SITE = Path(torch.__file__).parent.parent


def record(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "job"
        home.mkdir()
        (home / f"{name}.py").write_text((JOBS / f"{name}.py").read_text())
        settings = {"TORCH_LOGS": "recompiles,graph_breaks", "OMP_NUM_THREADS": "1"}
        if name in TRACED:
            settings["TORCH_TRACE"] = str(home / "trace")
        done = subprocess.run(
            [sys.executable, f"{home}/{name}.py"],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
        )

        def moved(text: str) -> str:
            text = text.replace(str(SITE), "/job/venv/lib/python3.11/site-packages").replace(
                str(home), "/job"
            )
            # In the comment of a check torch shortens the path by what it shares with its own.
            return re.sub(rf"(?<=# )\S*job/{name}\.py", f"/job/{name}.py", text)

        (JOBS / f"{name}.log").write_text(moved(done.stderr))
        for trace in sorted(home.glob("trace/*")):
            (JOBS / f"{name}.trace").write_text(moved(trimmed(trace.read_text())))


def trimmed(trace: str) -> str:
    """The records that tell of Dynamo."""
    kept, keep = [], False
    for line in trace.splitlines():
        keep = bool(KEPT.search(line)) if not line.startswith("\t") else keep
        if keep:
            kept.append(line)
    return "\n".join(kept) + "\n"


if __name__ == "__main__":
    for each in sys.argv[1:] or sorted(one.stem for one in JOBS.glob("*.py")):
        record(each)
        print(each, flush=True)
