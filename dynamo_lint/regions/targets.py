"""Callee resolution: from abstract values to the functions that a compile site or a call runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dynamo_lint import knowledge
from dynamo_lint.calls.contexts import depends_on
from dynamo_lint.conditions.arguments import excludes, handed_on, refuses
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Attribute, Call, CallSite, Expr
from dynamo_lint.index.walking import parts
from dynamo_lint.models.wrappers import processors, wrapped_modules, wraps
from dynamo_lint.program.classes import call_of, defines_itself, unknown_definer
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.hierarchy import families, subclasses_running
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef
from dynamo_lint.values.alternatives import named_together
from dynamo_lint.values.arguments import ENOUGH, is_settled
from dynamo_lint.values.model import (
    ClassValue,
    Container,
    Context,
    ExternalInstance,
    FunctionValue,
    Instance,
    SuperProxy,
    Text,
    Value,
    ValueSet,
    elements,
    flattened,
    freeze,
    union,
)
from dynamo_lint.values.points_to import FAN_OUT, PointsTo, points_to_of
from dynamo_lint.values.receiver import seen_by

_MODULE = ("nn.Module", "modules.module.Module")
_STEPS = knowledge.in_order("steps")


@dataclass(frozen=True, slots=True)
class Target:
    """A function that is compiled as such, with the class of its `self`."""

    function: FunctionRef
    receiver: ClassRef | None
    confidence: Confidence


def of_few(pts: PointsTo, callees: ValueSet) -> ValueSet:
    """The functions that a closure calls, merely guessed where they are too many to say anything of each.

    It may call whatever was decorated; one of many methods is what a configuration picks.
    """
    plain = {v for v in callees if isinstance(v, FunctionValue) and v.receiver is None}
    if len(plain) <= ENOUGH:
        return callees
    others: ValueSet = {v: confidence for v, confidence in callees.items() if v not in plain}
    return union([others, pts.guessed({v: confidence for v, confidence in callees.items() if v in plain})])


def of_receiver(pts: PointsTo, callees: ValueSet, context: Context) -> ValueSet:
    """The functions that a closure calls, as far as the class that it is called on tells them apart.

    `Block.forward = wrapped(Block.forward)`: on a block, the closure calls the method of blocks. On an
    unknown object it may be the method of any class that the function around it was used for.
    """
    methods = {
        v: pts.project.owner(v.ref)
        for v in callees
        if isinstance(v, FunctionValue) and pts.project.owner(v.ref) is not None
    }
    if context.receiver is None:
        around = FunctionRef(
            context.function.path, pts.project.function(context.function).outer or MODULE_KEY
        )
        if len(pts.call_sites(around)) < 2:
            return callees
        others: ValueSet = {v: confidence for v, confidence in callees.items() if v not in methods}
        return union([others, pts.guessed({v: callees[v] for v in methods})])
    order = set(pts.project.mro(context.receiver))
    own: ValueSet = {v: callees[v] for v, owner in methods.items() if owner in order}
    return own or callees


def _is_configured(pts: PointsTo, ref: ClassRef) -> bool:
    """Whether a configuration file builds objects of this class."""
    files = (pts.project.files[context.function.path] for context, _ in pts.constructions(ref))
    return any(not file.is_code for file in files)


def _configured(pts: PointsTo, refs: set[ClassRef]) -> set[ClassRef]:
    """Those of the classes of what is called that a configuration builds, if it builds them to be called.

    With more datasets, loaders and callbacks among them than what can be called, they are all that
    configurations build: which part of one this is, was lost on the way.
    """
    built = {ref for ref in refs if _is_configured(pts, ref)}
    called = {ref for ref in built if _is_run(pts.project, ref)}
    return built if 2 * len(called) >= len(built) else set()


def _is_run(project: Project, ref: ClassRef) -> bool:
    """Whether objects of a class run code of the project where they are called, or where they are trained."""
    steps = any(project.method(ref, name) is not None for name in _STEPS)
    return steps or bool(targets_of(project, {Instance(ref): Confidence.LIKELY}))


_AROUND = 3
"""Classes beside those that a configuration chooses from: what is put around the model it makes."""


def class_of(pts: PointsTo, value: Value, *, methods: bool) -> ClassRef | None:
    """The class of an object, or of that which a method belongs to."""
    match value:
        case Instance(ref):
            return ref
        case FunctionValue(ref, receiver) if methods:
            return receiver or pts.project.owner(ref)
    return None


def shown(pts: PointsTo, values: ValueSet, few: int, *, methods: bool = False) -> ValueSet:
    """The values, merely guessed if they are objects, or methods too, of more than `few` unrelated classes.

    Which of them it is, nothing shows: they come from all that ever goes by one name. So it is not with what
    is bound by symbol, nor with what a configuration builds, or chooses of what one place names, if little
    stands beside.
    """
    flat = flattened(values)
    classes = {
        v: ref
        for v, confidence in flat.items()
        if confidence > Confidence.CERTAIN and (ref := class_of(pts, v, methods=methods)) is not None
    }
    strange: ValueSet = {v: flat[v] for v in classes}
    refs = set(classes.values())
    if len(refs) <= few or len(families(pts.project, refs)) <= few:
        return values
    chosen = pts.choice(refs) or _configured(pts, refs)
    strange = {v: confidence for v, confidence in strange.items() if classes[v] not in chosen}
    if len(strange) <= _AROUND and len(chosen) > FAN_OUT:
        return values
    others: ValueSet = {v: confidence for v, confidence in flat.items() if v not in strange}
    return union([others, pts.guessed(strange)])


_TO_OTHERS = 1
"""Classes from elsewhere beside those that a registry names: the bare model that others wrap."""


def alternatives(pts: PointsTo, where: FunctionRef, compiled: Expr, values: ValueSet) -> frozenset[Value]:
    """Those values of one expression that a table, a factory or a registry gives it, of unrelated classes.

    A run has one of them. Not so with what a container holds together; and a function that makes them itself,
    one on each branch, is a program that offers them all, as are calls that write a name for each of them.
    """
    classes = {value: ref for value in values if (ref := class_of(pts, value, methods=True)) is not None}
    refs = frozenset(classes.values())
    ends = families(pts.project, refs)
    if len({(ref.path, ref.name) for ref in ends}) < 2:  # one that is defined anew is one
        return frozenset()
    made = {
        symbol
        for site in pts.project.function(where).calls
        for symbol in pts.project.symbols(site.call.function, where.path, where.key)
    }
    if refs <= made or not named_together(pts.project, refs, _TO_OTHERS):
        return frozenset()
    return frozenset() if _names_written(pts, where, compiled) >= len(ends) else frozenset(classes)


def _names_written(pts: PointsTo, where: FunctionRef, compiled: Expr) -> int:
    """How many texts calls write for the parameter that decides what is compiled; 0 if some pass another."""
    most = 0
    for parameter in pts.project.function(where).parameters:
        if depends_on(pts.project, (compiled,), where, {parameter.name}):
            passed = [pts.passed_by(parameter, where, *call) for call in pts.call_sites(where)]
            if all(values and all(isinstance(value, Text) for value in values) for values in passed):
                most = max(most, len({value for values in passed for value in values}))
    return most


def targets_of(
    project: Project, values: ValueSet, within: frozenset[Value] = frozenset()
) -> tuple[Target, ...]:
    """The functions that run when the values are called.

    `within` are modules whose parts are being looked up: modules of a library may hold one another.
    """
    found: dict[tuple[FunctionRef, ClassRef | None], Confidence] = {}

    def add(ref: FunctionRef | None, receiver: ClassRef | None, confidence: Confidence) -> None:
        if ref is not None:
            found[ref, receiver] = min(confidence, found.get((ref, receiver), confidence))

    for value, confidence in values.items():
        match value:
            case Instance(ref) | ClassValue(ref):
                add(call_of(project, ref), ref, confidence)
                if project.is_module(ref):
                    if isinstance(value, Instance) and is_kept_eager(project, ref):
                        if points_to_of(project).guesses:  # not all of its instances need be
                            add(project.method(ref, "forward"), ref, Confidence.POSSIBLE)
                        continue
                    sure = project.is_surely_module(ref)
                    forward = project.method(ref, "forward")
                    add(forward, ref, confidence if sure else max(confidence, Confidence.LIKELY))
                    for part in project.parts_of_forward(ref) if forward is None else ():
                        add(part, ref, max(confidence, Confidence.LIKELY))
                    if forward is None and isinstance(value, Instance):
                        for target in _run_by_library(project, value, confidence, within):
                            add(target.function, target.receiver, target.confidence)
                    for given in processors(points_to_of(project), ref):
                        # Not what these have in turn: a class may give itself.
                        add(call_of(project, given), given, max(confidence, Confidence.LIKELY))
                        if project.is_module(given):
                            add(project.method(given, "forward"), given, max(confidence, Confidence.LIKELY))
                    for stored in _put_in_place(project, value):
                        add(stored.ref, stored.receiver, max(confidence, Confidence.LIKELY))
            case FunctionValue(ref, receiver):
                add(ref, receiver or project.owner(ref), confidence)
            case Container():
                for target in targets_of(project, elements({value: confidence}), within):
                    add(target.function, target.receiver, max(confidence, target.confidence))
    return tuple(Target(ref, receiver, confidence) for (ref, receiver), confidence in found.items())


def _run_by_library(
    project: Project, module: Instance, confidence: Confidence, within: frozenset[Value]
) -> tuple[Target, ...]:
    """The functions of ours that the forward of a library's class runs, where the class has none itself."""
    handed = wrapped_modules(points_to_of(project), module.ref)
    within = within | {module}
    others: ValueSet = {v: max(t, confidence) for v, t in handed.items() if v not in within}
    return targets_of(project, others, within)


