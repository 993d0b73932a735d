"""Listens to Dynamo while a program runs: the core that `confirm`, the tests and the pytest plugin share.

Sources, in this order: the structured trace log (`torch.__trace`), which every torch since 2.6 writes in the
same form; `torch._dynamo.guards.get_guard_fail_reason`, which is handed each cached version together with the
frame that it did not fit; and the backend, which every compile site is given. What a torch does not offer is
noted in the receipt's `problems` and left out.
"""

from __future__ import annotations

import gc
import logging
import re
import sys
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from inspect import unwrap
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar
from unittest import mock

import torch
import torch._dynamo
from torch._dynamo.backends.registry import lookup_backend

from dynamo_lint.confirm.child.guardtree import failures
from dynamo_lint.confirm.child.stacks import DEEPEST, library, qualified, recording, user_frame
from dynamo_lint.confirm.model import Cause, Compile, Failure, GraphBreak, Receipt, Recompile, Unit
from dynamo_lint.logs.texts import Frame, place_of, readable
from dynamo_lint.logs.texts import read_break as read_text

Item = TypeVar("Item")

HOME = str(Path(__file__).parent)
NO_LIMIT = 10_000
MOST_VERSIONS = 32
"""Cached versions that are searched for each recompile, the most recently used first."""

RESUME = re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+$")
"""The name of what Dynamo makes of the rest of a function after a graph break."""

LIMIT = re.compile(r"hit config\.\w*_limit .*?function: '(\S+)' \((.*?):(\d+)\)", re.DOTALL)


Lines = dict[str, set[int]]
CodeKey = tuple[str, int, str]
"""A function by file, first line and bare name."""


@dataclass(slots=True)
class Compiled:
    """Everything observed of one function that was compiled from its start."""

    lines: Lines = field(default_factory=dict)
    generation: int = 0
    """How often it was compiled without any cached version."""
    graphs: dict[CodeKey, list[tuple[int, int]]] = field(default_factory=dict)
    """The runs of the graph at its start, and of those after each graph break."""

    def runs(self) -> tuple[tuple[int, int], ...]:
        """The runs of the function: in each call, those of the graph that ran most often."""
        most: dict[int, list[tuple[int, int]]] = {}
        for ran in self.graphs.values():
            for call, same in groupby(ran, key=itemgetter(0)):
                most[call] = max(most.get(call, []), list(same), key=len)
        return tuple(one for _, ran in sorted(most.items()) for one in ran)


