"""The values of expressions: names, displays, items, and what calls and attributes give."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_lint.calls import compiled_calls, keywords
from dynamo_lint.calls.reaching_definitions import with_passed
from dynamo_lint.conditions import arguments, select
from dynamo_lint.conditions.narrow import by_key, by_text, is_keyed, narrow
from dynamo_lint.evaluation import call_results
from dynamo_lint.heuristics import block_lists
from dynamo_lint.heuristics.attribute_by_name import only_module_stored_as
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Expr
from dynamo_lint.models import library_registries
from dynamo_lint.program.names import gives_more
from dynamo_lint.program.refs import (
    COMPILE,
    DISABLERS,
    ClassRef,
    Confidence,
    ExternalSymbol,
    File,
    FunctionRef,
)
from dynamo_lint.program.scopes import Local
from dynamo_lint.program.static_bindings import is_statically_bound
from dynamo_lint.values import classes, containers, iterables, module_tree, reflection
from dynamo_lint.values.annotations import typed
from dynamo_lint.values.containers import filled_elsewhere, kept_as
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    Container,
    Context,
    ExternalInstance,
    FunctionValue,
    Instance,
    Text,
    ValueSet,
    at_best,
    elements,
    stored,
    union,
)
from dynamo_lint.values.points_to import PointsTo
from dynamo_lint.values.receiver import depends_on_class, receiver


def value_of(ev: PointsTo, expr: Expr, scope: Context) -> ValueSet:
    """The values of one expression."""
    match expr:
        case ir.Name(name):
            return _name(ev, name, scope)
        case ir.Attribute(owner, name):
            owners = ev.value(owner, scope)
            found = ev.attributes(owners, name)
            if not ev.by_name or any(not isinstance(value, ExternalInstance) for value in found):
                return found
            return only_module_stored_as(ev, owners, name) or block_lists.identified(ev, expr, scope) or found
        case ir.Call():
            taken = keywords.taken(ev, expr, scope)
            return call_results.of_call(ev, expr, scope) if taken is None else taken
        case ir.Subscript(owner, ir.Constant(index)):
            own = keywords.under(ev, owner, index, scope) if isinstance(index, str) else None
            if own is not None:
                return own
            found = ev.item(ev.value(owner, scope), index)
            kept = None if found else kept_as(ev.project, owner, scope.function)
            return found if kept is None else ev.item(ev.value(kept, scope), index)
        case ir.Subscript(owner, index):
            return _items(ev, ev.value(owner, scope), index, scope)
        case ir.Element(iterable):
            return ev.elements(ev.value(iterable, scope))
        case ir.Choice(options, asks):
            return arguments.choice_values(ev, [ev.value(option, scope) for option in options], asks, scope)
        case ir.Display(kind, items, keys):
            return containers.of_display(ev, kind, items, keys, scope)
        case ir.Constant(str() as text):
            return {Text(text): Confidence.CERTAIN}
        case ir.Narrowed(inner, types, holds):
            if select.is_test(types):
                return select.chosen(ev, expr, scope)
            return narrow(ev, ev.value(inner, scope), types, holds, scope)
        case ir.Typed(annotation):
            return typed(ev.project, annotation, scope)
        case ir.Definition(key):
            path = scope.function.path
            if key in ev.project.files[path].classes:
                return {ClassValue(ClassRef(path, key)): Confidence.CERTAIN}
            return {FunctionValue(FunctionRef(path, key), scope.receiver): Confidence.CERTAIN}
        case ir.Import():
            return _imported(ev, expr, scope.function.path)
    return EMPTY


def _items(ev: PointsTo, owners: ValueSet, index: Expr, scope: Context) -> ValueSet:
    """`owner[index]`: the named items if the index is known to be one of some texts."""
    modules: ValueSet = {owner: tier for owner, tier in owners.items() if isinstance(owner, File)}
    if modules:  # `models.__dict__[name]`
        return call_results.named_attribute(ev, modules, index, scope)
    if ExternalSymbol("sys.modules") in owners:
        return reflection.imported(ev, index, scope)
    if any(isinstance(owner, Container) and any(owner.keys) for owner in owners):
        left = by_key(owners, index)
        if left is not None:
            others = {owner: tier for owner, tier in owners.items() if not is_keyed(owner)}
            return union([left, ev.item(others, None)])
        if found := by_text(ev, owners, index, scope):
            return found
    return ev.item(owners, None)


def item_of(ev: PointsTo, owners: ValueSet, index: object) -> ValueSet:
    """What is at one place in containers; anywhere in them for None."""
    parts: list[ValueSet] = []
    for owner, tier in owners.items():
        match owner:
            case Container():
                parts += [union([dict(item)], tier) for item in owner.at(index)]
            case Instance(ref):
                own = iterables.item_of(ev, ref, index)
                parts.append(union([ev.elements({owner: tier}) if own is None else own], tier))
            case File() if isinstance(index, str):  # `models.__dict__["name"]`
                parts.append(union([ev.attributes({owner: tier}, index)], tier))
            case ClassValue(ref) if classes.is_enumeration(ev.project, ref):
                parts.append({Instance(ref): tier})
            case ClassValue() | ExternalSymbol():  # Base[T]
                parts.append({owner: tier})
    return union(parts)


def elements_of(ev: PointsTo, values: ValueSet) -> ValueSet:
    """What iterating over the values yields; a class of the project may say so, or be of modules."""
    parts = [elements(values)]
    for value, tier in values.items():
        if isinstance(value, Instance):
            own = iterables.of_object(ev, value.ref)
            if own is None and ev.project.is_container(value.ref):
                own = module_tree.contents(ev, value.ref)
            elif own is None:
                own = containers.put_into(ev, value.ref)
            parts.append(union([own or EMPTY], tier))
    return union(parts)


def _name(ev: PointsTo, name: str, scope: Context) -> ValueSet:
    path, key = scope.function.path, scope.function.key
    file = ev.project.files[path]
    while key != MODULE_KEY:
        direct = key == scope.function.key
        ref = scope.function if direct else FunctionRef(path, key)
        known = ev.project.locals_of(ref).get(name)
        if known is not None:
            return _local(ev, name, known, scope if direct else Context(ref, scope.receiver), direct)
        key = file.functions[key].outer or MODULE_KEY
    module = Context(FunctionRef(path, MODULE_KEY))
    bound = ev.project.global_bindings(path).get(name, [])
    if bound and is_statically_bound(ev.project, name, path):
        return ev.of_symbols(ev.project.symbols(ir.Name(name), path))
    if bound:
        return ev.ask((path, name), lambda: ev.assigned(name, bound, module), EMPTY)
    found = ev.of_symbols(ev.project.symbols(ir.Name(name), path))
    if found:
        return found
    stars = ev.project.files[path].stars
    return union(_imported(ev, ir.Import(s.module, name, s.level), path) for s in stars)


def _imported(ev: PointsTo, target: ir.Import, path: str) -> ValueSet:
    """An imported definition, or whatever the other file assigns to the name."""
    if target.name is not None:
        for source in ev.project.imported_modules(target, path):
            if not isinstance(source, File) or source.path == path:
                continue
            if ev.project.global_bindings(source.path).get(target.name):
                return ev.attribute(source, target.name)
    return ev.of_symbols(ev.project.symbols(target, path))


def _local(ev: PointsTo, name: str, local: Local, scope: Context, direct: bool) -> ValueSet:
    given = scope.passed(name)
    if local.parameter is not None and not local.bound and name not in ev.project.items_of(scope.function):
        told = receiver(ev.project, local.parameter, scope) if given is None else dict(given)
        if told or given is not None:
            return told  # nothing to remember
        if not depends_on_class(ev.project, local.parameter, scope):
            scope = Context(scope.function)  # whatever `self` is, the same calls pass the same

    def compute() -> ValueSet:
        found = arguments.assigned_values(ev, name, local, scope)
        if found and any(gives_more(value, name) for value in local.bound):
            ev.grows((scope, name, direct))
        found = with_passed(ev, found, name, local.parameter, scope, direct)
        return containers.of_itself(local.bound, name, found)

    return ev.ask((scope, name, direct), compute, EMPTY)


def assigned_to(ev: PointsTo, name: str, bound: Sequence[Expr], scope: Context) -> ValueSet:
    """The union over all assignments; none if one of them disables what the others bind."""
    compiled: list[int] = []
    for value in bound:
        if isinstance(value, ir.Call) and value.arguments[:1] == (ir.Name(name),):
            callees = {c.dotted for c in ev.value(value.function, scope) if isinstance(c, ExternalSymbol)}
            if callees & DISABLERS:
                return EMPTY
            if COMPILE in callees:
                compiled.append(value.line)
    puts = ev.project.items_of(scope.function).get(name, ())
    parts = [(key, ev.value(value, scope)) for key, value in puts]
    if scope.function.key == MODULE_KEY:
        path = scope.function.path
        stores = ev.project.filled_in(path).get(name, ())
        put = union((containers.put_by(ev, at, v) for at, v in stores), Confidence.LIKELY)
        parts.append((None, ev.capped(put)))
        for at, key, value in filled_elsewhere(ev.project, path, name):
            parts.append((key, ev.capped(at_best(containers.put_by(ev, at, value), Confidence.LIKELY))))
    given = containers.set_by_functions(ev, name, scope)
    found = union([*[ev.value(value, scope) for value in bound], stored(parts), given])
    for line in compiled:  # `f = torch.compile(f)`, of what `f` is by its other assignments
        found = union([found, compiled_calls.compiled(found, scope.function.path, line)])
    return found


def returned(ev: PointsTo, scope: Context) -> ValueSet:
    """The values that a function returns, or else those that its annotation promises."""
    function = ev.project.function(scope.function)
    found = union(arguments.returned_values(ev, scope))
    if found or function.annotation is None:
        return library_registries.without_factories(ev, found)
    return typed(ev.project, function.annotation, Context(scope.function, scope.receiver))
