"""How fast logs are read, and how much memory that takes: `python bench/logs.py [MEGABYTES]`.

Three logs of that size (1000 by default) are made in a temporary folder: text of recompiles, where each lists
all entries before it; lines of a program with few of torch between; and a structured trace. The bar is 60 s
and 200 MiB for 1 GB on one core.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HEAD = "V1125 08:11:{:02d}.562000 30310 torch/_dynamo/guards.py:5396] [{}/{}] [__recompiles] "
REASON = (
    "    - {}/{}: self.n == {}  # self.n += 1  # src/program.py:16 in forward (HINT: torch.compile considers "
    + "x" * 200
)


def recompiles() -> Iterator[str]:
    for frame in range(1 << 30):
        for number in range(1, 256):
            head = HEAD.format(number % 60, frame, number)
            yield f"{head}Recompiling function forward in /job/src/program{frame % 4}.py:12\n"
            yield f"{head}    triggered by the following guard failure(s):\n"
            for entry in reversed(range(number)):
                yield head + REASON.format(frame, entry, entry) + "\n"
                yield f'{head}    -   File "/job/src/program.py", line 16, in forward\n'


def program() -> Iterator[str]:
    told = recompiles()
    while True:
        for step in range(200):
            yield f"2026-03-01 10:00:00 trainer | step {step} loss 2.031 lr 0.001 tokens/s 10403\n"
        yield next(told)


def trace() -> Iterator[str]:
    start = '{"dynamo_start": {"stack": [{"line": 12, "name": "forward", "filename": 0}]}, '
    for number in range(1 << 30):
        head = f"V1125 08:11:{number % 60:02d}.562000 30310 torch/_dynamo/convert_frame.py:303] "
        ids = f'"frame_id": {number % 50}, "frame_compile_id": {number // 50}, "attempt": 0'
        yield f"{head}{start}{ids}}}\n"
        yield f'{head}{{"dynamo_output_graph": {{}}, {ids}, "has_payload": "0"}}\n'
        yield "\tclass GraphModule(torch.nn.Module):\n" * 400
        yield f'{head}{{"compilation_metrics": {json.dumps({"metric": "x" * 3000})}, {ids}}}\n'


def main(megabytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for made in (recompiles, program, trace):
            log = Path(folder) / f"{made.__name__}.log"
            with log.open("w") as file:
                size = 0
                for text in made():
                    size += file.write(text)
                    if size >= megabytes * 1_000_000:
                        break
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.monotonic()
            command = [
                sys.executable,
                "-m",
                "dynamo_lint",
                "logs",
                str(log),
                "--no-lint",
                "-q",
                "--output-format",
                "json",
            ]
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
                check=False,
            )
            took = time.monotonic() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            told = json.loads(done.stdout)
            print(
                f"{made.__name__:<11} {size / 1e6:6.0f} MB: {took:5.1f} s, {cpu:5.1f} s of CPU, "
                f"at most {after.ru_maxrss / 1024:4.0f} MiB; proof {told['proof']}"
            )
            log.unlink()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
