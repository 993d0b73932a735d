"""Abstract interpretation of one hot function: walks its statements, and summarises its effects on state."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

import libcst as cst

from dynamo_lint.index.conditions import truth_when_compiling
from dynamo_lint.models.tensor_results import tensor_parameters
from dynamo_lint.state import kinds as K
from dynamo_lint.state.abstract_state import expressions, is_namespace, merge
from dynamo_lint.state.convert import literal_of, to_expr
from dynamo_lint.state.model import FunctionState, Guard, Key, Kind, Kinds, Load, Origin, Place, Use, Value
from dynamo_lint.state.places import Linker
from dynamo_lint.state.source import Opened
from dynamo_lint.state.transfer import Evaluator, arithmetic
from dynamo_lint.state.transfer_calls import evaluate_call

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
            tuple(dict.fromkeys(ev.reads)),
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
        params = ev.opened.definition.params
        tensors = tensor_parameters(ev.linker.project, ev.linker.reference, ev.linker.receiver)
        for param in (*params.posonly_params, *params.params, *params.kwonly_params):
            name = param.name.value
            kinds = K.UNKNOWN
            if param.annotation is not None:
                kinds = K.of_annotation_text(ev.opened.text(param.annotation.annotation))
            elif param.default is not None and (default := literal_of(param.default)) not in (..., None):
                kinds = K.of_constant(default)
            elif name in tensors:
                kinds = frozenset({Kind.TENSOR})
            load = Load((name,), ev.opened.position(param.name))
            ev.flow.locals[name] = Value(
                kinds, pending=frozenset({load}), origins=frozenset({Origin("param", name)}), place=(name,)
            )
        for star in (params.star_arg, params.star_kwarg):
            if isinstance(star, cst.Param):
                name = star.name.value
                load = Load((name,), ev.opened.position(star.name))
                kinds = frozenset({Kind.CONTAINER})
                ev.flow.locals[name] = Value(kinds, pending=frozenset({load}))

    # --- statements -------------------------------------------------------------------------------------

    def _suite(self, body: cst.BaseSuite) -> None:
        for statement in body.body:
            if self.ev.flow.ended:
                return
            line = self.ev.opened.position(statement).line
            if self.ev.linker.function.runs_eagerly(line):
                match statement:
                    case cst.If(body=cst.SimpleStatementSuite()):
                        # `if not is_compiling(): a()` on one line says nothing of its `else`.
                        self._otherwise(statement)
                continue
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    self._small(small)
            elif isinstance(statement, cst.BaseSmallStatement):
                self._small(statement)  # `if x: self.n = 1` on one line
            else:
                self._compound(statement)

    def _small(self, node: cst.CSTNode) -> None:
        ev = self.ev
        match node:
            case cst.Assign(targets=targets, value=value):
                result = ev.value(value)
                for target in targets:
                    self._assign(target.target, result, node)
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                self._assign(target, ev.value(value), node)
            case cst.AugAssign(target=target, operator=operator, value=value):
                result = arithmetic(ev, ev.value(target), operator, ev.value(value))
                self._assign(target, result, node)
            case cst.Return(value=value):
                if value is not None:
                    self.returned.append(ev.used(value, Use.RETURNED).kinds)
                self.exits.append(ev.flow.written)
                ev.flow.ended = True
            case cst.Raise() | cst.Break() | cst.Continue():
                # What an error message mentions is never read on the way that matters.
                ev.flow.ended = True
            case cst.Assert(test=cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(cst.IsNot())])):
                # `assert self.cache is not None` says that it never is None here.
                ev.value(left)
            case cst.Assert(test=test):
                ev.used(test, Use.CONTROL)
            case cst.Expr(value=value):
                ev.value(value)
            case cst.Del(target=target):
                self._assign(target, Value(), None)
            case _:
                pass

    def _assign(self, target: cst.BaseExpression, value: Value, node: cst.CSTNode | None) -> None:
        ev = self.ev
        match target:
            case cst.Name(value=name):
                if name in ev.linker.function.globals:
                    if node is not None:
                        ev.store((name,), value, node)
                elif node is not None:
                    ev.name(name, value)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                ev.bind(target, value)
                items = value.items if value.items and len(value.items) == len(elements) else None
                for number, element in enumerate(elements):
                    if not isinstance(element.value, cst.Name):
                        shape = Origin("shape") in value.origins
                        other = Value(frozenset({Kind.INT}) if shape else K.UNKNOWN)
                        self._assign(element.value, items[number] if items else other, node)
            case cst.Attribute() | cst.Subscript():
                for inner in expressions(target):
                    ev.value(inner)
                place = ev.place(target)
                if (
                    (isinstance(target, cst.Subscript) and self._item(target, node is None))
                    or node is None
                    or place is None
                ):
                    ev.consume(value, Use.STORED)
                elif (changed := self._replaced(place, node)) is not None:
                    for name, new in changed:
                        ev.store((*place, name), new, node)
                else:
                    ev.store(place, value, node)

    def _replaced(self, place: Place, node: cst.CSTNode) -> list[tuple[str, Value]] | None:
        """`self.state = replace(self.state, step=n)` sets a field of an object that cannot change."""
        match node:
            case cst.Assign(
                value=cst.Call(func=cst.Attribute(value=old, attr=cst.Name("_replace")), args=args)
            ):
                pass
            case cst.Assign(value=cst.Call(func=func, args=[cst.Arg(value=old, keyword=None), *args])):
                if self.ev.linker.external(to_expr(func)) != "dataclasses.replace":
                    return None
            case _:
                return None
        if self.ev.place(old) != place:
            return None
        return [(arg.keyword.value, self.ev.value(arg.value)) for arg in args if arg.keyword is not None]

    def _item(self, target: cst.Subscript, deleted: bool) -> bool:
        """Note what storing an item does to its container; true if it is a tensor, which has no items."""
        ev = self.ev
        base, place = ev.value(target.value), ev.place(target.value)
        if base.kinds == {Kind.TENSOR}:
            return True
        if place is not None and not is_namespace(target.value):
            match target.slice:
                case [cst.SubscriptElement(slice=cst.Index(value=index))]:
                    ev.mutate(place, "shrink" if deleted else "item", target, ev.value(index))
        return False

    # --- branches and loops -----------------------------------------------------------------------------

    def _compound(self, node: cst.CSTNode) -> None:
        ev = self.ev
        match node:
            case cst.If():
                self._if(node)
            case cst.For(target=target, iter=iterable, body=body):
                item = ev.element(iterable)
                self._loop(target, item, body, node.orelse)
            case cst.While(test=test, body=body):
                ev.used(test, Use.CONTROL)
                guards = ev.flow.guards
                ev.flow.guards = guards | self._guards(test, False)
                self._loop(None, Value(), body, node.orelse)
                ev.flow.guards = guards
            case cst.With(items=items, body=body):
                for entered in items:
                    value = ev.value(entered.item)
                    if entered.asname is not None and isinstance(entered.asname.name, cst.Name):
                        ev.flow.locals[entered.asname.name.value] = replace(value, pending=frozenset())
                self._suite(body)
            case cst.Try(body=body, handlers=handlers):
                before = ev.flow.fork()
                self._suite(body)
                if node.orelse is not None:
                    self._suite(node.orelse.body)
                after = ev.flow
                for handler in handlers:
                    ev.flow = before.fork()
                    self._suite(handler.body)
                    after = merge(after, ev.flow)
                ev.flow = after
                if node.finalbody is not None:
                    self._suite(node.finalbody.body)
            case cst.Match(subject=subject, cases=cases):
                ev.used(subject, Use.COMPARE)
                before, after = ev.flow, ev.flow.fork()
                for case in cases:
                    ev.flow = before.fork()
                    self._suite(case.body)
                    after = merge(after, ev.flow)
                ev.flow = after
            case _:
                pass

    def _loop(
        self, target: cst.BaseExpression | None, item: Value, body: cst.BaseSuite, orelse: cst.Else | None
    ) -> None:
        ev = self.ev
        before = ev.flow.fork()
        if target is not None:
            ev.bind(target, item)
        self._suite(body)
        # A loop may run zero times; names it binds are bound wherever they are used later.
        ev.flow = merge(before, ev.flow) if not ev.flow.ended else before
        if orelse is not None:
            self._suite(orelse.body)

    def _if(self, node: cst.If) -> None:
        ev = self.ev
        if self._never(node.test):
            self._otherwise(node)
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
        self._otherwise(node)
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

    def _otherwise(self, node: cst.If) -> None:
        match node.orelse:
            case cst.If() as inner:
                self._if(inner)
            case cst.Else(body=body):
                self._suite(body)

    def _never(self, test: cst.BaseExpression) -> bool:
        """Whether the branch is dead while compiling, or in a project that only evaluates."""
        first = test
        while isinstance(first, cst.BooleanOperation) and isinstance(first.operator, cst.And):
            first = first.left
        match first:
            case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value="training")):
                if owner == self.ev.linker.self_name and self.ev.linker.only_evaluates:
                    return True
        # A test over several lines may have comments in it: its lines are kept apart.
        code = self.ev.opened.module.code_for_node(test)
        parsed = ast.parse(f"({code}\n)", mode="eval").body
        return truth_when_compiling(parsed, {}) is False

    def _guards(self, test: cst.BaseExpression, negated: bool) -> frozenset[Guard]:
        """The attributes that a test asks about, seen from the branch where it held (or did not)."""
        match test:
            case cst.BooleanOperation(left=left, right=right):
                return self._guards(left, negated) | self._guards(right, negated)
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                return self._guards(inner, not negated)
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=op, comparator=right)]):
                if isinstance(op, cst.Is | cst.IsNot) and literal_of(right) is None:
                    return self._guard(left, isinstance(op, cst.Is) != negated)
                literal = literal_of(right)
                value = self.ev.value(right).constants if literal is ... else frozenset({repr(literal)})
                code = self.ev.opened.text(op) + (next(iter(value)) if value and len(value) == 1 else "?")
                code = f"not {code}" if negated else code
                return self._guard(left, False, code) | self._guard(right, False, "?")
            case cst.Call(func=cst.Name(value="hasattr"), args=[cst.Arg(value=owner), cst.Arg(value=name)]):
                base, literal = self.ev.place(owner), literal_of(name)
                if base is None or not isinstance(literal, str):
                    return frozenset()
                return frozenset(Guard(key, negated) for key in self.ev.linker.keys((*base, literal)))
            case cst.Attribute() | cst.Name() | cst.Subscript():
                return self._guard(test, negated)
            case _:
                return frozenset()

    def _guard(self, node: cst.BaseExpression, missing: bool, limit: str | None = None) -> frozenset[Guard]:
        match node:
            case (
                cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=inner)])
                | cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="size" | "numel")))
            ):
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