@dataclass(slots=True)
class Witness:
    """Everything observed so far; set `call` and `label` before each step of the program."""

    backend: str
    call: int = 0
    label: str = ""
    compiles: list[Compile] = field(default_factory=list)
    recompiles: list[Recompile] = field(default_factory=list)
    breaks: dict[tuple[str, int, str], GraphBreak] = field(default_factory=dict)
    graph_calls: set[int] = field(default_factory=set)
    limit_hit: dict[str, None] = field(default_factory=dict)
    traced: Lines = field(default_factory=dict)
    sites: int = 0
    """Compile sites that were reached."""
    failure: Failure | None = None
    problems: list[str] = field(default_factory=list)
    _pending: list[tuple[str, CodeType, str, list[Cause]]] = field(default_factory=list)
    _unsure: dict[int, tuple[Any, frozenset[tuple[str, str]]]] = field(default_factory=dict)
    """Per cached version (kept alive: its id is the key), guards that fail as soon as it is made."""
    _stacks: dict[str, traceback.StackSummary] = field(default_factory=dict)
    _names: dict[CodeKey, str] = field(default_factory=dict)
    _units: dict[CodeKey, Compiled] = field(default_factory=dict)
    _current: list[Compiled] = field(default_factory=list)
    """The units of the graph that is being traced."""
    _is_first: bool = False
    """The compile that goes on found no cached version."""

    def receipt(self, calls: int) -> Receipt:
        """All of it as plain data; `calls` is how many were made."""
        self.settle()
        inside = _inside(self._units)
        return Receipt(
            torch_version=str(torch.__version__),
            backend=self.backend,
            calls=calls,
            compiles=tuple(self.compiles),
            recompiles=tuple(self.recompiles),
            breaks=tuple(self.breaks.values()),
            graph_calls=tuple(sorted(self.graph_calls)),
            limit_hit=tuple(self.limit_hit),
            traced=plain(self.traced),
            units=tuple(
                Unit(self._name(*key), *key[:2], plain(one.lines), inside[key], one.runs())
                for key, one in self._units.items()
            ),
            failure=self.failure,
            problems=tuple(dict.fromkeys(self.problems))[:20],
        )

    def settle(self, started: bool = False) -> None:
        """Finish the recompile whose cached versions have all been heard; `started` says that it goes on."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        compile_id, code, _, _ = pending[0]
        entries = [by_key((place_of(cause.source).key, cause) for cause in found) for *_, found in pending]
        self.recompiles.append(
            Recompile(
                function=self._name_of(code),
                path=code.co_filename,
                first_line=code.co_firstlineno,
                call=self.call,
                label=self.label,
                compile_id=compile_id,
                rejected=not started,
                reasons=tuple(reason for _, _, reason, _ in pending),
                causes=tuple(minimal_sets(entries)),
            )
        )

    def _name(self, path: str, first_line: int, name: str) -> str:
        """The qualified name of a function, if it was ever seen."""
        return self._names.get((path, first_line, name), name)

    def _name_of(self, code: CodeType) -> str:
        return self._name(*_key(code))

    def _hear_event(self, record: logging.LogRecord) -> None:
        metadata, payload = getattr(record, "metadata", None), getattr(record, "payload", None)
        if not isinstance(metadata, dict):
            return
        if "dynamo_start" in metadata:
            if not metadata.get("attempt"):
                self._current, self._is_first = [], not self._pending
                self.settle(started=True)
        elif metadata.get("artifact", {}).get("name") == "dynamo_graph_break_reason":
            self.add_break(payload or "")

    def add_break(self, told: str) -> None:
        """Note a graph break from Dynamo's account of it."""
        found = read_break(told, self.call, self.label)
        if found is None:
            self.problems.append(f"unread graph break: {told[:200]}")
            return
        key = found.path, found.line, found.id
        known = self.breaks.get(key)
        if known is None:
            self.breaks[key] = found
        else:
            skips = known.skips_frame or found.skips_frame
            self.breaks[key] = replace(known, count=known.count + 1, skips_frame=skips)

    def _hear_warning(self, record: logging.LogRecord) -> None:
        if match := LIMIT.search(record.getMessage()):
            self.settle()
            self.limit_hit.setdefault(self._name(match[2], int(match[3]), match[1]))

    def _hear_version(
        self, manager: Any, code: CodeType, f_locals: dict[str, Any], compile_id: Any, reason: str
    ) -> None:
        """A cached version did not fit the frame that is about to be compiled."""
        current = str(torch._guards.CompileContext.current_compile_id())
        if self._pending and self._pending[0][0] != current:
            self.settle()
        code = torch._dynamo.utils.orig_code_map.get(code, code)
        found: list[Cause] = []
        if len(self._pending) < MOST_VERSIONS:
            found = self._causes(manager, f_locals, self._name_of(code), reason)
        self._pending.append((current, code, readable(reason), found))

    def _causes(self, manager: Any, f_locals: dict[str, Any], function: str, reason: str) -> list[Cause]:
        found: list[Cause] = []
        try:
            if manager.closure_vars is not None:
                found = failures(manager, f_locals, function, reason, self._stacks, self.problems)
                _, unsure = self._unsure.get(id(manager), (None, frozenset()))
                found = [cause for cause in found if (cause.kind, cause.source) not in unsure]
        except Exception as error:
            self.problems.append(f"guards could not be evaluated: {error!r}"[:200])
        return found or [_told(reason)]

    def _hear_new_version(self, manager: Any, f_locals: dict[str, Any]) -> None:
        """Guards hold in the frame that they were made for; where one seems not to, we cannot evaluate it."""
        try:
            found = failures(manager, f_locals, "", "", self._stacks, [])
        except Exception as error:
            self.problems.append(f"new guards could not be evaluated: {error!r}"[:200])
            return
        if unsure := frozenset((cause.kind, cause.source) for cause in found):
            self._unsure[id(manager)] = manager, unsure

    def _hear_line(self, translator: Any, line: int | None) -> None:
        code = translator.f_code
        if _key(code) not in self._names:
            self._names[_key(code)] = qualified(code)
        unit = self._unit_around(translator)
        if line is not None:
            for lines in (self.traced, unit.lines) if unit else (self.traced,):
                lines.setdefault(code.co_filename, set()).add(line)

    def _unit_around(self, translator: Any) -> Compiled | None:
        """The outermost function of the program in the graph that is traced; wrappers of torch are none."""
        outermost: CodeType | None = None
        while translator is not None:
            if not library(translator.f_code.co_filename):
                outermost = translator.f_code
            translator = getattr(translator, "parent", None)
        if outermost is None:
            return None
        key = self._start_of(outermost)
        unit = self._units.setdefault(key, Compiled())
        if not any(one is unit for one in self._current):
            self._current.append(unit)
            unit.generation += self._is_first and key == _key(outermost)
        return unit

    def _start_of(self, code: CodeType) -> CodeKey:
        """The function whose rest after a graph break some code is, or the code itself."""
        if match := RESUME.match(code.co_name):
            for path, line, name in reversed(self._units):
                if (path, name) == (code.co_filename, match[1]):
                    return path, line, name
        return _key(code)

    def _hear_graph(self, graph: Any) -> Callable[[], None]:
        """Note a graph that was compiled; what is returned notes each run of it."""
        context = torch._guards.CompileContext.current_compile_id()
        code = _compiling()
        graph_key = _key(code) if code else ("", 0, "")
        units = [(unit, unit.generation) for unit in self._current]
        self.compiles.append(
            Compile(
                function=self._name_of(code) if code else "",
                path=code.co_filename if code else "",
                first_line=code.co_firstlineno if code else 0,
                call=self.call,
                label=self.label,
                compile_id=str(context),
                operations=_operations(graph),
            )
        )

        def ran() -> None:
            self.graph_calls.add(self.call)
            for unit, generation in units:
                unit.graphs.setdefault(graph_key, []).append((self.call, generation))

        return ran


