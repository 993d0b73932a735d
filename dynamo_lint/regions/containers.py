"""What makers of containers make: those of modules, and classes of the project that are dictionaries."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Call, Expr, Name
from dynamo_lint.program.refs import ClassRef, Tier
from dynamo_lint.regions import submodules
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import EMPTY, Group, Held, Scope, Values, each, elements, freeze, union
from dynamo_lint.values.points_to import Evaluation

MODULE_CONTAINERS = {"ModuleList": "list", "ModuleDict": "dict", "Sequential": "sequential"}
_DICTIONARIES = frozenset(
    {"builtins.dict", "collections.OrderedDict", "collections.UserDict", "collections.defaultdict"}
)


def kind_of(project: Project, ref: ClassRef) -> str | None:
    """What container of modules a class of the project is, if it leaves the construction to torch."""
    if not project.is_container(ref) or project.method(ref, "__init__") is not None:
        return None
    bases = (base.rpartition(".")[2] for base in project.external_bases(ref))
    return next((MODULE_CONTAINERS[base] for base in bases if base in MODULE_CONTAINERS), None)


def of_modules(ev: Evaluation, kind: str, first: Expr | None, call: Call, scope: Scope) -> Values:
    """What a call of `nn.ModuleList`, `nn.ModuleDict` or `nn.Sequential` makes."""
    if kind == "sequential":
        starred = any(isinstance(argument, facts.Element) for argument in call.arguments)
        parts = [ev.value(argument, scope) for argument in call.arguments]
        if starred:
            return {Group("each", (freeze(union(parts)),)): Tier.CERTAIN}
        return {Group("sequential", tuple(freeze(part) for part in parts)): Tier.CERTAIN}
    inner = ev.value(first, scope) if first is not None else EMPTY
    return {g: tier for g, tier in inner.items() if isinstance(g, Group)}


def keyed(ev: Evaluation, call: Call, scope: Scope) -> Values:
    """A dictionary, or a record, of what a call gives by keywords."""
    parts = tuple(freeze(ev.value(value, scope)) for _, value in call.keywords)
    return {Group("dict", parts, tuple(name for name, _ in call.keywords)): Tier.CERTAIN}


def pairs(values: Values) -> Values:
    """`named_…()` and `items()`: (name, value) pairs."""
    return each({Group("tuple", (Held(), freeze(values))): Tier.CERTAIN})


def put_into(ev: Evaluation, ref: ClassRef) -> Values:
    """What is put into the instances of a class of the project that is a dictionary.

    Its own methods do it, `self[name] = cls`, or code that knows the one instance: `MODELS["net"] = Net`.
    """
    if not any(base in _DICTIONARIES for base in ev.project.external_bases(ref)):
        return EMPTY
    parts = [submodules.contents(ev, ref)]
    for scope, site in ev.constructions(ref):
        names = [one.name for one in ev.project.function(scope.function).bindings if one.value == site.call]
        if scope.function.key == MODULE_KEY:
            parts += [elements(ev.value(Name(name), scope)) for name in names]
    return union(parts, Tier.LIKELY)
