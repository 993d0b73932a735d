"""Forward hooks as call edges."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.calls.compiled_calls import compiles_something
from dynamo_lint.index import ir
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.dependencies import question
from dynamo_lint.program.refs import COMPILE, ClassRef, Confidence, ExternalSymbol, FunctionRef
from dynamo_lint.values.model import (
    EMPTY,
    Context,
    FunctionValue,
    Instance,
    Value,
    ValueSet,
    functions_in,
    union,
)
from dynamo_lint.values.points_to import PointsTo

FORWARD_HOOKS = knowledge.in_order("hooks_forward")

Registered = dict[Value, frozenset[FunctionRef]]


def hooks_of(pts: PointsTo, ref: ClassRef) -> Iterator[tuple[Value, Confidence, frozenset[FunctionRef]]]:
    """The forward hooks that some code registers on instances of a class, and the functions that do so."""
    table: dict[ClassRef, tuple[ValueSet, Registered]] = pts.ask_within(("hooks",), lambda: _table(pts), {})
    hooks, by = table.get(ref, (EMPTY, {}))
    yield from ((hook, confidence, by[hook]) for hook, confidence in hooks.items())


def _table(pts: PointsTo) -> dict[ClassRef, tuple[ValueSet, Registered]]:
    found: dict[ClassRef, tuple[ValueSet, Registered]] = {}
    for name in FORWARD_HOOKS:
        for where, site in pts.project.calls_of(name):
            function = site.call.function
            if not isinstance(function, ir.Attribute) or not site.call.arguments or site.eager:
                continue
            if _is_compiled_already(pts, where, function.value, site.call.line) or is_for_now(pts, where):
                continue
            context = Context(where, pts.project.owner(where))
            owners = pts.value(function.value, context)
            modules: ValueSet = {
                v: t for v, t in owners.items() if isinstance(v, Instance) and pts.project.is_module(v.ref)
            }
            if not modules:
                continue
            given = pts.value(site.call.arguments[0], context)
            hooks = functions_in(given)
            once: ValueSet = {
                hook: confidence for hook, confidence in hooks.items() if _takes_itself_off(pts, hook)
            }
            hooks = union([{v: t for v, t in hooks.items() if v not in once}, pts.guessed(once)])
            for module, confidence in pts.capped(modules).items():
                if isinstance(module, Instance):
                    known, by = found.get(module.ref, (EMPTY, {}))
                    more = {hook: by.get(hook, frozenset()) | {where} for hook in hooks}
                    known = union([known, union([hooks], max(confidence, Confidence.LIKELY))])
                    found[module.ref] = known, {**by, **more}
    return found


def is_for_now(pts: PointsTo, where: FunctionRef) -> bool:
    """Whether a function that compiles nothing takes its hooks off again: it looks into a model, once."""
    function = pts.project.function(where)
    return _removes(function) and not compiles_something(function)


@question
def registers(function: ir.Function) -> bool:
    """Whether a method keeps a hook that it is given and hands out what takes it off again."""
    return "RemovableHandle" in {terminal_name(site.call.function) for site in function.calls}


def _takes_itself_off(pts: PointsTo, hook: Value) -> bool:
    """Whether a hook runs once: it is compiled only if nobody calls the module before that is compiled."""
    return isinstance(hook, FunctionValue) and _removes(pts.project.function(hook.ref))


@question
def _removes(function: ir.Function) -> bool:
    """Whether a function calls `handle.remove()`, which takes a hook off (torch/utils/hooks.py)."""
    return any(
        isinstance(call.function, ir.Attribute)
        and call.function.name == "remove"
        and not (call.arguments or call.keywords)
        for call in (site.call for site in function.calls)
    )


def _is_compiled_already(pts: PointsTo, where: FunctionRef, module: ir.Expr, line: int) -> bool:
    """Whether a function got a module from torch.compile before it registers the hook.

    A hook of what torch.compile gives back runs around the region, not in it: the compiled code is that of
    the module inside (torch/_dynamo/eval_frame.py: OptimizedModule).
    """
    before: list[tuple[int, ir.Expr]] = []
    match module:
        case ir.Name(name):
            bound = pts.project.bindings_of(where).get(name, ())
            before = [(one.line, one.value) for one in bound if one.line < line]
        case ir.Attribute(owner, name):
            stores = (s for s in pts.project.function(where).stores if s.name == name and s.owner == owner)
            before = [(s.line, s.value) for s in stores if s.line < line]
    value = max(before, key=lambda one: one[0])[1] if before else None
    if not isinstance(value, ir.Call):
        return False
    return ExternalSymbol(COMPILE) in pts.project.symbols(value.function, where.path, where.key)
