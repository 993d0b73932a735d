"""Loads the program of a probe, each time as if for the first time, and runs its calls."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from dynamo_lint.confirm.child.values import difference, frozen
from dynamo_lint.confirm.child.witness import NO_LIMIT, Witness, limit_name, note_failure, witness
from dynamo_lint.confirm.model import ACCELERATORS, PLAIN, Receipt

Probe = tuple[Callable[..., Any], Sequence[tuple[Any, ...]]]


class ProbeError(Exception):
    """A probe that cannot be run; the text says why."""


@dataclass(frozen=True, slots=True)
class Program:
    """A probe and how it is run."""

    path: Path
    probe: str
    root: Path
    """The project: modules below it are loaded anew for each run."""
    calls: int = 12
    extra: int = 0
    """Calls after those, in which the hooks change something; the first that fails ends the run quietly."""
    shadows: bool = False
    """Modules of the project win over installed ones of the same name."""
    scripts: tuple[str, ...] = ()
    """Files of which only the definitions are loaded."""
    made: bool = False
    """It was made by no person, who would have seen to it that two runs of it agree."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Actions before and after each call, given its number."""

    before: Sequence[Callable[[int], None]] = ()
    after: Sequence[Callable[[int], None]] = ()


NO_HOOKS = Hooks()


@dataclass(slots=True)
class Twin:
    """The results of a program without a compiler."""

    outputs: list[Any]
    sites: int
    """Compile sites that were reached."""
    recompile_limit: int
    """The limit that the program leaves in force."""
    problems: list[str] = field(default_factory=list)
    draws: bool = False
    """Its calls draw random numbers, which compiled code may draw in another order."""


SECONDS = 10.0
"""Time of the processor for one way to make a probe: what needs more is no small program."""
ALL_SECONDS = 3 * SECONDS
"""The same for all ways together."""
PATIENCE = 3
"""So many times that much may pass on a clock: a busy machine is no reason to give a way up."""


class TookTooLong(Exception):
    """A way to make a probe whose time was over."""


def _alarm(seconds: float) -> None:
    """End what runs after some seconds of work, or a few times as many of waiting, where the system can."""

    def ring(_number: int, _frame: object) -> None:
        raise TookTooLong(f"it ran for more than {SECONDS:g} seconds")

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, ring)
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)


def first_that_runs(program: Program, ways: Sequence[str]) -> str:
    """The first of some probes of a file whose calls all run without the compiler."""
    raised: dict[str, None] = {}
    imports = _imports(program.path)
    with uncompiled(Witness("eager")), _fresh(replace(program, probe=ways[0])) as _:
        module = sys.modules[program.path.stem]
        end = time.process_time() + ALL_SECONDS
        slow: set[str] = set()
        for name in ways:
            if name in slow:
                continue
            torch.manual_seed(0)
            try:
                # Imports have a time of their own: half a module would spoil the next way.
                before = time.process_time()
                _alarm(ALL_SECONDS)
                exec(imports.get(name, ""), {})
                end += time.process_time() - before
                if (left := end - time.process_time()) <= 0:
                    break
                _alarm(min(SECONDS, left))
                call, batches = _checked(getattr(module, name)(), name)
                for batch in batches:
                    call(*batch)
            except (Exception, SystemExit) as error:
                text = (str(error).strip().splitlines() or [""])[0]
                ends = f"the program ends itself with status {text}, as where arguments are missing"
                told = f"{type(error).__name__}: {text}"[:200]
                raised[ends if isinstance(error, SystemExit) and text not in ("", "0") else told] = None
                if isinstance(error, TookTooLong):
                    slow.add(f"{name}{PLAIN}")
            else:
                return name
            finally:
                _alarm(0)
    raise ProbeError(f"it does not run in any way that was tried: {_most_telling([*raised])}")


_MISSING = re.compile(rf"\b({'|'.join(ACCELERATORS)})\b", re.IGNORECASE)


