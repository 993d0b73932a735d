"""Runs programs under the torch of the Python that runs this: the part of bench/versions.py that imports it.

Reads jobs as JSON, one a line, from standard input and writes what each cost to standard output, in the same
order. Torch is imported once; every program runs in a process of its own, which is forked from that one and
ended after SECONDS, so that a program can neither change the next one nor stop the run.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import select
import signal
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

SECONDS = 90


def main() -> None:
    """Answer every job, after a line with the version of torch."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    warnings.simplefilter("ignore")
    import torch

    import tests.proof

    _warm(torch)
    print(json.dumps({"torch": torch.__version__.partition("+")[0]}))
    for line in sys.stdin:
        print(json.dumps(_apart(json.loads(line), tests.proof)))


def _warm(torch: Any) -> None:
    """Have torch load what it loads late, for all forks, and let none of them look through that for garbage.

    Nothing here may need a gradient: where autograd has run, it does not run in a fork any more.
    """

    class Counter(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            self.calls = getattr(self, "calls", 0) + 1
            if self.calls == 2:
                print(self.calls)
            return x.sum() * self.calls

    with contextlib.redirect_stdout(io.StringIO()):
        call = torch.compile(Counter(), backend="aot_eager")
        for _ in range(3):
            call(torch.ones(2))
    torch._dynamo.reset()
    gc.freeze()


def _apart(job: dict[str, Any], proof: Any, tries: int = 4) -> dict[str, Any]:
    """What a job cost, run in a process of its own; torch's threads may die in a fork, which says nothing."""
    mine, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        os.write(theirs, json.dumps(_run(job, proof)).encode())
        os._exit(0)
    os.close(theirs)
    with open(mine, "rb") as answer:
        ready, _, _ = select.select([answer], [], [], SECONDS)
        if not ready:
            os.kill(child, signal.SIGKILL)
        text = answer.read()
    os.waitpid(child, 0)
    if not text and ready and tries > 1:
        return _apart(job, proof, tries - 1)
    return json.loads(text) if text else {"raises": "crash" if ready else "time limit"}


def _run(job: dict[str, Any], proof: Any) -> dict[str, Any]:
    path = Path(job["path"])
    sys.argv = [str(path)]
    if "probe" not in job:
        try:
            theirs = proof.run_eagerly(path)
        except BaseException as error:
            return {"needs": f"{type(error).__name__}: {error}"[:300]}
    try:
        if "probe" in job:
            return _plain(proof.prove(path, job["probe"]))
        receipt, ours = proof.run_compiled(path, job["limit"])
        stale = proof.differ(ours.outputs, theirs.outputs)
        return _plain(receipt) | {"stale": stale}
    except BaseException as error:
        return {"raises": f"{type(error).__name__}: {error}"[:300]}


def _plain(receipt: Any) -> dict[str, Any]:
    return {
        key: sorted(value) if isinstance(value, frozenset) else value
        for key, value in asdict(receipt).items()
    }


if __name__ == "__main__":
    main()
