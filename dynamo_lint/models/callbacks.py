"""Library functions that call their arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import CallSite
from dynamo_lint.index.walking import arguments_of, walk
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import Confidence, FunctionRef
from dynamo_lint.values.model import Compiled, Context, ValueSet, functions_in, union
from dynamo_lint.values.points_to import PointsTo

Site = tuple[FunctionRef, CallSite]
_RESHAPING = frozenset({"to", "type", "view", "reshape", "expand", "repeat", "permute", "size", "squeeze"})
"""Methods of tensors and of what is like them, whichever library's: they take shapes, devices and dtypes."""
_FLEX = knowledge.names("flex_attention")
_MASK_MAKERS = ("create_block_mask", "create_mask")
_MOST_MASKS = 40
"""A library with more mask functions than this offers them to its users."""
_OPERATORS = knowledge.in_order("operator_packages")
"""Where operators are made of functions: Dynamo looks into no operator."""


def callbacks(pts: PointsTo, compiled: Sequence[Site]) -> Iterator[tuple[Site, ValueSet]]:
    """Each compile site of a library's function with our functions that some call of its result passes."""
    sites = {(where.path, site.call.line): (where, site) for where, site in compiled}
    for caller, site in _calls(pts.project, compiled):
        if site.eager or not (site.call.arguments or site.call.keywords):
            continue
        context = Context(caller, pts.project.owner(caller))
        for callee, confidence in pts.value(site.call.function, context).items():
            if isinstance(callee, Compiled) and (callee.path, callee.line) in sites:
                passed = union(
                    [_given(pts, site.call, context), masks_for(pts, callee.dotted, site.call, context)],
                    confidence,
                )
                if passed:
                    yield sites[callee.path, callee.line], passed


def calls_back(dotted: str) -> bool:
    """Whether code outside the project may call a function that it is given: tensor operations do not."""
    package, _, name = dotted.rpartition(".")
    if package in ("builtins", "torch", "functools"):
        return dotted in knowledge.names("calls_argument")
    if dotted in knowledge.names("disable") or name in _RESHAPING or dotted.startswith(_OPERATORS):
        return False
    return package not in knowledge.names("calls_nothing")


def masks_for(pts: PointsTo, dotted: str, call: ir.Call, context: Context) -> ValueSet:
    """The mask functions that a call of flex_attention runs through the BlockMask that it is given.

    Where nothing shows of which function that is made, it is the only one that there is, or a guess.
    """
    given = call.arguments[4] if len(call.arguments) > 4 else dict(call.keywords).get("block_mask")
    nothing: ValueSet = {}
    if dotted not in _FLEX or given is None:
        return nothing
    passed = functions_in(pts.value(given, context))
    if passed:
        return passed
    every = pts.ask_within(("masks",), lambda: _masks(pts), nothing)
    return every if len(every) < 2 else pts.guessed(every)


def _given(pts: PointsTo, call: ir.Call, context: Context) -> ValueSet:
    """Our functions among the arguments of a call."""
    followed = (a for a in arguments_of(call) if not isinstance(a, ir.Constant | ir.UnknownExpression))
    return functions_in(union(pts.value(argument, context) for argument in followed))


def _masks(pts: PointsTo) -> ValueSet:
    """The functions that block masks are made of, anywhere in the project."""
    found: list[ValueSet] = []
    for name in _MASK_MAKERS:
        for made in sorted({name, *pts.project.aliases_of(name)}):
            for where, site in pts.project.calls_of(made):
                if _is_never_read(pts.project, where, site.call):
                    continue
                context = Context(where, pts.project.owner(where))
                found += [functions_in(pts.value(argument, context)) for argument in site.call.arguments[:1]]
    every = union(found, weakest=Confidence.LIKELY)
    return every if len(every) <= _MOST_MASKS else {}


def _is_never_read(project: Project, where: FunctionRef, call: ir.Call) -> bool:
    """Whether what a call gives is only kept in an attribute that no code reads."""
    names = {store.name for store in project.function(where).stores if store.value == call}
    read = project.named("loaded")
    return bool(names) and not any(name in read for name in names)


def _calls(project: Project, compiled: Sequence[Site]) -> Iterator[Site]:
    """The calls that may be of what was compiled: by the names it is bound to, or where it is made."""
    names: set[str] = set()
    makers: set[str] = set()
    for where, site in compiled:
        function = project.function(where)
        bound: list[ir.Binding | ir.Store] = [*function.bindings, *function.stores]
        for class_ in project.files[where.path].classes.values():
            bound += class_.bindings if class_.outer == where.key else ()
        names.update(binding.name for binding in bound if site.call in walk(binding.value))
        if any(site.call in walk(value) for value in function.returns):
            makers.add(function.qualname.rpartition(".")[2])
        yield from ((where, other) for other in function.calls if other.call.function == site.call)
    for name in sorted(names.union(*(project.aliases_of(name) for name in names))):
        yield from project.calls_of(name)
    for name in sorted(makers):
        yield from project.named("results called").get(name, ())
