"""Path conditions on attributes that constructors set alike, on or off: which lines of a method never run."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from dynamo_lint.conditions import arguments
from dynamo_lint.conditions.has_attribute import is_known, is_set_by_methods, may_have
from dynamo_lint.index.conditions import tests_flag
from dynamo_lint.index.ir import (
    MODULE_KEY,
    Binding,
    CallSite,
    Constant,
    Definition,
    Display,
    Element,
    Expr,
    Function,
    Name,
    Narrowed,
    Store,
)
from dynamo_lint.program.files import is_kept, is_own_use
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values.arguments import argument_for, as_given
from dynamo_lint.values.model import Container, Context, Instance, Value, ValueSet, freeze
from dynamo_lint.values.points_to import PointsTo

_OFF = (Constant(False), Constant(None))


def starts_off(project: Project, name: str, where: FunctionRef) -> bool:
    """Whether a name in a function is a global that its file binds to False or None alone.

    Dynamo reads it as it finds it: what runs only while it is on need never be traced.
    """
    home = project.home_of(name, where)
    bound = project.locals_of(home).get(name) if home.key == MODULE_KEY else None
    return bound is not None and bool(bound.bound) and all(value in _OFF for value in bound.bound)


MODE = "training"
"""The attribute that `train()` and `eval()` set."""
KnownAttributes = tuple[tuple[str, bool], ...]
"""Attributes of a module that are on, or off, wherever a site compiles it."""


def by_flag(pts: PointsTo, values: ValueSet, types: Expr, holds: bool) -> ValueSet:
    """The values whose attribute is on, or off: likely where several may pass and nothing tells."""
    verdicts = {value: _truth_by_class(pts, value, types) for value in values}
    left = {value for value in values if verdicts[value] in (None, holds)}
    several = sum(isinstance(value, Instance) for value in values) > 1
    return {
        _inside(pts, value, types, holds): max(confidence, Confidence.LIKELY)
        if several and verdicts[value] is None
        else confidence
        for value, confidence in values.items()
        if value in left
    }


def _inside(pts: PointsTo, value: Value, types: Expr, holds: bool) -> Value:
    """A container of those that pass of what it holds: it has no such attribute itself."""
    if not isinstance(value, Container):
        return value
    return value._replace(items=tuple(freeze(by_flag(pts, dict(one), types, holds)) for one in value.items))


def attributes_tested(compiled: Expr) -> KnownAttributes:
    """Attributes of the compiled module that the tests around a site show to be on or off."""
    found: list[tuple[str, bool]] = []
    while isinstance(compiled, Narrowed):
        if tests_flag(compiled.types):
            found.append((_name(compiled.types), compiled.holds))
        compiled = compiled.value
    return tuple(found)


def contradicts(
    project: Project, shown: KnownAttributes, ref: ClassRef, function: Function, line: int
) -> bool:
    """Whether a line of a method does not run on instances of a class of which that much is known."""
    return any(
        name == flag and on is not holds and first <= line <= last and stays(project, ref, name)
        for first, last, flag, holds in function.flags
        for name, on in shown
    )


def _truth_by_class(pts: PointsTo, value: Value, types: Expr) -> bool | None:
    """Whether an attribute of an instance is on, as far as its class tells."""
    if not isinstance(value, Instance):
        return None
    project, name = pts.project, _name(types)
    order = project.mro(value.ref)
    if any(key == name for part in order for key, _ in project.class_(part).annotations):
        return None
    if not may_have(project, value, name):
        default = types.items[1:] if isinstance(types, Display) else ()
        sure = default and is_known(project, value.ref) and not project.stores_of(name)
        return bool(default[0].value) if sure and isinstance(default[0], Constant) else None
    if not stays(project, value.ref, name):
        return None
    body = next((found for part in order if (found := project.class_bindings(part).get(name))), [])
    held = [binding.value for binding in body]
    _, stores = bound_and_stored(project, value.ref, name)
    truths = {_is_on(one) for one in held}
    for where, store in stores:
        on = _is_on(store.value)
        truths.add(_is_given(pts, Context(where, value.ref), store.value) if on is None else on)
    return truths.pop() if len(truths) == 1 else None


def _is_given(pts: PointsTo, context: Context, value: Expr) -> bool | None:
    """True for what a constructor cannot be called without, where all that it is given are objects."""
    local = pts.project.locals_of(context.function).get(value.id) if isinstance(value, Name) else None
    if local is None or local.parameter is None or local.parameter.default is not None or local.bound:
        return None
    found = pts.value(value, context)
    return True if found and all(isinstance(one, Instance) for one in found) else None


def _is_on(value: Expr) -> bool | None:
    """Whether a literal is true: a constant, or a list of something."""
    match value:
        case Constant(literal):
            return bool(literal)
        case Display("list" | "tuple" | "set" | "dict", items) if not any(
            isinstance(i, Element) for i in items
        ):
            return bool(items)
    return None


def bound_and_stored(
    project: Project, ref: ClassRef, name: str
) -> tuple[list[Binding], list[tuple[FunctionRef, Store]]]:
    """The bindings of an attribute in the bodies of a class and its bases, and the stores to it in their
    methods."""
    order = project.mro(ref)
    bound = [one for part in order for one in project.class_bindings(part).get(name, ())]
    return bound, [one for part in order for one in project.own_stores(part).get(name, ())]


def stays(project: Project, ref: ClassRef, name: str) -> bool:
    """Whether class bodies and constructors set an attribute, and nothing else does or computes it."""
    bound, _ = bound_and_stored(project, ref, name)
    if name == MODE or any(isinstance(one.value, Definition) for one in bound):
        return False
    own = is_set_by_methods(project, ref, name)
    return bool(own or bound) and all(at.key.endswith(".__init__") for at, _ in project.stores_of(name))


def _name(types: Expr) -> str:
    first = types.items[0] if isinstance(types, Display) else None
    return first.value if isinstance(first, Constant) and isinstance(first.value, str) else ""


_DEEPEST = 4


def reach_confidence(
    pts: PointsTo, method: FunctionRef, ref: ClassRef | None, site: CallSite
) -> Confidence | None:
    """How sure a method gets to a call for an instance of a class; None if no code of the project makes it.

    It is not where every caller may do the other thing, nor where all who construct the class leave a flag at
    a default that keeps the call from running: only a user turns that on. Nor where an attribute has to be on
    that the constructor sets off, for another method to turn on.
    """
    if site.eager or (ref is not None and _contradicts(pts, ref, method, site.call.line, defaults=False)):
        return None
    if site.optional or (ref is not None and _contradicts(pts, ref, method, site.call.line, defaults=True)):
        return Confidence.LIKELY
    if ref is not None and _awaits(pts, ref, method, site.call.line):
        return Confidence.LIKELY
    return (
        Confidence.LIKELY
        if _is_for_evaluation(pts.project.function(method), site.call.line)
        else Confidence.CERTAIN
    )


def _is_for_evaluation(function: Function, line: int) -> bool:
    """Whether a line runs only where a module is not in training: few programs compile it for that too."""
    return any(first <= line <= last and flag == MODE and not on for first, last, flag, on in function.flags)


def _awaits(pts: PointsTo, ref: ClassRef, method: FunctionRef, line: int) -> bool:
    """Whether a line waits for a method to turn on, or to fill, what the constructor leaves off."""
    function = pts.project.function(method)
    named = {flag for first, last, flag, on in function.flags if on and first <= line <= last}
    named.update(name for first, last, name in function.filled if first <= line <= last)
    return any(_starts_off(pts.project, ref, name) for name in named)


def _starts_off(project: Project, ref: ClassRef, name: str) -> bool:
    """Whether the body and the constructors of a class set an attribute to nothing but `None` or `False`."""
    bound, stores = bound_and_stored(project, ref, name)
    made = [store.value for where, store in stores if where.key.endswith(".__init__")]
    held = [*made, *(one.value for one in bound)]
    return bool(held) and all(isinstance(one, Constant) and not one.value for one in held)


def is_left_off(pts: PointsTo, ref: ClassRef, method: FunctionRef, line: int) -> bool:
    """Whether a line of a method runs only with a setting that no construction of the class asks for."""
    if _contradicts(pts, ref, method, line, defaults=True):
        return True
    rows = pts.project.function(method).texts
    return any(
        _lacks(_held_by(pts, ref, name, _text, defaults=True), wanted)
        for first, last, name, wanted in rows
        if first <= line <= last
    )


def _lacks(held: frozenset[Known], wanted: tuple[str, ...]) -> bool:
    """Whether all texts are known, and none of them is wanted."""
    if not held or None in held:
        return False
    return not any(fnmatchcase(str(text), pattern) for text in held for pattern in wanted)


def _contradicts(pts: PointsTo, ref: ClassRef, method: FunctionRef, line: int, *, defaults: bool) -> bool:
    return any(
        first <= line <= last and _truth_by_constructions(pts, ref, flag, defaults=defaults) is (not holds)
        for first, last, flag, holds in pts.project.function(method).flags
    )


def _truth_by_constructions(pts: PointsTo, ref: ClassRef, flag: str, *, defaults: bool) -> bool | None:
    """The truth of a flag that the constructor only keeps: known where all constructions of the class agree.

    Of a class with subclasses nothing is known: theirs are instances of it too.
    """
    key = ("flag", ref, flag, defaults)
    if key not in pts.project.memo:
        truths = _held_by(pts, ref, flag, _amount, defaults=defaults)
        pts.project.memo[key] = next(iter(truths)) if len(truths) == 1 else None
    return pts.project.memo[key]  # type: ignore[return-value]


Known = bool | str | None
"""A reading of a constant: whether it is on, or its text; None of anything else."""
Read = Callable[[Expr | None], Known]


def _held_by(pts: PointsTo, ref: ClassRef, name: str, read: Read, *, defaults: bool) -> frozenset[Known]:
    """The readings of the values that constructions of a class give an attribute which only they set."""
    nothing: frozenset[Known] = frozenset()
    held, stores = bound_and_stored(pts.project, ref, name)
    if len(stores) + len(held) != 1 or not stays(pts.project, ref, name) or subclasses(pts.project, ref):
        return nothing  # what the body of the class says holds where the constructor stores nothing
    if stores and stores[0][0] != pts.project.method(ref, "__init__"):
        return nothing
    value = stores[0][1].value if stores else held[0].value
    if isinstance(value, Constant) and defaults:
        return frozenset({read(value)})  # only a user turns that on, from outside
    return _given(pts, ref, value.id, read, 0, defaults=defaults) if isinstance(value, Name) else nothing


def _given(
    pts: PointsTo,
    ref: ClassRef,
    name: str,
    read: Read,
    depth: int,
    *,
    defaults: bool,
) -> frozenset[Known]:
    """The readings of the values that constructions of a class pass for a parameter; None of one that says
    nothing, or nothing known.

    With `defaults`, a construction that says nothing passes the default, and so does one that is not seen.
    """
    init = pts.project.method(ref, "__init__")
    parameter = as_given(pts.project.function(init), Name(name)) if init is not None else None
    kept = is_kept(pts.project, ref.name, pts.project.class_(ref).decorators)
    if init is None or parameter is None or depth > _DEEPEST or (kept and not defaults):
        return frozenset({None})
    found: set[Known] = set()
    for caller, site in pts.constructions(ref):
        owner = pts.project.owner(caller.function)
        if not is_own_use(pts.project, caller.function, site.call.line, init.path):
            return frozenset({None})
        given = argument_for(parameter, pts.project.function(init), site.call)
        if given is None and defaults:  # what `**rest` may hold, only users know
            given = parameter.default
        if isinstance(given, Name) and owner is None:
            found |= _written_out(pts, caller.function, given.id, read, defaults=defaults)
        elif isinstance(given, Name) and owner is not None:
            passed_on = caller.function == pts.project.method(owner, "__init__")
            more = _given(pts, owner, given.id, read, depth + 1, defaults=defaults) if passed_on else {None}
            found |= more
        else:
            found.add(read(given))
    return frozenset(found or ({read(parameter.default)} if defaults else ()))


def _written_out(
    pts: PointsTo, factory: FunctionRef, name: str, read: Read, *, defaults: bool
) -> frozenset[Known]:
    """The readings of what calls of a function write out for a parameter that it passes on to be kept."""
    written = arguments.written_out(pts, factory, name, strict=not defaults)
    constants = (Constant(one) if isinstance(one, int | float | str) else None for one in written or (None,))
    return frozenset(map(read, constants))


def _text(value: Expr | None) -> str | None:
    """The text that a constant is."""
    return value.value if isinstance(value, Constant) and isinstance(value.value, str) else None


def _amount(value: Expr | None) -> bool | None:
    """Whether a constant is more than nothing."""
    match value:
        case Constant(bool() | int() | float() as amount) if amount >= 0:
            return amount > 0
    return None
