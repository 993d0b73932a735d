"""Transfer functions of expressions: what each reads, uses and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import libcst as cst

from dynamo_lint.index.ir import Attribute, Expr, Name
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
    expressions,
    is_namespace,
    join,
    literal_int,
    shallow,
    via,
)
from dynamo_lint.state.convert import literal_of, to_expr
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
from dynamo_lint.state.source import Opened


def arithmetic(ev: Evaluator, first: Value, operator: cst.CSTNode, second: Value) -> Value:
    """`first op second`, also for augmented assignments."""
    division = isinstance(operator, cst.Divide | cst.DivideAssign)
    power = isinstance(operator, cst.Power | cst.PowerAssign)
    found = K.of_arithmetic(first.kinds, second.kinds, division, power)
    plain = division or isinstance(
        operator,
        cst.Add | cst.Subtract | cst.Multiply | cst.AddAssign | cst.SubtractAssign | cst.MultiplyAssign,
    )
    for value, other in ((first, second), (second, first)):
        # An operand of unknown kind is a tensor, or it decides nothing about this one.
        tensor = not other.kinds or Kind.TENSOR in other.kinds
        use = Use.TENSOR_MATH if plain and tensor else Use.ARITHMETIC if plain or not power else Use.POWER
        ev.consume(value, use)
    bound = None
    if isinstance(operator, cst.Modulo | cst.ModuloAssign) and first.kinds <= K.NUMBERS:
        bound = literal_int(second) or 0
    elif first.bound is not None and second.constants is not None:
        bound = first.bound
    text = found == STR or (isinstance(operator, cst.Modulo) and first.kinds == STR)
    found = STR if text else found
    values = [first, second] if not text else [as_text(first), as_text(second)]
    return replace(computed(values, found, bound), settled=not found or Kind.TENSOR in found)


def comparison(ev: Evaluator, node: cst.Comparison) -> Value:
    """A chain of comparisons, membership and identity tests included."""
    operators = [target.operator for target in node.comparisons]
    sides = [node.left, *(target.comparator for target in node.comparisons)]
    if isinstance(operators[0], cst.In | cst.NotIn):
        if ev.environment_read(to_expr(sides[1]), node, "in", cst.Index(value=sides[0])):
            return Value(BOOL)
        if is_namespace(sides[1]):
            ev.namespace_lookup(node, sides[1], cst.Index(value=sides[0]))
    identity = all(isinstance(o, cst.Is | cst.IsNot) for o in operators)
    none_test = identity and isinstance(sides[-1], cst.Name) and sides[-1].value == "None"
    values = [ev.value(side) for side in sides]
    plain = identity or any(isinstance(o, cst.In | cst.NotIn) for o in operators)
    tensor = not plain and any(value.kinds == TENSOR for value in values)
    for value in values:
        ev.consume(value, Use.NONE_TEST if none_test else Use.TENSOR_MATH if tensor else Use.COMPARE)
    return computed(values, TENSOR if tensor else BOOL, None if tensor else 2)


def formatted(ev: Evaluator, parts: list[cst.BaseFormattedStringContent]) -> Value:
    """An f-string."""
    values = [
        as_text(ev.used(part.expression, Use.FORMATTED))
        for part in parts
        if isinstance(part, cst.FormattedStringExpression)
    ]
    return computed(values, STR) if values else Value(STR, origins=frozenset({Origin("literal")}))


@dataclass(slots=True)
class Evaluator:
    """One walk over one function."""

    opened: Opened
    linker: Linker
    call: Callable[[Evaluator, cst.Call], Value]
    """How calls are evaluated; a module of its own."""
    flow: Flow = field(default_factory=Flow)
    reads: list[Read] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    mutations: list[Mutation] = field(default_factory=list)
    calls: list[CallEvent] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    environment: list[EnvironmentRead] = field(default_factory=list)
    consumed: set[tuple[str, Use]] = field(default_factory=set)

    def place(self, node: cst.BaseExpression) -> Place | None:
        """The place an expression names, if it names one."""
        return place_of(node, self.flow.locals)

    # --- consuming --------------------------------------------------------------------------------------

    def consume(self, value: Value, use: Use) -> None:
        """Record that the state behind a value is used."""
        # A value computed from state is a new one: to pass it on asks nothing more of the state.
        plain = value.settled or value.kinds == TENSOR or use in {Use.RETURNED, Use.STORED, Use.NONE_TEST}
        for load in value.pending if plain else value.pending | value.derived:
            keys = self.linker.keys(load.place)
            if keys or len(load.place) > 1:
                self.reads.append(Read(load, keys, use))
            handed = len(load.place) == 1 or (len(load.place) == 2 and load.place[1].startswith("["))
            if not keys and use != Use.RETURNED and handed:
                self.consumed.add((load.place[0], use))
        for item in value.items or ():
            self.consume(item, use)

    def used(self, node: cst.BaseExpression, use: Use) -> Value:
        """Evaluate and consume."""
        value = self.value(node)
        self.consume(value, use)
        return value

    # --- evaluating -------------------------------------------------------------------------------------

    def value(self, node: cst.BaseExpression) -> Value:
        """Evaluate an expression."""
        literal = literal_of(node)
        if literal is not ...:
            found = K.of_constant(literal)
            return Value(found, frozenset({repr(literal)}), origins=frozenset({Origin("literal")}))
        match node:
            case cst.Name() | cst.Attribute():
                return self._load(node)
            case cst.Subscript():
                return self._subscript(node)
            case cst.BinaryOperation():
                return arithmetic(self, self.value(node.left), node.operator, self.value(node.right))
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                value = self.used(inner, Use.CONTROL)
                return computed([value], TENSOR if value.kinds == TENSOR else BOOL, bound=2)
            case cst.UnaryOperation(expression=inner):
                value = self.used(inner, Use.ARITHMETIC)
                return computed([value], value.kinds, value.bound)
            case cst.Comparison():
                return comparison(self, node)
            case cst.BooleanOperation(left=left, right=right):
                return join(self.used(left, Use.CONTROL), self.used(right, Use.CONTROL))
            case cst.IfExp(test=test, body=body, orelse=orelse):
                self.used(test, Use.CONTROL)
                return join(self.value(body), self.value(orelse))
            case cst.Call():
                return self.call(self, node)
            case cst.Tuple(elements=elements):
                items = [self.value(element.value) for element in elements]
                return replace(
                    computed(items, K.of_tuple([item.kinds for item in items])),
                    items=tuple(map(shallow, items)),
                )
            case cst.FormattedString(parts=parts):
                return formatted(self, list(parts))
            case cst.ConcatenatedString(left=left, right=right):
                return computed([self.value(left), self.value(right)], STR)
            case cst.NamedExpr(target=cst.Name(value=name), value=inner):
                return self.name(name, self.value(inner))
            case cst.Lambda():
                return Value()
            case cst.Await(expression=inner) | cst.Yield(value=cst.BaseExpression() as inner):
                return self.value(inner)
            case cst.ListComp() | cst.SetComp() | cst.GeneratorExp() | cst.DictComp():
                return self._comprehension(node)
            case _:
                return self._parts(node)

    def _parts(self, node: cst.CSTNode) -> Value:
        """A display or anything else: everything in it is consumed by being stored."""
        values = [self.used(child, Use.STORED) for child in expressions(node)]
        container = isinstance(node, cst.List | cst.Dict | cst.Set)
        return computed(values, frozenset({Kind.CONTAINER}) if container else K.UNKNOWN)

    def _load(self, node: cst.Name | cst.Attribute) -> Value:
        if isinstance(node, cst.Name) and node.value in self.flow.locals:
            return self.flow.locals[node.value]
        place = self.place(node)
        if isinstance(node, cst.Attribute):
            name = node.attr.value
            if name in {"shape", "ndim", "dtype", "device", "requires_grad", "is_cuda", "T", "mT", "data"}:
                base = self.used(node.value, Use.RECEIVER)
                known = {"shape": Kind.TUPLE, "ndim": Kind.INT, "T": Kind.TENSOR, "mT": Kind.TENSOR}
                found = base.kinds if name == "data" else frozenset({known.get(name, Kind.OBJECT)})
                asked = name if name in {"device", "dtype"} else ""
                return Value(found, origins=frozenset({Origin("shape", asked)}))
        if place is None:
            if isinstance(node, cst.Attribute):
                inner = self.used(node.value, Use.RECEIVER)
                return Value(origins=via(inner.origins, "computed"))
            return Value()
        if isinstance(node, cst.Attribute) and self.place(node.value) is None:
            self.used(node.value, Use.RECEIVER)
        return self.load_place(place, node)

    def load_place(self, place: Place, node: cst.CSTNode) -> Value:
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

    def _subscript(self, node: cst.Subscript) -> Value:
        base = self.value(node.value)
        python = bool(base.kinds) and base.kinds <= {Kind.CONTAINER, Kind.TUPLE}
        indices = []
        for element in node.slice:
            match element.slice:
                case cst.Index(value=index):
                    indices.append(self.used(index, Use.KEY if python else Use.INDEX))
                case cst.Slice() as part:
                    indices += [self.used(child, Use.INDEX) for child in expressions(part)]
        if self.environment_read(to_expr(node.value), node, "item", node.slice[0].slice):
            return Value(STR, origins=frozenset({Origin("host")}))
        if is_namespace(node.value):
            self.namespace_lookup(node, node.value, node.slice[0].slice)
        place = self.place(node)
        if place is not None and is_namespace(node.value):
            return self.load_place(place, node)
        if base.kinds == TENSOR:
            self.consume(base, Use.ARGUMENT)
            return replace(computed([base], TENSOR), settled=True)
        if Origin("shape") in base.origins and not base.place:
            whole = any(isinstance(e.slice, cst.Slice) for e in node.slice)
            return Value(base.kinds if whole else INT, origins=frozenset({Origin("shape")}))
        if base.items is not None and len(indices) == 1 and indices[0].constants is not None:
            number = literal_int(indices[0])
            if number is not None and number < len(base.items):
                return base.items[number]
        chosen = frozenset[Origin]().union(*(via(i.origins, "element") for i in indices))
        rooted = place is not None and (
            len(place) > 2 or bool(self.linker.keys(place[:1])) or self._of_parameter(place)
        )
        if place is not None and rooted and base.kinds <= {Kind.CONTAINER, Kind.OBJECT}:
            loaded = self.load_place(place, node)
            return replace(loaded, origins=loaded.origins | chosen)
        self.consume(base, Use.INDEX)
        value = computed([replace(base, origins=base.origins | chosen)], K.UNKNOWN)
        match node.slice:
            case [cst.SubscriptElement(slice=cst.Slice() as part)] if base.kinds == {Kind.CONTAINER}:
                return replace(value, kinds=base.kinds, bound=_window(part))
        kinds = INT if base.kinds == {Kind.TUPLE} else STR if base.kinds == STR else K.UNKNOWN
        return replace(value, kinds=kinds)

    def _of_parameter(self, place: Place) -> bool:
        """`sizes[0]` or `batch["length"]` of a parameter that is no tensor."""
        held = self.flow.locals.get(place[0], Value())
        return place[-1] != ANY_ITEM and held.place == place[:1] and not held.kinds

    def _comprehension(self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp) -> Value:
        outer, self.flow = self.flow, self.flow.fork()
        part: cst.CompFor | None = node.for_in
        while part is not None:
            self.bind(part.target, self.element(part.iter))
            for condition in part.ifs:
                self.used(condition.test, Use.CONTROL)
            part = part.inner_for_in
        parts = [node.key, node.value] if isinstance(node, cst.DictComp) else [node.elt]
        values = [self.used(inner, Use.STORED) for inner in parts]
        self.flow = outer
        return computed(values, frozenset({Kind.CONTAINER}))

    def element(self, iterable: cst.BaseExpression) -> Value:
        """Return the value that a loop variable is bound to."""
        match iterable:
            case cst.Call(func=cst.Name(value="range"), args=args):
                values = [self.used(arg.value, Use.ITERATED) for arg in args]
                # A loop unrolls: its variable is a constant, whatever the length depends on.
                return Value(INT, origins=frozenset().union(*(via(v.origins, "element") for v in values)))
            case cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=inner), *_]):
                item = self.element(inner)
                return Value(items=(Value(INT, origins=frozenset({Origin("literal")})), item))
            case cst.Call(func=cst.Name(value="zip"), args=args):
                return Value(items=tuple(self.element(arg.value) for arg in args))
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

    def bind(self, target: cst.BaseExpression, value: Value) -> None:
        """Give local names their values; stores to places are the statements' business."""
        match target:
            case cst.Name(value=name):
                self.name(name, value)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                items = value.items if value.items and len(value.items) == len(elements) else None
                # `h, w = size`: what is done with the elements is done with it.
                scalars = value.kinds == {Kind.TUPLE}
                plain = value.place is not None and (len(value.place) == 1 or scalars)
                loads = value.pending if plain else frozenset()
                for number, element in enumerate(elements):
                    shape = Origin("shape") in value.origins and items is None
                    origins = via(value.origins, "element")
                    other = Value(INT if shape or scalars else K.UNKNOWN, derived=loads, origins=origins)
                    self.bind(element.value, items[number] if items else other)

    # --- calls, lookups, environment --------------------------------------------------------------------

    def environment_read(
        self, owner: Expr, node: cst.BaseExpression, form: str, key: cst.BaseSlice | None
    ) -> bool:
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

    def whole_environment(self, owner: cst.BaseExpression, node: cst.BaseExpression) -> None:
        """Record that all of the environment is read, if `owner` is `os.environ`."""
        if self.linker.function.environment:
            self.environment_read(to_expr(owner), node, "all", None)

    def add_environment(self, node: cst.BaseExpression, form: str, key: cst.BaseSlice | None) -> None:
        """Record a read of the environment."""
        text = self.opened.text(key.value) if isinstance(key, cst.Index) else ""
        self.environment.append(EnvironmentRead(self.opened.position(node), form, text))

    def store(self, place: Place, value: Value, node: cst.CSTNode, registers: bool = False) -> None:
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

    def mutate(self, place: Place, how: str, node: cst.CSTNode, index: Value | None = None) -> None:
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

    def namespace_lookup(
        self, node: cst.BaseExpression, namespace: cst.BaseExpression, key: cst.BaseSlice
    ) -> None:
        """Record a look into `__dict__` or `vars()`."""
        if isinstance(key, cst.Index):
            self.lookup("__dict__", node, namespace, key.value)

    def lookup(
        self,
        function: str,
        node: cst.BaseExpression,
        owner: cst.BaseExpression,
        name: cst.BaseExpression,
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


def _window(part: cst.Slice) -> int:
    """How many items `[-3:]` or `[:3]` leaves at most; 0 if no literal says."""
    for end in (part.lower, part.upper):
        number = literal_of(end) if end is not None else ...
        if isinstance(number, int):
            return abs(number)
    return 0