def _put_in_place(project: Project, module: Value) -> list[FunctionValue]:
    """The functions assigned to the `forward` of an instance: they run instead of the method of its class."""
    if not isinstance(module, Instance) or not project.stores_of("forward"):
        return []
    held = points_to_of(project).attributes({module: Confidence.CERTAIN}, "forward")
    return [
        value
        for value, confidence in held.items()
        if isinstance(value, FunctionValue) and confidence < Confidence.POSSIBLE
    ]


def steps_of(
    project: Project, ref: ClassRef, confidence: Confidence, expr: Expr, where: FunctionRef
) -> tuple[Target, ...]:
    """The steps of a LightningModule that a Trainer runs compiled beside its forward.
    (lightning/pytorch/utilities/compile.py: from_compiled), unless it is a part of another module."""
    if not any(base.endswith(".LightningModule") for base in project.external_bases(ref)):
        return ()
    holder = project.owner(where)
    if isinstance(expr, Attribute) and holder is not None and project.is_module(holder):
        return ()
    steps = (project.method(ref, name) for name in _STEPS)
    return tuple(Target(step, ref, max(confidence, Confidence.LIKELY)) for step in steps if step is not None)


def compiled_argument(call: Call, position: int) -> Expr | None:
    """The argument that a call compiles, at some position or by its name."""
    if position < len(call.arguments):
        return call.arguments[position]
    return next((value for name, value in call.keywords if name in ("model", "module", "fn")), None)


