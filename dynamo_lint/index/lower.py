"""Lowering of `ast` expressions to the intermediate representation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dynamo_lint.index import ir
from dynamo_lint.index.conditions import (
    TELLING,
    compiled_if,
    compiled_where,
    condition_of,
    leading_facts,
    loop_selections,
    narrowings,
    note_keys,
    note_loop,
    truth_when_compiling,
)
from dynamo_lint.index.ir import UNKNOWN, Choice, Constant, Display, Expr, Name, Typed
from dynamo_lint.index.mutators import REGISTRARS, STORING, put, stores
from dynamo_lint.index.scopes import FunctionScope
from dynamo_lint.index.text_templates import open_name


def of_operands(parts: Sequence[Expr], operators: Sequence[ast.operator], *, lists: bool) -> Expr | None:
    """The value of a chain of binary operators; None if it holds nothing that is followed.

    `[A()] + [B()]` and `[Block()] * n` still hold blocks, and so does `encoder + decoder` where `lists` says
    that a container of modules is made of it: else it is a sum of numbers, as a rule.
    """
    numbers = [p.value for p in parts if isinstance(p, Constant) and isinstance(p.value, int | float)]
    if len(numbers) == len(parts):
        # `1.0 / 8`: only its kind matters to anyone.
        real = any(isinstance(number, float) for number in numbers)
        real = real or any(isinstance(operator, ast.Div) for operator in operators)
        return Typed(Name("float" if real else "int"))
    if not lists and not any(isinstance(part, Display) for part in parts):
        return None
    return Choice(tuple(part for part in parts if lists or isinstance(part, Display)))


_LOOKUPS = frozenset({"getattr", "setattr", "hasattr", "delattr", "vars"})
_TELLING_ATTRIBUTES = frozenset({"environ", "getenv", "__dict__"})
MOST_LINKS = 100
"""Calls, attributes and conditions behind each other that one expression is followed through."""
LARGEST = 2**63
_HUGE = ir.Constant(LARGEST)
"""Stands for every number that is larger: nobody counts that far, and its digits would fill pages."""
_HOLDING = frozenset({"ModuleList", "Sequential"})
_SWAPPERS = frozenset({"setattr", "set_submodule", *REGISTRARS})
_COMPREHENSIONS = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_DISPLAYS = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}


class ExpressionLowering:
    """Reads the expressions of one scope; every node is visited once.

    `define` is called for a lambda and returns the key of its function; `environment` holds the names
    under which this file imported `os.environ` or `os.getenv`.
    """

    def __init__(self, define: Callable[[ast.Lambda], str], environment: set[str]) -> None:
        self.scope: FunctionScope
        self._define = define
        self._environment = environment
        # Equal names, numbers and attributes are one object: half of all facts are such.
        self._names: dict[str, ir.Name] = {}
        self._constants: dict[object, Expr] = {}
        self._attributes: dict[tuple[int, str], ir.Attribute] = {}
        self._links = 0
        """How many links of a chain stand around the expression that is read."""

    def read(self, node: ast.expr | None) -> Expr:
        """Translate one expression and note the calls and attribute loads in it."""
        if node.__class__ is ast.Name:
            return self._name(node.id)
        if node is None:
            return UNKNOWN
        reader = _READERS.get(node.__class__)
        return reader(self, node) if reader is not None else self._parts(node)

    def _link(self, node: ast.expr) -> Expr:
        """Translate what one more link of a chain hangs on.

        After too many it is unknown: whoever asks what a chain means asks for each of its links.
        """
        if node.__class__ is ast.Name:
            return self.read(node)
        links = self._links
        self._links = links + 1 if links < MOST_LINKS else 0
        result = self.read(node)
        self._links = links
        self.scope.cut |= links >= MOST_LINKS
        return result if links < MOST_LINKS else UNKNOWN

    def _parts(self, node: ast.expr) -> Expr:
        """Only what is inside matters: of an expression newer than this code, for one."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.read(child)
        return UNKNOWN

    # --- one method per shape, in `_READERS` -------------------------------------------------------------

    def _read_attribute(self, node: ast.Attribute) -> Expr:
        result = self._attribute(node)
        scope = self.scope
        if not scope.eager and id(result) not in scope.loaded and node.ctx.__class__ is ast.Load:
            scope.loaded.add(id(result))
            scope.loads[result] = None
        return result

    def _constant(self, node: ast.Constant) -> Expr:
        value = node.value
        key = value.__class__, value
        known = self._constants.get(key)
        if known is None:
            if isinstance(value, int) and not -LARGEST < value < LARGEST:
                known = _HUGE
            else:
                plain = value is None or isinstance(value, str | int | float)
                known = ir.Constant(value) if plain else UNKNOWN  # type: ignore[arg-type]
            self._constants[key] = known
        return known

    def _compare(self, node: ast.Compare) -> Expr:
        self.read(node.left)
        for other in node.comparators:
            self.read(other)
        return UNKNOWN

    def _subscript(self, node: ast.Subscript) -> Expr:
        index = self.read(node.slice)
        if node.slice.__class__ is ast.Slice:  # part of a container is one of the same things
            return ir.Choice((self._link(node.value),))
        return ir.Subscript(self._link(node.value), index)

    def _display(self, node: ast.List | ast.Tuple | ast.Set) -> Expr:
        return ir.Display(_DISPLAYS[node.__class__], tuple([self.read(item) for item in node.elts]))

    def _dict(self, node: ast.Dict) -> Expr:
        names = tuple([key.value if _is_text(key) else None for key in node.keys])  # type: ignore[union-attr]
        for key in node.keys:
            self.read(key)
        pairs = zip(node.keys, map(self.read, node.values), strict=True)
        items = [value if key is not None else ir.Element(value) for key, value in pairs]  # `**others`
        return ir.Display("dict", tuple(items), names)

    def _unary(self, node: ast.UnaryOp) -> Expr:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return ir.Constant(-number)
        return self._parts(node)

    def _named(self, node: ast.NamedExpr) -> Expr:
        result = self.read(node.value)
        self.scope.bindings.append(ir.Binding(node.target.id, result, node.lineno))
        return result

    def _lambda(self, node: ast.Lambda) -> Expr:
        return ir.Definition(self._define(node))

    def _yield(self, node: ast.Yield) -> Expr:
        # Whoever iterates over (or enters) a generator gets what it yields.
        self.scope.gives(ir.Display("each", (self.read(node.value),)), node.lineno)
        return UNKNOWN

    def _yield_from(self, node: ast.YieldFrom) -> Expr:
        self.scope.gives(self.read(node.value), node.lineno)
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
                return ir.Name(name)
            case ast.Attribute(value=value, attr=attr):
                return ir.Attribute(self.annotation(value) or UNKNOWN, attr)
            case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=index):
                literals = index.elts if isinstance(index, ast.Tuple) else [index]
                texts = tuple(self.read(literal) for literal in literals if _is_text(literal))
                return ir.Subscript(ir.Name("Literal"), ir.Display("tuple", texts))
            case ast.Subscript(value=value, slice=index):
                return ir.Subscript(self.annotation(value) or UNKNOWN, self.annotation(index) or UNKNOWN)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return ir.Display("tuple", tuple(self.annotation(item) or UNKNOWN for item in items))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return ir.Choice((self.annotation(left) or UNKNOWN, self.annotation(right) or UNKNOWN))
            case ast.Constant(value=None):
                return ir.Constant(None)
        return UNKNOWN

    def bind_target(self, target: ast.expr, value: Expr, augmented: bool = False) -> None:
        """Record that `target` is assigned `value`, or what `+= value` makes of it."""
        scope = self.scope
        if value.__class__ is ir.Element:
            note_keys(scope.keys, target, value)
            note_loop(scope.modules, target, value.iterable)
        match target:
            case ast.Name(id=name):
                scope.bindings.append(ir.Binding(name, value, target.lineno, augmented))
                if scope.narrowed or scope.answers:
                    scope.forget(name)
            case ast.Attribute(value=owner, attr=attr):
                scope.stores.append(ir.Store(self.read(owner), attr, value, target.lineno, augmented))
            case ast.Subscript(value=owner, slice=index):
                key = self.read(index)
                scope.stores.append(put(self.read(owner), value, key, target.lineno, augmented))
            case ast.Starred(value=inner):
                self.bind_target(inner, value)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                exact = isinstance(value, ir.Display) and len(value.items) == len(items)
                for position, item in enumerate(items):
                    part = (
                        value.items[position]
                        if exact and isinstance(value, ir.Display)
                        else ir.Subscript(value, ir.Constant(position))
                    )
                    self.bind_target(item, part)

    # --- one method per shape that needs more than a line ----------------------------------------------

    def establish(self, test: ast.expr, holds: bool = True) -> None:
        """From here on `test` is known to be true, or false, until the facts of this scope are cut back."""
        if test.__class__ in TELLING:
            found = narrowings(test, self.annotation, holds, self.scope.answered())
            self.scope.narrowed += leading_facts(found, self.scope.keys)
        if self.scope.modules:
            self.scope.narrowed += loop_selections(test, self.scope.modules, holds)

    def _narrow(self, name: ir.Name) -> Expr:
        result: Expr = name
        for fact in self.scope.tested_types():
            # What `self` is tested for says nothing about its attributes.
            if fact.value == name and name.id != "self":
                result = ir.Narrowed(result, fact.types, fact.holds)
        return result

    def _name(self, name: str) -> Expr:
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = ir.Name(name)
        if name in _LOOKUPS:
            self.scope.lookups = True
        if name in self._environment:
            self.scope.environment = True
        return self._narrow(known) if self.scope.narrowed else known

    def _attribute(self, node: ast.Attribute) -> ir.Attribute:
        value, name = self._link(node.value), node.attr
        known = self._attributes.get((id(value), name))
        if known is None:
            # What is kept keeps its value, so that no other object gets the same identity.
            known = self._attributes[id(value), name] = ir.Attribute(value, name)
        if name in _TELLING_ATTRIBUTES:
            self.scope.environment |= name != "__dict__"
            self.scope.lookups |= name == "__dict__"
        return known

    def _call(self, node: ast.Call) -> ir.Call:
        callee, scope = node.func, self.scope
        function: Expr
        if isinstance(callee, ast.Attribute):
            # The callee of `x.f()` is no property load worth following: the call itself is.
            function, name = self._attribute(callee), callee.attr
        else:
            function = self._link(callee)
            name = terminal_name(function) or ""
        read = self._held if name in _HOLDING else self.read
        call = ir.Call(
            function,
            tuple([read(argument) for argument in node.args]) if node.args else (),
            tuple([(word.arg, read(word.value)) for word in node.keywords]) if node.keywords else (),
            node.lineno,
        )
        given, optional = scope.here()
        loops = bool(scope.loops)
        site = ir.CallSite(call, scope.eager, None, loops, (), (), scope.context, given, optional)
        if "compile" in name:
            condition, call = condition_of(scope.conditions, node), compiled_where(call, scope.narrowed)
            call = compiled_if(call, scope.tests(), scope.bindings, scope.answered())
            site = replace(site, call=call, condition=condition, loops=tuple(scope.loops))
        elif name in _SWAPPERS and scope.narrowed:
            site = replace(site, narrowed=tuple(scope.tested_types()))
        scope.calls.append(site)
        if name in STORING:
            scope.stores += stores(call)
        return call

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Expr:
        scope = self.scope
        outside, depth, known = scope.within, len(scope.loops), len(scope.narrowed)
        lines = node.lineno, node.end_lineno or node.lineno
        scope.loop_lines.append(lines)
        for position, generator in enumerate(node.generators):
            iterable = self.read(generator.iter)
            if position == 0:  # all but the first iterable belong to the comprehension's own code
                scope.within = f"{outside}.<locals>.{_COMPREHENSIONS[type(node)]}"
                if not scope.eager:
                    scope.comprehensions[scope.qualname + scope.within, node.lineno] = None
            before = len(scope.bindings)
            self.bind_target(generator.target, ir.Element(iterable))
            scope.bindings[before:] = [replace(one, within=lines) for one in scope.bindings[before:]]
            for test in generator.ifs:
                self.read(test)
                self.establish(test)
            scope.loops.append(UNKNOWN if generator.ifs else iterable)
        if isinstance(node, ast.DictComp):
            self.read(node.key)
        result = self.read(node.value if isinstance(node, ast.DictComp) else node.elt)
        over = tuple(scope.loops[depth:])
        del scope.loops[depth:], scope.narrowed[known:]
        scope.within = outside
        return ir.Display("each", (result,), over=over)

    def _if_expression(self, node: ast.IfExp) -> Expr:
        truth = truth_when_compiling(node.test, self.scope.aliases)
        self.read(node.test)
        self.scope.conditions.append((node.test, True))
        self.scope.note_process_test(node.test, [node.body], holds=True)
        self.scope.note_process_test(node.test, [node.orelse], holds=False)
        depth = len(self.scope.narrowed)
        self.establish(node.test)
        body = self._maybe_eager(node.body, eager=truth is False)
        del self.scope.narrowed[depth:]
        self.scope.conditions[-1] = node.test, False
        self.establish(node.test, holds=False)
        orelse = self._maybe_eager(node.orelse, eager=truth is True)
        del self.scope.narrowed[depth:]
        self.scope.conditions.pop()
        if truth is not None:  # what is chosen in eager code alone is never traced
            return body if truth else orelse
        return self.scope.choice(node.test, body, orelse)

    def _bool_operation(self, node: ast.BoolOp) -> Expr:
        stops = isinstance(node.op, ast.Or)
        options, eager = [], False
        for value in node.values:
            options.append(self._maybe_eager(value, eager=eager))
            eager = eager or truth_when_compiling(value, self.scope.aliases) is stops
        return ir.Choice(tuple(options))

    def _maybe_eager(self, node: ast.expr, *, eager: bool) -> Expr:
        if not eager:
            return self._link(node)
        before, self.scope.eager = self.scope.eager, True
        result = self._link(node)
        self.scope.eager = before
        return result

    def _formatted(self, node: ast.JoinedStr) -> Expr:
        self._parts(node)
        return self._worded(node)

    def _worded(self, node: ast.expr) -> Expr:
        text = open_name(node)
        return UNKNOWN if text is None else ir.Call(ir.Attribute(ir.Constant(text), "format"))

    def _held(self, node: ast.expr) -> Expr:
        """The parts of a sum of module containers: `encoder + decoder` are lists there, and no numbers."""
        if isinstance(node, ast.Starred):
            return ir.Element(self._held(node.value))
        return self._binary(node, lists=True) if isinstance(node, ast.BinOp) else self.read(node)

    def _binary(self, node: ast.BinOp, *, lists: bool = False) -> Expr:
        # A loop, not recursion: sums of a thousand terms lean left.
        operands, operators = [node.right], [node.op]
        left = node.left
        while isinstance(left, ast.BinOp):
            operands.append(left.right)
            operators.append(left.op)
            left = left.left
        parts = [self.read(operand) for operand in (left, *reversed(operands))]
        return of_operands(parts, operators, lists=lists) or self._worded(node)


