"""Runs that are killed while they write: each file is the old or the new one, and the next run clears up."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dynamo_lint import cli, files

KILLS = int(os.environ.get("KILLS", "9"))
MODEL = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shared_calls = 0

    def forward(self, x):
        self.shared_calls += 1
        return x * 2


step = torch.compile(Model())
"""
OLD = {f"m{i}.py": "def read(model):\n    return [model.shared_calls, 1]\n" for i in range(30)}
OLD["model.py"] = MODEL
FIX = ("check", ".", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "-q", "--exit-zero", "-j", "1")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes")


def put(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        Path(name).write_text(text)


def now() -> dict[str, str]:
    return {path.name: path.read_text() for path in Path().glob("*.py")}


def drafts() -> list[str]:
    return [name for name in os.listdir() if not name.endswith(".py")]


def killed(number: signal.Signals, wait: float) -> int:
    """The exit status of a run that gets a signal some time after its first draft is there."""
    program = [sys.executable, "-m", "dynamo_lint", *FIX]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)}
    with subprocess.Popen(program, env=environment, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not drafts():
            time.sleep(0.0003)
        time.sleep(wait)
        process.send_signal(number)
    return process.returncode


@pytest.fixture
def new(here: Path) -> dict[str, str]:
    """The files as a run leaves them that nobody disturbs; the old ones are back in place."""
    put(OLD)
    assert cli.run(FIX) == 0
    done = now()
    assert all(done[name] != text for name, text in OLD.items())
    put(OLD)
    return done


def test_a_killed_run_leaves_each_file_old_or_new_and_nothing_that_the_next_run_does_not_remove(
    new: dict[str, str],
) -> None:
    chance = random.Random(0)
    for trial in range(KILLS):
        put(OLD)
        number = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)[trial % 3]
        status = killed(number, chance.uniform(0, 0.03))
        found = now()
        assert found.keys() == OLD.keys()
        assert all(found[name] in (OLD[name], new[name]) for name in OLD)
        if number != signal.SIGKILL:
            assert status in (0, 128 + number)
            assert found in (OLD, new)
            assert not drafts()
        elif drafts():
            assert cli.run(FIX) == 0
            assert not drafts()
            assert now() == new


def test_signals_between_two_renames_wait_until_the_group_is_whole(
    new: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def interrupted(draft: Path, target: Path) -> Path:
        signal.raise_signal(signal.SIGINT)
        return replace(draft, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    assert cli.run(FIX) == 130
    assert (now(), drafts()) == (new, [])


def test_only_drafts_of_runs_that_are_gone_are_removed(here: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    mark = "0123456789abcdef"
    gone, own = (f".dynamo-lint-draft-{number}-{mark}" for number in (ended.pid, os.getpid()))
    alive, old = (f".dynamo-lint-draft-{os.getppid()}-{end}" for end in (mark, mark[::-1]))
    others = (alive, f".dynamo-lint-draft-{ended.pid}-mine", f"{gone}.py", f".x{gone}")
    put(dict.fromkeys((gone, own, old, *others), "x"))
    os.utime(old, (0, 0))
    Path(gone[:-1] + "0").symlink_to(alive)
    Path(gone[:-1] + "1").mkdir()
    files.remove_leftovers(here)
    assert sorted(os.listdir()) == sorted([*others, gone[:-1] + "0", gone[:-1] + "1"])


def test_where_other_systems_share_a_folder_a_draft_stays_for_a_day(here: Path) -> None:
    handle, draft = files.create_beside(here / "a.py")
    os.close(handle)
    files.remove_leftovers(here, shared=True)
    assert draft.exists()
    os.utime(draft, (0, 0))
    files.remove_leftovers(here, shared=True)
    assert not draft.exists()
