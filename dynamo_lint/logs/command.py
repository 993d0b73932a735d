"""Runs a command while torch records what Dynamo does, and leaves none of its processes behind.

The command has our streams, so that nothing it prints passes through here. It has a process group of its own,
which is in the foreground of the terminal as a shell would have it: Ctrl-C and Ctrl-Z go to the command. In a
pipe at a terminal it stays in our group, as a pager does, and the terminal's signals go to all of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dynamo_lint.dataclass import dataclass
from dynamo_lint.processes import adopt_orphans, children, end_remains
from dynamo_lint.trouble import Trouble

TRACE = "TORCH_TRACE"
NAMED = ("TORCH_DTRACE", TRACE)
"""The variables that name a folder for traces; the first that is set counts."""

PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
"""Signals that are meant for the command when they are sent to us; those of a scheduler are among them."""

ESCALATION = (("SIGINT", 10.0), ("SIGTERM", 10.0), ("SIGKILL", 0.0))
"""What a command is sent when its time is over, and the seconds after which the next one follows."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended."""

    status: int
    """As a shell has it: 128 and its number for a signal."""
    signal: str
    """The name of the signal that ended it; empty for none."""
    timed_out: bool
    """Its time was over, so it was ended from here."""
    remains: int
    """Processes that it had left behind, and that had to be ended."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The folder that torch writes its traces to while a command runs."""

    folder: Path
    earlier: frozenset[Path]
    """Traces of other runs in it."""
    temporary: bool

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """The environment of the command: that of ours, with the folder."""
        return {**outer, TRACE: str(self.folder)}

    def traces(self) -> list[Path]:
        """The traces of the command."""
        return sorted(set(_traces(self.folder)) - self.earlier)


def _traces(folder: Path) -> Iterator[Path]:
    yield from folder.glob("*.log")


@contextmanager
def recording(environ: Mapping[str, str], keep: Path | None) -> Iterator[Recording]:
    """A place for the traces of a command: where the user has them, where they are to be kept, or for now."""
    named = next((environ[name] for name in NAMED if environ.get(name)), None)
    if named and keep is not None:
        raise Trouble(f"the environment has torch record in {named} already: leave out --keep")
    if keep is not None:
        try:
            keep.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Trouble(f"{keep}: cannot be made: {error.strerror}") from None
    if named or keep is not None:
        folder = Path(named or keep or "").absolute()
        yield Recording(folder, frozenset(_traces(folder)), temporary=False)
        return
    with tempfile.TemporaryDirectory(prefix="dynamo-lint-", ignore_cleanup_errors=True) as made:
        yield Recording(Path(made), frozenset(), temporary=True)


def run(command: Sequence[str], environment: Mapping[str, str], seconds: float | None = None) -> Ending:
    """Run a command to its end, or for some seconds; an OSError or ValueError where it cannot be run."""
    if sys.platform == "win32":
        raise Trouble("commands are run on POSIX systems only: set TORCH_TRACE, and name its folder")
    adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody learns how a process ended
    ours, others, group, remains = os.getpgrp(), children(), 0, 0
    clock = _Clock()
    with _terminal() as terminal:
        apart = terminal is None or (os.isatty(0) and os.isatty(1))

        def enter() -> None:
            os.setpgid(0, 0)
            _hand_over(terminal, ours, os.getpid())

        try:
            # It takes the terminal before it becomes the command, which may read at once.
            process = subprocess.Popen(command, env=environment, preexec_fn=enter if apart else None)
            group = process.pid if apart else 0
            child = _Child(process.pid, terminal, apart)
            with _handlers(child, clock):
                signal.setitimer(signal.ITIMER_REAL, seconds or 0)
                status = os.waitstatus_to_exitcode(child.wait())
                signal.setitimer(signal.ITIMER_REAL, 0)
            process.returncode = status
        finally:
            try:
                remains = end_remains(group, others)
            finally:
                if apart:
                    _hand_over(terminal, group, ours)
    ended_by = _name(-status) if status < 0 else ""
    return Ending(128 - status if status < 0 else status, ended_by, clock.rung, remains)


@dataclass(frozen=True, slots=True)
class _Child:
    """The process of the command."""

    process: int
    terminal: int | None
    apart: bool
    """It leads a process group of its own."""

    def pass_on(self, number: int) -> None:
        """Send a signal that we were sent; the terminal sends its own to all of a group."""
        if not self.apart and number in (signal.SIGINT, signal.SIGQUIT) and self._is_in_foreground():
            return
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self.process, number)

    def send(self, number: int) -> None:
        """Send a signal to all of the group, where it is no other's."""
        with suppress(ProcessLookupError, PermissionError):
            os.kill(-self.process if self.apart else self.process, number)

    def wait(self) -> int:
        """The status that it ended with; while it is stopped at the terminal, we are too."""
        while True:
            # Others are orphans of the command: a long job must not collect them.
            process, status = os.waitpid(-1, os.WUNTRACED)
            if process != self.process:
                continue
            if not os.WIFSTOPPED(status):
                return status
            if self.apart and self.terminal is not None:
                ours = os.getpgrp()
                _hand_over(self.terminal, self.process, ours)
                os.killpg(ours, signal.SIGTSTP)
                # The shell has had us go on, in the foreground or not.
                _hand_over(self.terminal, ours, self.process)
                self.send(signal.SIGCONT)

    def _is_in_foreground(self) -> bool:
        with suppress(OSError):
            return self.terminal is not None and os.tcgetpgrp(self.terminal) == os.getpgrp()
        return False


class _Clock:
    """Ends a command whose time is over, step by step."""

    def __init__(self) -> None:
        self._steps = iter(ESCALATION)
        self.rung = False

    def ring(self, child: _Child) -> None:
        """Take the next step."""
        self.rung = True
        name, patience = next(self._steps)
        child.send(getattr(signal, name))
        signal.setitimer(signal.ITIMER_REAL, patience)


@contextmanager
def _handlers(child: _Child, clock: _Clock) -> Iterator[None]:
    """Pass signals on to the command, and measure its time; what is ignored, as by nohup, stays so."""

    def pass_on(number: int, _: object) -> None:
        child.pass_on(number)

    def ring(_number: int, _: object) -> None:
        clock.ring(child)

    handlers: dict[str, Callable[[int, object], None]] = {
        **dict.fromkeys(PASSED_ON, pass_on),
        "SIGALRM": ring,
    }
    before = {}
    for name, handler in handlers.items():
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


@contextmanager
def _terminal() -> Iterator[int | None]:
    """The terminal that we were started from; None where there is none."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        yield None
        return
    try:
        yield terminal
    finally:
        os.close(terminal)


def _hand_over(terminal: int | None, group: int, other: int) -> None:
    """Put another process group into the foreground of a terminal, if that is where this one is."""
    with suppress(OSError):
        if terminal is None or not _is(os.tcgetpgrp(terminal), group):
            return
        # Whoever is in the background would be stopped.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            os.tcsetpgrp(terminal, other)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is(present: int, group: int) -> bool:
    """Whether a group in the foreground is this one, or has no process that could give the place up."""
    try:
        os.killpg(present, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return present in (group, 0)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
