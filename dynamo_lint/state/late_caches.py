"""Caches of XLA and JAX that are set up after something was computed."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import MODULE_KEY, Attribute, Call, Constant, Expr, Name
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.values.points_to import points_to_of

_XLA_CACHE = frozenset({"torch_xla.runtime.initialize_cache"})
_XLA_STEPS = knowledge.names("steps_lazily") | knowledge.names("waits_lazily")
_XLA_DEVICES = frozenset({"torch_xla.device", "torch_xla.core.xla_model.xla_device"})
_JAX_UPDATE = "jax.config.update"
_JAX_KEY = "jax_compilation_cache_dir"
_JAX_COMPUTES = ("jax.numpy.", "jax.random.", "jax.nn.", "jax.lax.", "jax.device_put")
_JIT = frozenset({"jax.jit", "jax.pmap", "equinox.filter_jit", "flax.nnx.jit"})
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class LateCache:
    """A line that sets a cache up, and the line above it that computes."""

    where: FunctionRef
    line: int
    text: str
    before: int
    fails: bool
    """The cache is lost; else just what was compiled before is not in it."""


def late_caches(project: Project) -> Iterator[LateCache]:
    """All such lines, each with the nearest computation above it in the same function."""
    for where, site in project.calls_of("initialize_cache"):
        if _dotted(project, site.call, where) & _XLA_CACHE:
            yield from _late(project, where, site.call, "xr.initialize_cache(…)", False)
    for where, site in project.calls_of("update"):
        if Constant(_JAX_KEY) in site.call.arguments and _JAX_UPDATE in _dotted(project, site.call, where):
            yield from _late(project, where, site.call, f'jax.config.update("{_JAX_KEY}", …)', True)


def _dotted(project: Project, call: Call, where: FunctionRef) -> frozenset[str]:
    symbols = project.symbols(call.function, where.path, where.key)
    return frozenset(one.dotted for one in symbols if isinstance(one, ExternalSymbol))


def _late(project: Project, where: FunctionRef, call: Call, text: str, jax: bool) -> Iterator[LateCache]:
    """The line with the computation above it, or above the call of the function that it stands in."""
    if (before := _before(project, where, call.line, jax)) is not None:
        yield LateCache(where, call.line, text, before, not jax)
        return
    calls = points_to_of(project).call_sites(where) if where.key != MODULE_KEY else ()
    for caller, site in calls:
        if (before := _before(project, caller.function, site.call.line, jax)) is not None:
            yield LateCache(caller.function, site.call.line, text, before, not jax)
            return


def _before(project: Project, where: FunctionRef, line: int, jax: bool) -> int | None:
    """The first line above another that computes whenever that one runs."""
    function = project.function(where)
    for site in sorted(function.calls, key=lambda one: one.call.line):
        at = site.call.line
        around = [(first, last) for first, last in function.branches if first <= at <= last]
        above = at < line and all(first <= line <= last for first, last in around)
        if above and _computes(project, where, site.call, jax, 0):
            return at
    return None


def _computes(project: Project, where: FunctionRef, call: Call, jax: bool, depth: int) -> bool:
    """Whether a call computes on the device."""
    dotted = _dotted(project, call, where)
    if jax:
        if any(one.startswith(_JAX_COMPUTES) for one in dotted) or _is_jitted(project, where, call.function):
            return True
    elif dotted & _XLA_STEPS or (not dotted & _XLA_DEVICES and _takes_device(project, where, call)):
        return True
    for symbol in project.symbols(call.function, where.path, where.key) if depth < _DEEPEST else ():
        if isinstance(symbol, FunctionRef) and symbol != where:
            inner = project.function(symbol)
            calls = [site.call for site in inner.calls if not inner.is_conditional(site.call.line)]
            if any(_computes(project, symbol, one, jax, depth + 1) for one in calls):
                return True
    return False


def _takes_device(project: Project, where: FunctionRef, call: Call) -> bool:
    """Whether a call is handed a device of XLA: it makes a tensor there, or moves one."""
    given = (*call.arguments, *(value for _, value in call.keywords))
    return any(_is_device(project, where, one) for one in given)


def _is_device(project: Project, where: FunctionRef, value: Expr) -> bool:
    if isinstance(value, Call):
        return bool(_dotted(project, value, where) & _XLA_DEVICES)
    if not isinstance(value, Name):
        return False
    bound = [one.value for one in project.bindings_of(where).get(value.id, ())]
    return any(isinstance(one, Call) and _dotted(project, one, where) & _XLA_DEVICES for one in bound)


def _is_jitted(project: Project, where: FunctionRef, callee: Expr) -> bool:
    """Whether a function is one that JAX compiles."""
    if isinstance(callee, Call):
        return bool(_dotted(project, callee, where) & _JIT)
    for symbol in project.symbols(callee, where.path, where.key):
        if isinstance(symbol, FunctionRef):
            marks = project.function(symbol).decorators
            inside = FunctionRef(symbol.path, project.function(symbol).outer or MODULE_KEY)
            for mark in marks:
                parts = [mark, mark.function, *mark.arguments] if isinstance(mark, Call) else [mark]
                for part in parts:
                    if isinstance(part, Name | Attribute) and _dotted(project, Call(part), inside) & _JIT:
                        return True
    if isinstance(callee, Name):
        bound = [one.value for one in project.bindings_of(where).get(callee.id, ())]
        return any(isinstance(one, Call) and _dotted(project, one, where) & _JIT for one in bound)
    return False