_READERS: dict[type[ast.AST], Callable[[ExpressionLowering, Any], Expr]] = {
    ast.Attribute: ExpressionLowering._read_attribute,
    ast.Call: ExpressionLowering._call,
    ast.Constant: ExpressionLowering._constant,
    ast.Compare: ExpressionLowering._compare,
    ast.Subscript: ExpressionLowering._subscript,
    ast.List: ExpressionLowering._display,
    ast.Tuple: ExpressionLowering._display,
    ast.Set: ExpressionLowering._display,
    ast.Dict: ExpressionLowering._dict,
    **dict.fromkeys(_COMPREHENSIONS, ExpressionLowering._comprehension),
    ast.IfExp: ExpressionLowering._if_expression,
    ast.BoolOp: ExpressionLowering._bool_operation,
    ast.BinOp: ExpressionLowering._binary,
    ast.UnaryOp: ExpressionLowering._unary,
    ast.JoinedStr: ExpressionLowering._formatted,
    ast.NamedExpr: ExpressionLowering._named,
    ast.Lambda: ExpressionLowering._lambda,
    ast.Starred: lambda self, node: ir.Element(self.read(node.value)),
    ast.Await: lambda self, node: self.read(node.value),
    ast.Yield: ExpressionLowering._yield,
    ast.YieldFrom: ExpressionLowering._yield_from,
}
"""By type of node, because trying one pattern after the other takes twice as long; all others have parts."""


