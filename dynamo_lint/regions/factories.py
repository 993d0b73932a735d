"""What a module offers under a name that only the run knows: `models.__dict__[arch](…)`."""

from __future__ import annotations

from dynamo_lint.index.facts import MODULE_KEY, Name
from dynamo_lint.program.refs import ClassRef, File, FunctionRef, Symbol, Tier
from dynamo_lint.regions.values import EMPTY, ClassValue, FunctionValue, Instance, Value, Values
from dynamo_lint.values.points_to import Evaluation

_MANY = 8
"""A module that builds more different models than this says little about which of them is meant."""
_MOST = 200
"""A module with more public names than this is no list of models."""


def offered(ev: Evaluation, path: str, *, imported: bool = False) -> Values:
    """The functions of a module that build models; its module classes if there are no such functions.

    What it imports it offers to its own code (`imported`), and to others if it is a package.
    """
    nothing: Values = EMPTY
    return ev.ask_nearby(("offered", path, imported), lambda: _offered(ev, path, imported), nothing)


def _offered(ev: Evaluation, path: str, imported: bool) -> Values:
    makers: dict[Value, Tier] = {}
    classes: dict[Value, Tier] = {}
    different: set[Value] = set()
    for symbol in _public(ev, path, imported):
        match symbol:
            case FunctionRef():
                models = {v: t for v, t in ev.returns(symbol, None).items() if isinstance(v, Instance)}
                if models and all(ev.holds_module(model) for model in models):
                    makers[FunctionValue(symbol)] = Tier.LIKELY
                    different.update(models)
            case ClassRef() if ev.project.is_module(symbol):
                classes[ClassValue(symbol)] = Tier.LIKELY
    if imported or not makers:
        whole: Values = {value: tier for value, tier in classes.items() if not _is_part(ev, value, path)}
        return {**makers, **whole} or classes
    return makers if len(different) <= _MANY else ev.guessed(makers)


def models_of(ev: Evaluation, path: str) -> Values:
    """The module classes of a file that are no parts of others in it."""
    classes = (one for one in _public(ev, path, imported=False) if isinstance(one, ClassRef))
    found: Values = {ClassValue(one): Tier.LIKELY for one in classes if ev.project.is_module(one)}
    return {value: tier for value, tier in found.items() if not _is_part(ev, value, path)} or found


def _is_part(ev: Evaluation, model: Value, path: str) -> bool:
    """Whether a class of a module is what others there are made of, or others in the file it comes from."""
    if not isinstance(model, ClassValue):
        return False
    return any(
        where.path == path or (where.path == model.ref.path and ev.project.owner(where) is not None)
        for where, _ in ev.project.calls_of(model.ref.name)
    )


def _public(ev: Evaluation, path: str, imported: bool) -> list[Symbol]:
    """What a file defines itself, and a package gathers from its files."""
    project = ev.project
    file = project.files[path]
    names = list(project.global_bindings(path))
    if imported or file.is_package:
        for star in file.stars:
            for source in project.imported_modules(star, path):
                names += project.global_bindings(source.path) if isinstance(source, File) else ()
    public = [name for name in dict.fromkeys(names) if not name.startswith("_")]
    if len(public) > _MOST:
        return []
    found = (symbol for name in public for symbol in project.symbols(Name(name), path))
    return [
        symbol
        for symbol in dict.fromkeys(found)
        if isinstance(symbol, ClassRef | FunctionRef) and (imported or file.is_package or symbol.path == path)
        if symbol.key != MODULE_KEY
    ]
