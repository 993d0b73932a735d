"""Time the variants of `variants.py` on this machine's GPUs, in turn, and write what each run printed.

    python bench/gpu/measure.py FOLDER --gpus 1 --repeat 5 --out results.json [options of hybrid.train]

Every run is a process of its own with empty caches of Inductor and Triton, as a first start is. `--lanes 2`
runs a variant on two cards side by side, as two repetitions. It needs torch alone, so that it runs where the
linter is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

VARIANTS = {
    "eager": ("written", ["--eager"]),
    "written": ("written", []),
    "fixed": ("fixed", []),
    "advised": ("advised", []),
}


def main() -> None:
    """Run every variant as often as asked for, and write the records after each run."""
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--gpus", type=int, default=1)
    options.add_argument("--lanes", type=int, default=1)
    options.add_argument("--repeat", type=int, default=5)
    options.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=VARIANTS)
    options.add_argument("--seconds", type=float, default=570, help="start no run that may end after this")
    options.add_argument("--out", type=Path, required=True)
    args, training = options.parse_known_args()
    start, longest, records = time.monotonic(), 0.0, []
    for repetition in range(args.repeat):
        for variant in args.variants:
            before = time.monotonic()
            if before - start + longest > args.seconds:
                print(f"stopped before {variant} of repetition {repetition}: no time left", file=sys.stderr)
                return
            with ThreadPoolExecutor(args.lanes) as lanes:
                runs = [
                    lanes.submit(run, args.folder.resolve(), variant, args.gpus, lane * args.gpus, training)
                    for lane in range(args.lanes)
                ]
            records += [finished.result() for finished in runs]
            longest = max(longest, time.monotonic() - before)
            args.out.write_text(json.dumps(records, indent=1) + "\n", "utf-8")
            print(json.dumps(records[-1]), flush=True)


def run(folder: Path, variant: str, gpus: int, first: int, training: list[str]) -> dict[str, object]:
    """The record of one training run: what it printed, with its variant, GPUs and wall-clock seconds."""
    package, switches = VARIANTS[variant]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as caches:
        environment = {
            **os.environ,
            "CUDA_VISIBLE_DEVICES": ",".join(str(first + card) for card in range(gpus)),
            "PYTHONPATH": str(folder / package),
            "TORCHINDUCTOR_CACHE_DIR": f"{caches}/inductor",
            "TRITON_CACHE_DIR": f"{caches}/triton",
            "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        }
        launcher = (
            ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(gpus)] if gpus > 1 else []
        )
        job = subprocess.run(
            [sys.executable, *launcher, "-m", "hybrid.train", *switches, *training],
            cwd=folder / package,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    lines = [line for line in job.stdout.splitlines() if line.startswith("{")]
    if job.returncode or not lines:
        sys.exit(job.stdout + job.stderr)
    wall = round(time.monotonic() - start, 1)
    return {"variant": variant, "gpus": gpus, "options": training, **json.loads(lines[-1]), "wall": wall}


if __name__ == "__main__":
    main()