def _most_telling(raised: Sequence[str]) -> str:
    """Of several messages that of a missing accelerator, else the first: the ways go from good to poor."""
    return next(filter(_MISSING.search, raised), raised[0])


def _imports(path: Path) -> dict[str, str]:
    """By the name of each function of a file, the imports in its body."""
    return {
        one.name: "\n".join(
            ast.unparse(each) for each in one.body if isinstance(each, ast.Import | ast.ImportFrom)
        )
        for one in ast.parse(path.read_bytes()).body
        if isinstance(one, ast.FunctionDef)
    }


def compiled(
    program: Program,
    twin: Twin,
    backend: str = "aot_eager",
    limit: int | None = NO_LIMIT,
    hooks: Hooks = NO_HOOKS,
) -> Receipt:
    """Run the program under Dynamo and compare each call with the twin's.

    A probe that compiles nothing itself has its `call` compiled as a whole.
    """
    outputs: list[Any] = []
    with witness(backend, limit) as heard, _fresh(program) as probe:
        call, batches = probe()
        if not twin.sites:
            call = torch.compile(call)
        for number in range(len(twin.outputs)):
            heard.call = number
            hold_limit(limit)
            for hook in hooks.before:
                hook(number)
            try:
                outputs.append(frozen(call(*batches[number % len(batches)])))
            except Exception as error:
                note_failure(heard, error)
                break
            for hook in hooks.after:
                hook(number)
        receipt = heard.receipt(len(outputs))
    told = compared_with(receipt, outputs, twin.outputs, backend)
    if program.made and twin.draws and not told.matches_eager:
        return replace(told, matches_eager=None, mismatch="")
    return told


def eager(program: Program, hooks: Hooks = NO_HOOKS) -> Twin:
    """Run the program without Dynamo; what it raises is the probe's own fault and is passed on."""
    heard = Witness("eager")
    with uncompiled(heard), _fresh(program) as probe:
        call, batches = probe()
        twin = Twin([], 0, current_limit())
        before = torch.get_rng_state()
        for number in range(program.calls + program.extra):
            for hook in hooks.before:
                hook(number)
            try:
                twin.outputs.append(frozen(call(*batches[number % len(batches)])))
            except Exception as error:
                if number < program.calls:
                    raise
                twin.problems.append(f"call {number}, with state set from outside, raises {error!r}"[:200])
                break
            for hook in hooks.after:
                hook(number)
        twin.draws = not torch.equal(before, torch.get_rng_state())
    twin.sites = heard.sites
    return twin


def compared_with(receipt: Receipt, ours: Sequence[Any], theirs: Sequence[Any], backend: str) -> Receipt:
    """The receipt with the verdict on its outputs; calls that never came about are not held against it."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    found = ((call, difference(one, other, backend)) for call, (one, other) in pairs)
    mismatch = next((f"call {call}: {text}" for call, text in found if text), "")
    return replace(receipt, matches_eager=not mismatch, mismatch=mismatch)


@contextmanager
def uncompiled(heard: Witness) -> Iterator[None]:
    """Everything that is compiled runs as it is written; the sites are counted."""
    real = torch.compile

    def counted(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda function: counted(function, **options)
        heard.sites += 1
        return real(model, backend="eager")

    with (
        mock.patch.object(torch, "compile", counted),
        torch.compiler.set_stance("force_eager"),
        # No stance that the program sets takes the place of that one.
        mock.patch.object(torch._dynamo.decorators, "_set_stance", lambda stance: stance),
    ):
        yield


def current_limit() -> int:
    """The recompile limit in force."""
    return int(getattr(torch._dynamo.config, limit_name()))


def hold_limit(limit: int | None) -> None:
    """Set the limit again, which a program may have changed."""
    if limit is not None and current_limit() != limit:
        setattr(torch._dynamo.config, limit_name(), limit)


@contextmanager
def _fresh(program: Program) -> Iterator[Callable[[], Probe]]:
    """The probe of a newly loaded program, with fresh seeds and a fresh environment."""
    torch.manual_seed(0)
    random.seed(0)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(0)
    scripts = mock.patch.object(sys, "meta_path", [Definitions(program.scripts), *sys.meta_path])
    with scripts, loaded(program.path, program.root, program.shadows) as module, mock.patch.dict(os.environ):
        factory = getattr(module, program.probe, None)
        if factory is None:
            raise ProbeError(f"the file has no function {program.probe}")
        yield lambda: _checked(factory(), program.probe)


class Definitions(importlib.abc.MetaPathFinder):
    """Loads some files without what they do: their imports, definitions and assignments alone."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = frozenset(files)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The usual place of a module, with another loader, if it is one of these files."""
        spec = PathFinder.find_spec(name, path) if self._files else None
        if spec is None or spec.origin not in self._files:
            return None
        spec.loader = _DefinitionLoader(name, spec.origin)
        return spec


