"""Runs a small program under real Dynamo and says what it cost: the witness every rule is held against.

A program is a Python file with a function `probe_<something>()` that returns `(call, batches)`. It runs
twice: once without the compiler, once as it stands with every compile on a counting `aot_eager` (plain
`eager` would hide the recompiles of floats), and the outputs are compared call by call. A program may also
make its calls itself: `drive()` yields what each of them returned.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from dynamo_lint.confirm.child.program import Program, compiled, eager, loaded, uncompiled
from dynamo_lint.confirm.child.values import difference, frozen
from dynamo_lint.confirm.child.witness import Witness, witness
from dynamo_lint.confirm.discover import probes

__all__ = ["Receipt", "loaded", "probes", "prove", "shows", "watch"]

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
    recompiles: int = 0
    """Compiles that a failed guard asked for, without the one that ran into the limit."""
    calls: int = 12
    never_settles: bool = False
    """Every single call compiled something."""


def shows(effect: str, receipt: Receipt, calls: int = 12) -> bool:
    """Whether a run bears out the effect that is claimed for it; `-` claims that nothing is lost."""
    match effect:
        case "storm":
            return receipt.limit or receipt.compiles >= calls  # never settles, limit or not
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


def prove(path: Path, probe: str | None = None, calls: int = 12, backend: str = "aot_eager") -> Receipt:
    """Run a probe of the program at `path`; without a name, its only one."""
    if probe is None:
        (probe,) = probes(path)
    program = Program(path, probe, path.parent, calls)
    receipt = compiled(program, eager(program), backend, limit=None)
    if receipt.failure is not None:
        raise AssertionError(f"the compiled program raises: {receipt.failure}")
    return Receipt(
        compiles=len(receipt.compiles),
        graphs_run=len(receipt.graph_calls),
        limit=bool(receipt.limit_hit),
        stale=not receipt.matches_eager,
        breaks=len({(found.path, found.line) for found in receipt.breaks}),
        break_ids=frozenset(found.id for found in receipt.breaks) - {""},
    )


def watch(path: Path, limit: int | None = None, backend: str = "aot_eager") -> Receipt:
    """Run the program at `path` whose `drive()` makes the calls, or returns `(call, batches)` as a probe does."""
    with uncompiled(Witness("eager")), _driver(path) as outputs:
        theirs = [frozen(output) for output in outputs]
    ours = []
    with (
        witness(backend, limit) as heard,
        # Dynamo times every new guard with a cold cache: a quarter of a small compile, and nobody reads it.
        mock.patch.object(torch._dynamo.guards, "profile_guard_manager", return_value=0.0),
        _driver(path) as outputs,
    ):
        for number, output in enumerate(outputs):
            ours.append(frozen(output))
            heard.call = number + 1
        told = heard.receipt(len(ours))
    differs = any(difference(one, other, backend) for one, other in zip(ours, theirs, strict=True))
    return Receipt(
        compiles=len(told.compiles),
        graphs_run=len(told.graph_calls),
        limit=bool(told.limit_hit),
        stale=differs,
        breaks=len({(found.path, found.line) for found in told.breaks}),
        break_ids=frozenset(found.id for found in told.breaks) - {""},
        recompiles=sum(not one.rejected for one in told.recompiles),
        calls=len(ours),
        never_settles={one.call for one in told.compiles} >= set(range(len(ours))),
    )


@contextmanager
def _driver(path: Path, calls: int = 12) -> Iterator[Iterator[Any]]:
    """What the calls return, made one by one on a freshly loaded copy with fresh seeds and environment."""
    torch.manual_seed(0)
    with loaded(path, path.parent) as module, mock.patch.dict(os.environ):
        driver = module.drive()
        if isinstance(driver, Iterator):
            yield driver
        else:
            call, batches = driver
            yield (call(*batches[number % len(batches)]) for number in range(calls))
