"""Runs a small program under real Dynamo and says what it cost: the witness every rule is held against.

A program is a Python file with a function `probe_<something>()` that returns `(call, batches)`. It runs
twice: once as it stands with every compile on a counting `aot_eager` (plain `eager` would hide the
recompiles of floats), once with `torch.compile` switched off, and the outputs are compared call by call.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch
from torch._dynamo.backends.registry import lookup_backend

LIMIT_LOGGER = "torch._dynamo.convert_frame"
BREAK_LOGGERS = (
    "torch._dynamo.symbolic_convert.__graph_breaks",
    "torch._dynamo.convert_frame.__graph_breaks",
)

# Structured trace records go to every handler of the root logger; a failing test would print thousands.
logging.getLogger("torch.__trace").propagate = False
torch.set_num_threads(1)  # two runs must agree to the last bit, and the programs are tiny


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the calls of one probe cost."""

    compiles: int
    """Graphs compiled over all calls."""
    graphs_run: int
    """Calls during which at least one compiled graph ran; the rest were silently eager."""
    limit: bool
    """The recompile limit was hit: from there on new values run eagerly, for ever."""
    stale: bool
    """Some output differs from that of the uncompiled program."""
    breaks: int
    """Distinct lines that broke a graph."""
    break_ids: frozenset[str]
    """Their ids in Dynamo's registry of graph breaks, such as `GB0190`."""


def shows(effect: str, receipt: Receipt, calls: int = 12) -> bool:
    """Whether a run bears out the effect that is claimed for it; `-` claims that nothing is lost."""
    match effect:
        case "storm":
            return receipt.limit
        case "once":
            return receipt.compiles == 2 and receipt.graphs_run == calls and not receipt.stale
        case "per-value" | "per-instance":
            return receipt.compiles > 1 and not receipt.breaks and not receipt.stale
        case "break":
            return receipt.breaks > 0 and receipt.graphs_run == calls
        case "eager":
            return receipt.graphs_run < calls and not receipt.limit
        case "stale":
            return receipt.stale
        case "-":
            return receipt == Receipt(1, calls, limit=False, stale=False, breaks=0, break_ids=frozenset())
        case _:
            raise ValueError(f"unknown effect {effect!r}")


@dataclass(slots=True)
class Tally:
    """What is counted while a program runs."""

    compiles: int = 0
    ran: bool = False
    limit: bool = False
    breaks: dict[str, str] = field(default_factory=dict)
    """Line of user code to the id of its first break."""


def prove(path: Path, probe: str | None = None, calls: int = 12, backend: str = "aot_eager") -> Receipt:
    """Run a probe of the program at `path`; without a name, its only one."""
    tally = Tally()
    outputs = []
    graphs_run = 0
    with _compiling(tally, backend):
        for call, batch in _steps(path, probe, calls):
            tally.ran = False
            outputs.append(_frozen(call(*batch)))
            graphs_run += tally.ran
    with mock.patch.object(torch, "compile", _leave_eager):
        expected = [_frozen(call(*batch)) for call, batch in _steps(path, probe, calls)]
    return Receipt(
        compiles=tally.compiles,
        graphs_run=graphs_run,
        limit=tally.limit,
        stale=not all(_same(ours, theirs) for ours, theirs in zip(outputs, expected, strict=True)),
        breaks=len(tally.breaks),
        break_ids=frozenset(tally.breaks.values()) - {""},
    )


