"""Whether the program that a file is runs a function: a search from the function through its callers."""

from __future__ import annotations

from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.files import in_tests, is_kept, reached
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.values.points_to import PointsTo

_MOST = 100
"""Callers of callers; of more, one runs somewhere."""


def may_be_run_by(pts: PointsTo, path: str, ref: FunctionRef) -> bool:
    """Whether a file may run a function; one that is no program is for any program that imports it."""
    if not in_tests(path) and not pts.project.files[path].is_script:
        return True
    return pts.ask(("run by", path, ref), lambda: _runs(pts, path, ref), True)


def _runs(pts: PointsTo, path: str, ref: FunctionRef) -> bool:
    """Whether callers of callers of a function lead to a file."""
    within = reached(pts.project, path)
    seen, waiting = {ref}, [_outermost(ref)]
    while waiting:
        one = waiting.pop()
        if one.path not in within:
            continue
        if one.path == path or one.key == MODULE_KEY or len(seen) > _MOST or _is_unseen(pts, one):
            return True
        callers = {_outermost(caller.function) for caller, _ in pts.call_sites(one)} - seen
        seen |= callers
        waiting += sorted(callers, key=lambda caller: caller.id)
    return False


def _outermost(ref: FunctionRef) -> FunctionRef:
    return FunctionRef(ref.path, ref.key.partition(".<locals>.")[0])


def _is_unseen(pts: PointsTo, ref: FunctionRef) -> bool:
    """Whether others than calls may run a function: a library its callback, a decorator what it is put on."""
    function, name = pts.project.function(ref), ref.key.rpartition(".")[2]
    owner = pts.project.owner(ref)
    if is_kept(pts.project, name, function.decorators):
        return True
    return owner is not None and (name.startswith("__") or bool(pts.project.external_bases(owner)))
