"""The reading of compiled functions, each as Dynamo traces it: called with what its callers pass.

Calls of project functions are followed with the values of their arguments. How a body runs is in `walk.py`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from dynamo_lint import knowledge
from dynamo_lint.breaks.values import MISSING, UNKNOWN, Value, joined, literal
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.models.graph_breaks import BreakTable, Row
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef, Node, Position
from dynamo_lint.regions.model import CallEdge
from dynamo_lint.values.model import Context, Instance
from dynamo_lint.values.points_to import evaluate

_HOOKS = knowledge.in_order("hooks_backward")
_MOST_CONTEXTS = 3
"""Ways a function is called that are told apart."""
_DEEPEST = 25
_BUILT = "DYN407"
"""The rule about parameters that are made by each call."""
_REASONS = ("eager", "compil", "dynamo", "graph", "trace")
"""Words of a docstring that speaks of why its function is not compiled."""


_PLAIN = frozenset({"int", "float", "bool", "str"})
"""Kinds of arguments that tell a parameter from a tensor."""


class Path(NamedTuple):
    """How surely a line runs in a call of its function."""

    certain: bool = True
    """In every call, in training or in evaluation."""
    usual: bool = True
    """In every call, as far as nothing that is not known decides about it."""

    def after(self, other: Path) -> Path:
        """Where both have to happen."""
        return Path(self.certain and other.certain, self.usual and other.usual)


ALWAYS, RARELY = Path(), Path(False, False)


Place = tuple[int, str]
"""The line of a call, and the last part of what it calls, empty for `layers[0](x)`."""


Given = tuple[tuple[str, Value], ...]
"""The values of some parameters."""


Arguments = Mapping[Node, Sequence[tuple[str, Value]]]
"""The values that eager code passes to functions that are compiled themselves."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A line at which the graph breaks, in one function."""

    row: Row
    position: Position
    text: str
    held: bool
    """It stands in a loop, a `try` or a context manager, where Dynamo cannot go on after a break."""
    path: Path
    whole: bool = True
    """Nothing that stands before it is worth a graph of its own, or it stands in a loop."""


@dataclass(slots=True)
class Reading:
    """One function as one way of calling it runs it."""

    node: Node
    given: Given
    spots: list[Spot] = field(default_factory=list)
    calls: dict[Place, bool] = field(default_factory=dict)
    """The calls that certainly run, and whether Dynamo cannot go on after a break there."""
    followed: list[tuple[Reading, Path]] = field(default_factory=list)
    returned: Value = UNKNOWN
    stored: dict[str, Value] = field(default_factory=dict)
    """The attributes of `self` that it sets."""
    passed: dict[Place, tuple[tuple[Value, ...], Mapping[str, Value]]] = field(default_factory=dict)
    """The arguments of each call."""
    entered: bool = False
    """Eager code calls it: it is what was handed to the compiler."""
    building: bool = False
    """It is a constructor that is read for the parameters that it makes."""
    asked: set[str] = field(default_factory=set)
    """Parameters whose kind would decide whether the graph breaks."""
    names: dict[str, Value] = field(default_factory=dict)
    """The names at its end."""


class Switch(NamedTuple):
    """A place that makes parameters need a gradient, or need none."""

    where: FunctionRef
    line: int
    attribute: str
    """The attribute that holds the module; empty for a name, which may be any module, or all of a model."""
    on: bool


