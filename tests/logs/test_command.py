"""`dynamo-lint logs -- COMMAND`: the command runs as it would alone, and its report follows."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forked import RUN_LINTER

JOBS = Path(__file__).parent / "jobs"
RECORD = 'cp environment.trace "$TORCH_TRACE/dedicated_log_torch_trace_x.log"'
"""What torch would do in a job that compiles five times more than it should."""
QUICK = (
    "from dynamo_lint.logs import command; "
    f"command.ESCALATION = tuple((name, 0.3) for name, _ in command.ESCALATION); {RUN_LINTER}"
)
"""The command line, with less patience."""


@pytest.fixture
def job(tmp_path: Path, python_with_linter: str) -> Path:
    """A folder with a recording and its program, and beside it one for temporary files and a Python."""
    (tmp_path / "temporary").mkdir()
    (tmp_path / "python").symlink_to(python_with_linter)
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "dynamo-lint.toml").write_text("")
    for ending in ("py", "trace"):
        shutil.copy(JOBS / f"environment.{ending}", folder)
    return folder


@pytest.fixture(autouse=True)
def nothing_is_left(job: Path) -> Iterator[None]:
    """After each test: no temporary folder, and no file beside the program but those that the test wanted."""
    yield
    assert list((job.parent / "temporary").iterdir()) == []
    assert {one.name for one in job.iterdir()} <= {
        *("dynamo-lint.toml", "environment.py", "environment.trace", "kept", "mine", "out.json")
    }


def surroundings(job: Path, environ: dict[str, str]) -> dict[str, str]:
    plain = {key: value for key, value in os.environ.items() if not key.startswith("TORCH")}
    paths = {"TMPDIR": str(job.parent / "temporary"), "XDG_CACHE_HOME": str(job.parent / "cache")}
    return {**plain, **paths, "COLUMNS": "100", **environ}


def start(job: Path, *words: str, **environ: str) -> subprocess.Popen[str]:
    """Start a process of its own: what is sent to it, and the streams that it has, are those of the command."""
    return subprocess.Popen(
        [sys.executable, "-m", "dynamo_lint", "logs", *words],
        cwd=job,
        env=surroundings(job, environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(
    job: Path, *words: str, program: str = RUN_LINTER, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a fork of a process that has loaded the linter."""
    return subprocess.run(
        [str(job.parent / "python"), "-c", program, "logs", *words],
        cwd=job,
        env=surroundings(job, environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


class TestTheCommand:
    def test_it_is_run_as_it_stands_and_its_report_follows_on_stderr(self, job: Path) -> None:
        done = run(job, "--", "sh", "-c", f'{RECORD}; echo "$@"', "sh", "a b", "$HOME", "--help", "--", "-q")
        assert done.stdout == "a b $HOME --help -- -q\n"
        assert done.returncode == 0
        first, *_, last = done.stderr.splitlines()
        assert first.startswith("dynamo-lint: running sh -c ")
        assert "environment.py:12: DYN201" in done.stderr
        assert "6 compiles, 5 recompiles, 0 graph breaks" in done.stderr
        assert last == "proof: a structured trace, which tells of every compile"

    def test_it_has_our_streams_so_that_no_output_passes_through_here(self, job: Path) -> None:
        code = "import os, sys; print([os.fstat(stream).st_ino for stream in (1, 2)])"
        process = start(job, "-q", "--allow-empty", "--no-lint", "--", sys.executable, "-c", code)
        assert process.stdout is not None
        assert process.stderr is not None
        inodes = [os.fstat(stream.fileno()).st_ino for stream in (process.stdout, process.stderr)]
        assert process.communicate()[0] == f"{inodes}\n"

    def test_its_environment_is_ours_and_a_folder_for_the_trace(self, job: Path) -> None:
        code = "import os; print(os.environ['TORCH_LOGS'], os.environ['TORCH_TRACE'])"
        done = run(job, "--allow-empty", "--no-lint", "--", sys.executable, "-c", code, TORCH_LOGS="+dynamo")
        logs, folder = done.stdout.split()
        assert logs == "+dynamo"
        assert Path(folder).parent == job.parent / "temporary"

    @pytest.mark.parametrize(
        ("words", "script", "status"),
        [
            ((), RECORD, 0),
            ((), f"{RECORD}; exit 7", 7),
            ((), f"{RECORD}; kill -KILL $$", 137),
            ((), f"{RECORD}; kill -TERM $$", 143),
            (("--max-recompiles", "5"), RECORD, 0),
            (("--max-recompiles", "4"), RECORD, 1),
            (("--max-recompiles", "4"), f"{RECORD}; exit 7", 7),
            (("--max-breaks", "0", "--max-graphs", "6"), RECORD, 0),
            ((), "true", 3),
            (("--allow-empty",), "true", 0),
        ],
    )
    def test_its_failure_is_ours_and_else_the_budgets_decide(
        self, job: Path, words: tuple[str, ...], script: str, status: int
    ) -> None:
        done = run(job, "--no-lint", *words, "--", "sh", "-c", script)
        assert done.returncode == status, done.stderr
        assert ("5 recompiles" in done.stderr) == (script != "true")

    def test_nothing_recorded_is_told_as_that(self, job: Path) -> None:
        done = run(job, "--", "true")
        assert "nothing is proved: No process of the command compiled anything with torch" in done.stderr

    def test_one_that_was_killed_is_told_as_that(self, job: Path) -> None:
        done = run(job, "--no-lint", "--", "sh", "-c", f"{RECORD}; kill -KILL $$")
        assert "the command was killed (SIGKILL), as the system does where memory runs out" in done.stderr

    @pytest.mark.parametrize(("command", "status"), [("no-such-program", 127), ("/etc/passwd", 126)])
    def test_one_that_cannot_run_has_the_status_of_a_shell(
        self, job: Path, command: str, status: int
    ) -> None:
        done = run(job, "--", command)
        assert (done.returncode, done.stdout) == (status, "")
        assert f"dynamo-lint: {command}: cannot be run: " in done.stderr

    def test_json_is_written_to_a_file_for_stdout_is_that_of_the_command(self, job: Path) -> None:
        assert run(job, "--output-format", "json", "--", "true").returncode == 2
        done = run(job, "--output-format", "json", "-o", "out.json", "--", "sh", "-c", f"{RECORD}; echo out")
        assert (done.returncode, done.stdout) == (0, "out\n")
        assert json.loads((job / "out.json").read_text())["recompiles"][0]["count"] == 5

    @pytest.mark.parametrize(
        "words",
        [("--",), ("environment.trace", "--", "true"), ("--for", "5m", "environment.trace"), ()]
        + [("-o", "no/such/folder/a.txt", "--", "true")]
        + [("--for", time, "--", "true") for time in ("0", "5x", "m", "-1", "١s")],
    )
    def test_what_cannot_be_meant_is_refused_before_anything_runs(
        self, job: Path, words: tuple[str, ...]
    ) -> None:
        done = run(job, *words)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


class TestTheRecording:
    def test_it_can_be_kept_and_read_again(self, job: Path) -> None:
        assert run(job, "--no-lint", "--keep", "kept", "--", "sh", "-c", RECORD).returncode == 0
        assert "5 recompiles" in run(job, "--no-lint", "kept").stdout

    def test_what_was_recorded_earlier_in_the_folder_is_not_counted(self, job: Path) -> None:
        (job / "mine").mkdir()
        shutil.copy(job / "environment.trace", job / "mine" / "earlier.log")
        for words, environ in ((("--keep", "mine"), {}), ((), {"TORCH_TRACE": "mine"})):
            assert run(job, "--no-lint", *words, "--", "true", **environ).returncode == 3

    @pytest.mark.parametrize("variable", ["TORCH_TRACE", "TORCH_DTRACE"])
    def test_it_stays_where_the_user_has_it(self, job: Path, variable: str) -> None:
        mine = job / "mine"
        mine.mkdir()
        done = run(job, "--no-lint", "--", "sh", "-c", RECORD, **{variable: str(mine)})
        assert "5 recompiles" in done.stderr
        assert [one.name for one in mine.iterdir()] == ["dedicated_log_torch_trace_x.log"]
        assert run(job, "--keep", "kept", "--", "true", **{variable: str(mine)}).returncode == 2

    def test_a_folder_that_cannot_be_made_is_one_line(self, job: Path) -> None:
        done = run(job, "--keep", "dynamo-lint.toml/kept", "--", "true")
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)

    def test_two_processes_are_no_ranks_that_could_differ(self, job: Path) -> None:
        other = RECORD.replace("environment.trace", f"{JOBS}/hit_limit.trace").replace("_x", "_y")
        done = run(job, "--no-lint", "--fail-on", "divergence", "--", "sh", "-c", f"{RECORD}; {other}")
        assert done.returncode == 0, done.stderr
        assert "8 recompiles, 0 graph breaks, 1 limit hit (torch" in done.stderr


class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
    def test_they_are_passed_on_and_the_report_follows(self, job: Path, number: signal.Signals) -> None:
        code = (
            f"import signal, subprocess, sys, time; subprocess.run(['sh', '-c', {RECORD!r}])\n"
            f"signal.signal({int(number)}, lambda *_: sys.exit(9)); print('ready', flush=True); time.sleep(60)"
        )
        process = start(job, "--no-lint", "--", sys.executable, "-c", code)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 9
        assert "the command failed with status 9" in said
        assert "5 recompiles" in said

    def test_what_nohup_has_ignored_stays_ignored(self, job: Path) -> None:
        code = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
        words = [sys.executable, "-m", "dynamo_lint", "logs", "--no-lint", "--allow-empty", "--"]
        done = subprocess.run(
            ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *words, sys.executable, "-c", code],
            cwd=job,
            env=surroundings(job, {}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "True\n"

    @pytest.mark.parametrize("ignored", ["", "trap '' INT;", "trap '' INT TERM;"])
    def test_a_time_limit_ends_it_step_by_step_and_the_budgets_decide(self, job: Path, ignored: str) -> None:
        script = f"{ignored} {RECORD}; while :; do sleep 0.1; done"
        words = ("--no-lint", "--for", "1s", "--max-recompiles")
        done = run(job, *words, "5", "--", "sh", "-c", script, program=QUICK)
        assert done.returncode == 0, done.stderr
        assert "the command was ended after 1 s, as --for has it" in done.stderr
        if not ignored:
            assert run(job, *words, "4", "--", "sh", "-c", script).returncode == 1

    def test_a_command_that_ends_in_time_keeps_its_status(self, job: Path) -> None:
        assert run(job, "--no-lint", "--for", "1h30m", "--", "sh", "-c", "exit 5").returncode == 5


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say who the orphans are")
class TestWhatItLeavesBehind:
    @pytest.mark.parametrize("end", ["exit 0", "kill -KILL $$"])
    def test_it_is_ended_also_in_a_session_of_its_own(self, job: Path, end: str) -> None:
        script = f"{RECORD}; setsid sh -c 'echo $$; exec sleep 60' & sleep 0.5; {end}"
        done = run(job, "--no-lint", "--", "sh", "-c", script)
        assert not is_alive(int(done.stdout))
        assert "1 process that the command had left behind was ended" in done.stderr

    def test_what_ends_while_the_command_runs_is_no_zombie_until_its_end(self, job: Path) -> None:
        code = (
            "import os, subprocess, time; subprocess.run(['sh', '-c', 'true & echo $! > kept'])\n"
            "time.sleep(1); print(os.path.exists('/proc/' + open('kept').read().strip()))"
        )
        done = run(job, "--no-lint", "--allow-empty", "--", sys.executable, "-c", code)
        assert done.stdout == "False\n"

    def test_what_ends_by_itself_is_left_alone(self, job: Path) -> None:
        done = run(job, "--no-lint", "--", "sh", "-c", f"{RECORD}; (sleep 0.3; echo later) &")
        assert done.stdout == "later\n"
        assert "left behind" not in done.stderr


class TestAtATerminal:
    def test_the_command_reads_it_and_ctrl_c_is_for_the_command(self, job: Path) -> None:
        code = "import time; print(input('name? '), flush=True); time.sleep(60)"
        words = ["-m", "dynamo_lint", "logs", "--no-lint", "--", sys.executable, "-c", code]
        pty = pytest.importorskip("pty")  # Windows has none
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(job)
            os.execve(sys.executable, [sys.executable, *words], surroundings(job, {}))
        said = read_until(terminal, b"\nname? ")
        os.write(terminal, b"Ann\n")
        said += read_until(terminal, b"Ann\r\nAnn\r\n")
        os.write(terminal, b"\x03")
        said += read_until(terminal, b"nothing is proved")
        while (ended := os.waitpid(process, os.WNOHANG)) == (0, 0):
            read_until(terminal, b"\0", 0.1)
        assert os.waitstatus_to_exitcode(ended[1]) == 130, said
        os.close(terminal)


def read_until(terminal: int, text: bytes, seconds: float = 60) -> bytes:
    """What appears at a terminal until a text does, or it is closed."""
    said, deadline = b"", time.monotonic() + seconds
    while text not in said and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                said += os.read(terminal, 4096)
            except OSError:
                break
    return said


def test_a_job_is_run_and_explained_under_torch(job: Path) -> None:
    pytest.importorskip("torch")
    command = (sys.executable, "environment.py")
    done = run(job, "--max-recompiles", "4", "--", *command, PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 1, done.stderr
    assert "environment.py:12: DYN201" in done.stderr
    assert "6 compiles, 5 recompiles, 0 graph breaks, 0 limits hit" in done.stderr
    assert done.stderr.endswith("over budget: max-recompiles: 4 allowed, 5 seen\n")
    for cache in (job.parent / "temporary").glob("torch*"):  # of the command itself
        shutil.rmtree(cache)
