"""The values of expressions: names, displays, items, and what calls and attributes give."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.program.refs import COMPILE, DISABLERS, ClassRef, External, File, FunctionRef, Tier
from dynamo_lint.regions import (
    compiling,
    containers,
    displays,
    enumerations,
    iterables,
    keywords,
    made,
    picked,
    registries,
    results,
    selecting,
    structure,
    submodules,
    texts,
)
from dynamo_lint.regions.annotations import typed
from dynamo_lint.regions.beforehand import with_passed
from dynamo_lint.regions.filling import filled_elsewhere, kept_as
from dynamo_lint.regions.hanging import hung_on_unknown
from dynamo_lint.regions.naming import gives_more
from dynamo_lint.regions.narrowing import by_key, by_text, is_keyed, narrow
from dynamo_lint.regions.receivers import depends_on_class, receiver
from dynamo_lint.regions.scopes import Local
from dynamo_lint.regions.settled import is_settled
from dynamo_lint.regions.values import (
    EMPTY,
    ClassValue,
    Foreign,
    FunctionValue,
    Group,
    Instance,
    Scope,
    Text,
    Values,
    at_best,
    elements,
    stored,
    union,
)
from dynamo_lint.values.points_to import Evaluation

# --- expressions ------------------------------------------------------------------------------------


def value_of(ev: Evaluation, expr: Expr, scope: Scope) -> Values:
    """The values of one expression."""
    match expr:
        case facts.Name(name):
            return _name(ev, name, scope)
        case facts.Attribute(owner, name):
            owners = ev.value(owner, scope)
            found = ev.attributes(owners, name)
            if not ev.hanging or any(not isinstance(value, Foreign) for value in found):
                return found
            return hung_on_unknown(ev, owners, name) or structure.identified(ev, expr, scope) or found
        case facts.Call():
            taken = keywords.taken(ev, expr, scope)
            return results.of_call(ev, expr, scope) if taken is None else taken
        case facts.Subscript(owner, facts.Constant(index)):
            own = keywords.under(ev, owner, index, scope) if isinstance(index, str) else None
            if own is not None:
                return own
            found = ev.item(ev.value(owner, scope), index)
            kept = None if found else kept_as(ev.project, owner, scope.function)
            return found if kept is None else ev.item(ev.value(kept, scope), index)
        case facts.Subscript(owner, index):
            return _items(ev, ev.value(owner, scope), index, scope)
        case facts.Element(iterable):
            return ev.elements(ev.value(iterable, scope))
        case facts.Choice(options, asks):
            return made.one_of(ev, [ev.value(option, scope) for option in options], asks, scope)
        case facts.Display(kind, items, keys):
            return displays.of_display(ev, kind, items, keys, scope)
        case facts.Constant(str() as text):
            return {Text(text): Tier.CERTAIN}
        case facts.Narrowed(inner, types, holds):
            if selecting.is_test(types):
                return selecting.chosen(ev, expr, scope)
            return narrow(ev, ev.value(inner, scope), types, holds, scope)
        case facts.Typed(annotation):
            return typed(ev.project, annotation, scope)
        case facts.Definition(key):
            path = scope.function.path
            if key in ev.project.files[path].classes:
                return {ClassValue(ClassRef(path, key)): Tier.CERTAIN}
            return {FunctionValue(FunctionRef(path, key), scope.receiver): Tier.CERTAIN}
        case facts.Import():
            return _imported(ev, expr, scope.function.path)
    return EMPTY


def _items(ev: Evaluation, owners: Values, index: Expr, scope: Scope) -> Values:
    """`owner[index]`: the named items if the index is known to be one of some texts."""
    modules: Values = {owner: tier for owner, tier in owners.items() if isinstance(owner, File)}
    if modules:  # `models.__dict__[name]`
        return results.named(ev, modules, index, scope)
    if External("sys.modules") in owners:
        return texts.imported(ev, index, scope)
    if any(isinstance(owner, Group) and any(owner.keys) for owner in owners):
        left = by_key(owners, index)
        if left is not None:
            others = {owner: tier for owner, tier in owners.items() if not is_keyed(owner)}
            return union([left, ev.item(others, None)])
        if found := by_text(ev, owners, index, scope):
            return found
    return ev.item(owners, None)


def item_of(ev: Evaluation, owners: Values, index: object) -> Values:
    """What is at one place in containers; anywhere in them for None."""
    parts: list[Values] = []
    for owner, tier in owners.items():
        match owner:
            case Group():
                parts += [union([dict(item)], tier) for item in owner.at(index)]
            case Instance(ref):
                own = iterables.item_of(ev, ref, index)
                parts.append(union([ev.elements({owner: tier}) if own is None else own], tier))
            case File() if isinstance(index, str):  # `models.__dict__["name"]`
                parts.append(union([ev.attributes({owner: tier}, index)], tier))
            case ClassValue(ref) if enumerations.is_enumeration(ev.project, ref):
                parts.append({Instance(ref): tier})
            case ClassValue() | External():  # Base[T]
                parts.append({owner: tier})
    return union(parts)


def elements_of(ev: Evaluation, values: Values) -> Values:
    """What iterating over the values yields; a class of the project may say so, or be of modules."""
    parts = [elements(values)]
    for value, tier in values.items():
        if isinstance(value, Instance):
            own = iterables.of_object(ev, value.ref)
            if own is None and ev.project.is_container(value.ref):
                own = submodules.contents(ev, value.ref)
            elif own is None:
                own = containers.put_into(ev, value.ref)
            parts.append(union([own or EMPTY], tier))
    return union(parts)


# --- names ------------------------------------------------------------------------------------------


def _name(ev: Evaluation, name: str, scope: Scope) -> Values:
    path, key = scope.function.path, scope.function.key
    file = ev.project.files[path]
    while key != MODULE_KEY:
        direct = key == scope.function.key
        ref = scope.function if direct else FunctionRef(path, key)
        known = ev.project.locals_of(ref).get(name)
        if known is not None:
            return _local(ev, name, known, scope if direct else Scope(ref, scope.receiver), direct)
        key = file.functions[key].outer or MODULE_KEY
    module = Scope(FunctionRef(path, MODULE_KEY))
    bound = ev.project.global_bindings(path).get(name, [])
    if bound and is_settled(ev.project, name, path):
        return ev.of_symbols(ev.project.symbols(facts.Name(name), path))
    if bound:
        return ev.ask((path, name), lambda: ev.assigned(name, bound, module), EMPTY)
    found = ev.of_symbols(ev.project.symbols(facts.Name(name), path))
    if found:
        return found
    stars = ev.project.files[path].stars
    return union(_imported(ev, facts.Import(s.module, name, s.level), path) for s in stars)


def _imported(ev: Evaluation, target: facts.Import, path: str) -> Values:
    """An imported definition, or whatever the other file assigns to the name."""
    if target.name is not None:
        for source in ev.project.imported_modules(target, path):
            if not isinstance(source, File) or source.path == path:
                continue
            if ev.project.global_bindings(source.path).get(target.name):
                return ev.attribute(source, target.name)
    return ev.of_symbols(ev.project.symbols(target, path))


def _local(ev: Evaluation, name: str, local: Local, scope: Scope, direct: bool) -> Values:
    given = scope.passed(name)
    if local.parameter is not None and not local.bound and name not in ev.project.items_of(scope.function):
        told = receiver(ev.project, local.parameter, scope) if given is None else dict(given)
        if told or given is not None:
            return told  # nothing to remember
        if not depends_on_class(ev.project, local.parameter, scope):
            scope = Scope(scope.function)  # whatever `self` is, the same calls pass the same

    def compute() -> Values:
        found = picked.assigned(ev, name, local, scope)
        if found and any(gives_more(value, name) for value in local.bound):
            ev.grows((scope, name, direct))
        found = with_passed(ev, found, name, local.parameter, scope, direct)
        return displays.of_itself(local.bound, name, found)

    return ev.ask((scope, name, direct), compute, EMPTY)


def assigned_to(ev: Evaluation, name: str, bound: Sequence[Expr], scope: Scope) -> Values:
    """The union over all assignments; none if one of them disables what the others bind."""
    compiled: list[int] = []
    for value in bound:
        if isinstance(value, facts.Call) and value.arguments[:1] == (facts.Name(name),):
            callees = {c.dotted for c in ev.value(value.function, scope) if isinstance(c, External)}
            if callees & DISABLERS:
                return EMPTY
            if COMPILE in callees:
                compiled.append(value.line)
    puts = ev.project.items_of(scope.function).get(name, ())
    parts = [(key, ev.value(value, scope)) for key, value in puts]
    if scope.function.key == MODULE_KEY:
        path = scope.function.path
        stores = ev.project.filled_in(path).get(name, ())
        put = union((displays.put_by(ev, at, v) for at, v in stores), Tier.LIKELY)
        parts.append((None, ev.capped(put)))
        for at, key, value in filled_elsewhere(ev.project, path, name):
            parts.append((key, ev.capped(at_best(displays.put_by(ev, at, value), Tier.LIKELY))))
    given = displays.set_by_functions(ev, name, scope)
    found = union([*[ev.value(value, scope) for value in bound], stored(parts), given])
    for line in compiled:  # `f = torch.compile(f)`, of what `f` is by its other assignments
        found = union([found, compiling.compiled(found, scope.function.path, line)])
    return found


def returned(ev: Evaluation, scope: Scope) -> Values:
    """The values that a function returns, or else those that its annotation promises."""
    function = ev.project.function(scope.function)
    found = union(picked.returned(ev, scope))
    if found or function.annotation is None:
        return registries.without_builders(ev, found)
    return typed(ev.project, function.annotation, Scope(scope.function, scope.receiver))
