"""What the system denies, ends or takes away: processes, descriptors, memory, the working folder, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.index.source_file import SourceFile
from dynamo_lint.recursion import with_deep_stack

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)}
MODEL = """\
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * self.n

compiled = torch.compile(Model())
"""


def fill(here: Path, files: int) -> None:
    """Enough code for a pool of processes, beside one model with one finding."""
    body = "\n".join(f"def f{i}(x):\n    return x.relu() + {i}" for i in range(400))
    for number in range(files):
        (here / f"a{number}.py").write_text(f"{body}\n# {number}\n")
    (here / "model.py").write_text(MODEL)


def lint_after(first: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A run in a folder, in a shell that does something else first."""
    line = f"{first}; exec {sys.executable} -m dynamo_lint {' '.join(options)}"
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_run_leaves_no_process_behind(here: Path) -> None:
    fill(here, 120)
    run = subprocess.Popen(
        [sys.executable, "-m", "dynamo_lint", ".", "--no-cache", "--jobs", "2"],
        cwd=here, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    time.sleep(0.7)
    run.kill()
    run.communicate(timeout=30)  # ends when nobody holds the pipes any more
    assert run.returncode == -signal.SIGKILL


def test_an_interrupted_run_waits_for_no_thread() -> None:
    program = """
import threading, time
from dynamo_lint import cli
def app(*arguments, **options):
    raise KeyboardInterrupt
cli.app = app
threading.Thread(target=time.sleep, args=(120,)).start()
cli.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "dynamo-lint: interrupted\n")


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked")
def test_a_file_that_ends_its_process_is_named_and_the_others_are_linted(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(here, 42)
    summarize = SourceFile.summarize

    def ends(place: SourceFile, source: bytes) -> FileFacts:
        if place.path == "a7.py":
            os.kill(os.getpid(), signal.SIGKILL)
        return summarize(place, source)

    monkeypatch.setattr(SourceFile, "summarize", ends)
    assert cli.run([".", "--no-cache", "--jobs", "2", "--output-format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["code"], one["path"]) for one in found] == [("DYN901", "a7.py"), ("DYN101", "model.py")]


@pytest.mark.skipif(os.name != "posix", reason="limits")
@pytest.mark.parametrize("descriptors", [9, 15])
def test_with_few_descriptors_one_process_does_the_work(here: Path, descriptors: int) -> None:
    fill(here, 42)
    done = lint_after(f"ulimit -n {descriptors}", here, ".", "--jobs", "2", "--output-format", "json")
    assert (done.returncode, [one["code"] for one in json.loads(done.stdout)["findings"]]) == (1, ["DYN101"])


@pytest.mark.skipif(sys.platform != "linux", reason="limits")
def test_too_little_memory_is_said_in_one_line(here: Path) -> None:
    (here / "model.py").write_text(MODEL)
    done = lint_after("ulimit -v 300000", here, ".", "--no-cache")
    assert (done.returncode, done.stderr) == (
        2,
        "dynamo-lint: out of memory; lint fewer files at once, or raise the limit\n",
    )


def test_a_deep_stack_is_waited_for_where_there_is_room_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    start, failures = threading.Thread.start, [RuntimeError("can't start new thread")] * 2

    def starts(thread: threading.Thread) -> None:
        if failures:
            raise failures.pop()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", starts)
    assert with_deep_stack(lambda: 3) == 3
    assert not failures


@pytest.mark.skipif(os.name != "posix", reason="folders in use cannot be deleted")
def test_a_deleted_working_folder_is_said_in_one_line(here: Path) -> None:
    gone = here / "gone"
    gone.mkdir()
    done = lint_after(f"rmdir {gone}", gone)
    said = "dynamo-lint: the current folder no longer exists; change to another folder\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_at_once_with_130_and_leaves_the_cache_whole(here: Path) -> None:
    fill(here, 42)
    command = [sys.executable, "-m", "dynamo_lint", ".", "--jobs", "2"]
    for wait in (0.5, 1.0):
        run = subprocess.Popen(
            command, cwd=here, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        time.sleep(wait)
        os.killpg(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=30)
        assert run.returncode in (130, 1, -signal.SIGINT), said
        if run.returncode == 130:
            assert said.splitlines()[-1] == "dynamo-lint: interrupted"
            assert "Traceback" not in said
    done = subprocess.run(
        [*command, "--output-format", "json"],
        cwd=here, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, [one["code"] for one in json.loads(done.stdout)["findings"]]) == (1, ["DYN101"])
