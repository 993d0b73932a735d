"""What goes through all that a module has: `vars(module).items()`, `inspect.getmembers(module)`."""

from __future__ import annotations

from dynamo_lint.index.facts import Name
from dynamo_lint.program.refs import File, Tier
from dynamo_lint.regions import choices
from dynamo_lint.regions.containers import pairs
from dynamo_lint.regions.factories import models_of, offered
from dynamo_lint.regions.values import Value, Values, each, union
from dynamo_lint.values.points_to import Evaluation

MEMBERS = "inspect.getmembers"
LISTING = frozenset({"items", "values"})
_MANY = 32
"""A package with more modules than this is no list of models."""


def members(ev: Evaluation, owners: Values, *, named: bool = True, only_classes: bool = False) -> Values:
    """What a module offers, with its names or without: which of it is picked, only the run knows."""
    kind = models_of if only_classes else offered
    found = union(kind(ev, owner.path) for owner in owners if isinstance(owner, File))
    choices.note(ev.project, found)
    return (pairs(found) if named else each(found)) if found else {}


def modules_of(ev: Evaluation, path: str) -> Values:
    """The modules of its own that a package imports: `getattr(models, name).build(…)` asks one of them."""
    project = ev.project
    if not project.files[path].is_package:
        return {}
    found: dict[Value, Tier] = {}
    for name in project.global_bindings(path):
        for symbol in project.symbols(Name(name), path):
            if isinstance(symbol, File) and symbol.path != path:
                found[symbol] = Tier.LIKELY
    return found if len(found) <= _MANY else {}