@dataclass
class Setup:
    """The work of other code on modules of the compiled one: freezing, and putting backward hooks on them."""

    project: Project
    hot: Collection[FunctionRef]

    @cached_property
    def hooked(self) -> dict[tuple[ClassRef, str], bool]:
        """The attributes, by class, whose modules get a backward hook, and whether that certainly happens.

        Nobody may call a method that puts a hook on a part of its own object, unless it is the constructor.
        """
        found: dict[tuple[ClassRef, str], bool] = {}
        for method in _HOOKS:
            for where, site in self.project.calls_of(method):
                held = _held(site.call.function)
                if held is None or where in self.hot:
                    continue
                base, name = held
                own = base == ir.Name(self.project.self_name(where) or "")
                certain = not own or where.key.endswith(".__init__")
                for value in evaluate(self.project, base, Context(where, self.project.owner(where))):
                    if isinstance(value, Instance):
                        found[value.ref, name] = certain or found.get((value.ref, name), False)
        return found

    def hook(self, owner: ClassRef, name: str) -> bool | None:
        """Whether the module under an attribute has a backward hook; None if that is not known."""
        known = [self.hooked[part, name] for part in self.project.mro(owner) if (part, name) in self.hooked]
        return (any(known) or None) if known else False

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """Where parameters of modules are frozen and thawed, in compiled code and elsewhere."""
        found = []
        for where, site in self.project.calls_of("requires_grad_"):
            on = _flag(site.call)
            match site.call.function:
                case ir.Attribute(ir.Attribute(_, name), _) if on is not None:
                    found.append(Switch(where, site.call.line, name, on))
                case ir.Attribute(ir.Name(), _) if on is not None:
                    found.append(Switch(where, site.call.line, "", on))
        for where, store in self.project.stores_of("requires_grad"):
            if isinstance(store.value, ir.Constant) and isinstance(store.value.value, bool):
                found.append(Switch(where, store.line, "", store.value.value))
        return tuple(found)

    def changes(self, where: FunctionRef, line: int, attribute: str, on: bool) -> bool | None:
        """Whether `requires_grad_` in compiled code changes a module; None if that is not known."""
        others = [one for one in self.switches if (one.where, one.line) != (where, line)]
        frozen = [one for one in others if not one.on and one.attribute in {attribute, ""}]
        if on:
            return True if any(one.attribute for one in frozen) else None if frozen else False
        before = any(one.where not in self.hot for one in frozen)
        thawed = any(one.on and one.attribute == attribute for one in others)
        return not before or (None if thawed else False)


def _held(function: ir.Expr) -> tuple[ir.Expr, str] | None:
    """The object and the attribute of `model.layer.register…`."""
    match function:
        case ir.Attribute(ir.Attribute(base, name), _):
            return base, name
    return None


def _flag(call: ir.Call) -> bool | None:
    given = [*call.arguments, *(value for name, value in call.keywords if name == "requires_grad")]
    match given:
        case []:
            return True
        case [ir.Constant(bool() as flag)]:
            return flag
    return None


