"""Why a function is not compiled: where the chain to it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from dynamo_lint.index.ir import MODULE_KEY, CallSite, FileFacts
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.boundaries import Boundaries
from dynamo_lint.regions.model import Regions
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve
from dynamo_lint.values.model import Context, FunctionValue, Instance
from dynamo_lint.values.points_to import evaluate

_MOST = 3
"""How many callers are named."""


def why_not(
    files: Mapping[str, FileFacts], regions: Regions, options: RegionOptions, name: str
) -> dict[str, list[str]]:
    """For each function of that name that is not compiled: where the chains to it end, a sentence each."""
    project, guessed = resolve(files, replace(options, guesses=True))
    hot = {one.function for one in regions.hot}
    assumed = {one.function: one for one in guessed.hot}
    boundaries = Boundaries(project, options)
    found: dict[str, list[str]] = {}
    for ref in project.functions():
        if ref.key == MODULE_KEY or ref in hot or not is_called(ref.id, name):
            continue
        reasons = []
        kind, reason = boundaries.reason(ref)
        if kind:
            reasons.append(f"{reason[0].upper()}{reason[1:]}.")
        elif ref in assumed:
            place = assumed[ref].chain[0]
            guess = 'the call chain from it is only possible; `min-confidence = "possible"` shows it'
            reasons.append(f"The entry at {place.path}:{place.line} may compile it, but {guess}.")
        reasons += _unresolved(project, ref, regions)
        reasons += _callers(project, ref, hot, boundaries)
        found[ref.id] = reasons or ["No compile entry names it, and no known call in these files reaches it."]
    return found


def is_called(identity: str, name: str) -> bool:
    """`name` is the identity, its qualname, or a tail of either that starts at a whole word."""
    return identity == name or any(identity.endswith(mark + name) for mark in ("::", ".", "/"))


def _callers(
    project: Project, ref: FunctionRef, hot: set[FunctionRef], boundaries: Boundaries
) -> Iterator[str]:
    name = project.function(ref).qualname.rpartition(".")[2]
    for where, site in islice(_sites(project, ref, name), _MOST):
        place = f"{where.path}:{site.call.line}"
        caller = project.function(where).qualname
        if where in hot and site.eager:
            yield f"{caller} calls it at {place}, but only where `is_compiling()` is false."
        elif where in hot:
            yield f"{caller} calls it at {place} on another class or through an unknown value."
        elif boundaries.of(where):
            yield f"{caller} calls it at {place}, but {boundaries.reason(where)[1]}."
        elif where.key == MODULE_KEY:
            yield f"It is called at {place}, at the top level of the file, which is never compiled."
        else:
            yield f"{caller} calls it at {place}, but is not compiled itself."


def _unresolved(project: Project, ref: FunctionRef, regions: Regions) -> Iterator[str]:
    """Compile sites without a known target that may mean the function or its class."""
    owner = project.owner(ref)
    module = project.files[ref.path].module
    names = {f"{module}:{ref.key}", *([f"{module}:{owner.key}"] if owner is not None else [])}
    for site in regions.unresolved:
        for name in names.intersection(site.candidates):
            yield f'{site.path}:{site.line} may compile it; if so, declare `regions = ["{name}"]`.'


def _sites(project: Project, ref: FunctionRef, name: str) -> Iterator[tuple[FunctionRef, CallSite]]:
    """The calls that may run a function: by its name, or of an instance for `forward`."""
    wanted = {name} | project.aliases_of(name)
    for called in sorted(wanted):
        for where, site in project.calls_of(called):
            values = evaluate(project, site.call.function, Context(where, project.owner(where)))
            if any(isinstance(v, FunctionValue) and v.ref == ref for v in values):
                yield where, site
    owner = project.owner(ref)
    if owner is None or name not in ("forward", "__call__"):
        return
    for where in project.functions():
        if where.path == ref.path:
            for site in project.function(where).calls:
                values = evaluate(project, site.call.function, Context(where, project.owner(where)))
                if Instance(owner) in values:
                    yield where, site