def probes(path: Path) -> tuple[str, ...]:
    """Names of the probes of a program, without running it."""
    return tuple(re.findall(r"^def (probe_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))


def _steps(path: Path, probe: str | None, calls: int) -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """The calls to make, on a freshly loaded copy of the program with fresh seeds and environment."""
    if probe is None:
        (probe,) = probes(path)
    torch.manual_seed(0)
    with loaded(path) as module, mock.patch.dict(os.environ):
        call, batches = getattr(module, probe)()
        for index in range(calls):
            yield call, batches[index % len(batches)]


@contextmanager
def loaded(path: Path) -> Iterator[ModuleType]:
    """Import a script the way Python runs it, its folder first on the path, and forget it afterwards.

    Two folders may hold modules of the same names, so nothing of the folder stays in `sys.modules`.
    """
    neighbours = {file.stem for file in path.parent.glob("*.py")}
    shadowed = {name: sys.modules.pop(name) for name in neighbours & sys.modules.keys()}
    with (
        mock.patch.object(sys, "path", [str(path.parent), *sys.path]),
        mock.patch.object(sys, "dont_write_bytecode", True),
    ):
        importlib.invalidate_caches()
        try:
            yield importlib.import_module(path.stem)
        finally:
            for name in neighbours & sys.modules.keys():
                del sys.modules[name]
            sys.modules.update(shadowed)


@contextmanager
def _compiling(tally: Tally, backend: str) -> Iterator[None]:
    """Send every compile to a counting backend and listen to Dynamo's log."""
    real_compile = torch.compile
    compile_graph = lookup_backend(backend)

    def counting(graph: Any, inputs: Any) -> Callable[..., Any]:
        compiled = compile_graph(graph, inputs)
        tally.compiles += 1  # after the fact: a float that turns out constant restarts the compile once

        def run(*args: Any) -> Any:
            tally.ran = True
            return compiled(*args)

        return run

    def counted(model: Any = None, **options: Any) -> Any:
        for choice in ("backend", "mode", "options"):
            options.pop(choice, None)
        return real_compile(model, backend=counting, **options)

    torch._dynamo.reset()
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(torch, "compile", counted))
        stack.enter_context(_listening(LIMIT_LOGGER, logging.WARNING, lambda text: _hear_limit(tally, text)))
        for name in BREAK_LOGGERS:
            stack.enter_context(_listening(name, logging.DEBUG, lambda text: _hear_break(tally, text)))
        yield
    torch._dynamo.reset()


def _leave_eager(model: Any = None, **options: Any) -> Any:
    """Stands for `torch.compile` in the uncompiled run, as function, method and decorator."""
    return model if model is not None else lambda function: function


@contextmanager
def _listening(name: str, level: int, hear: Callable[[str], None]) -> Iterator[None]:
    """Hand every message of one logger to `hear` instead of the console."""
    logger = logging.getLogger(name)
    handler = logging.Handler()
    handler.emit = lambda record: hear(record.getMessage())  # type: ignore[method-assign]
    with (
        mock.patch.object(logger, "handlers", [handler]),
        mock.patch.object(logger, "level", level),
        mock.patch.object(logger, "propagate", False),
        mock.patch.object(logger, "_cache", {}),  # isEnabledFor() caches what the level used to allow
    ):
        yield


def _hear_limit(tally: Tally, text: str) -> None:
    tally.limit = tally.limit or "hit config.recompile_limit" in text


def _hear_break(tally: Tally, text: str) -> None:
    place = re.search(r"in user code at (\S+:\d+)", text)
    ident = re.search(r"/gb/gb(\d+)\.html", text)
    if place:
        tally.breaks.setdefault(place[1], f"GB{ident[1]}" if ident else "")


def _frozen(value: Any) -> Any:
    """A copy of an output that later in-place updates cannot reach."""
    match value:
        case torch.Tensor():
            return value.detach().clone()
        case list() | tuple():
            return [_frozen(item) for item in value]
        case dict():
            return {key: _frozen(item) for key, item in value.items()}
        case _:
            return value


def _same(ours: Any, theirs: Any) -> bool:
    match ours, theirs:
        case torch.Tensor(), torch.Tensor():
            return ours.shape == theirs.shape and torch.allclose(ours, theirs, equal_nan=True)
        case list(), list():
            return len(ours) == len(theirs) and all(map(_same, ours, theirs))
        case dict(), dict():
            return ours.keys() == theirs.keys() and all(_same(ours[key], theirs[key]) for key in ours)
        case _:
            return bool(ours == theirs)
