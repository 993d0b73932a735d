"""Instance counts: how many instances one compile site compiles, where the code says so."""

from __future__ import annotations

from math import prod

from dynamo_lint.index import ir
from dynamo_lint.index.ir import ITEM, MODULE_KEY, CallSite, Expr
from dynamo_lint.index.walking import walk
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.values.arguments import argument_for, is_partial_call
from dynamo_lint.values.model import Context, Instance
from dynamo_lint.values.points_to import PointsTo

_SAME_LENGTH = frozenset(
    {"enumerate", "list", "tuple", "reversed", "sorted", "iter", "ModuleList", "tqdm"}
    | {"children", "named_children", "values", "items", "keys"}
)
_DEEPEST = 20
"""How many names are looked through before a number counts as unknown."""


def instances(pts: PointsTo, site: CallSite, context: Context) -> int | None:
    """How often the loops around a compile site run, or None if the code does not say."""
    counts = [_Counter(pts).length(loop, context) for loop in site.loops]
    known = [count for count in counts if count is not None]
    return prod(known) if counts and len(known) == len(counts) else None


def constructed(pts: PointsTo, ref: ClassRef, depth: int = 3) -> int | None:
    """How many instances of a class there are, where every place that makes some says so in numbers."""
    total = 0
    for context, site in pts.constructions(ref):
        count = _at(pts, site, context)
        owner = context.receiver
        if count and owner is not None and owner != ref and pts.constructions(owner):
            around = constructed(pts, owner, depth - 1) if depth else None
            count = None if around is None else count * around
        if count is None:
            return None
        total += count
    return total or None


def _at(pts: PointsTo, site: CallSite, context: Context) -> int | None:
    """How many instances one construction makes: one, or as many as the comprehension around it has items."""
    function = pts.project.function(context.function)
    if is_partial_call(pts.project, context, site):  # called an unknown number of times
        return None
    if not site.repeated:
        return 1
    values: list[Expr] = [binding.value for binding in function.bindings]
    values += [*(store.value for store in function.stores), *function.returns]
    around = next((found for value in values if (found := _display(value, site.call))), None)
    return None if around is None else _Counter(pts).length(around, context)


def _display(value: Expr, item: Expr) -> ir.Display | None:
    """The comprehension in an expression whose items are made by a call."""
    around = (one for one in walk(value) if isinstance(one, ir.Display) and one.kind == "each")
    return next((display for display in around if item in display.items), None)


class _Counter:
    """Lengths and whole numbers by following single assignments; anything ambiguous is unknown."""

    def __init__(self, pts: PointsTo) -> None:
        self._ev = pts
        self._depth = 0

    def length(self, expr: Expr, context: Context) -> int | None:
        """The number of items of an iterable."""
        match expr:
            case ir.Display("each", over=over) if over:
                counts = [self.length(iterable, context) for iterable in over]
                known = [count for count in counts if count is not None]
                return prod(known) if len(known) == len(counts) else None
            case ir.Display("list" | "tuple", items):
                starred = any(isinstance(item, ir.Element) for item in items)
                return None if starred else len(items)
            case ir.Call(ir.Name("range"), arguments) if 1 <= len(arguments) <= 2:
                first, *more = (self._number(argument, context) for argument in arguments)
                if first is None or None in more:
                    return None
                return max(0, more[0] - first) if more and more[0] is not None else first
            case ir.Call(ir.Attribute(owner, name), ()) if name in _SAME_LENGTH:
                return self.length(owner, context)
            case ir.Call(ir.Name(name) | ir.Attribute(_, name), (first, *_)):
                if name == "Sequential":
                    inner = expr.arguments
                    if len(inner) == 1 and isinstance(inner[0], ir.Element):
                        return self.length(inner[0].iterable, context)
                    return None if any(isinstance(a, ir.Element) for a in inner) else len(inner)
                return self.length(first, context) if name in _SAME_LENGTH else None
        found = self._single(expr, context)
        return self.length(*found) if found is not None else None

    def _number(self, expr: Expr, context: Context) -> int | None:
        match expr:
            case ir.Constant(int() as number) if not isinstance(number, bool):
                return number
            case ir.Call(ir.Name("len"), (first,)):
                return self.length(first, context)
        found = self._single(expr, context)
        return self._number(*found) if found is not None else None

    def _single(self, expr: Expr, context: Context) -> tuple[Expr, Context] | None:
        """The one expression that a name or attribute is ever bound to."""
        self._depth += 1
        if self._depth > _DEEPEST:
            return None
        match expr:
            case ir.Name(name):
                return self._name(name, context)
            case ir.Attribute(owner, name):
                owners = {v.ref for v in self._ev.value(owner, context) if isinstance(v, Instance)}
                return self._attribute(owners.pop(), name) if len(owners) == 1 else None
        return None

    def _name(self, name: str, context: Context) -> tuple[Expr, Context] | None:
        path, key = context.function.path, context.function.key
        file = self._ev.project.files[path]
        while key != MODULE_KEY:
            function = file.functions[key]
            here = Context(FunctionRef(path, key), context.receiver)
            bound = [b.value for b in function.bindings if b.name == name]
            parameter = next((p for p in function.parameters if p.name == name), None)
            if bound or parameter:
                values = [(value, here) for value in bound]
                if parameter is not None:
                    values += self._passed(parameter, function, here)
                return _only(values)
            key = function.outer or MODULE_KEY
        module = Context(FunctionRef(path, MODULE_KEY))
        return _only([(v, module) for v in self._ev.project.global_bindings(path).get(name, ())])

    def _passed(
        self, parameter: ir.Parameter, function: ir.Function, context: Context
    ) -> list[tuple[Expr, Context]]:
        found: list[tuple[Expr, Context]] = []
        for caller, site in self._ev.call_sites(context.function):
            given = argument_for(parameter, function, site.call)
            if given is not None:
                found.append((given, caller))
            elif parameter.default is not None:
                found.append((parameter.default, context))
        if not found and parameter.default is not None:
            found.append((parameter.default, context))
        return found

    def _attribute(self, ref: ClassRef, name: str) -> tuple[Expr, Context] | None:
        values: list[tuple[Expr, Context]] = []
        for part in self._ev.project.mro(ref):
            stores = self._ev.project.own_stores(part)
            if stores.get(name + ITEM):
                return None
            values += [(store.value, Context(where, ref)) for where, store in stores.get(name, ())]
        return _only(values)


def _only(values: list[tuple[Expr, Context]]) -> tuple[Expr, Context] | None:
    """The value, if all say the same."""
    same = all(
        value == values[0][0] and (context == values[0][1] or isinstance(value, ir.Constant))
        for value, context in values
    )
    return values[0] if values and same else None
