"""Lines behind the one that makes the process group, and how long a group waits."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import Call, Constant, Expr, Name
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.state.expressions import bound_to, constant
from dynamo_lint.values.points_to import points_to_of

MAKES = ("init_process_group", "init_distributed", "init_device_mesh")
"""Functions that make the process group, of torch and of DeepSpeed."""
_WRAPS = ("DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard")
_READ_BY_IT = ("NCCL_", "TORCH_NCCL_")
_SECONDS = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1, "milliseconds": 0.001}
_POSITIONS = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours")
_OF_NCCL = 600.0
"""The seconds that a group of NCCL waits by itself (kProcessGroupNCCLDefaultTimeout)."""
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Group:
    """A call that makes a process group, with how long it waits."""

    where: FunctionRef
    line: int
    seconds: float | None
    """None where torch decides, or it is not known."""


def is_read_by_groups(variable: str) -> bool:
    """Whether a variable is read when the process group, or its first communicator, is made."""
    return variable.startswith(_READ_BY_IT)


def groups_made(project: Project) -> Iterator[Group]:
    """Every call of torch's `init_process_group` and `new_group` of which it is known how long it waits."""
    for name in ("init_process_group", "new_group"):
        for where, site in project.calls_of(name):
            given = dict(site.call.keywords)
            backend = (*site.call.arguments[:1], given.get("backend"), None)[0]
            if timeout := given.get("timeout"):
                yield Group(where, site.call.line, _seconds(project, timeout, where))
            elif name == "init_process_group" and backend == Constant("nccl"):
                yield Group(where, site.call.line, _OF_NCCL)


def _seconds(project: Project, value: Expr, where: FunctionRef, depth: int = 0) -> float | None:
    """The seconds of a `timedelta`, also by a name that is bound to one."""
    if isinstance(value, Name) and depth < _DEEPEST:
        values, home = bound_to(project, value.id, where)
        return _seconds(project, values[0], home, depth + 1) if len(values) == 1 else None
    if not isinstance(value, Call) or terminal_name(value.function) != "timedelta":
        return None
    given = [*zip(_POSITIONS, value.arguments, strict=False), *value.keywords]
    total = 0.0
    for name, part in given:
        literal = constant(project, part, where)
        number = literal.value if literal is not None else None
        if not isinstance(number, int | float) or name not in _SECONDS:
            return None
        total += number * _SECONDS[name]
    return total


def is_distributed(project: Project, paths: frozenset[str]) -> bool:
    """Whether one of some files makes a process group, or wraps a model for several processes."""
    return any(where.path in paths for name in (*MAKES, *_WRAPS) for where, _ in project.calls_of(name))


def group_before(project: Project, where: FunctionRef, line: int, depth: int = 0) -> tuple[str, int] | None:
    """The file and line that has made the process group whenever a line runs; None if that is not known."""
    function = project.function(where)
    for site in function.calls:
        at = site.call.line
        around = [(first, last) for first, last in function.branches if first <= at <= last]
        if at >= line or not all(first <= line <= last for first, last in around):
            continue
        if terminal_name(site.call.function) in MAKES:
            return where.path, at
        for symbol in project.symbols(site.call.function, where.path, where.key):
            if isinstance(symbol, FunctionRef) and _makes(project, symbol, 0):
                return where.path, at
    calls = [*points_to_of(project).call_sites(where)] if depth < _DEEPEST else []
    before = [
        group_before(project, caller.function, site.call.line, depth + 1)
        for caller, site in calls
        if caller.function != where
    ]
    return before[0] if before and None not in before else None


def _makes(project: Project, where: FunctionRef, depth: int) -> bool:
    """Whether a function makes the process group in each of its calls."""
    function = project.function(where)
    for site in function.calls:
        if function.is_conditional(site.call.line):
            continue
        if terminal_name(site.call.function) in MAKES:
            return True
        symbols = project.symbols(site.call.function, where.path, where.key) if depth < _DEEPEST else ()
        inner = (one for one in symbols if isinstance(one, FunctionRef) and one != where)
        if any(_makes(project, one, depth + 1) for one in inner):
            return True
    return False
