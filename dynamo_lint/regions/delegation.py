"""Call edges of `__getattr__`: attributes that a wrapper passes on to what it wraps."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.calls.model import Edge
from dynamo_lint.evaluation.attributes import delegates
from dynamo_lint.index.ir import Attribute, Call, Expr, Function
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.classes import OF_MODULES
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef, Node
from dynamo_lint.values.containers import MODULE_CONTAINERS
from dynamo_lint.values.model import EMPTY, Context, ExternalInstance, Instance, Value
from dynamo_lint.values.points_to import PointsTo

_KNOWN = knowledge.names("plain_bases")
"""Bases outside a project whose attributes are known."""


def called(pts: PointsTo, callee: Attribute, line: int, context: Context) -> Iterator[Edge]:
    """The `__getattr__` that finds a method which nothing else defines."""
    for value, confidence in pts.value(callee.value, context).items():
        if isinstance(value, Instance) and delegates(pts, value.ref, callee.name):
            asked = pts.project.method(value.ref, "__getattr__")
            if asked is not None:
                yield _asking(asked, value.ref, max(confidence, Confidence.LIKELY), line)


def read(pts: PointsTo, function: Function, context: Context) -> Iterator[Edge]:
    """The `__getattr__` that what a method reads of `self` runs, if that is not where Python looks first."""
    receiver = context.receiver
    asked = pts.project.method(receiver, "__getattr__") if receiver is not None else None
    if receiver is None or asked is None or not _is_open(pts, receiver):
        return
    loads: list[tuple[Expr, int]] = [(load, function.line) for load in function.loads]
    loads += [(site.call.function, site.call.line) for site in function.calls if not site.eager]
    own = ((load, line) for load, line in loads if isinstance(load, Attribute))
    for load, line in own:
        if pts.project.is_self(load.value, context.function) and _is_elsewhere(pts, receiver, load.name):
            yield _asking(asked, receiver, Confidence.LIKELY, line)
            return


def _asking(method: FunctionRef, receiver: ClassRef, confidence: Confidence, line: int) -> Edge:
    return Edge(Node(method, receiver), confidence, line, f"asks {receiver.name}.__getattr__")


def _is_open(pts: PointsTo, ref: ClassRef) -> bool:
    """Whether assignments say all that is in an instance, and known bases all that is in the class."""
    if any(base not in _KNOWN for base in pts.project.external_bases(ref)):
        return False
    names = {name for part in pts.project.mro(ref) for name in pts.project.class_bindings(part)}
    methods = (pts.project.method(ref, name) for name in sorted(names))
    calls = (site.call for one in methods if one is not None for site in pts.project.function(one).calls)
    return not any(_puts_anything(call.function) for call in calls)


def _puts_anything(callee: Expr) -> bool:
    """Whether a call may put into an instance what no assignment names: `setattr(self, key, value)`."""
    match callee:
        case Attribute(Attribute(_, "__dict__"), "update"):
            return True
    return terminal_name(callee) in ("setattr", "__setattr__")


def _is_elsewhere(pts: PointsTo, ref: ClassRef, name: str) -> bool:
    """Whether an attribute is not in an instance or its class; nn.Module keeps submodules apart."""
    project, order = pts.project, pts.project.mro(ref)
    module = project.is_module(ref)
    if name.startswith("__") or (module and (name in OF_MODULES or name.startswith("_"))):
        return False
    if any(key == name for part in order for key, _ in project.class_(part).annotations):
        return False
    if any(name in project.class_bindings(part) for part in order):
        return False
    stored = [store.value for part in order for _, store in project.own_stores(part).get(name, ())]
    if not stored:
        return all(project.is_self(store.owner, where) for where, store in project.stores_of(name))
    if any(isinstance(v, Call) and terminal_name(v.function) in MODULE_CONTAINERS for v in stored):
        return module
    held = pts.attributes({Instance(ref): Confidence.CERTAIN}, name) if module else EMPTY
    return any(_is_module(pts, value) for value in held)


def _is_module(pts: PointsTo, value: Value) -> bool:
    match value:
        case Instance():
            return pts.holds_module(value)
        case ExternalInstance(dotted):
            return dotted.startswith("torch.nn.")
    return False