@contextmanager
def witness(backend: str = "aot_eager", limit: int | None = NO_LIMIT) -> Iterator[Witness]:
    """Hear all that Dynamo does inside; every `torch.compile` there gets `backend`.

    `limit` replaces the recompile limit: raised by default, so that nothing is hidden behind it; None leaves
    it alone.
    """
    heard = Witness(backend)
    torch._dynamo.reset()
    with ExitStack() as stack:
        if limit is not None:
            stack.enter_context(_limited(limit))
        if backend == "inductor":
            # Else it draws other random numbers than eager does.
            stack.enter_context(torch._inductor.config.patch(fallback_random=True))
        stack.enter_context(mock.patch.object(torch, "compile", _counted(heard, lookup_backend(backend))))
        stack.enter_context(_hearing("torch.__trace", logging.DEBUG, heard._hear_event))
        warned = "torch._dynamo.convert_frame"
        stack.enter_context(_hearing(warned, logging.WARNING, heard._hear_warning))
        # Before torch 2.10 a frame that is given up is traced only while somebody listens here.
        stack.enter_context(_hearing(f"{warned}.__graph_breaks", logging.DEBUG, lambda record: None))
        _hook_guards(heard, stack)
        _hook_new_guards(heard, stack)
        _hook_lines(heard, stack)
        # Dynamo times every new guard with a cold cache: a quarter of a small compile, and nobody reads it.
        guards = torch._dynamo.guards
        stack.enter_context(mock.patch.object(guards, "profile_guard_manager", create=True, return_value=0.0))
        yield heard
        heard.settle()
    torch._dynamo.reset()


def observe(
    steps: Sequence[Callable[[], Any]],
    backend: str = "aot_eager",
    limit: int | None = NO_LIMIT,
    labels: Sequence[str] = (),
) -> Receipt:
    """Run the steps, which compile what they like, and say what Dynamo did; the first exception ends them.

    For schedules that decide as they go, use `witness` itself.
    """
    with witness(backend, limit) as heard:
        done = 0
        for number, step in enumerate(steps):
            heard.call, heard.label = number, labels[number] if labels else ""
            try:
                step()
            except Exception as error:
                note_failure(heard, error)
                break
            done += 1
        return heard.receipt(done)


