"""A guess: a name looked up in a module, `models.__dict__[arch]`, is one of what the module offers."""

from __future__ import annotations

from dynamo_lint.index.ir import MODULE_KEY, Name
from dynamo_lint.program.refs import ClassRef, Confidence, File, FunctionRef, Symbol
from dynamo_lint.values import alternatives
from dynamo_lint.values.containers import pairs
from dynamo_lint.values.model import EMPTY, ClassValue, FunctionValue, Instance, Value, ValueSet, each, union
from dynamo_lint.values.points_to import PointsTo

_MANY = 8
"""A module that builds more different models than this says little about which of them is meant."""
_MOST = 200
"""A module with more public names than this is no list of models."""


def offered(pts: PointsTo, path: str, *, imported: bool = False) -> ValueSet:
    """The functions of a module that build models; its module classes if there are no such functions.

    What it imports it offers to its own code (`imported`), and to others if it is a package.
    """
    nothing: ValueSet = EMPTY
    return pts.ask_within(("offered", path, imported), lambda: _offered(pts, path, imported), nothing)


def _offered(pts: PointsTo, path: str, imported: bool) -> ValueSet:
    makers: dict[Value, Confidence] = {}
    classes: dict[Value, Confidence] = {}
    different: set[Value] = set()
    for symbol in _public(pts, path, imported):
        match symbol:
            case FunctionRef():
                models = {v: t for v, t in pts.returns(symbol, None).items() if isinstance(v, Instance)}
                if models and all(pts.holds_module(model) for model in models):
                    makers[FunctionValue(symbol)] = Confidence.LIKELY
                    different.update(models)
            case ClassRef() if pts.project.is_module(symbol):
                classes[ClassValue(symbol)] = Confidence.LIKELY
    if imported or not makers:
        whole: ValueSet = {
            value: confidence for value, confidence in classes.items() if not _is_part(pts, value, path)
        }
        return {**makers, **whole} or classes
    return makers if len(different) <= _MANY else pts.guessed(makers)


def models_of(pts: PointsTo, path: str) -> ValueSet:
    """The module classes of a file that are no parts of others in it."""
    classes = (one for one in _public(pts, path, imported=False) if isinstance(one, ClassRef))
    found: ValueSet = {ClassValue(one): Confidence.LIKELY for one in classes if pts.project.is_module(one)}
    return {
        value: confidence for value, confidence in found.items() if not _is_part(pts, value, path)
    } or found


def _is_part(pts: PointsTo, model: Value, path: str) -> bool:
    """Whether a class of a module is what others there are made of, or others in the file it comes from."""
    if not isinstance(model, ClassValue):
        return False
    return any(
        where.path == path or (where.path == model.ref.path and pts.project.owner(where) is not None)
        for where, _ in pts.project.calls_of(model.ref.name)
    )


def _public(pts: PointsTo, path: str, imported: bool) -> list[Symbol]:
    """The classes and functions that a file defines itself, or a package gathers from its files."""
    project = pts.project
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


MEMBERS = "inspect.getmembers"
LISTING = frozenset({"items", "values"})
_MANY_MEMBERS = 32
"""A package with more modules than this is no list of models."""


def members(pts: PointsTo, owners: ValueSet, *, named: bool = True, only_classes: bool = False) -> ValueSet:
    """The values that a module offers, with names or without: which is picked, only the run knows."""
    kind = models_of if only_classes else offered
    found = union(kind(pts, owner.path) for owner in owners if isinstance(owner, File))
    alternatives.note(pts.project, found)
    return (pairs(found) if named else each(found)) if found else {}


def listed_modules(pts: PointsTo, path: str) -> ValueSet:
    """The modules of its own that a package imports: `getattr(models, name).build(…)` asks one of them."""
    project = pts.project
    if not project.files[path].is_package:
        return {}
    found: dict[Value, Confidence] = {}
    for name in project.global_bindings(path):
        for symbol in project.symbols(Name(name), path):
            if isinstance(symbol, File) and symbol.path != path:
                found[symbol] = Confidence.LIKELY
    return found if len(found) <= _MANY_MEMBERS else {}
