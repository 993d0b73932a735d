"""A Python that has torch or the linter already: programs run in forks of one process that has imported it.

`python_with(names)` gives the path of a program that takes the arguments of `python -c` and runs them in such a
fork, with its own folder, environment and streams, and ends as that ends. Importing torch and its compiler takes
seconds, the linter some tenths of one, a fork takes none. What is about processes themselves (signals, groups, what is
imported) needs a real one. Where the system has no fork, it is Python itself.

This file is run as a program too, by path, so that nothing of the tests is in the process that is forked.
"""

from __future__ import annotations

import io
import json
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

LAUNCHER = '#!/bin/sh\nexec "{python}" -I -S "{file}" ask "{address}" "$@"\n'
TORCH = (
    "functorch.compile",
    "torch._dynamo.backends.debugging",
    "torch._dynamo.repro.after_dynamo",
    "torch._functorch.aot_autograd",
    "dynamo_lint.confirm.child.testimony",
)
"""What a first compile imports, and what runs probes."""
RUN_LINTER = "from dynamo_lint.cli import main; main()"
"""What the command `dynamo-lint` runs."""
LONGEST_NAP = 0.05
"""Seconds after which the end of a program is noticed at the latest."""


def modules_of_linter() -> list[str]:
    """The names of the modules of the linter but those that import torch."""
    from pkgutil import walk_packages

    import dynamo_lint

    found = (module.name for module in walk_packages(dynamo_lint.__path__, "dynamo_lint."))
    return [
        name for name in found if not name.startswith(("dynamo_lint.confirm.child", "dynamo_lint.__main__"))
    ]


@contextmanager
def python_with(names: Iterable[str]) -> Iterator[str]:
    """The path of a Python that runs `-c CODE ARGUMENT…` in a process with these modules, while this lasts."""
    import subprocess
    import tempfile
    from pathlib import Path

    from dynamo_lint.confirm.run import environment

    if not (hasattr(os, "fork") and hasattr(socket, "send_fds")):
        yield sys.executable
        return
    with tempfile.TemporaryDirectory(prefix="forked-") as folder:
        address, launcher = Path(folder, "address"), Path(folder, "python")
        home = str(Path(__file__).parent.parent)
        command = [sys.executable, __file__, "serve", str(address), home, *names]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, env=environment(os.environ, folder), cwd=folder, stdin=pipe, stdout=pipe
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            launcher.write_text(LAUNCHER.format(python=sys.executable, file=__file__, address=address))
            launcher.chmod(0o755)
            yield str(launcher)
            server.stdin.close()


def ask(address: str, arguments: list[str]) -> int:
    """Have the arguments of a Python run in a fork of the process at an address; the status it ends with."""
    question = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    text = json.dumps(question).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [len(text).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(text)
        return int(connection.recv(16) or b"1")


def serve(address: str, home: str, *names: str) -> None:
    """Import modules, then answer until standard input ends."""
    import gc
    import importlib
    import select

    sys.path[:1] = []
    before = list(sys.path)
    sys.path.append(home)
    for name in names:
        importlib.import_module(name)

    sys.path[:] = before
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                _answer(connection)
            connection.close()
            _reap()
        _reap()


def _reap() -> None:
    """Take note of those who have answered: what they needed counts as time of this process."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(connection: socket.socket) -> None:
    """Run what is asked in a fork of this process, which ends with it, or ends it if nobody waits any more."""
    import select
    import signal

    size, streams, _, _ = socket.recv_fds(connection, 8, 3)
    text = b""
    while len(text) < int.from_bytes(size, "big"):
        text += connection.recv(1 << 16)
    child = os.fork()
    if not child:
        connection.close()
        _run(json.loads(text), streams)
    for stream in streams:
        os.close(stream)
    nap = 0.001
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        nap = min(2 * nap, LONGEST_NAP)
        if select.select([connection], [], [], nap)[0]:
            os.killpg(child, signal.SIGKILL)
            os._exit(1)
    connection.sendall(str(os.waitstatus_to_exitcode(ended[1])).encode())
    os._exit(0)


def _run(asked: dict[str, object], streams: list[int]) -> None:
    """Become what is asked for: `-c CODE ARGUMENT…`."""
    import tempfile
    import traceback
    from types import ModuleType

    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    tempfile.tempdir = None
    option, code, *sys.argv[1:] = asked["arguments"]
    assert option == "-c", option
    sys.argv[0] = option
    ways = os.environ.get("PYTHONPATH", "")
    sys.path[:0] = ["", *(ways.split(os.pathsep) if ways else ())]
    _open_streams(unbuffered="PYTHONUNBUFFERED" in os.environ)
    main = sys.modules["__main__"] = ModuleType("__main__")
    status = 1
    try:
        exec(compile(code, "<string>", "exec"), vars(main))
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _open_streams(unbuffered: bool) -> None:
    """Give the program streams of its own, as Python opens them: those of the server are about other files."""
    for number, (name, errors) in enumerate(
        {"stdin": "strict", "stdout": "strict", "stderr": "backslashreplace"}.items()
    ):
        raw = io.FileIO(number, "w" if number else "r", closefd=False)
        buffer = (
            raw if number and unbuffered else io.BufferedWriter(raw) if number else io.BufferedReader(raw)
        )
        stream = io.TextIOWrapper(
            buffer, encoding="utf-8", errors=errors, line_buffering=number == 2, write_through=unbuffered
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "serve":
        serve(*given)
    else:
        status = ask(given[0], given[1:])
        if status < 0:
            os.kill(os.getpid(), -status)
        os._exit(status)