def note_failure(heard: Witness, error: BaseException) -> None:
    """Remember the exception that ended the calls; with `fullgraph=True` a graph break is one."""
    if type(error).__name__ in ("Unsupported", "UserError"):
        heard.add_break(str(error))
    frames = traceback.extract_tb(error.__traceback__)
    stack = [Frame(frame.filename, frame.lineno or 0, frame.name) for frame in frames]
    near = tuple(frame for frame in stack if not library(frame.path))[-12:]
    heard.failure = Failure(heard.call, type(error).__name__, str(error)[:2000], near)


def _counted(heard: Witness, compile_graph: Callable[..., Any]) -> Callable[..., Any]:
    """Stands for `torch.compile`, as function, method and decorator, and counts what its graphs do."""
    real = torch.compile

    def counting(graph: Any, inputs: Any, **_: Any) -> Callable[..., Any]:
        compiled = compile_graph(graph, inputs)
        # After the fact: a float that turns out constant restarts the compile once.
        note_run = heard._hear_graph(graph)

        def run(*args: Any) -> Any:
            note_run()
            return compiled(*args)

        return run

    def counted(model: Any = None, **options: Any) -> Any:
        heard.sites += 1
        kept = {key: value for key, value in options.items() if key not in ("backend", "mode", "options")}
        chosen = options.get("options") or {}
        if "guard_filter_fn" in chosen:
            kept["options"] = {"guard_filter_fn": chosen["guard_filter_fn"]}
        if model is None:
            return lambda function: counted(function, **options)
        return real(model, backend=counting, **kept)

    return counted


def limit_name() -> str:
    """Return the name of the recompile limit in this version of torch."""
    return "recompile_limit" if hasattr(torch._dynamo.config, "recompile_limit") else "cache_size_limit"


@contextmanager
def _limited(limit: int) -> Iterator[None]:
    """Another recompile limit, under the name that this torch gives it."""
    config, name = torch._dynamo.config, limit_name()
    total = f"accumulated_{name}"
    with config.patch({name: limit, total: max(limit, getattr(config, total))}):
        yield


@contextmanager
def _hearing(name: str, level: int, hear: Callable[[logging.LogRecord], None]) -> Iterator[None]:
    """Hand every record of one logger to `hear` instead of the console."""
    logger = logging.getLogger(name)
    handler = logging.Handler()
    handler.emit = hear  # type: ignore[method-assign,assignment]
    with (
        mock.patch.object(logger, "handlers", [handler]),
        mock.patch.object(logger, "level", level),
        mock.patch.object(logger, "propagate", False),
        mock.patch.object(logger, "_cache", {}),  # isEnabledFor() caches what the level used to allow
    ):
        yield


def _hook_guards(heard: Witness, stack: ExitStack) -> None:
    guards = torch._dynamo.guards
    explain = getattr(guards, "get_guard_fail_reason", None)
    if explain is None:
        heard.problems.append("this torch does not say which guard failed")
        return

    def explained(manager: Any, code: Any, f_locals: Any, compile_id: Any, *rest: Any, **named: Any) -> Any:
        reason = explain(manager, code, f_locals, compile_id, *rest, **named)
        if code is None:  # what the entry guards is gone
            return reason
        heard._hear_version(manager, code, f_locals, compile_id, str(reason))
        return reason

    stack.enter_context(mock.patch.object(guards, "get_guard_fail_reason", explained))
    parts = getattr(guards, "get_verbose_code_parts", None)
    if parts is not None:
        stack.enter_context(
            mock.patch.object(guards, "get_verbose_code_parts", recording(heard._stacks, parts))
        )


def _hook_new_guards(heard: Witness, stack: ExitStack) -> None:
    """Evaluate the guards of each new version once, to know which of them can be trusted."""
    maker = getattr(torch._dynamo.guards, "CheckFunctionManager", None)
    if maker is None:
        return
    make = maker.__init__

    def made(self: Any, f_code: Any, output_graph: Any, *rest: Any, **named: Any) -> None:
        make(self, f_code, output_graph, *rest, **named)
        manager, scope = getattr(self, "guard_manager", None), getattr(output_graph, "local_scope", None)
        if manager is not None and scope is not None and getattr(manager, "closure_vars", None) is not None:
            heard._hear_new_version(manager, scope)

    stack.enter_context(mock.patch.object(maker, "__init__", made))


