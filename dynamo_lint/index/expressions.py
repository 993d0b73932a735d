"""From `ast` expressions to the index's own small language, noting every call and load on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from dynamo_lint.index import facts
from dynamo_lint.index.compiling import truth_when_compiling
from dynamo_lint.index.facts import UNKNOWN, Expr
from dynamo_lint.index.narrowing import narrowings
from dynamo_lint.index.scopes import FunctionScope

_LOOKUPS = frozenset({"getattr", "setattr", "hasattr", "delattr", "vars"})
_APPENDERS = frozenset({"append", "extend", "insert", "add", "appendleft"})
_REGISTRARS = frozenset({"add_module", "register_module"})
_STORING = _APPENDERS | _REGISTRARS
_SETATTR = facts.Name("setattr")
LARGEST = 2**63
_HUGE = facts.Constant(LARGEST)
"""Stands for every number that is larger: nobody counts that far, and its digits would fill pages."""
_SWAPPERS = frozenset({"setattr", "set_submodule", *_REGISTRARS})
_COMPREHENSIONS = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_DISPLAYS = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}


class Expressions:
    """Reads the expressions of one scope; every node is visited once.

    `define` is called for a lambda and returns the key of its function; `environment` holds the names
    under which this file imported `os.environ` or `os.getenv`.
    """

    def __init__(self, define: Callable[[ast.Lambda], str], environment: set[str]) -> None:
        self.scope: FunctionScope
        self._define = define
        self._environment = environment
        self._names: dict[str, facts.Name] = {}
        self._constants: dict[object, facts.Constant] = {}

    def read(self, node: ast.expr | None) -> Expr:
        """Translate one expression and note the calls and attribute loads in it."""
        match node:
            case None:
                return UNKNOWN
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute():
                return self._attribute(node, note=True)
            case ast.Call():
                return self._call(node)
            case ast.Constant(value=str() | int() | float() | bool() | None as value):
                return self._constant(value)
            case ast.Compare(left=left, comparators=others):  # common, and nothing we follow
                self.read(left)
                for other in others:
                    self.read(other)
                return UNKNOWN
            case ast.JoinedStr() | ast.FormattedValue():
                pass  # as well
            case ast.Subscript(value=value, slice=index):
                return facts.Subscript(self.read(value), self.read(index))
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return facts.Display(_DISPLAYS[type(node)], tuple(self.read(item) for item in items))
            case ast.Dict(keys=keys, values=values):
                names = tuple(key.value if _is_text(key) else None for key in keys)  # type: ignore[union-attr]
                for key in keys:
                    self.read(key)
                return facts.Display("dict", tuple(self.read(value) for value in values), names)
            case ast.ListComp(elt=item) | ast.SetComp(elt=item) | ast.GeneratorExp(elt=item):
                return self._comprehension(node, item)
            case ast.DictComp(value=value):
                return self._comprehension(node, value)
            case ast.IfExp():
                return self._if_expression(node)
            case ast.BoolOp():
                return self._bool_operation(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return facts.Constant(-number)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                result = self.read(value)
                self.scope.bindings.append(facts.Binding(name, result, node.lineno))
                return result
            case ast.Lambda():
                return facts.Definition(self._define(node))
            case ast.Starred(value=value):
                return facts.Element(self.read(value))
            case ast.Await(value=value):
                return self.read(value)
            case ast.Yield(value=value):
                # Whoever iterates over (or enters) a generator gets what it yields.
                self.scope.returns.append(facts.Display("each", (self.read(value),)))
                return UNKNOWN
            case ast.YieldFrom(value=value):
                self.scope.returns.append(self.read(value))
                return UNKNOWN
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.read(child)
        return UNKNOWN

    def annotation(self, node: ast.expr | None) -> Expr | None:
        """Translate an annotation without noting anything: Dynamo never runs it."""
        match node:
            case None:
                return None
            case ast.Constant(value=str() as text):
                try:
                    return self.annotation(ast.parse(text, mode="eval").body)
                except (SyntaxError, ValueError, RecursionError):
                    return UNKNOWN
            case ast.Name(id=name):
                return facts.Name(name)
            case ast.Attribute(value=value, attr=attr):
                return facts.Attribute(self.annotation(value) or UNKNOWN, attr)
            case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=index):
                literals = index.elts if isinstance(index, ast.Tuple) else [index]
                texts = tuple(self.read(literal) for literal in literals if _is_text(literal))
                return facts.Subscript(facts.Name("Literal"), facts.Display("tuple", texts))
            case ast.Subscript(value=value, slice=index):
                return facts.Subscript(self.annotation(value) or UNKNOWN, self.annotation(index) or UNKNOWN)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return facts.Display("tuple", tuple(self.annotation(item) or UNKNOWN for item in items))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return facts.Choice((self.annotation(left) or UNKNOWN, self.annotation(right) or UNKNOWN))
            case ast.Constant(value=None):
                return facts.Constant(None)
        return UNKNOWN

    def bind_target(self, target: ast.expr, value: Expr, augmented: bool = False) -> None:
        """Record that `target` is assigned `value`, or what `+= value` makes of it."""
        scope = self.scope
        match target:
            case ast.Name(id=name):
                scope.bindings.append(facts.Binding(name, value, target.lineno, augmented))
                scope.forget(name)
            case ast.Attribute(value=owner, attr=attr):
                scope.stores.append(facts.Store(self.read(owner), attr, value, target.lineno, augmented))
            case ast.Subscript(value=owner, slice=index):
                key = self.read(index)
                store = facts.Store(self.read(owner), facts.ITEM, value, target.lineno, augmented, key)
                scope.stores.append(store)
            case ast.Starred(value=inner):
                self.bind_target(inner, value)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                exact = isinstance(value, facts.Display) and len(value.items) == len(items)
                for position, item in enumerate(items):
                    part = (
                        value.items[position]
                        if exact and isinstance(value, facts.Display)
                        else facts.Subscript(value, facts.Constant(position))
                    )
                    self.bind_target(item, part)

    # --- one method per shape that needs more than a line ----------------------------------------------

    def establish(self, test: ast.expr) -> None:
        """From here on `test` is known to be true, until the facts of this scope are cut back."""
        self.scope.narrowed += narrowings(test, self.annotation)

    def _narrow(self, name: facts.Name) -> Expr:
        result: Expr = name
        for fact in self.scope.narrowed:
            # What `self` is tested for says nothing about its attributes.
            if fact is not None and fact.value == name and name.id != "self":
                result = facts.Narrowed(result, fact.types, fact.holds)
        return result

    def _name(self, name: str) -> Expr:
        if name in _LOOKUPS:
            self.scope.lookups = True
        if name in self._environment:
            self.scope.environment = True
        # Equal names are one object: half of all facts are names.
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = facts.Name(name)
        return self._narrow(known) if self.scope.narrowed else known

    def _constant(self, value: str | int | float | bool | None) -> facts.Constant:
        if isinstance(value, int) and not -LARGEST < value < LARGEST:
            return _HUGE
        key = (value.__class__, value)
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = facts.Constant(value)
        return known

    def _attribute(self, node: ast.Attribute, *, note: bool) -> facts.Attribute:
        if node.attr in ("environ", "getenv"):
            self.scope.environment = True
        elif node.attr == "__dict__":
            self.scope.lookups = True
        result = facts.Attribute(self.read(node.value), node.attr)
        if note and not self.scope.eager and isinstance(node.ctx, ast.Load):
            self.scope.loads[result] = None
        return result

    def _call(self, node: ast.Call) -> facts.Call:
        # The callee of `x.f()` is no property load worth following: the call itself is.
        function = (
            self._attribute(node.func, note=False)
            if isinstance(node.func, ast.Attribute)
            else self.read(node.func)
        )
        call = facts.Call(
            function,
            tuple(self.read(argument) for argument in node.args),
            tuple((keyword.arg, self.read(keyword.value)) for keyword in node.keywords),
            node.lineno,
        )
        name = terminal_name(function)
        scope = self.scope
        site = facts.CallSite(call, scope.eager, repeated=bool(scope.loops), context=scope.context)
        if name and "compile" in name:
            condition = _condition(scope.conditions, node)
            site = replace(site, condition=condition, loops=tuple(scope.loops))
        elif name in _SWAPPERS and scope.narrowed:
            site = replace(site, narrowed=tuple(fact for fact in scope.narrowed if fact is not None))
        scope.calls.append(site)
        self._implied_store(call, node)
        return call

    def _implied_store(self, call: facts.Call, node: ast.Call) -> None:
        """Calls that store: `x.append(v)`, `m.add_module("name", v)`, `setattr(m, "name", v)`."""
        store = self.scope.stores.append
        if getattr(call.function, "name", None) not in _STORING and call.function != _SETATTR:
            return
        match call:
            case facts.Call(facts.Attribute(owner, name), arguments) if name in _APPENDERS and arguments:
                item = arguments[-1]
                value = facts.Element(item) if name == "extend" else item
                store(facts.Store(owner, facts.ITEM, value, node.lineno))
            case facts.Call(facts.Attribute(owner, name), (facts.Constant(str() as key), value)) if (
                name in _REGISTRARS
            ):
                store(facts.Store(owner, key, value, node.lineno))
            case facts.Call(facts.Attribute(owner, name), (_, value)) if name in _REGISTRARS:
                store(facts.Store(owner, facts.ITEM, value, node.lineno))
            case facts.Call(facts.Name("setattr"), (owner, facts.Constant(str() as key), value)):
                store(facts.Store(owner, key, value, node.lineno))

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, item: ast.expr
    ) -> Expr:
        scope = self.scope
        outside, depth = scope.within, len(scope.loops)
        for position, generator in enumerate(node.generators):
            iterable = self.read(generator.iter)
            if position == 0:  # all but the first iterable belong to the comprehension's own code
                scope.within = f"{outside}.<locals>.{_COMPREHENSIONS[type(node)]}"
                if not scope.eager:
                    scope.comprehensions[scope.qualname + scope.within, node.lineno] = None
            self.bind_target(generator.target, facts.Element(iterable))
            for test in generator.ifs:
                self.read(test)
            scope.loops.append(UNKNOWN if generator.ifs else iterable)
        if isinstance(node, ast.DictComp):
            self.read(node.key)
        result = self.read(item)
        over = tuple(scope.loops[depth:])
        del scope.loops[depth:]
        scope.within = outside
        return facts.Display("each", (result,), over=over)

    def _if_expression(self, node: ast.IfExp) -> Expr:
        truth = truth_when_compiling(node.test, self.scope.aliases)
        self.read(node.test)
        self.scope.conditions.append(node.test)
        depth = len(self.scope.narrowed)
        self.establish(node.test)
        body = self._maybe_eager(node.body, eager=truth is False)
        del self.scope.narrowed[depth:]
        self.establish(ast.UnaryOp(ast.Not(), node.test))
        orelse = self._maybe_eager(node.orelse, eager=truth is True)
        del self.scope.narrowed[depth:]
        self.scope.conditions.pop()
        return facts.Choice((body, orelse))

    def _bool_operation(self, node: ast.BoolOp) -> Expr:
        stops = isinstance(node.op, ast.Or)
        options, eager = [], False
        for value in node.values:
            options.append(self._maybe_eager(value, eager=eager))
            eager = eager or truth_when_compiling(value, self.scope.aliases) is stops
        return facts.Choice(tuple(options))

    def _maybe_eager(self, node: ast.expr, *, eager: bool) -> Expr:
        if not eager:
            return self.read(node)
        before, self.scope.eager = self.scope.eager, True
        result = self.read(node)
        self.scope.eager = before
        return result

    def _binary(self, node: ast.BinOp) -> Expr:
        # A loop, not recursion: sums of a thousand terms lean left.
        operands, operators = [node.right], [node.op]
        left = node.left
        while isinstance(left, ast.BinOp):
            operands.append(left.right)
            operators.append(left.op)
            left = left.left
        parts = [self.read(operand) for operand in (left, *reversed(operands))]
        numbers = [
            p.value for p in parts if isinstance(p, facts.Constant) and isinstance(p.value, int | float)
        ]
        if len(numbers) == len(parts):
            # `1.0 / 8`: only its kind matters to anyone.
            real = any(isinstance(number, float) for number in numbers)
            real = real or any(isinstance(operator, ast.Div) for operator in operators)
            return facts.Typed(facts.Name("float" if real else "int"))
        # `[A()] + [B()]` and `[Block()] * n` still hold blocks; other arithmetic holds nothing we follow.
        displays = tuple(part for part in parts if isinstance(part, facts.Display))
        return facts.Choice(displays) if displays else UNKNOWN


def terminal_name(expression: Expr) -> str | None:
    """`compile` for `torch.compile`, for `compile` and for `torch.compile(...)`."""
    match expression:
        case facts.Name(name) | facts.Attribute(_, name):
            return name
        case facts.Call(function):
            return terminal_name(function)
    return None


def _condition(tests: list[ast.expr], call: ast.Call) -> str | None:
    """Source of what decides whether a call compiles: the innermost `if` test and a `disable=` argument."""
    switches = [
        f"disable={ast.unparse(keyword.value)}"
        for keyword in call.keywords
        if keyword.arg == "disable" and not isinstance(keyword.value, ast.Constant)
    ]
    return ", ".join([*(ast.unparse(test) for test in tests[-1:]), *switches]) or None


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
