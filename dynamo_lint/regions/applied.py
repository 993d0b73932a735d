"""Who hands a function to the forward of a module: `encoder(x, score_mod=score)` names no forward.

Only for parameters that some function of the project calls, or flex_attention does, under that name: of a
tensor nobody asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from dynamo_lint.index.facts import CallSite, Parameter
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import Instance, Scope
from dynamo_lint.values.points_to import Evaluation, Sites

_CALLED_BY_FLEX = frozenset({"score_mod", "mask_mod"})
"""Parameters of torch's own that are functions (torch/nn/attention/flex_attention.py)."""
_MOST = 200
"""Calls that may be of a module which are evaluated to see what they call."""


def handing_over(ev: Evaluation, parameter: Parameter, where: FunctionRef) -> Sites:
    """The calls that say what a parameter of a function may hold; of a forward also those of its module."""
    return (*ev.call_sites(where), *handing(ev, parameter, where))


def handing(ev: Evaluation, parameter: Parameter, where: FunctionRef) -> Sites:
    """The calls of modules that hand something to a forward under a name by which functions are called."""
    if not where.key.endswith((".forward", ".__call__")) or parameter.name not in _called(ev.project):
        return ()
    nothing: Sites = ()
    return ev.ask(("handing", where, parameter.name), lambda: tuple(_handing(ev, parameter, where)), nothing)


def _handing(ev: Evaluation, parameter: Parameter, where: FunctionRef) -> Iterator[tuple[Scope, CallSite]]:
    name = where.key.rpartition(".")[2]
    place = ev.project.function(where).parameters.index(parameter) - 1
    for caller, site in islice(_sites(ev.project, parameter.name, place), _MOST):
        scope = Scope(caller, ev.project.owner(caller))
        called = (v.ref for v in ev.value(site.call.function, scope) if isinstance(v, Instance))
        if any(ev.project.method(ref, name) == where for ref in called):
            yield scope, site


def _called(project: Project) -> frozenset[str]:
    """The names of the parameters that functions call."""
    key = "parameters called"
    if key not in project.memo:
        rows = project.screened("calling given", lambda _: True)
        project.memo[key] = _CALLED_BY_FLEX.union(name for _, _, name in rows)
    return project.memo[key]  # type: ignore[return-value]


def _sites(project: Project, name: str, place: int) -> Iterator[tuple[FunctionRef, CallSite]]:
    """The calls of what bindings do not tell that pass something under a name, or a function at a place."""
    at_place = project.named("handed at").get(str(place), ())
    for where, site in (*project.named("handed as").get(name, ()), *at_place):
        if not project.symbols(site.call.function, where.path, where.key):
            yield where, site