def _hook_lines(heard: Witness, stack: ExitStack) -> None:
    translator = torch._dynamo.symbolic_convert.InstructionTranslatorBase
    starts = getattr(translator, "starts_line", None)
    if starts is None:
        heard.problems.append("this torch does not say which lines it traces")
        return

    def started(self: Any, line: int | None) -> Any:
        heard._hear_line(self, line)
        return starts(self, line)

    stack.enter_context(mock.patch.object(translator, "starts_line", started))


def _key(code: CodeType) -> CodeKey:
    return code.co_filename, code.co_firstlineno, code.co_name


def _inside(units: Mapping[CodeKey, Compiled]) -> dict[CodeKey, tuple[tuple[str, str], ...]]:
    """For each unit, the functions that it was put around by `functools.wraps` and that it traced."""
    found: dict[CodeKey, dict[tuple[str, str], None]] = {key: {} for key in units}
    for one in gc.get_objects() if units else ():
        if type(one) is FunctionType and "__wrapped__" in vars(one) and _key(one.__code__) in units:
            key, code = _key(one.__code__), getattr(unwrap(one), "__code__", one.__code__)
            traced = units[key].lines.get(code.co_filename, set())
            if traced & {line for _, _, line in code.co_lines() if line != code.co_firstlineno}:
                found[key][code.co_filename, qualified(code)] = None
    return {key: tuple(names) for key, names in found.items()}


def plain(lines: Lines) -> dict[str, tuple[int, ...]]:
    """Lines by file, in order, as data for JSON."""
    return {path: tuple(sorted(numbers)) for path, numbers in sorted(lines.items())}


def _compiling() -> CodeType | None:
    """The function that is being compiled right now, found on the stack of the compiler itself."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_compile" and isinstance(code := frame.f_locals.get("code"), CodeType):
            return code
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _operations(graph: Any) -> tuple[str, ...]:
    try:
        return tuple(
            getattr(node.target, "__name__", None) or str(node.target)
            for node in graph.graph.nodes
            if node.op.startswith("call_")
        )
    except AttributeError:
        return ()


def _told(reason: str) -> Cause:
    """A cause known only from Dynamo's own words."""
    text = reason.partition(": ")[2].partition("\n")[0].strip() or reason
    kind = "UNKNOWN"
    if "BACKEND_MATCH" in text or not text:
        kind = "BACKEND"
    elif "invalidated" in text:
        kind = "INVALIDATED"
    guard = text.partition("  # ")[0].strip()
    return Cause(kind, guard, guard, "", (), guard, "", guard, "")


def read_break(payload: str, call: int, label: str) -> GraphBreak | None:
    """The break that a `dynamo_graph_break_reason` or the text of an exception tells of."""
    told = read_text(payload)
    stack = tuple(Frame(one.path, one.line, one.function) for one in told.stack)
    here = user_frame(stack)
    if told.place is None and here is None:
        return None
    path, line = told.place or ((here.path, here.line) if here else ("", 0))
    inner = next((frame for frame in reversed(stack) if (frame.path, frame.line) == (path, line)), None)
    return GraphBreak(
        path=path,
        line=line,
        function=inner.function if inner else "",
        id=told.id,
        reason=told.reason,
        skips_frame=told.skips_frame,
        call=call,
        label=label,
        count=1,
        stack=_below_harness(stack),
    )


def _below_harness(stack: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames that the harness called, without its own."""
    own = [index for index, frame in enumerate(stack) if frame.path.startswith(HOME)]
    return stack[own[-1] + 1 if own else 0 :][-DEEPEST:]


def minimal_sets(entries: Sequence[Mapping[Hashable, Item]]) -> list[tuple[Item, ...]]:
    """The smallest explanations of a recompile, given the failed state of each cached version.

    Keeping a set of state still would have spared the compile if it holds all that failed in one version,
    so only the sets that contain no other can be the cause. Old versions, which fail in everything that
    has changed since, drop out by themselves.
    """
    found: list[Mapping[Hashable, Item]] = []
    for entry in sorted((entry for entry in entries if entry), key=len):
        if not any(smaller.keys() <= entry.keys() for smaller in found):
            found.append(entry)
    return [tuple(entry.values()) for entry in found]


def by_key(pairs: Iterable[tuple[Hashable, Item]]) -> dict[Hashable, Item]:
    """The first item of every key: what else failed in the same state tells nothing new."""
    found: dict[Hashable, Item] = {}
    for key, item in pairs:
        found.setdefault(key, item)
    return found
