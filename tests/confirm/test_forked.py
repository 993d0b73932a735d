"""A fork with torch is, for what is run in it, the Python that it stands for."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

FORKED = hasattr(os, "fork")


def run(python: str, code: str, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, "check": False, **options}
    return subprocess.run([python, "-c", code, *arguments], **options)  # type: ignore[call-overload,no-any-return]


def test_a_program_has_its_own_arguments_folder_environment_and_streams(
    tmp_path: Path, python_with_torch: str
) -> None:
    code = "import os, sys; print([sys.argv, os.getcwd(), os.environ['ONLY'], len(os.environ) < 5, input()])"
    done = run(python_with_torch, code, "a b", cwd=tmp_path, env={"ONLY": "this"}, input="said\n")
    assert done.stdout == f"{[['-c', 'a b'], str(tmp_path), 'this', True, 'said']}\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit('no')", 1),
        ("1 / 0", 1),
        ("import os; os._exit(42)", 42),
        ("import os; os.kill(os.getpid(), 11)", -signal.SIGSEGV),
    ],
)
def test_a_program_ends_as_it_would_in_a_process_of_its_own(
    code: str, status: int, python_with_torch: str
) -> None:
    done = run(python_with_torch, code)
    assert done.returncode == status
    assert ("ZeroDivisionError" in done.stderr) == ("1 / 0" in code)


def test_a_program_finds_packages_where_it_is_told_to(tmp_path: Path, python_with_torch: str) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "away.py").write_text("HERE = 'far'\n")
    (tmp_path / "near.py").write_text("HERE = 'near'\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "far")}
    code = "import away, near; print(away.HERE, near.HERE)"
    assert run(python_with_torch, code, cwd=tmp_path, env=environment).stdout == "far near\n"


def test_nothing_of_one_program_or_of_the_tests_is_there_for_the_next(python_with_torch: str) -> None:
    done = run(python_with_torch, "import sys, torch; torch.mine = 1; assert 'tests' not in sys.modules")
    assert (done.returncode, done.stderr) == (0, "")
    assert run(python_with_torch, "import torch; print(hasattr(torch, 'mine'))").stdout == "False\n"


@pytest.mark.skipif(not FORKED, reason="there is no fork")
def test_torch_is_there_before_a_program_asks_for_it(python_with_torch: str) -> None:
    assert run(python_with_torch, "import sys; print('torch._dynamo' in sys.modules)").stdout == "True\n"


def test_a_program_ends_when_what_started_it_is_killed(tmp_path: Path, python_with_torch: str) -> None:
    code = "import time\nwhile True: open('beats', 'w').write(f'{time.time()}'); time.sleep(0.01)"
    with subprocess.Popen([python_with_torch, "-c", code], cwd=tmp_path) as started:
        while not (tmp_path / "beats").exists():
            time.sleep(0.01)
        started.kill()
    time.sleep(0.5)
    last = (tmp_path / "beats").read_text()
    time.sleep(0.3)
    assert (tmp_path / "beats").read_text() == last
