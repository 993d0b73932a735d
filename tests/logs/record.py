"""Records the jobs of this folder again: `python tests/logs/record.py [NAME...]` with torch installed.

Each program runs once, with TORCH_LOGS and with TORCH_TRACE; paths become those of a job under `/job`, and of a
trace only the records that tell of Dynamo are kept.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

JOBS = Path(__file__).parent / "jobs"
PROGRAMS = Path(__file__).parent / "programs"
TRACED = ("environment", "break_in_loop", "masked_by_argument", "hit_limit")
KEPT = re.compile(
    r'\] \{"(?:str|dynamo_start|artifact": \{"name": "(?:recompile_reasons|dynamo_graph_break_reason|torch_version))|fail_reason": "'
)
METERED = (
    "co_name",
    "co_filename",
    "co_firstlineno",
    "duration_us",
    "entire_frame_compile_time_s",
    "fail_reason",
    "fail_type",
    "guard_count",
    "guard_latency_us",
    "has_guarded_code",
    "is_forward",
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


def record_receipt() -> None:
    """Record what compiling costs with inductor, twice: the second run finds the cache of the first."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "job"
        home.mkdir()
        (home / "receipt.py").write_text((PROGRAMS / "receipt.py").read_text())
        for start in ("cold", "warm"):
            settings = {"TORCH_TRACE": str(home / start), "TORCHINDUCTOR_CACHE_DIR": str(home / "cache")}
            command = [sys.executable, f"{home}/receipt.py"]
            subprocess.run(command, env={**os.environ, **settings}, check=True)
            (trace,) = home.glob(f"{start}/*")
            text = metered(trace.read_text()).replace(str(home), "/job")
            text = text.replace(str(SITE), "/job/venv/lib/python3.11/site-packages")
            (PROGRAMS / f"receipt_{start}.trace").write_text(text)


def metered(trace: str) -> str:
    """The records that tell what compiling cost, without the settings and sizes in them."""
    kept, keep = [], False
    for line in trace.splitlines():
        if line.startswith("\t"):
            kept += [line] if keep else []
            continue
        head, mark, rest = line.partition('] {"')
        data = json.loads(f'{{"{rest}') if mark else {}
        keep = data.get("artifact", {}).get("name") in ("recompile_reasons", "torch_version")
        if "compilation_metrics" in data:
            told = data["compilation_metrics"]
            data["compilation_metrics"] = {key: told[key] for key in METERED if key in told}
        elif "dynamo_output_graph" in data:
            data["dynamo_output_graph"] = {}
        elif not (keep or "_cache_" in str(data.get("artifact")) or data.keys() & {"str", "dynamo_start"}):
            continue
        kept.append(f"{head}] {json.dumps(data)}")
    return "\n".join(kept) + "\n"


if __name__ == "__main__":
    for each in sys.argv[1:] or sorted([*(one.stem for one in JOBS.glob("*.py")), "receipt"]):
        record_receipt() if each == "receipt" else record(each)
        print(each, flush=True)
