"""Abstract interpretation of one hot function: walks its statements, and summarises its effects on state."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from dynamo_lint.index.conditions import truth_when_compiling
from dynamo_lint.index.lower import as_fact, literal_of
from dynamo_lint.models.tensor_results import tensor_parameters
from dynamo_lint.program.function_bodies import Opened
from dynamo_lint.state import kinds as K
from dynamo_lint.state.abstract_state import ends, indices, is_namespace, merge, unstarred
from dynamo_lint.state.model import FunctionState, Guard, Key, Kind, Kinds, Load, Origin, Place, Use, Value
from dynamo_lint.state.places import Linker
from dynamo_lint.state.transfer import Evaluator, arithmetic
from dynamo_lint.state.transfer_calls import evaluate_call

_SPELLED = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
TENSOR_FACTS = frozenset({"shape", "device", "dtype", "ndim"})


def interpret(opened: Opened, linker: Linker) -> FunctionState:
    """The state summary of one function, for one class of `self`."""
    walker = _Walker(Evaluator(opened, linker, evaluate_call))
    return walker.run()


@dataclass(slots=True)
class _Walker:
    ev: Evaluator
    exits: list[frozenset[Key]] = field(default_factory=list)
    returned: list[Kinds] = field(default_factory=list)

    def run(self) -> FunctionState:
        ev = self.ev
        self._parameters()
        self._suite(ev.opened.definition.body)
        if not ev.flow.ended:
            self.exits.append(ev.flow.written)
        kinds = frozenset().union(*self.returned) if self.returned and all(self.returned) else K.UNKNOWN
        return FunctionState(
            tuple(ev.reads),
            tuple(ev.writes),
            tuple(ev.mutations),
            tuple(ev.calls),
            tuple(ev.lookups),
            tuple(ev.environment),
            frozenset.intersection(*self.exits) if self.exits else frozenset(),
            tuple(sorted(ev.consumed, key=str)),
            kinds,
        )

    def _parameters(self) -> None:
        ev = self.ev
        given = ev.opened.definition.args
        tensors = tensor_parameters(ev.linker.project, ev.linker.reference, ev.linker.receiver)
        positional = [*given.posonlyargs, *given.args]
        defaults = [*[None] * (len(positional) - len(given.defaults)), *given.defaults, *given.kw_defaults]
        for param, default in zip((*positional, *given.kwonlyargs), defaults, strict=True):
            kinds = K.UNKNOWN
            if param.annotation is not None:
                kinds = K.of_annotation_text(ev.opened.text(param.annotation))
            elif default is not None and (literal := literal_of(default)) not in (..., None):
                kinds = K.of_constant(literal)
            elif param.arg in tensors:
                kinds = frozenset({Kind.TENSOR})
            origins = frozenset({Origin("param", param.arg)})
            self._parameter(param, Value(kinds, origins=origins, place=(param.arg,)))
        for star in (given.vararg, given.kwarg):
            if star is not None:
                self._parameter(star, Value(frozenset({Kind.CONTAINER})))

    def _parameter(self, param: ast.arg, value: Value) -> None:
        load = Load((param.arg,), self.ev.opened.position(param))
        self.ev.flow.locals[param.arg] = replace(value, pending=frozenset({load}))

    # --- statements -------------------------------------------------------------------------------------

    def _suite(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if self.ev.flow.ended:
                return
            if not self.ev.linker.function.runs_eagerly(statement.lineno):
                self._statement(statement)
            elif isinstance(statement, ast.If) and statement.body[0].lineno == statement.lineno:
                # `if not is_compiling(): a()` on one line says nothing of its `else`.
                self._suite(statement.orelse)

    def _statement(self, node: ast.stmt) -> None:
        ev = self.ev
        match node:
            case ast.Assign(targets=targets, value=value):
                result = ev.value(value)
                for target in targets:
                    self._assign(target, result, node)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, ev.value(value), node)
            case ast.AugAssign(target=target, op=operator, value=value):
                result = arithmetic(ev, ev.value(target), operator, ev.value(value))
                self._assign(target, result, node)
            case ast.Return(value=value):
                if value is not None:
                    self.returned.append(ev.used(value, Use.RETURNED).kinds)
                self.exits.append(ev.flow.written)
                ev.flow.ended = True
            case ast.Raise() | ast.Break() | ast.Continue():
                # What an error message mentions is never read on the way that matters.
                ev.flow.ended = True
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.IsNot()])):
                # `assert self.cache is not None` says that it never is None here.
                ev.value(left)
            case ast.Assert(test=test):
                ev.used(test, Use.CONTROL)
            case ast.Expr(value=value):
                ev.value(value)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._assign(target, Value(), None)
            case _:
                self._compound(node)

    def _assign(self, target: ast.expr, value: Value, node: ast.stmt | None) -> None:
        ev = self.ev
        match target:
            case ast.Name(id=name):
                if name in ev.linker.function.globals:
                    if node is not None:
                        ev.store((name,), value, node)
                elif node is not None:
                    ev.flow.locals[name] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                ev.bind(target, value)
                items = value.items if value.items and len(value.items) == len(elements) else None
                for number, element in enumerate(map(unstarred, elements)):
                    if not isinstance(element, ast.Name):
                        shape = Origin("shape") in value.origins
                        other = Value(frozenset({Kind.INT}) if shape else K.UNKNOWN)
                        self._assign(element, items[number] if items else other, node)
            case ast.Attribute() | ast.Subscript():
                ev.value(target.value)
                for index in indices(target) if isinstance(target, ast.Subscript) else ():
                    for end in ends(index):
                        ev.value(end)
                place = ev.place(target)
                if (
                    (isinstance(target, ast.Subscript) and self._item(target, node is None))
                    or node is None
                    or place is None
                ):
                    ev.consume(value, Use.STORED)
                elif (changed := self._replaced(place, node)) is not None:
                    for name, new in changed:
                        ev.store((*place, name), new, node)
                else:
                    ev.store(place, value, node)

    def _replaced(self, place: Place, node: ast.stmt) -> list[tuple[str, Value]] | None:
        """`self.state = replace(self.state, step=n)` sets a field of an object that cannot change."""
        match node:
            case ast.Assign(value=ast.Call(ast.Attribute(old, "_replace"), [], keywords)):
                pass
            case ast.Assign(value=ast.Call(func, [old], keywords)):
                if self.ev.linker.external(as_fact(func)) != "dataclasses.replace":
                    return None
            case _:
                return None
        if self.ev.place(old) != place:
            return None
        return [(one.arg, self.ev.value(one.value)) for one in keywords if one.arg is not None]

    def _item(self, target: ast.Subscript, deleted: bool) -> bool:
        """Note what storing an item does to its container; true if it is a tensor, which has no items."""
        ev = self.ev
        base, place = ev.value(target.value), ev.place(target.value)
        if base.kinds == {Kind.TENSOR}:
            return True
        if place is not None and not is_namespace(target.value):
            match indices(target):
                case [index] if not isinstance(index, ast.Slice):
                    ev.mutate(place, "shrink" if deleted else "item", target, ev.value(index))
        return False

    # --- branches and loops -----------------------------------------------------------------------------

    def _compound(self, node: ast.stmt) -> None:
        ev = self.ev
        match node:
            case ast.If():
                self._if(node)
            case ast.For(target=target, iter=iterable) | ast.AsyncFor(target=target, iter=iterable):
                item = ev.element(iterable)
                self._loop(target, item, node)
            case ast.While(test=test):
                ev.used(test, Use.CONTROL)
                guards = ev.flow.guards
                ev.flow.guards = guards | self._guards(test, False)
                self._loop(None, Value(), node)
                ev.flow.guards = guards
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for entered in items:
                    value = ev.value(entered.context_expr)
                    if isinstance(entered.optional_vars, ast.Name):
                        ev.flow.locals[entered.optional_vars.id] = replace(value, pending=frozenset())
                self._suite(body)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                before = ev.flow.fork()
                self._suite(body)
                self._suite(orelse)
                after = ev.flow
                for handler in handlers:
                    ev.flow = before.fork()
                    self._suite(handler.body)
                    after = merge(after, ev.flow)
                ev.flow = after
                self._suite(finalbody)
            case ast.Match(subject=subject, cases=cases):
                ev.used(subject, Use.COMPARE)
                before, after = ev.flow, ev.flow.fork()
                for case in cases:
                    ev.flow = before.fork()
                    self._suite(case.body)
                    after = merge(after, ev.flow)
                ev.flow = after
            case _:
                pass

    def _loop(self, target: ast.expr | None, item: Value, node: ast.For | ast.AsyncFor | ast.While) -> None:
        ev = self.ev
        before = ev.flow.fork()
        if target is not None:
            ev.bind(target, item)
        self._suite(node.body)
        # A loop may run zero times; names it binds are bound wherever they are used later.
        ev.flow = merge(before, ev.flow) if not ev.flow.ended else before
        self._suite(node.orelse)

    def _if(self, node: ast.If) -> None:
        ev = self.ev
        if self._never(node.test):
            self._suite(node.orelse)
            return
        ev.used(node.test, Use.CONTROL)
        text = ev.opened.text(node.test)
        before = ev.flow
        ev.flow = before.fork()
        known = before.conditional.get(text, {})
        ev.flow.stored |= known
        for place in known:
            ev.flow.written |= ev.linker.keys(place)
        ev.flow.guards |= self._guards(node.test, False)
        self._suite(node.body)
        then = ev.flow
        ev.flow = before.fork()
        ev.flow.guards |= self._guards(node.test, True)
        self._suite(node.orelse)
        other = ev.flow
        merged = merge(then, other)
        new = {place: value for place, value in then.stored.items() if place not in before.stored}
        ev.flow = replace(
            merged,
            # Behind a branch that left, the test is known to have been false.
            guards=merged.guards if then.ended or other.ended else before.guards,
            conditional=merged.conditional | ({text: known | new} if new else {}),
        )
        ev.flow.ended = then.ended and other.ended

    def _never(self, test: ast.expr) -> bool:
        """Whether the branch is dead while compiling, or in a project that only evaluates."""
        first = test
        while isinstance(first, ast.BoolOp) and isinstance(first.op, ast.And):
            first = first.values[0]
        match first:
            case ast.Attribute(ast.Name(owner), "training"):
                if owner == self.ev.linker.self_name and self.ev.linker.only_evaluates:
                    return True
        return truth_when_compiling(test, {}) is False

    def _guards(self, test: ast.expr, negated: bool) -> frozenset[Guard]:
        """The attributes that a test asks about, seen from the branch where it held (or did not)."""
        match test:
            case ast.BoolOp(values=values):
                return frozenset[Guard]().union(*(self._guards(value, negated) for value in values))
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self._guards(inner, not negated)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                if isinstance(op, ast.Is | ast.IsNot) and literal_of(right) is None:
                    return self._guard(left, isinstance(op, ast.Is) != negated)
                literal = literal_of(right)
                value = self.ev.value(right).constants if literal is ... else frozenset({repr(literal)})
                code = _SPELLED[type(op)] + (next(iter(value)) if value and len(value) == 1 else "?")
                code = f"not {code}" if negated else code
                return self._guard(left, False, code) | self._guard(right, False, "?")
            case ast.Call(ast.Name("hasattr"), [owner, name], []):
                base, literal = self.ev.place(owner), literal_of(name)
                if base is None or not isinstance(literal, str):
                    return frozenset()
                return frozenset(Guard(key, negated) for key in self.ev.linker.keys((*base, literal)))
            case ast.Attribute() | ast.Name() | ast.Subscript():
                return self._guard(test, negated)
            case _:
                return frozenset()

    def _guard(self, node: ast.expr, missing: bool, limit: str | None = None) -> frozenset[Guard]:
        match node:
            case ast.Call(ast.Name("len"), [inner], []):
                node = inner
            case ast.Call(ast.Attribute(inner, "size" | "numel")):
                node = inner
        place = self.ev.place(node)
        if place is None:
            return frozenset()
        # What is asked of a tensor (`self._cache.shape[0] < n`) is asked of the attribute that holds it;
        # what is asked of an object's attribute is asked of the object too.
        ends = [end for end, step in enumerate(place) if step in TENSOR_FACTS]
        place = place[: ends[0] + 1] if ends else place
        prefixes = [place[:end] for end in range(len(place), 0, -1)]
        # An item may be false in a container that is full.
        asked = prefixes[:1] if place[-1].startswith("[") else prefixes[:2]
        return frozenset(
            Guard(key, missing, limit) for prefix in asked for key in self.ev.linker.keys(prefix)
        )
