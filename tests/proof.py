"""Runs a small program under real Dynamo and says what it cost: the witness every rule is held against.

A program is a Python file with a function `probe_<something>()` that returns `(call, batches)`. It runs
twice: once without the compiler, once as it stands with every compile on a counting `aot_eager` (plain
`eager` would hide the recompiles of floats), and the outputs are compared call by call. A program may also
make its calls itself: `drive()` yields what each of them returned.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any
from unittest import mock

import torch

from dynamo_lint.confirm.child.program import Program, compiled, eager, loaded, uncompiled
from dynamo_lint.confirm.child.values import difference, frozen
from dynamo_lint.confirm.child.witness import Witness, witness
from dynamo_lint.confirm.model import GraphBreak
from dynamo_lint.confirm.probes import probes

__all__ = ["Receipt", "loaded", "probes", "prove", "shows", "watch"]

# Structured trace records go to every handler of the root logger; a failing test would print thousands.
logging.getLogger("torch.__trace").propagate = False
torch.set_num_threads(1)  # two runs must agree to the last bit, and the programs are tiny
_BEHIND = "torch_dynamo_resume_in_"
"""The names of the code behind a break begin so."""


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
    break_lines: frozenset[tuple[str, int]] = frozenset()
    """The lines that broke a graph, each with the name of its file."""


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
    theirs = run_eagerly(path)
    receipt, ours = run_compiled(path, limit, backend)
    return replace(receipt, stale=differ(ours.outputs, theirs.outputs, backend))


@dataclass(frozen=True, slots=True)
class Run:
    """What the calls of a program returned, and what they left behind."""

    outputs: list[Any]
    state: dict[str, Any]
    """Numbers, texts and tensors by the way to them, from the program's names; empty unless asked for."""


def differ(ours: list[Any], theirs: list[Any], backend: str = "aot_eager") -> bool:
    """Whether any of the outputs differ."""
    return any(difference(one, other, backend) for one, other in zip(ours, theirs, strict=True))


def run_eagerly(path: Path, state: bool = False) -> Run:
    """Run the program as if nothing in it were compiled."""
    with uncompiled(Witness("eager")), _driver(path) as driver:
        outputs = [frozen(output) for output in driver.calls()]
        return Run(outputs, left_behind(driver.names, path.parent) if state else {})


def run_compiled(
    path: Path, limit: int | None = None, backend: str = "aot_eager", state: bool = False
) -> tuple[Receipt, Run]:
    """Run the program as it stands; its receipt does not know yet whether the outputs are right."""
    ours = []
    with (
        witness(backend, limit) as heard,
        torch.compiler.set_stance("default"),  # a stance that the program sets ends with it
        _driver(path) as driver,
    ):
        for number, output in enumerate(driver.calls()):
            ours.append(frozen(output))
            heard.call = number + 1
        told = heard.receipt(len(ours))
        run = Run(ours, left_behind(driver.names, path.parent) if state else {})
    receipt = Receipt(
        compiles=len(told.compiles),
        graphs_run=len(told.graph_calls),
        limit=bool(told.limit_hit),
        stale=False,
        # Older versions of torch keep some breaks to themselves; what they compile behind a break tells.
        breaks=len({(found.path, found.line) for found in told.breaks})
        or len({one.function for one in told.compiles if one.function.startswith(_BEHIND)}),
        break_ids=frozenset(found.id for found in told.breaks) - {""},
        recompiles=sum(not one.rejected for one in told.recompiles),
        calls=len(ours),
        never_settles={one.call for one in told.compiles} >= set(range(len(ours))),
        break_lines=frozenset(_own_line(found, path.parent) for found in told.breaks),
    )
    return receipt, run


def _own_line(found: GraphBreak, folder: Path) -> tuple[str, int]:
    """The line of the program at which the graph broke, or that called the library in which it did."""
    frames = [(Path(frame.path), frame.line) for frame in found.stack]
    own = [(file.name, line) for file, line in frames if file.parent == folder]
    return own[-1] if own else (Path(found.path).name, found.line)


class _Driver:
    """The calls of a program, and the names it has for things once they are made."""

    def __init__(self, module: ModuleType, calls: int) -> None:
        self.names = {name: value for name, value in vars(module).items() if not name.startswith("__")}
        drive = vars(module).get("drive") or next(
            value for name, value in vars(module).items() if name.startswith("probe_")
        )
        self._made, self._count = drive(), calls

    def calls(self) -> Iterator[Any]:
        """What each call returns."""
        if isinstance(self._made, Iterator):
            for output in self._made:
                frame = getattr(self._made, "gi_frame", None)
                self.names |= frame.f_locals if frame is not None else {}
                yield output
        else:
            call, batches = self._made
            self.names["call"] = call
            yield from (call(*batches[number % len(batches)]) for number in range(self._count))


@contextmanager
def _driver(path: Path, calls: int = 12) -> Iterator[_Driver]:
    """A freshly loaded copy with fresh seeds and environment, its calls to be made one by one."""
    torch.manual_seed(0)
    if known := getattr(torch._dynamo.symbolic_convert, "_import_module", None):
        known.cache_clear()  # it remembers modules by name, and another folder may have one of the same
    with loaded(path, path.parent) as module, mock.patch.dict(os.environ):
        yield _Driver(module, calls)


def left_behind(names: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The numbers, texts and tensors that can be reached from these names through code of the folder."""
    own = {file.stem for file in folder.glob("*.py")}
    seen: set[int] = set()

    def leaves(value: Any, where: str) -> Iterator[tuple[str, Any]]:
        value = getattr(value, "_orig_mod", value) if isinstance(value, torch.nn.Module) else value
        if value is None or isinstance(value, (torch.Tensor, bool, int, float, complex, str)):
            yield where, frozen(value)
        elif id(value) not in seen:
            seen.add(id(value))
            for name, part in _parts(value, own):
                yield from leaves(part, f"{where}.{name}")

    return {where: leaf for name, value in sorted(names.items()) for where, leaf in leaves(value, name)}


def _parts(value: Any, own: set[str]) -> Iterable[tuple[object, Any]]:
    """What a container or an object holds; of objects only modules and those of the program's own classes."""
    if isinstance(value, (list, tuple)):
        return enumerate(value)
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, MethodType):
        return [("__self__", value.__self__)]
    found = [
        (name, part) for name, part in getattr(value, "__dict__", {}).items() if not name.startswith("__")
    ]
    if isinstance(value, torch.nn.Module):
        hidden = vars(torch.nn.Module()).keys() - {"training"}
        kept = [(name, part) for name, part in found if name not in hidden]
        return [*kept, *value._parameters.items(), *value._buffers.items(), *value._modules.items()]
    if isinstance(value, ModuleType):
        return found if value.__name__ in own else ()
    home = value if isinstance(value, (type, FunctionType)) else type(value)
    return found if home.__module__ in own else ()
