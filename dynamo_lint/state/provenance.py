"""The provenance of parameters and objects of compiled functions, call by call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.instances.model import Units
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef, Node
from dynamo_lint.regions.model import CallEdge, CompiledFunction, Regions
from dynamo_lint.regions.policy import Policies
from dynamo_lint.state import kinds as K
from dynamo_lint.state.arguments import Passed
from dynamo_lint.state.free_variables import Names
from dynamo_lint.state.frequency import Drivers
from dynamo_lint.state.initial import Initial
from dynamo_lint.state.model import AttributeState, FunctionState, Key, Kind, Kinds, Origin, Place, Value
from dynamo_lint.state.operators import Fakeless
from dynamo_lint.state.practice import Practice, practice_of

_MAX_DEPTH = 12
"""Calls that are followed upwards; what a function is asked at one depth is worked out once."""
_KEEP = frozenset({"text", "str", "element", "index"})
_HOLDERS = frozenset({"argument", "bound", "choice", "fresh"})
_OUTLIVING = ("state", "bound", "argument", "choice")
"""What keeps the object that a parameter holds; where there are two ways, the first decides."""


@dataclass(slots=True)
class Origins:
    """Answers for all hot functions."""

    project: Project
    states: dict[CompiledFunction, FunctionState]
    names: Names
    calls: Mapping[Node, tuple[CallEdge, ...]]
    passed: dict[tuple[FunctionRef, ClassRef | None, str], list[tuple[CompiledFunction, Value]]] = field(
        init=False
    )
    known: dict[tuple[CompiledFunction, str, int], frozenset[Origin]] = field(default_factory=dict)
    held: dict[tuple[CompiledFunction, str, int], frozenset[str]] = field(default_factory=dict)
    given: dict[tuple[CompiledFunction, str, int], Kinds] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.passed = defaultdict(list)
        for caller, state in self.states.items():
            for event in state.calls:
                for name, value in event.arguments:
                    self.passed[event.callee.function, event.callee.receiver, name].append((caller, value))

    def parameter(self, hot: CompiledFunction, name: str, depth: int = 0) -> frozenset[Origin]:
        """Return the origins of a parameter of a hot function: an `argument` of compiled code, or better."""
        for already in (hot, name, 0), (hot, name, depth):
            if already in self.known:
                return self.known[already]
        if depth > _MAX_DEPTH:
            return frozenset({Origin("unknown")})
        found: set[Origin] = set()
        if hot.compiled and self._may_be_given(hot, name):
            found.add(Origin("argument", self._kind(hot, name)))
        for caller, value in self.passed.get((hot.function, hot.receiver, name), ()):
            if caller != hot:
                found |= self.value(caller, value, depth + 1)
        if not found:
            parameters = self.project.function(hot.function).parameters
            default = next((p.default for p in parameters if p.name == name), None)
            found.add(Origin("unknown" if default is None else "literal"))
        return self.known.setdefault((hot, name, depth), frozenset(found))

    def _may_be_given(self, hot: CompiledFunction, name: str) -> bool:
        """A parameter of the compiled function varies, unless no visible call overrides its default."""
        function = self.project.function(hot.function)
        position = next((i for i, p in enumerate(function.parameters) if p.name == name), None)
        if position is None or not isinstance(function.parameters[position].default, ir.Constant):
            return True
        if name in self.project.named("keyword names"):
            return True
        # `model(x, k)` does not say which class it calls; a function is called by its name.
        return function.owner is None and any(
            len(site.call.arguments) > position for _, site in self.project.calls_of(function.qualname)
        )

    def _kind(self, hot: CompiledFunction, name: str) -> str:
        """`int`, `str` or nothing, by annotation or default."""
        for parameter in self.project.function(hot.function).parameters:
            if parameter.name != name:
                continue
            kinds = K.of_annotation(parameter.annotation) if parameter.annotation is not None else K.UNKNOWN
            if not kinds and isinstance(parameter.default, ir.Constant):
                kinds = K.of_constant(parameter.default.value)
            return "int" if Kind.INT in kinds else "str" if Kind.STR in kinds else ""
        return ""

    def kinds(self, hot: CompiledFunction, value: Value, depth: int = 0) -> Kinds:
        """The kinds of a value; a parameter handed on has those of what the callers pass."""
        if value.kinds or depth > _MAX_DEPTH or value.derived or len(value.pending) != 1:
            return value.kinds
        (load,) = value.pending
        if hot.compiled or len(load.place) != 1:
            return value.kinds
        asked = (hot, load.place[0], depth)
        if asked not in self.given:
            self.given[asked] = self._given(*asked)
        return self.given[asked]

    def _given(self, hot: CompiledFunction, name: str, depth: int) -> Kinds:
        """The kinds of what the callers pass for a parameter, if that is known of all of them."""
        found: Kinds = frozenset()
        for caller, value in self.passed.get((hot.function, hot.receiver, name), ()):
            kinds = self.kinds(caller, value, depth + 1)
            if not kinds:
                return K.UNKNOWN
            found |= kinds
        return found

    def value(self, hot: CompiledFunction, value: Value, depth: int = 0) -> frozenset[Origin]:
        """The origins of a value, with parameters replaced by what callers pass for them."""
        found: set[Origin] = set()
        for origin in value.origins:
            if origin.source != "param":
                found.add(origin)
                continue
            for deeper in self.parameter(hot, origin.name, depth):
                found.add(replace(deeper, via=deeper.via if deeper.via in _KEEP else origin.via))
        return frozenset(found)

    def root(self, hot: CompiledFunction, place: Place, key: Key) -> str:
        """How an object at a place outlives the call: one of `ROOTS` in state/tables.py, or `unknown`.

        `choice` is an argument that may be of several classes, of which the caller chooses one.
        """
        root = place[0]
        if self.names.is_scope(key.owner):
            if key.owner.key == MODULE_KEY:
                return "global"
            home = FunctionRef(key.owner.path, key.owner.key)
            function = self.project.function(home)
            name = key.attribute.partition(".")[0].partition("[")[0]
            cells = {b.name for b in function.bindings} | {p.name for p in function.parameters}
            if name not in cells:
                return "global"  # an attribute of the function itself
            return "unknown" if any(other.function == home for other in self.states) else "closure"
        if self.project.is_module(key.owner):
            # Modules are not made in forward, and Dynamo treats all of them alike.
            return "global" if self._is_global(hot, root, key) else "state"
        parameters = {p.name for p in self.project.function(hot.function).parameters}
        if root not in parameters:
            bound = any(b.name == root for b in self.project.function(hot.function).bindings)
            return "unknown" if bound else self._outer(hot, root)
        sources = self._holders(hot, root)
        return next((source for source in _OUTLIVING if source in sources), "unknown")

    def _holders(self, hot: CompiledFunction, name: str, depth: int = 0) -> frozenset[str]:
        """Where the object that a parameter holds is kept: what an argument holds is as good as passed in."""
        for already in (hot, name, 0), (hot, name, depth):
            if already in self.held:
                return self.held[already]
        found: set[str] = set()
        if name == self.project.self_name(hot.function) and (hot.compiled or self._is_module(hot.receiver)):
            found.add("state" if self._is_module(hot.receiver) else "bound")
        elif hot.compiled and self._may_be_given(hot, name):
            found.add("argument")
        if depth < _MAX_DEPTH:
            for caller, value in self.passed.get((hot.function, hot.receiver, name), ()):
                if caller == hot:
                    continue
                held = {
                    source
                    for one in value.origins
                    if one.via != "index"
                    for source in self._of_origin(caller, one, depth + 1)
                }
                if "argument" in held and self._chooses(caller, hot):
                    held = held - {"argument"} | {"choice"}
                found |= held
        return self.held.setdefault((hot, name, depth), frozenset(found))

    def _of_origin(self, caller: CompiledFunction, origin: Origin, depth: int) -> frozenset[str]:
        if origin.source == "param":
            return self._holders(caller, origin.name, depth)
        if origin.source != "state":
            return frozenset({origin.source})
        root = origin.name.partition(".")[0].partition("[")[0]
        function = self.project.function(caller.function)
        if not any(parameter.name == root for parameter in function.parameters):
            local = any(binding.name == root for binding in function.bindings)
            return frozenset({"unknown" if local else "state"})
        # What an object holds goes with it, also where compiled code has just made it, or nothing is known.
        sources = self._holders(caller, root, depth)
        return frozenset({"state"}) if "state" in sources else sources & _HOLDERS or frozenset({"unknown"})

    def _chooses(self, caller: CompiledFunction, called: CompiledFunction) -> bool:
        """Whether a call runs a method of one of several classes, each with a method of its own."""
        calls = self.calls.get(Node(caller.function, caller.receiver), ())
        mine = [one.choices for one in calls if one.target == Node(called.function, called.receiver)]
        return bool(mine) and min(mine) > 1

    def _is_module(self, receiver: ClassRef | None) -> bool:
        return receiver is not None and self.project.is_module(receiver)

    def _outer(self, hot: CompiledFunction, root: str) -> str:
        """An object that a function finds outside itself: in its module, or in the function around it."""
        outer = self.project.function(hot.function).outer or MODULE_KEY
        while outer != MODULE_KEY:
            around = self.project.files[hot.function.path].functions[outer]
            if any(b.name == root for b in around.bindings) or any(p.name == root for p in around.parameters):
                here = FunctionRef(hot.function.path, outer)
                return "unknown" if any(other.function == here for other in self.states) else "closure"
            outer = around.outer or MODULE_KEY
        return "global"

    def _is_global(self, hot: CompiledFunction, root: str, key: Key) -> bool:
        function = self.project.function(hot.function)
        if any(p.name == root for p in function.parameters) or any(b.name == root for b in function.bindings):
            return False
        if root == self.project.self_name(hot.function):
            return False
        symbols = self.project.symbols(ir.Name(root), hot.function.path, hot.function.key)
        return key.owner not in symbols and not any(
            isinstance(s, ClassRef) and s in self.project.mro(key.owner) for s in symbols
        )


@dataclass(frozen=True, slots=True)
class Tables:
    """The input of the rules."""

    project: Project
    regions: Regions
    attributes: tuple[AttributeState, ...]
    """Attributes that hot code writes, of objects that belong to what is compiled or are passed in."""
    globals: tuple[AttributeState, ...]
    """Globals, closure cells and attributes of global objects that hot code writes."""
    functions: tuple[tuple[CompiledFunction, FunctionState], ...]
    initial: Initial
    origins: Origins
    units: Units
    """The differences between the instances of regional units."""
    bodies: Bodies
    """Statements of any function, for the few rules that ask about code outside regions."""
    passed: tuple[Passed, ...]
    """Parameters of compiled functions that change from call to call."""
    policies: Policies
    drivers: Drivers
    """How often lines of code outside regions run, compared with compiled code."""
    skipped: tuple[tuple[FunctionRef, str], ...] = ()
    """Hot functions that were not looked into, and why."""
    chosen: frozenset[Key] = frozenset()
    """Attributes of one of several classes, of which the caller of the compiled code chooses one."""
    fakeless: tuple[Fakeless, ...] = ()
    """Calls of custom operators without a fake in compiled code."""
    torch_version: tuple[int, int] = (2, 13)

    @property
    def practice(self) -> Practice:
        """How the project goes about compiling."""
        return practice_of(self.project)

    def static(self, hot: CompiledFunction) -> bool:
        """Whether every number is a constant in a hot function, however often it changes."""
        return self.policies.of(hot).static
