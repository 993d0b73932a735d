"""Runs each probe in a process of its own, so that a crash or a hang costs one probe and no state leaks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.confirm.model import STAGES, Reply, Request, from_json

NO_TORCH = "torch is not installed"

DROPPED = (
    "TORCH_LOGS",  # overrides what is listened to
    "TORCH_TRACE",
    "TORCH_COMPILE_DEBUG",
    "TORCH_COMPILE_JOB_ID",  # profile-guided: the second process would not recompile
    "TORCH_COMPILE_STICKY_PGO",
    "TORCH_COMPILE_DISABLE",
    "TORCH_COMPILE_DYNAMIC_",
    "TORCH_COMPILE_STATIC_",
    "TORCH_COMPILE_UNBACKED_",
    "TORCH_COMPILE_OVERRIDE_",
    "TORCHDYNAMO_",
    "TORCHINDUCTOR_CACHE_DIR",
)
"""Beginnings of the variables that would change what Dynamo does or says."""

STARTER = "import sys; sys.path.append({home!r}); from dynamo_lint.confirm.child.main import main; main()"
"""`home` goes last: the program under test must find its own packages first."""

TAIL = 4
"""Lines of a probe's own output that are quoted when it dies."""
_TAIL_BYTES = 20_000
"""Bytes in which they are looked for; the output as a whole may fill the disk."""


_CHILD_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER` of linux/prctl.h."""


def run(request: Request, timeout: float, python: str = sys.executable) -> Reply:
    """Run one probe; whatever becomes of it, there is a reply."""
    _adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="dynamo-lint-") as folder:
        question, answer, log = (Path(folder) / name for name in ("request.json", "reply.json", "log"))
        question.write_text(json.dumps(asdict(request)), encoding="utf-8")
        home = str(Path(__file__).parent.parent.parent)
        command = [python, "-c", STARTER.format(home=home), str(question), str(answer)]
        with log.open("wb") as sink:
            try:
                process = subprocess.Popen(
                    command,
                    cwd=request.root,
                    env=environment(os.environ, folder),
                    stdin=subprocess.PIPE,  # never written to: its end tells the probe that we are gone
                    stdout=sink,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                return Reply("start", error=f"{python} cannot be started: {error.strerror}")
            ended = _wait(process, timeout)
        reply = _read(answer)
        if reply.error:
            return replace(reply, detail=reply.detail or _last_lines(log))
        if reply.stage == "done" and process.returncode == 0:
            return reply
        if not ended:
            why = f"took longer than {timeout:g} seconds and was stopped"
        elif process.returncode < 0:
            why = f"crashed with {signal.Signals(-process.returncode).name}"
        else:
            why = f"ended with status {process.returncode}"
        return _with_error(reply, why, _last_lines(log))


def environment(outer: Mapping[str, str], folder: str) -> dict[str, str]:
    """An environment in which nothing is cached, switched off, random or left over."""
    kept = {name: value for name, value in outer.items() if not name.startswith(DROPPED)}
    return {
        **kept,
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder),
        "TORCHINDUCTOR_CACHE_DIR": str(Path(folder) / "cache"),
        "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "0",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


def _adopt_orphans() -> None:
    """Become the parent of what a probe leaves behind, on Linux: the init of a container may reap none."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait(process: subprocess.Popen[bytes], timeout: float) -> bool:
    """Whether it ended by itself; it and what it started are killed, also if it did."""
    try:
        process.wait(timeout)
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(
            ProcessLookupError, PermissionError
        ):  # nothing is left of it, as macOS says of the dead
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    if sys.platform == "linux":
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-process.pid, 0)  # those of its group that lost their parents
    if process.stdin is not None:
        process.stdin.close()


def _read(answer: Path) -> Reply:
    try:
        reply: Reply = from_json(Reply, json.loads(files.read(answer, links=False)))
        return reply
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Reply("start")


def _with_error(reply: Reply, why: str, tail: str) -> Reply:
    return replace(reply, error=f"{why} {STAGES.get(reply.stage, '')}".strip(), detail=tail)


def _last_lines(log: Path) -> str:
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        text = stream.read(_TAIL_BYTES).decode("utf-8", "replace")
    return "\n".join([line for line in text.splitlines() if line.strip()][-TAIL:])