@dataclass
class Interpreter:
    """Reads functions, each once for every way of calling it that is told apart."""

    project: Project
    bodies: Bodies
    calls: Mapping[Node, tuple[CallEdge, ...]]
    table: BreakTable
    off: Mapping[Node, frozenset[str]]
    """The switches of the table that are on in a function, so that what they capture does not break."""
    hot: frozenset[FunctionRef]
    walk: Callable[[Interpreter, Reading, Sequence[ast.stmt]], None]
    """Runs the statements of a function, and fills in its reading."""
    readings: dict[Node, dict[Given, Reading]] = field(default_factory=lambda: defaultdict(dict))
    files: dict[str, Mapping[str, Value]] = field(default_factory=dict)
    attributes: dict[tuple[ClassRef, str], Value] = field(default_factory=dict)
    others: dict[FunctionRef, Reading] = field(default_factory=dict)
    symbols: dict[tuple[FunctionRef, ir.Expr], str] = field(default_factory=dict)
    building: dict[tuple[ClassRef, Given], bool] = field(default_factory=dict)
    tensors: dict[Node, frozenset[str]] = field(default_factory=dict)
    """The parameters of each function that can hardly be anything but tensors."""
    depth: int = 0

    @cached_property
    def setup(self) -> Setup:
        """The work of other code on modules."""
        return Setup(self.project, self.hot)

    def read(self, node: Node, given: Given, entered: bool = False) -> Reading:
        """The reading of a function for the values of its parameters."""
        known = self.readings[node]
        if given not in known and len(known) >= _MOST_CONTEXTS:
            given = ()
        if given in known:
            return known[given]
        reading = known[given] = Reading(node, given, entered=entered)
        if self.depth < _DEEPEST:
            self.depth += 1
            self._run(reading)
            self.depth -= 1
        return reading

    def enter(self, node: Node, given: Arguments) -> None:
        """Read a function that is compiled itself, with what eager code hands it."""
        self.read(node, tuple(sorted(given.get(node, ()), key=lambda item: item[0])), entered=True)

    def asked(self) -> frozenset[Node]:
        """The functions compiled themselves that hang on the kind of a parameter which nothing tells."""
        return frozenset(
            node
            for node, readings in self.readings.items()
            if any(reading.entered and reading.asked for reading in readings.values())
        )

    def handed(
        self, calls: Iterable[tuple[FunctionRef, ir.Call, Node]]
    ) -> dict[Node, list[tuple[str, Value]]]:
        """The tensors, numbers and texts that calls of compiled functions hand over, by parameter."""
        found: dict[Node, dict[str, list[Value]]] = defaultdict(lambda: defaultdict(list))
        for ref, call, node in calls:
            function = self.project.function(node.function)
            name = terminal_name(call.function) or ""
            passed = self.aside(ref, self.project.owner(ref)).passed.get((call.line, name))
            for key, value in bound(self.project, function, node, *passed) if passed is not None else ():
                found[node][key].append(value)
        return {
            node: [
                (name, _as_handed(value))
                for name, values in by_name.items()
                if (value := joined(values)).kind in {"tensor", "list", "tuple", *_PLAIN}
            ]
            for node, by_name in found.items()
        }

    def of(self, node: Node) -> list[Reading]:
        """The readings of a function, if it was reached."""
        return list(self.readings[node].values()) if node in self.readings else []

    def paths(self, entered: Iterable[Node]) -> dict[int, Path]:
        """How surely each reading, by its identity, is made, from what is compiled itself."""
        found: dict[int, Path] = {}
        pending = [(reading, ALWAYS) for node in entered for reading in self.of(node)]
        while pending:
            reading, path = pending.pop()
            known = found.get(id(reading))
            if known is None or (path.usual and not known.usual):
                found[id(reading)] = path
                pending += [(other, path.after(inner)) for other, inner in reading.followed]
        return found

    def is_documented(self, ref: FunctionRef) -> bool:
        """Whether a reason stands beside what keeps a function out of the graph, or any comment."""
        return is_documented(self.project, self.bodies, ref, "#")

    def aside(self, ref: FunctionRef, receiver: ClassRef | None = None) -> Reading:
        """The reading of a function that is not compiled: a constructor, a driver, a file."""
        if ref not in self.others:
            reading = self.others[ref] = Reading(Node(ref, receiver), ())
            self._run(reading)
        return self.others[ref]

    def builds(self, ref: ClassRef, given: Given) -> bool:
        """Whether the constructor of a module certainly makes parameters."""
        key = ref, given
        if key not in self.building:
            self.building[key] = False  # while it is being looked for
            self.building[key] = self._builds(ref, given)
        return self.building[key]

    def _builds(self, ref: ClassRef, given: Given) -> bool:
        bases = [base.rpartition(".") for base in self.project.external_bases(ref)]
        if any(package.startswith("torch.nn") and name in self.table.built for package, _, name in bases):
            return True
        inits = dict.fromkeys(self.project.method(part, "__init__") for part in self.project.mro(ref))
        for number, init in enumerate(one for one in inits if one is not None):
            reading = Reading(Node(init, ref), () if number else given, building=True)
            self._run(reading)
            if any(spot.row.code == _BUILT and spot.path.usual for spot in reading.spots):
                return True
        return False

    def _run(self, reading: Reading) -> None:
        where = reading.node.function
        body = self.bodies.outline(where.path) if where.key == MODULE_KEY else self.bodies.of(where)
        if body is None:
            return
        if reading.entered and self.bodies.is_generator(where):
            line = self.project.function(where).line
            name = where.key.rpartition(".")[2]
            place = Position(line, 1, line, 1)
            reading.spots.append(Spot(self.table.named["generator"], place, name, False, ALWAYS))
        try:
            self.walk(self, reading, body)
        except RecursionError:
            reading.spots.clear()  # nested too deeply to be sure of anything
            reading.calls.clear()

    def symbol(self, expr: ir.Expr, where: FunctionRef) -> str:
        """The dotted name of what is defined outside the project; empty for anything else."""
        key = where, expr
        if key not in self.symbols:
            found = self.project.symbols(expr, where.path, where.key)
            outside = found[0].dotted if len(found) == 1 and isinstance(found[0], ExternalSymbol) else ""
            self.symbols[key] = outside
        return self.symbols[key]

    def of_file(self, path: str, name: str) -> Value:
        """The value of a global name of a file."""
        if path not in self.files:
            self.files[path] = {}
            self.files[path] = self.aside(FunctionRef(path, MODULE_KEY)).names
        return replace(self.files[path].get(name, UNKNOWN), fresh=False)

    def attribute(self, owner: ClassRef, name: str) -> Value:
        """The value of an attribute of an instance."""
        key = owner, name
        if key not in self.attributes:
            self.attributes[key] = UNKNOWN  # while it is being looked for
            self.attributes[key] = replace(self._attribute(owner, name), fresh=False)
        return self.attributes[key]

    def _attribute(self, owner: ClassRef, name: str) -> Value:
        stores = [
            (where, store)
            for part in self.project.mro(owner)
            for where, store in self.project.own_stores(part).get(name, ())
        ]
        if any(where in self.hot and not is_constructor(where) for where, _ in stores):
            return UNKNOWN
        if not stores:
            return self._registered(owner, name) or self._in_class(owner, name)
        if len(stores) > 1 or not is_constructor(stores[0][0]) or stores[0][1].augmented:
            values = [self.aside(where, owner).stored.get(name, UNKNOWN) for where, _ in stores]
            return replace(joined(values), constant=UNKNOWN.constant, at_times=False, items=None)
        where, store = stores[0]
        match store.value:
            case ir.Attribute(ir.Name() as holder, attribute) if holder.id != self.project.self_name(where):
                configured = self.configured(holder, attribute, Context(where, owner))
                if configured.kind:
                    return configured
        return self.aside(where, owner).stored.get(name, UNKNOWN)

    def _registered(self, owner: ClassRef, name: str) -> Value | None:
        for part in self.project.mro(owner):
            init = self.project.method(part, "__init__")
            if (
                init is not None
                and init not in self.hot
                and name in (stored := self.aside(init, part).stored)
            ):
                return stored[name]
        return None

    def configured(self, holder: ir.Expr, name: str, context: Context) -> Value:
        """The value that the class of a configuration gives a field."""
        found = [*evaluate(self.project, holder, context)]
        classes = [one.ref for one in found if isinstance(one, Instance)]
        known = {repr(value.constant): value for value in (self._in_class(ref, name) for ref in classes)}
        return next(iter(known.values())) if len(known) == 1 and len(classes) == len(found) else UNKNOWN

    def _in_class(self, owner: ClassRef, name: str) -> Value:
        _, given = self.project.member(owner, name)
        match given:
            case [ir.Constant(value)]:
                return literal(value)
        return UNKNOWN