def is_some_module(values: ValueSet) -> bool:
    """Whether values are modules of which nothing else is known."""
    return any(isinstance(v, ExternalInstance) and v.dotted.endswith("Module") for v in values)


def has_own_compile(project: Project, values: ValueSet) -> bool:
    """Whether a class of the project says itself what `.compile()` does: that is found there."""
    return any(_says_itself(project, value) for value in values)


def _says_itself(project: Project, value: Value) -> bool:
    """Whether `.compile()` of a value runs a method of the project."""
    match value:
        case Instance(ref):
            return defines_itself(project, ref, "compile")
        case SuperProxy(owner, receiver):
            return defines_itself(project, receiver, "compile", owner)
    return False


def unknown_compile(project: Project, values: ValueSet) -> tuple[ClassRef, str] | None:
    """A module whose `.compile()` may be that of an unknown base, and this base."""
    for value in values:
        match value:
            case Instance(ref):
                base = unknown_definer(project, ref, "compile")
            case SuperProxy(owner, ref):
                base = unknown_definer(project, ref, "compile", owner)
            case _:
                continue
        if base is not None and project.is_module(ref) and project.method(ref, "forward") is not None:
            return ref, base
    return None


def compiled_by_class(project: Project, callee: ValueSet, first: ValueSet) -> ValueSet:
    """The modules that `nn.Module.compile(model)` compiles, a method called by its class."""
    by_torch = any(
        (isinstance(value, ExternalSymbol) and value.dotted in knowledge.names("module"))
        or (
            isinstance(value, ClassValue)
            and project.is_module(value.ref)
            and not defines_itself(project, value.ref, "compile")
        )
        for value in callee
    )
    return {
        v: c for v, c in first.items() if by_torch and isinstance(v, Instance) and project.is_module(v.ref)
    }


def compiled_in_place(project: Project, values: ValueSet) -> ValueSet:
    """Those receivers of `.compile()` that are known to be modules and inherit the method from torch.

    A pipeline of a library compiles each of its layers, functions too.
    """
    found: dict[Value, Confidence] = {}
    pipeline = any(isinstance(value, ExternalInstance) and wraps(value.dotted) for value in values)
    own = has_own_compile(project, values)  # what is declared as any module is rather one that has it
    for value, confidence in values.items():
        if _says_itself(project, value) or unknown_compile(project, {value: confidence}):
            continue
        match value:
            case Instance(ref) if project.is_module(ref):
                sure = project.is_surely_module(ref)
                found[value] = confidence if sure else max(confidence, Confidence.LIKELY)
            case SuperProxy(_, ref) if project.is_module(ref):  # super().compile()
                found[Instance(ref)] = confidence
            case ExternalInstance(dotted) if not own and dotted.endswith(_MODULE):
                found[value] = confidence
            case FunctionValue() if pipeline:
                found[value] = confidence
            case Container("sequential" | "each"):  # no list has the method
                found |= compiled_in_place(project, elements({value: confidence}))
    return found


