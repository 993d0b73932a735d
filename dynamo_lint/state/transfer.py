"""Transfer functions of expressions: what each reads, uses and gives."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index.ir import Attribute, Expr, Name
from dynamo_lint.index.lower import as_fact, literal_of
from dynamo_lint.program.function_bodies import Opened
from dynamo_lint.program.item_path import ANY_ITEM
from dynamo_lint.state import kinds as K
from dynamo_lint.state.abstract_state import (
    BOOL,
    INT,
    STR,
    TENSOR,
    Flow,
    as_text,
    computed,
    ends,
    indices,
    is_namespace,
    join,
    literal_int,
    shallow,
    unstarred,
    via,
)
from dynamo_lint.state.model import (
    CallEvent,
    EnvironmentRead,
    Key,
    Kind,
    Kinds,
    Load,
    Lookup,
    Mutation,
    Origin,
    Place,
    Read,
    Use,
    Value,
    Write,
)
from dynamo_lint.state.places import Linker, place_of

_DEEPEST = 1000
"""Expressions in one another: nobody writes more, and to look at each with all in it takes minutes."""


def arithmetic(ev: Evaluator, first: Value, operator: ast.operator, second: Value) -> Value:
    """`first op second`, also for augmented assignments."""
    division, power = isinstance(operator, ast.Div), isinstance(operator, ast.Pow)
    found = K.of_arithmetic(first.kinds, second.kinds, division, power)
    plain = isinstance(operator, ast.Add | ast.Sub | ast.Mult | ast.Div)
    for value, other in ((first, second), (second, first)):
        # An operand of unknown kind is a tensor, or it decides nothing about this one.
        tensor = not other.kinds or Kind.TENSOR in other.kinds
        use = Use.TENSOR_MATH if plain and tensor else Use.ARITHMETIC if plain or not power else Use.POWER
        ev.consume(value, use)
    bound = None
    if isinstance(operator, ast.Mod) and first.kinds <= K.NUMBERS:
        bound = literal_int(second) or 0
    elif first.bound is not None and second.constants is not None:
        bound = first.bound
    text = found == STR or (isinstance(operator, ast.Mod) and first.kinds == STR)
    found = STR if text else found
    values = [first, second] if not text else [as_text(first), as_text(second)]
    return replace(computed(values, found, bound), settled=not found or Kind.TENSOR in found)


def comparison(ev: Evaluator, node: ast.Compare) -> Value:
    """A chain of comparisons, membership and identity tests included."""
    sides = [node.left, *node.comparators]
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        if ev.environment_read(as_fact(sides[1]), node, "in", sides[0]):
            return Value(BOOL)
        if is_namespace(sides[1]):
            ev.lookup("__dict__", node, sides[1], sides[0])
    identity = all(isinstance(o, ast.Is | ast.IsNot) for o in node.ops)
    none_test = identity and literal_of(sides[-1]) is None
    values = [ev.value(side) for side in sides]
    plain = identity or any(isinstance(o, ast.In | ast.NotIn) for o in node.ops)
    tensor = not plain and any(value.kinds == TENSOR for value in values)
    for value in values:
        ev.consume(value, Use.NONE_TEST if none_test else Use.TENSOR_MATH if tensor else Use.COMPARE)
    return computed(values, TENSOR if tensor else BOOL, None if tensor else 2)


def formatted(ev: Evaluator, node: ast.JoinedStr) -> Value:
    """An f-string."""
    values = [
        as_text(ev.used(part.value, Use.FORMATTED))
        for part in node.values
        if isinstance(part, ast.FormattedValue)
    ]
    return computed(values, STR) if values else Value(STR, origins=frozenset({Origin("literal")}))


@dataclass(slots=True)
class Evaluator:
    """One walk over one function."""

    opened: Opened
    linker: Linker
    call: Callable[[Evaluator, ast.Call], Value]
    """How calls are evaluated; a module of its own."""
    flow: Flow = field(default_factory=Flow)
    reads: list[Read] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    mutations: list[Mutation] = field(default_factory=list)
    calls: list[CallEvent] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    environment: list[EnvironmentRead] = field(default_factory=list)
    consumed: set[tuple[str, Use]] = field(default_factory=set)
    steps: int = 0
    """Expressions evaluated, and entries of the flow copied."""
    _depth: int = 0
    _used: dict[Use, set[Load]] = field(default_factory=dict)
    """The loads that are known to be used so."""

    def place(self, node: ast.expr) -> Place | None:
        """The place an expression names, if it names one."""
        return place_of(node, self.flow.locals)

    # --- consuming --------------------------------------------------------------------------------------

    def consume(self, value: Value, use: Use) -> None:
        """Record that the state behind a value is used."""
        # A value computed from state is a new one: to pass it on asks nothing more of the state.
        plain = value.settled or value.kinds == TENSOR or use in {Use.RETURNED, Use.STORED, Use.NONE_TEST}
        known = self._used.setdefault(use, set())
        new = (value.pending if plain else value.pending | value.derived) - known
        known |= new
        for load in new:
            keys = self.linker.keys(load.place)
            if keys or len(load.place) > 1:
                self.reads.append(Read(load, keys, use))
            handed = len(load.place) == 1 or (len(load.place) == 2 and load.place[1].startswith("["))
            if not keys and use != Use.RETURNED and handed:
                self.consumed.add((load.place[0], use))
        for item in value.items or ():
            self.consume(item, use)

    def used(self, node: ast.expr, use: Use) -> Value:
        """Evaluate and consume."""
        value = self.value(node)
        self.consume(value, use)
        return value

    # --- evaluating -------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """Evaluate an expression; raises RecursionError if it is nested too deeply."""
        self.steps += 1
        self._depth += 1
        if self._depth > _DEEPEST:
            raise RecursionError
        found = self._value(node)
        self._depth -= 1
        return found

    def _value(self, node: ast.expr) -> Value:
        literal = literal_of(node)
        if literal is not ...:
            found = K.of_constant(literal)
            return Value(found, frozenset({repr(literal)}), origins=frozenset({Origin("literal")}))
        match node:
            case ast.Name() | ast.Attribute():
                return self._load(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.BinOp(left=left, op=operator, right=right):
                return arithmetic(self, self.value(left), operator, self.value(right))
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                value = self.used(inner, Use.CONTROL)
                return computed([value], TENSOR if value.kinds == TENSOR else BOOL, bound=2)
            case ast.UnaryOp(operand=inner):
                value = self.used(inner, Use.ARITHMETIC)
                return computed([value], value.kinds, value.bound)
            case ast.Compare():
                return comparison(self, node)
            case ast.BoolOp(values=values):
                return reduce(join, [self.used(one, Use.CONTROL) for one in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.used(test, Use.CONTROL)
                return join(self.value(body), self.value(orelse))
            case ast.Call():
                return self.call(self, node)
            case ast.Tuple(elts=elements):
                items = [self.value(unstarred(one)) for one in elements]
                return replace(
                    computed(items, K.of_tuple([item.kinds for item in items])),
                    items=tuple(map(shallow, items)),
                )
            case ast.JoinedStr():
                return formatted(self, node)
            case ast.NamedExpr(target=ast.Name(id=name), value=inner):
                return self.name(name, self.value(inner))
            case ast.Lambda():
                return Value()
            case ast.Await(value=inner) | ast.Yield(value=ast.expr() as inner):
                return self.value(inner)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case _:
                return self._parts(node)

    def _parts(self, node: ast.expr) -> Value:
        """A display or anything else: everything in it is consumed by being stored."""
        inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        container = isinstance(node, ast.List | ast.Dict | ast.Set)
        values = [self.used(child, Use.STORED) for child in inner]
        return computed(values, frozenset({Kind.CONTAINER}) if container else K.UNKNOWN)

    def _load(self, node: ast.Name | ast.Attribute) -> Value:
        if isinstance(node, ast.Name) and node.id in self.flow.locals:
            return self.flow.locals[node.id]
        place = self.place(node)
        if isinstance(node, ast.Attribute):
            name = node.attr
            if name in {"shape", "ndim", "dtype", "device", "requires_grad", "is_cuda", "T", "mT", "data"}:
                base = self.used(node.value, Use.RECEIVER)
                known = {"shape": Kind.TUPLE, "ndim": Kind.INT, "T": Kind.TENSOR, "mT": Kind.TENSOR}
                found = base.kinds if name == "data" else frozenset({known.get(name, Kind.OBJECT)})
                asked = name if name in {"device", "dtype"} else ""
                return Value(found, origins=frozenset({Origin("shape", asked)}))
        if place is None:
            if isinstance(node, ast.Attribute):
                inner = self.used(node.value, Use.RECEIVER)
                return Value(origins=via(inner.origins, "computed"))
            return Value()
        if isinstance(node, ast.Attribute) and self.place(node.value) is None:
            self.used(node.value, Use.RECEIVER)
        return self.load_place(place, node)

    def load_place(self, place: Place, node: ast.expr) -> Value:
        """Return the value of a place; state from before the call becomes pending."""
        stored = self.flow.stored.get(place)
        if stored is not None:
            return replace(stored, place=place)
        if len(place) == 1 and not self.linker.keys(place):
            return Value(origins=frozenset({Origin("global", place[0])}), place=place)
        member = self.linker.enum_member(place)
        if member is not None:
            literal = frozenset({Origin("literal")})
            return Value(frozenset({Kind.ENUM}), frozenset({member}), origins=literal, place=place)
        found = self.linker.kinds(place)
        keys = self.linker.keys(place)
        if any(self.linker.is_property(key) for key in keys):
            found = self._property(place, keys, "", ())
        elif not found:
            # Created further up on some path, as in `if not hasattr(self, "n"): self.n = 0`.
            earlier = [known[place].kinds for known in self.flow.conditional.values() if place in known]
            found = earlier[0] if earlier else K.UNKNOWN
        origins = frozenset({Origin("state", ".".join(place))})
        if self.flow.written and self.linker.keys(place) & self.flow.written:
            return Value(found, origins=origins, place=place)
        load = Load(place, self.opened.position(node))
        constants = self.linker.constants(place)
        return Value(found, constants, frozenset({load}), origins=origins, place=place)

    def _subscript(self, node: ast.Subscript) -> Value:
        base, keys = self.value(node.value), indices(node)
        python = bool(base.kinds) and base.kinds <= {Kind.CONTAINER, Kind.TUPLE}
        use = Use.KEY if python else Use.INDEX
        chosen = [
            self.used(end, Use.INDEX if isinstance(key, ast.Slice) else use)
            for key in keys
            for end in ends(key)
        ]
        whole = any(isinstance(key, ast.Slice) for key in keys)
        if self.environment_read(as_fact(node.value), node, "item", keys[0]):
            return Value(STR, origins=frozenset({Origin("host")}))
        if is_namespace(node.value) and not whole:
            self.lookup("__dict__", node, node.value, keys[0])
        place = self.place(node)
        if place is not None and is_namespace(node.value):
            return self.load_place(place, node)
        if base.kinds == TENSOR:
            self.consume(base, Use.ARGUMENT)
            return replace(computed([base], TENSOR), settled=True)
        if Origin("shape") in base.origins and not base.place:
            return Value(base.kinds if whole else INT, origins=frozenset({Origin("shape")}))
        if base.items is not None and len(chosen) == 1 and not whole:
            number = literal_int(chosen[0])
            if number is not None and number < len(base.items):
                return base.items[number]
        origins = frozenset[Origin]().union(*(via(one.origins, "index") for one in chosen))
        rooted = place is not None and (
            len(place) > 2 or bool(self.linker.keys(place[:1])) or self._of_parameter(place)
        )
        if place is not None and rooted and base.kinds <= {Kind.CONTAINER, Kind.OBJECT}:
            loaded = self.load_place(place, node)
            return replace(loaded, origins=loaded.origins | origins)
        self.consume(base, Use.INDEX)
        value = computed([replace(base, origins=base.origins | origins)], K.UNKNOWN)
        if isinstance(node.slice, ast.Slice) and base.kinds == {Kind.CONTAINER}:
            return replace(value, kinds=base.kinds, bound=_window(node.slice))
        kinds = INT if base.kinds == {Kind.TUPLE} else STR if base.kinds == STR else K.UNKNOWN
        return replace(value, kinds=kinds)

    def _of_parameter(self, place: Place) -> bool:
        """`sizes[0]` or `batch["length"]` of a parameter that is no tensor."""
        held = self.flow.locals.get(place[0], Value())
        return place[-1] != ANY_ITEM and held.place == place[:1] and not held.kinds

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        outer, self.flow = self.flow, self.flow.fork()
        for part in node.generators:
            self.bind(part.target, self.element(part.iter))
            for condition in part.ifs:
                self.used(condition, Use.CONTROL)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        values = [self.used(inner, Use.STORED) for inner in parts]
        self.flow = outer
        return computed(values, frozenset({Kind.CONTAINER}))

    def element(self, iterable: ast.expr) -> Value:
        """Return the value that a loop variable is bound to."""
        match iterable:
            case ast.Call(ast.Name("range"), args, []):
                values = [self.used(unstarred(argument), Use.ITERATED) for argument in args]
                # A loop unrolls: its variable is a constant, whatever the length depends on.
                return Value(INT, origins=frozenset().union(*(via(v.origins, "element") for v in values)))
            case ast.Call(ast.Name("enumerate"), [inner, *_]):
                item = self.element(inner)
                return Value(items=(Value(INT, origins=frozenset({Origin("literal")})), item))
            case ast.Call(ast.Name("zip"), args):
                return Value(items=tuple(self.element(unstarred(argument)) for argument in args))
        self.whole_environment(iterable, iterable)
        place = self.place(iterable)
        value = self.used(iterable, Use.ITERATED)
        if value.items:
            joined = value.items[0]
            for item in value.items[1:]:
                joined = join(joined, item)
            return joined
        if place is None:
            return Value(origins=via(value.origins, "computed"))
        each = (*place, ANY_ITEM)
        return Value(self.linker.kinds(each), origins=value.origins, place=each)

    def name(self, name: str, value: Value) -> Value:
        """Bind a local name to a value."""
        self.flow.locals[name] = value
        if self.linker.guards_names:
            self.consume(replace(value, derived=frozenset(), items=None), Use.NAMED)
        return value

    def bind(self, target: ast.expr, value: Value) -> None:
        """Give local names their values; stores to places are the statements' business."""
        match target:
            case ast.Name(id=name):
                self.name(name, value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                items = value.items if value.items and len(value.items) == len(elements) else None
                # `h, w = size`: what is done with the elements is done with it.
                scalars = value.kinds == {Kind.TUPLE}
                plain = value.place is not None and (len(value.place) == 1 or scalars)
                loads = value.pending if plain else frozenset()
                for number, one in enumerate(elements):
                    shape = Origin("shape") in value.origins and items is None
                    origins = via(value.origins, "element")
                    other = Value(INT if shape or scalars else K.UNKNOWN, derived=loads, origins=origins)
                    self.bind(unstarred(one), items[number] if items else other)

    # --- calls, lookups, environment --------------------------------------------------------------------

    def environment_read(self, owner: Expr, node: ast.expr, form: str, key: ast.expr | None) -> bool:
        """Record a read of the environment, if `owner` is `os.environ`."""
        match owner:
            case Name() | Attribute():
                pass
            case _:
                return False
        if not self.linker.function.environment or self.linker.external(owner) != "os.environ":
            return False
        self.add_environment(node, form, key)
        return True

    def whole_environment(self, owner: ast.expr, node: ast.expr) -> None:
        """Record that all of the environment is read, if `owner` is `os.environ`."""
        if self.linker.function.environment:
            self.environment_read(as_fact(owner), node, "all", None)

    def add_environment(self, node: ast.expr, form: str, key: ast.expr | None) -> None:
        """Record a read of the environment."""
        text = self.opened.text(key) if key is not None and not isinstance(key, ast.Slice) else ""
        self.environment.append(EnvironmentRead(self.opened.position(node), form, text))

    def store(self, place: Place, value: Value, node: ast.expr | ast.stmt, registers: bool = False) -> None:
        """`place = value`."""
        self.consume(value, Use.STORED)
        keys = self.linker.keys(place)
        if len(place) < 2 and not keys:
            return
        if any(self.linker.is_property(key) for key in keys):
            self._property(place, keys, "@setter", (value,))
            return
        self.flow.stored[place] = value
        position = self.opened.position(node)
        self.writes.append(Write(place, keys, position, value, self.flow.guards, registers))
        if len(keys) == 1:
            self.flow.written |= keys

    def mutate(self, place: Place, how: str, node: ast.expr, index: Value | None = None) -> None:
        """Change the length or the keys of the container at a place."""
        stored = self.flow.stored.get(place)
        if stored is not None and not stored.pending:
            return  # built in this call
        keys = self.linker.keys(place)
        if keys:
            position = self.opened.position(node)
            self.mutations.append(Mutation(place, keys, position, how, index, self.flow.guards))

    def _property(self, place: Place, keys: frozenset[Key], role: str, given: tuple[Value, ...]) -> Kinds:
        """Run the getters or setters behind a place; the kinds of what they return."""
        owner = self.flow.locals.get(place[0], Value()) if len(place) == 2 else Value()
        returned = []
        for callee, names in self.linker.accessors(keys, role):
            arguments = tuple(zip(names, (owner, *given), strict=False))
            self.calls.append(CallEvent(callee, arguments, self.flow.written, self.flow.guards))
            state = self.linker.state_of(callee, frozenset())
            returned.append(state.returns if state is not None else K.UNKNOWN)
            if state is not None and len(keys) == 1:
                self.flow.written |= state.leaves_written
        return frozenset[Kind]().union(*returned) if all(returned) else K.UNKNOWN

    def lookup(
        self,
        function: str,
        node: ast.expr,
        owner: ast.expr,
        name: ast.expr,
        default: bool = False,
    ) -> None:
        """Record getattr and its kin."""
        value = self.used(name, Use.ARGUMENT)
        base = self.place(owner)
        literal = literal_of(name)
        known = isinstance(literal, str) and base is not None
        keys = self.linker.keys((*base, literal)) if known and base is not None else frozenset()  # type: ignore[arg-type]
        self.lookups.append(
            Lookup(
                function,
                self.opened.position(node),
                self.opened.text(node),
                self.opened.text(owner),
                base,
                keys,
                value,
                default,
            )
        )


def _window(part: ast.Slice) -> int:
    """How many items `[-3:]` or `[:3]` leaves at most; 0 if no literal says."""
    for end in (part.lower, part.upper):
        number = literal_of(end) if end is not None else ...
        if isinstance(number, int):
            return abs(number)
    return 0
