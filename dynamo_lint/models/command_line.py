"""Command lines that build what they are given: LightningCLI."""

from __future__ import annotations

from collections.abc import Collection

from dynamo_lint.index.ir import UNKNOWN, Attribute, Expr, Parameter
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.models.config import described
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef, Symbol
from dynamo_lint.values.model import EMPTY, ClassValue, Context, FunctionValue, Instance, ValueSet, union
from dynamo_lint.values.points_to import PointsTo

_OF_LIGHTNING = "LightningCLI"
_NAMES = ("CLI", "auto_cli", _OF_LIGHTNING)
"""Functions of jsonargparse and Lightning that make a command line of what they are given."""
RUNS = frozenset({"fit", "validate", "test", "predict"})
"""The commands of a LightningCLI, which are handed its model (lightning/pytorch/cli.py: _run_subcommand)."""
_Given = frozenset[ClassRef | FunctionRef]
_NOTHING: _Given = frozenset()


def filled(pts: PointsTo, parameter: Parameter, context: Context) -> ValueSet:
    """The values that a configuration fills in for a parameter of a function or constructor."""
    given = (pts.project.method(one, "__init__") if isinstance(one, ClassRef) else one for one in _given(pts))
    if context.function not in given:
        return EMPTY
    return described(pts, Attribute(UNKNOWN, parameter.name), context, anything=False)


def models_of(pts: PointsTo, ref: ClassRef, context: Context) -> ValueSet:
    """The models that a command line of Lightning makes, as its own subclass `ref` is handed them."""
    if not _is_one(pts.project, ref, (_OF_LIGHTNING,)):
        return EMPTY
    own: ValueSet = {
        Instance(one): Confidence.LIKELY
        for one in _given(pts)
        if isinstance(one, ClassRef) and pts.project.is_module(one)
    }
    found = union(
        [own, described(pts, Attribute(UNKNOWN, "model"), context, anything=False)], Confidence.LIKELY
    )
    return {value: confidence for value, confidence in found.items() if pts.holds_module(value)}


def _given(pts: PointsTo) -> _Given:
    """The classes and functions that command lines are made for."""
    return pts.ask_within(("commands",), lambda: _of_command_lines(pts), _NOTHING)


def _of_command_lines(pts: PointsTo) -> _Given:
    project = pts.project
    own = (ref.name for base in _NAMES for ref in project.derived_from(base))
    found: set[ClassRef | FunctionRef] = set()
    for where, site in (site for name in dict.fromkeys((*_NAMES, *own)) for site in project.calls_of(name)):
        arguments = arguments_of(site.call) if _makes_one(project, site.call.function, where) else ()
        for argument in arguments:
            values = pts.value(argument, Context(where, project.owner(where)))
            found.update(value.ref for value in values if isinstance(value, ClassValue | FunctionValue))
    return frozenset(found)


def _makes_one(project: Project, callee: Expr, where: FunctionRef) -> bool:
    return any(_is_one(project, one, _NAMES) for one in project.symbols(callee, where.path, where.key))


def _is_one(project: Project, symbol: Symbol, names: Collection[str]) -> bool:
    """Whether something is called so in a library, or is a class of ours below one that is."""
    outside = project.external_bases(symbol) if isinstance(symbol, ClassRef) else ()
    dotted = (symbol.dotted,) if isinstance(symbol, ExternalSymbol) else outside
    return any(one.rpartition(".")[2] in names for one in dotted)