class _DefinitionLoader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Run the statements that define something, each by itself."""
        tree = ast.parse(self.get_data(self.path), self.path)
        for statement in tree.body:
            if isinstance(statement, ast.For | ast.While | ast.With) or _calls(statement):
                continue
            code = compile(ast.Module([statement], []), self.path, "exec")
            if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr):
                with suppress(Exception):
                    exec(code, vars(module))
            else:
                exec(code, vars(module))


def _calls(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def _checked(made: Any, name: str) -> Probe:
    match made:
        case (call, batches) if callable(call):
            batches = [batch if isinstance(batch, tuple) else (batch,) for batch in batches]
            if batches:
                return call, batches
    raise ProbeError(f"{name}() must return (call, batches): a callable and a list of argument tuples")


@contextmanager
def loaded(path: Path, root: Path | None = None, shadows: bool = False) -> Iterator[ModuleType]:
    """Import a file the way Python runs it, its folder first on the path, and forget it afterwards.

    Two folders may hold modules of the same names, so nothing below `root` stays in `sys.modules`.
    """
    path = path.resolve()
    root = (root or path.parent).resolve()
    folder, name = path.parent, path.stem
    while (folder / "__init__.py").is_file():
        folder, name = folder.parent, f"{folder.name}.{name}"
    own = {file.stem for file in folder.glob("*.py")} | {name.partition(".")[0]}
    shadowed = {one: sys.modules.pop(one) for one in list(sys.modules) if one.partition(".")[0] in own}
    before = set(sys.modules)
    with ExitStack() as stack:
        own_ways = [str(root), str(root / "src")]
        ways = [str(folder), *own_ways, *sys.path] if shadows else [str(folder), *sys.path, *own_ways]
        stack.enter_context(mock.patch.object(sys, "path", ways))
        stack.enter_context(mock.patch.object(sys, "dont_write_bytecode", True))
        importlib.invalidate_caches()
        try:
            yield importlib.import_module(name)
        finally:
            loads = {one: sys.modules[one] for one in set(sys.modules) - before}
            gone = {one for one in loads if one.partition(".")[0] in own or _below(loads[one], root)}
            for one in gone:
                del sys.modules[one]
            _forget_aliases(gone)
            sys.modules.update(shadowed)


def _forget_aliases(gone: Iterable[str]) -> None:
    """Delete the names that Dynamo gave modules in the globals of libraries whose code it compiled.

    It takes such a name for the module of another program that is called alike
    (torch/_dynamo/symbolic_convert.py, `import_source`; checked with torch 2.13).
    """
    aliases = ["__import_" + one.replace(".", "_dot_") for one in gone]
    for module in [one for one in sys.modules.values() if isinstance(one, ModuleType)]:
        for alias in aliases:
            vars(module).pop(alias, None)


def _below(module: ModuleType, root: Path) -> bool:
    if module.__name__.partition(".")[0] == __name__.partition(".")[0]:
        return False  # our own project may be the one under test
    file = getattr(module, "__file__", None)
    if not file:
        return any(Path(way).is_relative_to(root) for way in getattr(module, "__path__", ()) or ())
    return Path(file).is_relative_to(root) and "site-packages" not in Path(file).relative_to(root).parts