def by_call(
    pts: PointsTo, where: FunctionRef, receiver: ClassRef | None, asked: Sequence[Expr], line: int
) -> Iterator[tuple[FunctionRef, Context]]:
    """The callers of a function, and the scope that each call makes, as far as annotations leave that open.

    Only what the expressions asked for come from is told, and only of calls that run the line: not those that
    leave off what turns it on.
    """
    function = pts.project.function(where)
    opened = [
        p
        for p in function.parameters
        if depends_on(pts.project, asked, where, {p.name}) and not is_settled(pts.project, p, where)
    ]
    for caller, site in pts.call_sites(where):
        if excludes(pts.project, where, site.call, line):
            continue
        for seen in _as_called(pts, where, receiver, caller, site, line):
            passed = ((p.name, pts.capped(pts.passed_by(p, where, seen, site))) for p in opened)
            given = tuple(
                (name, freeze(union([values], Confidence.LIKELY))) for name, values in passed if values
            )
            if given:
                yield caller.function, Context(where, receiver, given)


def _as_called(
    pts: PointsTo, where: FunctionRef, receiver: ClassRef | None, caller: Context, site: CallSite, line: int
) -> Iterator[Context]:
    """The scope of a call of a function; by each call around it, where it only hands on what a line needs."""
    needs = handed_on(pts.project, where, site.call, line)
    around = pts.project.function(caller.function)
    given = {one.name for one in around.parameters}
    needs = [(name, wanted) for name, wanted in needs if name in given]
    calls = pts.call_sites(caller.function) if needs else []
    if not calls:
        yield from _seen_by_all(pts.project, Context(where, receiver), caller, site.call)
    for outer, call in calls:
        if not refuses(pts.project, caller.function, call.call, needs):
            seen = seen_by(pts.project, caller, outer, call.call)
            passed = (
                (p.name, pts.capped(pts.passed_by(p, caller.function, seen, call))) for p in around.parameters
            )
            arguments = tuple(
                (name, freeze(union([values], Confidence.LIKELY))) for name, values in passed if values
            )
            yield Context(caller.function, caller.receiver, arguments)


def _seen_by_all(project: Project, context: Context, caller: Context, call: Call) -> Iterator[Context]:
    """Where a call stands, for each class that runs the method around it if `self` is in what it passes.

    But `self.prepare(net)` is for the class that has this `prepare`.
    """
    yield seen_by(project, context, caller, call)
    own = project.self_name(caller.function)
    match call.function:
        case ir.Attribute(ir.Name(name)) if name == own:
            return
    if own and depends_on(project, parts(call)[1:], caller.function, {own}):
        yield from (
            Context(caller.function, subclass) for subclass in subclasses_running(project, caller.function)
        )


def is_kept_eager(project: Project, ref: ClassRef, tested: bool = False) -> bool:
    """Whether instances of a class get a `forward` that is disabled: `m.forward = disable(m.forward)`.

    With `tested`, whether tests do so: that holds in what tests compile, and says nothing of the program.
    """
    return any(in_tests(path) == tested for path in _kept_eager(points_to_of(project)).get(ref, ()))


def _kept_eager(pts: PointsTo) -> dict[ClassRef, set[str]]:
    """The files that disable the `forward` of instances, by their class."""
    key = "kept eager"
    if key not in pts.project.memo:
        found: dict[ClassRef, set[str]] = {}
        for where, store in pts.project.stores_of("forward"):
            if _disables(pts.project, store.value, where):
                for value in pts.value(store.owner, Context(where, pts.project.owner(where))):
                    if isinstance(value, Instance):
                        found.setdefault(value.ref, set()).add(where.path)
        pts.project.memo[key] = found
    return pts.project.memo[key]  # type: ignore[return-value]


def _disables(project: Project, value: Expr, where: FunctionRef) -> bool:
    """Whether a value is what a disabling call gives, with its callees: not `disable(f, recursive=False)`."""
    if not isinstance(value, Call) or ("recursive", ir.Constant(False)) in value.keywords:
        return False
    symbols = project.symbols(value.function, where.path, where.key)
    if isinstance(value.function, Call):  # `disable(recursive=True)(m.forward)`
        symbols = project.symbols(value.function.function, where.path, where.key)
    return any(
        isinstance(symbol, ExternalSymbol) and symbol.dotted in knowledge.names("disable")
        for symbol in symbols
    )
