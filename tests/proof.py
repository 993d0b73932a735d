"""Runs a small program under real Dynamo and says what it cost: the witness every rule is held against.

A program is a Python file with a function `probe_<something>()` that returns `(call, batches)`. It runs
twice: once without the compiler, once as it stands with every compile on a counting `aot_eager` (plain
`eager` would hide the recompiles of floats), and the outputs are compared call by call.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import torch

from dynamo_lint.confirm.child.program import Program, compiled, eager, loaded
from dynamo_lint.confirm.discover import probes

__all__ = ["Receipt", "loaded", "probes", "prove", "shows"]

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
