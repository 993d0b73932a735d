"""Runs a worker per architecture, several at a time, and goes on where it was interrupted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from dynamo_lint.confirm import run as launch


@dataclass(frozen=True, slots=True)
class Task:
    """One architecture in one mode."""

    source: str
    family: str
    name: str
    mode: str
    backend: str

    def record(self, folder: Path) -> Path:
        """Where its record goes."""
        return folder / f"{self.source}-{self.mode}-{self.family}-{self.name.replace('/', '_')}.json"


def drive(tasks: list[Task], folder: Path, jobs: int, seconds: int) -> None:
    """Write a record for every task that has none yet."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting = deque(task for task in tasks if not task.record(folder).exists())
    total, done = len(waiting), 0
    running: dict[subprocess.Popen[bytes], tuple[Task, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    task = waiting.popleft()
                    running[_start(task, folder, scratch)] = task, time.monotonic()
                time.sleep(0.05)
                for process, (task, began) in list(running.items()):
                    late = time.monotonic() - began > seconds
                    if process.poll() is None and not late:
                        continue
                    if process.poll() is None:
                        process.kill()
                    process.wait()
                    del running[process]
                    done += 1
                    _give_up(
                        task, folder, f"more than {seconds} s" if late else f"status {process.returncode}"
                    )
                    _show(f"{done}/{total} {task.family} {task.name}", done == total)
        finally:
            for process in running:
                process.kill()


def _start(task: Task, folder: Path, scratch: str) -> subprocess.Popen[bytes]:
    environment = launch.environment(os.environ, scratch) | {
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
    }
    words = [task.source, task.family, task.name, task.mode, task.backend, str(task.record(folder))]
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "bench.oracle.worker", *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _give_up(task: Task, folder: Path, why: str) -> None:
    """A worker that left no record gets one that says so."""
    record = task.record(folder)
    if not record.exists():
        what = {"source": task.source, "family": task.family, "name": task.name, "mode": task.mode}
        record.write_text(json.dumps(what | {"status": "died", "why": why}))


def _show(text: str, last: bool) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="\n" if last else "", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)