def terminal_name(expression: Expr) -> str | None:
    """`compile` for `torch.compile`, for `compile` and for `torch.compile(...)`."""
    while isinstance(expression, ir.Call):
        expression = expression.function
    if isinstance(expression, ir.Attribute):
        return expression.name
    return expression.id if isinstance(expression, ir.Name) else None


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def literal_of(node: ast.expr) -> object:
    """The Python value of a literal; `...` for anything that is not one."""
    match node:
        case ast.Constant(value=str() | bytes() | int() | float() | None as value):
            return ... if isinstance(value, int) and value >= LARGEST else value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = literal_of(operand)
            return -inner if isinstance(inner, int | float) else ...
        case _:
            return ...


def as_fact(node: ast.expr, links: int = MOST_LINKS) -> Expr:
    """An expression in the index's language, as far as it names an object that not too many links lead to."""
    if not links:
        return ir.UNKNOWN
    match node:
        case ast.Name(id=name):
            return ir.Name(name)
        case ast.Attribute(value=value, attr=attr):
            return ir.Attribute(as_fact(value, links - 1), attr)
        case ast.Call():
            return call_as_fact(node, links)
        case ast.Subscript(value=value, slice=index):
            return ir.Subscript(as_fact(value, links - 1), as_fact(index))
        case ast.Starred(value=value):
            return ir.Element(as_fact(value))
        case ast.Constant():
            literal = literal_of(node)
            return ir.Constant(literal) if isinstance(literal, str | int | float | None) else ir.UNKNOWN
        case _:
            return ir.UNKNOWN


def call_as_fact(node: ast.Call, links: int = MOST_LINKS) -> ir.Call:
    """A call in the index's language."""
    return ir.Call(
        as_fact(node.func, links - 1),
        tuple(as_fact(argument) for argument in node.args),
        tuple((keyword.arg, as_fact(keyword.value)) for keyword in node.keywords),
        node.lineno,
    )