def is_constructor(where: FunctionRef) -> bool:
    """Whether a function runs while an object is made."""
    return where.key.rpartition(".")[2].split("#")[0] in {"__init__", "__post_init__", "__new__"}


def bound(
    project: Project, function: ir.Function, target: Node, values: Iterable[Value], words: Mapping[str, Value]
) -> Given:
    """The values of a function's parameters in a call: those passed, and the literal defaults of others."""
    positional = [one for one in function.parameters if one.kind == "positional"]
    if positional and positional[0].name == project.self_name(target.function):
        positional = positional[1:]
    found = {one.name: value for one, value in zip(positional, values, strict=False)}
    names = {one.name for one in function.parameters if one.kind in {"positional", "keyword"}}
    found |= {name: value for name, value in words.items() if name in names}
    for one in function.parameters:
        if one.name not in found and isinstance(one.default, ir.Constant):
            found[one.name] = literal(one.default.value)
    return tuple(sorted(found.items(), key=lambda item: item[0]))


def is_documented(project: Project, bodies: Bodies, ref: FunctionRef, comment: str) -> bool:
    """Whether a reason stands beside what keeps a function out of the graph, or a comment like `comment`."""
    function = project.function(ref)
    for decorator in function.decorators:
        if isinstance(decorator, ir.Call) and any(name == "reason" for name, _ in decorator.keywords):
            return True
    lines = bodies.read_source(ref.path).splitlines()
    if any(re.search(comment, line) for line in lines[max(function.first_line - 2, 0) : function.line]):
        return True
    match bodies.of(ref):
        case [ast.Expr(ast.Constant(str() as text)), *_]:
            return any(word in text.lower() for word in _REASONS)
    return False


def _as_handed(value: Value) -> Value:
    """An argument as the compiled function sees it: another call may pass another number or text."""
    if value.kind in _PLAIN:
        return replace(value, constant=MISSING)
    return replace(value, argument=value.kind == "tensor")
