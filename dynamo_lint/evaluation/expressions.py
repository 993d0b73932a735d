"""The values of expressions: names, displays, items, and what calls and attributes give."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_lint import knowledge
from dynamo_lint.calls import compiled_calls, keywords
from dynamo_lint.conditions import arguments, select
from dynamo_lint.conditions.narrow import by_key, by_text, is_keyed, is_open, narrow
from dynamo_lint.evaluation import call_results
from dynamo_lint.evaluation.reaching_definitions import with_passed
from dynamo_lint.heuristics.attribute_by_name import is_hung_outside, only_module_stored_as
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Expr
from dynamo_lint.models import library_registries
from dynamo_lint.program.names import gives_more
from dynamo_lint.program.refs import (
    COMPILE,
    ClassRef,
    Confidence,
    ExternalSymbol,
    File,
    FunctionRef,
)
from dynamo_lint.program.scopes import Local
from dynamo_lint.program.static_bindings import is_statically_bound
from dynamo_lint.values import classes, containers, iterables, module_tree, reflection, registries
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


def value_of(pts: PointsTo, expr: Expr, context: Context) -> ValueSet:
    """The values of one expression."""
    match expr:
        case ir.Name(name):
            return _name(pts, name, context)
        case ir.Attribute(owner, name):
            owners = pts.value(owner, context)
            found = pts.attributes(owners, name)
            known = any(not isinstance(value, ExternalInstance) for value in found)
            if known or not is_hung_outside(pts.project, name) or not pts.by_name:
                return found
            return only_module_stored_as(pts, owners, name) or found
        case ir.Call():
            taken = keywords.taken(pts, expr, context)
            return call_results.of_call(pts, expr, context) if taken is None else taken
        case ir.Subscript(owner, ir.Constant(index)):
            own = keywords.under(pts, owner, index, context) if isinstance(index, str) else None
            if own is not None:
                return own
            found = pts.item(pts.value(owner, context), index)
            if len(found) > 1 and isinstance(index, str):
                found = registries.registered_under(pts.project, found, frozenset({index}))
            kept = None if found else kept_as(pts.project, owner, context.function)
            return found if kept is None else pts.item(pts.value(kept, context), index)
        case ir.Subscript(owner, index):
            return _items(pts, pts.value(owner, context), index, context)
        case ir.Element(iterable):
            return pts.elements(pts.value(iterable, context))
        case ir.Choice(options, asks):
            return arguments.choice_values(
                pts, [pts.value(option, context) for option in options], asks, context
            )
        case ir.Display(kind, items, keys):
            return containers.of_display(pts, kind, items, keys, context)
        case ir.Constant(str() as text):
            return {Text(text): Confidence.CERTAIN}
        case ir.Narrowed(inner, types, holds):
            if select.is_test(types):
                return select.chosen(pts, expr, context)
            return narrow(pts, pts.value(inner, context), types, holds, context)
        case ir.Typed(annotation):
            return typed(pts.project, annotation, context)
        case ir.Definition(key):
            path = context.function.path
            if key in pts.project.files[path].classes:
                return {ClassValue(ClassRef(path, key)): Confidence.CERTAIN}
            return {FunctionValue(FunctionRef(path, key), context.receiver): Confidence.CERTAIN}
        case ir.Import():
            return _imported(pts, expr, context.function.path)
    return EMPTY


def _items(pts: PointsTo, owners: ValueSet, index: Expr, context: Context) -> ValueSet:
    """`owner[index]`: the named items if the index is known to be one of some texts."""
    modules: ValueSet = {owner: confidence for owner, confidence in owners.items() if isinstance(owner, File)}
    if modules:  # `models.__dict__[name]`
        return call_results.named_attribute(pts, modules, index, context)
    if ExternalSymbol("sys.modules") in owners:
        return reflection.imported(pts, index, context)
    if any(isinstance(owner, Container) and any(owner.keys) for owner in owners):
        left = by_key(owners, index)
        if left is not None:
            others = {owner: confidence for owner, confidence in owners.items() if not is_keyed(owner)}
            return union([left, pts.item(others, None)])
        if found := by_text(pts, owners, index, context):
            return found
    return _of_registry(pts, pts.item(owners, None), index, context)


def _of_registry(pts: PointsTo, rows: ValueSet, index: Expr, context: Context) -> ValueSet:
    """The rows of a table that are registered under the texts that an index is known to be one of."""
    if len(rows) < 2 or not any(isinstance(row, ClassValue | FunctionValue) for row in rows):
        return rows
    names = pts.value(index, context)
    texts = frozenset(name.value for name in names if isinstance(name, Text))
    known = bool(texts) and len(texts) == len(names) and not is_open(pts, index, context)
    return registries.registered_under(pts.project, rows, texts) if known else rows


def item_of(pts: PointsTo, owners: ValueSet, index: object) -> ValueSet:
    """The values at one place in containers; anywhere in them for None."""
    parts: list[ValueSet] = []
    for owner, confidence in owners.items():
        match owner:
            case Container():
                parts += [union([dict(item)], confidence) for item in owner.at(index)]
            case Instance(ref):
                own = iterables.item_of(pts, ref, index)
                parts.append(union([pts.elements({owner: confidence}) if own is None else own], confidence))
            case File() if isinstance(index, str):  # `models.__dict__["name"]`
                parts.append(union([pts.attributes({owner: confidence}, index)], confidence))
            case ClassValue(ref) if classes.is_enumeration(pts.project, ref):
                parts.append({Instance(ref): confidence})
            case ClassValue() | ExternalSymbol():  # Base[T]
                parts.append({owner: confidence})
    return union(parts)


def elements_of(pts: PointsTo, values: ValueSet) -> ValueSet:
    """Return the values that iterating yields; a class of the project may define it, or be of modules."""
    parts = [elements(values)]
    for value, confidence in values.items():
        if isinstance(value, Instance):
            own = iterables.of_object(pts, value.ref)
            if own is None and pts.project.is_container(value.ref):
                own = module_tree.contents(pts, value.ref)
            elif own is None:
                own = containers.put_into(pts, value.ref)
            parts.append(union([own or EMPTY], confidence))
    return union(parts)


def _name(pts: PointsTo, name: str, context: Context) -> ValueSet:
    path, key = context.function.path, context.function.key
    file = pts.project.files[path]
    while key != MODULE_KEY:
        direct = key == context.function.key
        ref = context.function if direct else FunctionRef(path, key)
        known = pts.project.locals_of(ref).get(name)
        if known is not None:
            return _local(pts, name, known, context if direct else Context(ref, context.receiver), direct)
        key = file.functions[key].outer or MODULE_KEY
    module = Context(FunctionRef(path, MODULE_KEY))
    bound = pts.project.global_bindings(path).get(name, [])
    if bound and is_statically_bound(pts.project, name, path):
        return pts.of_symbols(pts.project.symbols(ir.Name(name), path))
    if bound:
        return pts.ask((path, name), lambda: pts.assigned(name, bound, module), EMPTY)
    found = pts.of_symbols(pts.project.symbols(ir.Name(name), path))
    if found:
        return found
    stars = pts.project.files[path].stars
    return union(_imported(pts, ir.Import(s.module, name, s.level), path) for s in stars)


def _imported(pts: PointsTo, target: ir.Import, path: str) -> ValueSet:
    """An imported definition, or whatever the other file assigns to the name."""
    if target.name is not None:
        for source in pts.project.imported_modules(target, path):
            if not isinstance(source, File) or source.path == path:
                continue
            if pts.project.global_bindings(source.path).get(target.name):
                return pts.attribute(source, target.name)
    return pts.of_symbols(pts.project.symbols(target, path))


def _local(pts: PointsTo, name: str, local: Local, context: Context, direct: bool) -> ValueSet:
    given = context.passed(name)
    if local.parameter is not None and not local.bound and name not in pts.project.items_of(context.function):
        told = receiver(pts.project, local.parameter, context) if given is None else dict(given)
        if told or given is not None:
            return told  # nothing to remember
        if not depends_on_class(pts.project, local.parameter, context):
            context = Context(context.function)  # whatever `self` is, the same calls pass the same

    def compute() -> ValueSet:
        found = arguments.assigned_values(pts, name, local, context)
        if found and any(gives_more(value, name) for value in local.bound):
            pts.grows((context, name, direct))
        found = with_passed(pts, found, name, local.parameter, context, direct)
        return containers.of_itself(local.bound, name, found)

    return pts.ask((context, name, direct), compute, EMPTY)


def assigned_to(pts: PointsTo, name: str, bound: Sequence[Expr], context: Context) -> ValueSet:
    """The union over all assignments; none if one of them disables what the others bind."""
    compiled: list[int] = []
    for value in bound:
        if isinstance(value, ir.Call) and value.arguments[:1] == (ir.Name(name),):
            callees = {c.dotted for c in pts.value(value.function, context) if isinstance(c, ExternalSymbol)}
            if callees & knowledge.names("disable"):
                return EMPTY
            if COMPILE in callees:
                compiled.append(value.line)
    puts = pts.project.items_of(context.function).get(name, ())
    parts = [(key, pts.value(value, context)) for key, value in puts]
    if context.function.key == MODULE_KEY:
        path = context.function.path
        stores = pts.project.filled_in(path).get(name, ())
        put = union((containers.put_by(pts, at, v) for at, v in stores), Confidence.LIKELY)
        parts.append((None, pts.capped(put)))
        for at, key, value in filled_elsewhere(pts.project, path, name):
            parts.append((key, pts.capped(at_best(containers.put_by(pts, at, value), Confidence.LIKELY))))
    given = containers.set_by_functions(pts, name, context)
    found = union([*[pts.value(value, context) for value in bound], stored(parts), given])
    for line in compiled:  # `f = torch.compile(f)`, of what `f` is by its other assignments
        found = union([found, compiled_calls.compiled(found, context.function.path, line)])
    return found


def returned(pts: PointsTo, context: Context) -> ValueSet:
    """The values that a function returns, or else those that its annotation promises."""
    function = pts.project.function(context.function)
    found = union(arguments.returned_values(pts, context))
    if found or function.annotation is None:
        return library_registries.without_factories(pts, found)
    return typed(pts.project, function.annotation, Context(context.function, context.receiver))
