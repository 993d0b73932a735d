"""Modules that a test in a loop selects."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from dynamo_lint.conditions.narrow import narrow
from dynamo_lint.conditions.predicates import Judge
from dynamo_lint.index.conditions import TEST, is_name
from dynamo_lint.index.ir import Attribute, Call, Constant, Display, Expr, Name, Narrowed
from dynamo_lint.index.walking import walk
from dynamo_lint.program.files import is_for_tests
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values import alternatives, module_tree
from dynamo_lint.values.model import (
    EMPTY,
    Container,
    Context,
    Instance,
    Value,
    ValueSet,
    at_best,
    freeze,
    union,
)
from dynamo_lint.values.points_to import PointsTo

_MOST_OWNERS = 500
"""More classes than this that say which of their modules are meant are not looked through."""
_NAMING = {"modules": "named_modules", "children": "named_children"}
"""The methods that give the same modules with their names."""
_Tree = dict[Value, list[tuple[str, ...]]]
"""Modules with all their names."""


def is_test(types: Expr) -> bool:
    """Whether a narrowing is by a test kept as its source."""
    return isinstance(types, Display) and types.kind == TEST


def is_chosen(project: Project, where: FunctionRef, call: Call) -> bool:
    """Whether a call is about modules that a test chose, also by names: `f = block.forward`."""
    names = {part.id for part in walk(call) if isinstance(part, Name)}
    known = project.locals_of(where)
    bound = (value for name in names if name in known for value in known[name].bound)
    return any(
        isinstance(part, Narrowed) and is_test(part.types)
        for expression in (call, *bound)
        for part in walk(expression)
    )


def chosen(pts: PointsTo, narrowed: Narrowed, context: Context) -> ValueSet:
    """The values that a test leaves; of a module of which nothing is known, those that its classes name."""
    values, test, holds = pts.value(narrowed.value, context), narrowed.types, narrowed.holds
    match test:
        case Display(
            _, (iterable, Constant(str() as text), Constant(str() as name), Constant(str() as module))
        ):
            choice = _Choice(text, name, module, holds)
            left, doubtful = values, EMPTY
            if any(isinstance(value, Instance | Container) for value in values):
                key = ("named", context, iterable)
                named = pts.part(key, lambda: _named(pts, iterable, context)) if choice.name else {}
                left, doubtful = _judged(Judge(pts, context), values, named, choice)
                if _is_of_rows(iterable):
                    left, doubtful = union([left, at_best(doubtful, Confidence.LIKELY)]), EMPTY
            more = EMPTY
            if not _has_parts(left) and (doubtful or not _has_parts(values)):
                asked = ("below", context, test, holds)
                more = pts.ask(asked, lambda: _of_each(pts, iterable, choice, context), EMPTY)
            if pts.by_name:
                plain, declared = pts.far(), ("declared", context.function, test, holds)
                if declared not in plain.project.memo:
                    plain.project.memo[declared] = _declared(plain, iterable, choice, context)
                more = union([more, plain.project.memo[declared]])  # type: ignore[list-item]
            return union(
                [
                    _with_doubtful(pts, left, doubtful),
                    _left_by_other_tests(pts, more, narrowed.value, context),
                ]
            )
    return values


def _is_of_rows(iterable: Expr) -> bool:
    """Whether a loop is over what a dictionary holds: a test there rather checks each than finds a few."""
    match iterable:
        case Call(Attribute(_, "items")):
            return True
    return False


def _has_parts(values: ValueSet) -> bool:
    """Whether any module is known to be among some values."""
    known = (value for value, confidence in values.items() if confidence < Confidence.POSSIBLE)
    return any(isinstance(value, Instance | Container) for value in known)


def _left_by_other_tests(pts: PointsTo, found: ValueSet, value: Expr, context: Context) -> ValueSet:
    """The values that tests of other sorts, leave: `if isinstance(part, Head): continue`."""
    while isinstance(value, Narrowed) and found:
        if not is_test(value.types):
            found = narrow(pts, found, value.types, value.holds, context)
        value = value.value
    return found


class _Choice:
    """A test, the variables that it sees a module under, and whether it holds."""

    def __init__(self, text: str, name: str, module: str, holds: bool) -> None:
        self.text = text
        self.test = ast.parse(text, mode="eval").body
        # There may be a great many names, and a test need not ask for them.
        self.name = name if any(is_name(node, name) for node in ast.walk(self.test)) else ""
        self.module = module
        self.holds = holds

    def leaves(self, judge: Judge, value: Value, spelled: tuple[str, ...] | None) -> bool | None:
        """Whether a module under one of its names passes; None if that is open."""
        known: dict[str, Any] = {self.module: value}
        open_ = not spelled and bool(self.name)
        for path in spelled or ("",):
            if self.name and spelled:
                known[self.name] = path
            verdict = judge.verdict(self.test, known)
            if verdict is None:
                open_ = True
            elif verdict is self.holds and not open_:
                return True
        return None if open_ else False


def _judged(judge: Judge, values: ValueSet, named: _Tree, choice: _Choice) -> tuple[ValueSet, ValueSet]:
    """The values that a test surely leaves, and those of which that is open."""
    kept: dict[Value, Confidence] = {}
    doubtful: dict[Value, Confidence] = {}
    for value, confidence in values.items():
        if not isinstance(value, Instance | Container):
            kept[value] = confidence
            continue
        left: bool | None = False
        for spelled in dict.fromkeys(map(module_tree.spelled, named.get(value, ()))) or ((),):
            verdict = choice.leaves(judge, value, spelled)
            left = None if verdict is False and left is None else verdict
            if left:
                kept[value] = confidence
                break
        if left is None:
            doubtful[value] = confidence
    return kept, doubtful


def _with_doubtful(pts: PointsTo, kept: ValueSet, doubtful: ValueSet) -> ValueSet:
    """Where a test says nothing of the only sort of module there is, it chooses some of it, whichever."""
    if not doubtful:
        return kept
    alone = not kept and len({value for value in doubtful if isinstance(value, Instance)}) == 1
    return union([kept, doubtful if alone else pts.guessed(doubtful)])


def _named(pts: PointsTo, iterable: Expr, context: Context) -> _Tree:
    """The names under which a loop over named modules yields each of them."""
    found: _Tree = {}
    match iterable:
        case Call(Attribute(owner, method)):
            for value in pts.value(owner, context):
                for one in _tree(pts, value, method):
                    found.setdefault(one.value, []).append(one.path)
    return found


def _tree(pts: PointsTo, value: Value, method: str) -> Iterator[module_tree.Named]:
    match value:
        case Instance(ref) if method == "named_modules":
            yield from module_tree.paths_below(pts, ref)
        case Instance(ref):
            yield from module_tree.paths_of_children(pts, ref)
        case Container():
            for one in module_tree.inside(value):
                yield one
                if method == "named_modules" and isinstance(one.value, Instance):
                    for inner in module_tree.paths_below(pts, one.value.ref)[1:]:
                        yield module_tree.Named((*one.path, *inner.path), inner.value)


def _declared(pts: PointsTo, iterable: Expr, choice: _Choice, context: Context) -> ValueSet:
    """The modules chosen below classes that declare what a test asks for: `model._compile_conditions`.

    Any class that has such an attribute has it for the sake of this loop, or of one like it.
    """
    match iterable:
        case Call(Attribute(Name(name), method), ()):
            local = pts.project.locals_of(context.function).get(name)
            if local is None or local.bound:  # nobody hands it in
                return EMPTY
        case _:
            return EMPTY
    return _below(pts, _owners(pts, name, choice, context), name, method, choice, context)


def _of_each(pts: PointsTo, iterable: Expr, choice: _Choice, context: Context) -> ValueSet:
    """The modules chosen below each of the models that a variable may hold: together these hold too much."""
    match iterable:
        case Call(Attribute(Name(name), method), ()) if (
            local := pts.project.locals_of(context.function).get(name)
        ) and local.parameter is None:
            owners = (v.ref for v in pts.value(Name(name), context) if isinstance(v, Instance))
            modules = [ref for ref in owners if pts.project.is_module(ref)]
            return _below(pts, modules, name, method, choice, context)
    return EMPTY


def _below(
    pts: PointsTo, owners: Iterable[ClassRef], name: str, method: str, choice: _Choice, context: Context
) -> ValueSet:
    """The modules that a test surely chooses below each of some models that a variable holds."""
    found = []
    for ref in owners:
        given = Context(
            context.function, context.receiver, ((name, freeze({Instance(ref): Confidence.LIKELY})),)
        )
        tree: _Tree = {}
        for one in _tree(pts, Instance(ref), _NAMING.get(method, method)):
            tree.setdefault(one.value, []).append(one.path)
        modules: ValueSet = dict.fromkeys(tree, Confidence.LIKELY)
        named = tree if choice.name else {}
        found.append(_judged(Judge(pts, given), modules, named, choice)[0])
    below = union(found)
    alternatives.note(pts.project, below)  # each class is named by a model, however many these are together
    return below


def _owners(pts: PointsTo, name: str, choice: _Choice, context: Context) -> list[ClassRef]:
    """The modules whose classes have what a test asks of the module that a variable holds."""
    asked = sorted(_tested_attributes(pts, name, choice, context))
    classes: dict[ClassRef, None] = {}
    for attribute in asked:
        owners = [ref for ref, _ in pts.project.named("bodies").get(attribute, ())]
        owners += [
            o for where, _ in pts.project.stores_of(attribute) if (o := pts.project.owner(where)) is not None
        ]
        for owner in owners:
            if pts.project.is_module(owner) and not is_for_tests(owner.path, context.function.path):
                classes.update(dict.fromkeys((owner, *subclasses(pts.project, owner))))
    return list(classes) if len(classes) <= _MOST_OWNERS else []


def _tested_attributes(pts: PointsTo, name: str, choice: _Choice, context: Context) -> set[str]:
    """The attributes of a variable that a test reads, by itself or through names of its function."""
    function = pts.project.function(context.function)
    bound = [binding.value for binding in function.bindings if binding.name in choice.text]
    loaded: list[Expr] = [load for load in function.loads if load.name in choice.text]
    found: set[str] = set()
    for part in (part for value in (*bound, *loaded) for part in walk(value)):
        match part:
            case Call(callee, arguments) if Name(name) in arguments and callee != Name("getattr"):
                for symbol in pts.project.symbols(callee, context.function.path, context.function.key):
                    if isinstance(symbol, FunctionRef):
                        found |= _read_of(pts, symbol, arguments.index(Name(name)))
            case _:
                found |= _read_from(part, name)
    return found - {"named_modules", "named_children", "modules", "children"}


def _read_of(pts: PointsTo, ref: FunctionRef, place: int) -> set[str]:
    """The attributes that a function reads of one of its arguments."""
    function = pts.project.function(ref)
    if place >= len(function.parameters):
        return set()
    name = function.parameters[place].name
    read: list[Expr] = [*function.loads, *(site.call for site in function.calls)]
    return {attribute for part in read for attribute in _read_from(part, name)}


def _read_from(part: Expr, name: str) -> set[str]:
    match part:
        case Attribute(Name(owner), attribute) if owner == name:
            return {attribute}
        case Call(Name("getattr"), (Name(owner), Constant(str() as attribute), *_)) if owner == name:
            return {attribute}
    return set()
