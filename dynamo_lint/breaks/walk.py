"""One walk over the statements of a function: the values of its names, and the lines at which the graph ends.

A branch that a constant rules out is not run, and what stands behind one that may have left no longer
certainly runs.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce

from dynamo_lint import knowledge
from dynamo_lint.breaks.interpreter import (
    ALWAYS,
    RARELY,
    Given,
    Interpreter,
    Path,
    Place,
    Reading,
    Spot,
    bound,
    is_constructor,
)
from dynamo_lint.breaks.values import (
    BOTH,
    MISSING,
    NONE,
    TENSOR,
    UNKNOWN,
    EvaluatedCall,
    Truth,
    Value,
    arithmetic,
    asked,
    attribute_of_tensor,
    compared,
    computed,
    element,
    has_unknown_size,
    holds_tensor,
    join_unknown,
    joined,
    literal,
    merged,
    of_builtin,
    of_library,
    of_method,
    repeats,
    tested,
)
from dynamo_lint.index import ir
from dynamo_lint.index.conditions import truth_when_compiling
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.lower import as_fact
from dynamo_lint.index.spelling import spelled
from dynamo_lint.index.truths import only_tested
from dynamo_lint.index.walking import nodes
from dynamo_lint.models import tensor_results as results
from dynamo_lint.models.graph_breaks import FULLGRAPH, Row
from dynamo_lint.program.forward import FUNCTION, RAISE, Forward
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef, Node, Position
from dynamo_lint.regions.model import CallEdge
from dynamo_lint.values.model import Context, Instance
from dynamo_lint.values.points_to import evaluate

_LONGEST = 60
"""Characters of an expression that are shown."""
_DISABLE = knowledge.names("disable")
_SETTING = "DYN508"
"""The rule about settings that compiled code changes, where the whole frame is lost for it."""
_WORTH = 2
"""Operations that make a graph worth compiling (torch/_dynamo/symbolic_convert.py, `is_non_empty_graph`)."""
_FEW = 8
"""Values for each of which code may be compiled: Dynamo's default recompile limit."""
_FAILURES = ("ImportError", "ModuleNotFoundError", "Exception")
_LOOKUPS = frozenset({"getattr", "setattr", "hasattr", "delattr"})
_LAZY = "functools.cached_property"
_CACHES = frozenset({"functools.lru_cache", "functools.cache"})
_CONVERSIONS = frozenset({"int", "float", "bool", "str", "repr", "range", "complex"})
_VOUCHING = knowledge.names("vouches")
_ASKING = frozenset({"item", "tolist"})
_OF_CONTAINERS = frozenset({"keys", "items", "values", "get", "append", "extend", "pop", "update"})
_GRADIENT = "torch.autograd.grad"
_COLLECTIVES = "torch.distributed."


def _read(nodes: Iterable[ast.AST], after: int = 0) -> set[str]:
    """The names that code reads, in lines after some line."""
    found = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))
    return {one.id for one in found if isinstance(one.ctx, ast.Load) and one.lineno > after}


def run(interpreter: Interpreter, reading: Reading, body: Sequence[ast.stmt]) -> None:
    """Run the statements of a function, and fill in its reading."""
    walk = _Walk(interpreter, reading, body)
    walk.block(body)
    for call in walk.unspelled:
        walk.follow(call, RARELY)
    reading.returned = joined(walk.returned)
    reading.names = walk.names


class _Walk(Forward[dict[str, Value], Truth]):
    """One walk, whose state are the values of the names."""

    def __init__(self, interpreter: Interpreter, reading: Reading, body: Sequence[ast.stmt]) -> None:
        super().__init__()
        self.interpreter, self.reading = interpreter, reading
        self.project, self.table = interpreter.project, interpreter.table
        self.off = interpreter.off.get(reading.node, frozenset())
        self.captures = not self.off.isdisjoint({"scalars", FULLGRAPH})
        """A number out of a tensor is part of the graph."""
        self.checked: set[Position] = set()
        """Where numbers are taken out of tensors that code vouches for."""
        self.where, self.receiver = reading.node
        self.own = self.project.self_name(self.where)
        self.path, self.held, self.looping = ALWAYS, False, False
        self.operations = self.settled = 0
        """Operations on tensors that have run so far, and before the last line that Dynamo can go on from."""
        self.naming = False
        """The name of an attribute is made, which `dynamic-attribute-lookup` reports."""
        self.kept: ast.expr | None = None
        """The expression whose value becomes an attribute, which `lazy-attribute` reports."""
        self.unused: ast.expr | None = None
        """The expression of a statement whose value nobody gets."""
        self.returned: list[Value] = []
        function = self.project.function(self.where)
        self.body = body
        self.tested = frozenset(map(id, only_tested(body)))
        """The expressions of which nothing is asked but whether they are true."""
        self.names = self._parameters(function, body)
        self.direct: dict[Place, list[CallEdge]] = defaultdict(list)
        self.unspelled = [call for call in interpreter.calls.get(reading.node, ()) if call.callee is None]
        """Calls that no expression spells: properties, operators, callbacks."""
        for call in interpreter.calls.get(reading.node, ()):
            if call.callee is not None:
                self.direct[call.line, call.callee].append(call)

    def _parameters(self, function: ir.Function, body: Sequence[ast.stmt]) -> dict[str, Value]:
        given = dict(self.reading.given)
        tensors = self.interpreter.tensors.get(self.reading.node)
        if tensors is None:
            tensors = results.tensor_parameters(self.project, self.where, self.receiver)
            tensors = self.interpreter.tensors[self.reading.node] = tensors and tensors - {*_containers(body)}
        presumed = results.presumed_tensors(self.project, self.where, self.receiver)
        found = {}
        for parameter in function.parameters:
            name = parameter.name
            if name == self.own:
                continue
            known = given.get(name, UNKNOWN)
            if known.kind and (name not in tensors or known != NONE):
                found[name] = known  # whatever an annotation says
            else:
                tensor = replace(TENSOR, argument=self.reading.entered, asked=presumed & {name})
                found[name] = tensor if name in tensors else Value(asked=frozenset({name}))
        return found

    # --- statements ---------------------------------------------------------------------------------------

    def fork(self) -> dict[str, Value]:
        """Return a copy of the names."""
        return dict(self.names)

    def restore(self, state: dict[str, Value]) -> None:
        """Go on with other names."""
        self.names = state

    def join(self, test: Truth, ways: Sequence[dict[str, Value]]) -> dict[str, Value]:
        """Return the names where ways meet, each of which is taken in some calls if the test tells so."""
        return reduce(lambda one, other: merged(one, other, test == BOTH), ways)

    def decided(self, test: Truth) -> bool | None:
        """Return how a test comes out in every call; None if that is not known, or differs."""
        return True in test if test is not None and len(test) == 1 else None

    @contextmanager
    def supposing(self, test: Truth, outcome: bool) -> Iterator[None]:
        """Run what is inside as surely as its test comes out so."""
        with self.on(self.path.after(Path(True, False) if test == BOTH else RARELY)):
            yield

    @contextmanager
    def on(self, path: Path) -> Iterator[None]:
        """Run what is inside as surely as a path is taken."""
        before, self.path = self.path, path
        yield
        self.path = before

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Run statements until control leaves."""
        with self.on(self.path):
            super().block(body)

    def statement(self, node: ast.stmt) -> None:
        """Run one statement; where control may have left, what comes behind it no longer certainly runs."""
        if not self.held:
            self.settled = self.operations
        exits, self.exits = self.exits, frozenset()
        super().statement(node)
        if not self.exits <= {RAISE}:  # a call that raises is no call that goes on
            self.path = self.path.after(RARELY)
        self.exits |= exits

    def returns(self, value: ast.expr | None) -> None:
        """Keep what is returned."""
        self.returned.append(self.value(value))
        for call in self._escaping(self.returned[-1]):
            self.note("gradient", call)

    def rounds(self, node: ast.For | ast.AsyncFor | ast.While) -> Iterator[None]:
        """Run the head of a loop; yield where its first round starts: what breaks in it breaks."""
        if isinstance(node, ast.While):
            certain = isinstance(node.test, ast.Constant)
            return iter(()) if self.test(node.test) == frozenset({False}) else self._round(certain)
        over = self.value(node.iter)
        if over.kind in {"list", "tuple"} and over.items == ():
            return iter(())
        self._bind(node.target, element(over))
        return self._round(repeats(over))

    def _round(self, certain: bool) -> Iterator[None]:
        before = self.path, self.held, self.looping
        path = self.path if certain else self.path.after(Path(False, True))
        self.path, self.held, self.looping = path, True, True
        yield
        self.path, self.held, self.looping = before

    @contextmanager
    def entering(self, items: list[ast.withitem]) -> Iterator[None]:
        """Enter context managers."""
        held = self.held
        for item in items:
            self.held = self._enter(item) or self.held
        yield
        self.held = held

    @contextmanager
    def trying(self, node: ast.Try) -> Iterator[None]:
        """Run the body of a `try`, in which Dynamo cannot go on after a break."""
        held, self.held = self.held, True
        if any(h.type is None or _mentions(h.type, _FAILURES) for h in node.handlers):
            self._import(node.body)
        yield
        self.held = held

    def handle(self, handlers: list[ast.ExceptHandler], before: dict[str, Value]) -> None:
        """Take what a handler binds for unknown: it may have run, and control may go on behind it."""
        for handler in handlers:
            for name in _bound(handler.body):
                self.names[name] = join_unknown(self.names.get(name))
        if self.ended and handlers:
            self.ended, self.exits = False, self.exits | {FUNCTION}

    def assign(self, targets: list[ast.expr], value: ast.expr, node: ast.stmt) -> None:
        """Bind the value of an expression."""
        self.kept = value if any(self._is_own(target) for target in targets) else None
        result = self.value(value)
        for target in targets:
            self._bind(target, result)

    def augment(self, node: ast.AugAssign) -> None:
        """Bind the outcome of arithmetic."""
        result = self._arithmetic(node, self.value(node.target), node.op, self.value(node.value))
        self._bind(node.target, result)

    def evaluate(self, node: ast.expr) -> None:
        """Evaluate an expression whose value nobody gets."""
        self.unused = node
        self.value(node)
        self.unused = None

    def check(self, node: ast.Assert) -> None:
        """Run an `assert`: with a message that is no literal, it is a branch."""
        value = self.value(node.test)
        self.checked |= {*value.taken}
        if value.kind == "tensor" and node.msg is not None and not isinstance(node.msg, ast.Constant):
            self.note("branch", node.test)

    def delete(self, targets: list[ast.expr]) -> None:
        """Forget names."""
        for target in targets:
            if isinstance(target, ast.Name):
                self.names.pop(target.id, None)

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Forget what a name was bound to; a class in a compiled function ends the graph."""
        self.names.pop(node.name, None)
        if isinstance(node, ast.ClassDef) and self.where.key != MODULE_KEY:
            unused = None if node.name in _read(self.body) else "break"
            self.note("class", node, "eager" if self.looping else unused)
            self.names[node.name] = Value("class")

    def _escaping(self, value: Value) -> Iterator[ast.expr]:
        """The calls that made something need a gradient which a compiled function returns."""
        if self.reading.entered:
            yield from value.made
            for item in value.items or ():
                yield from self._escaping(item)

    def _import(self, body: list[ast.stmt]) -> None:
        for statement in body:
            names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
            if isinstance(statement, ast.ImportFrom) and not statement.level:
                names = [statement.module or ""]
            for name in names:
                root = name.partition(".")[0]
                if root not in {*sys.stdlib_module_names, "torch"} and not self.project.find_module(
                    root, self.where.path
                ):
                    with self.on(RARELY):
                        self.note("package", statement)

    def _enter(self, item: ast.withitem) -> bool:
        """Enter a context manager; whether Dynamo cannot go on after a break inside of it."""
        entered = item.context_expr
        called = entered.func if isinstance(entered, ast.Call) else entered
        dotted = self.symbol(called)
        value = UNKNOWN if dotted in self.table.managers else self.value(entered)
        row = self.table.managers.get(dotted or value.dotted)
        if row is not None and row.code == _SETTING and self.settled:
            self.note("setting", entered)  # what stands before it makes a graph
        elif row is not None:
            self.record(row, entered)
        if item.optional_vars is not None:
            self._bind(item.optional_vars, UNKNOWN)
        return (dotted or value.dotted) not in self.table.traced

    # --- binding ------------------------------------------------------------------------------------------

    def _bind(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(name):
                self.names[name] = value
            case ast.Tuple(parts) | ast.List(parts):
                items = value.items if value.items is not None and len(value.items) == len(parts) else None
                each = element(value)
                for number, part in enumerate(parts):
                    inner = part.value if isinstance(part, ast.Starred) else part
                    self._bind(inner, items[number] if items is not None else each)
            case ast.Attribute(ast.Name(name), attribute) if name == self.own:
                known = self.reading.stored.get(attribute)
                self.reading.stored[attribute] = value if known is None else joined([known, value])
            case ast.Attribute(owner, attribute):
                held = self.value(owner).kind == "tensor"
                if held and attribute == "requires_grad" and value.constant is not False:
                    self.note("gradient", target)
                if held and attribute == "data" and value.cast:
                    self.note("storage", target)
            case ast.Subscript(owner, index):
                base = self.value(owner)
                picked = self.value(index)
                self._keyed(index, picked)
                if base.kind == "tensor" and picked.scalar and picked.argument and picked.dtype != "bool":
                    self.note("index", target)

    def _is_own(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Attribute) and _mentions(target.value, (self.own or "",))

    # --- expressions --------------------------------------------------------------------------------------

    def record(self, row: Row, node: ast.AST) -> None:
        """Note that the graph breaks at a line."""
        row = self.table.current(row)
        if not self.table.applies(row, self.off) or (self.naming and row.code in {"DYN402", "DYN409"}):
            return
        text = spelled(node).split("\n")[0]
        shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        # Dynamo compiles what stands before a line that it cannot go on behind, if that is worth it.
        whole = row.final or self.settled < _WORTH
        self.reading.spots.append(Spot(row, position_of(node), shown, self.held, self.path, whole))

    def note(self, kind: str, node: ast.AST, effect: str | None = None) -> None:
        """Note a break of one of the kinds that the table names."""
        row = self.table.named[kind]
        self.record(row if effect is None else replace(row, effect=effect, release=""), node)

    def symbol(self, node: ast.expr) -> str:
        """The dotted name of a symbol outside the project; empty for anything else."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return ""
        held = self.names.get(root.id)
        if held is not None and held.kind != "symbol":
            return ""
        return self.interpreter.symbol(as_fact(node), self.where)

    def test(self, node: ast.expr) -> Truth:
        """Run a test and say whether it holds; one on a tensor breaks the graph."""
        known = truth_when_compiling(node, {})
        if known is not None:
            return frozenset({known})
        match node:
            case ast.UnaryOp(ast.Not(), operand):
                inner = self.test(operand)
                return inner and frozenset(not one for one in inner)
            case ast.BoolOp(op, parts):
                return self._joined(parts, isinstance(op, ast.Or))
        value = self.value(node)
        self.reading.asked |= value.asked
        if value.kind == "tensor":
            with self.on(self.path.after(Path(True, not value.at_times))):
                self.note("branch", node)
            return BOTH
        self._decide(value, node)
        return value.truth

    def _decide(self, value: Value, node: ast.AST) -> None:
        """Code needs the number itself, which the graph that has it does not know."""
        number = value.kind in {"int", "float", "bool"} and value.constant is MISSING
        if self.captures and number and not self.checked.issuperset(value.taken):
            self.note("decision", node)

    def _joined(self, parts: list[ast.expr], settling: bool) -> Truth:
        """`a or b`, settled by what holds, and `a and b`: the rest runs where the first settles nothing."""
        truths: list[Truth] = []
        with self.on(self.path):
            for part in parts:
                truths.append(self.test(part))
                if truths[-1] == frozenset({settling}):
                    break
                if truths[-1] is None:
                    self.path = self.path.after(RARELY)
                elif len(truths[-1]) > 1:
                    self.path = self.path.after(Path(True, False))
        if frozenset({settling}) in truths:
            return frozenset({settling})
        if None in truths:
            return None
        some = any(settling in truth for truth in truths if truth is not None)
        return frozenset({settling, not settling}) if some else frozenset({not settling})

    def value(self, node: ast.expr | None) -> Value:
        """Evaluate an expression as it runs."""
        found = self._value(node)
        if found.kind == "tensor" and isinstance(node, ast.Call | ast.BinOp | ast.Subscript | ast.Compare):
            self.operations += 1
        return found

    def _value(self, node: ast.expr | None) -> Value:
        match node:
            case None | ast.Lambda():
                return UNKNOWN
            case ast.Constant(constant):
                return literal(constant)
            case ast.Name(name):
                return self._name(name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left, op, right):
                return self._arithmetic(node, self.value(left), op, self.value(right))
            case ast.UnaryOp(ast.Not(), operand):
                inner = self.value(operand)
                if inner.kind == "tensor":
                    self.note("branch", node, "eager")
                known = inner.truth
                return literal(True not in known) if known is not None and len(known) == 1 else Value("bool")
            case ast.UnaryOp(op, operand):
                inner = self.value(operand)
                if isinstance(op, ast.USub) and isinstance(inner.constant, int | float):
                    return literal(-inner.constant)
                return computed([inner])
            case ast.Compare(left, operators, others):
                return self._compare(node, [self.value(one) for one in (left, *others)], operators)
            case ast.BoolOp(op, parts):
                return self._either(op, parts)
            case ast.IfExp(test, body, orelse):
                return self._choice(self.test(test), body, orelse)
            case ast.JoinedStr(parts):
                return self._text(node, parts)
            case ast.Tuple(items) | ast.List(items) | ast.Set(items):
                kind = type(node).__name__.lower()
                values = tuple(self.value(item) for item in items)
                return Value(kind, items=None if any(isinstance(i, ast.Starred) for i in items) else values)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.NamedExpr(ast.Name(name), inner):
                self.names[name] = self.value(inner)
                return self.names[name]
            case ast.Dict(keys, entries):
                for key, entry in zip(keys, entries, strict=True):
                    if key is not None:
                        self._keyed(key, self.value(key))
                    self.value(entry)
                return Value("dict")
            case ast.Starred(inner) | ast.Await(inner) | ast.YieldFrom(inner):
                self.value(inner)
            case ast.Yield(inner):
                self.value(inner)
            case ast.Slice(lower, upper, step):
                bounds = [self.value(part) for part in (lower, upper, step)]
                return Value("slice", items=tuple(bounds), asked=asked(bounds))
        return UNKNOWN

    def _name(self, name: str) -> Value:
        held = self.names.get(name)
        if held is not None:
            return held
        if name == self.own and self.receiver is not None:
            return self._instance(self.receiver)
        symbols = self.project.symbols(ir.Name(name), self.where.path, self.where.key)
        match symbols:
            case (ExternalSymbol(dotted),):
                return Value("symbol", dotted=dotted)
            case (FunctionRef() as ref,):
                return Value("function", ref=ref)
            case (ClassRef() as ref,):
                return Value("class", ref=ref)
        if self.where.key == MODULE_KEY or self.project.home_of(name, self.where).key != MODULE_KEY:
            return UNKNOWN
        return self.interpreter.of_file(self.where.path, name)

    def _attribute(self, node: ast.Attribute) -> Value:
        self._run_unspelled(node)
        dotted = self.symbol(node)
        if dotted:
            return Value("symbol", dotted=dotted)
        return self._attribute_of(self.value(node.value), node)

    def _attribute_of(self, base: Value, node: ast.Attribute) -> Value:
        name = node.attr
        if isinstance(node.value, ast.Name) and node.value.id == self.own and self.receiver is not None:
            stored = self.reading.stored.get(name)
            if stored is not None:
                return stored
            self._asked(self.receiver, node)
            if name == "training":
                return Value("bool", at_times=True)
            return self._of_module(self.receiver, name)
        if base.kind == "tensor":
            return attribute_of_tensor(base, name)
        if not base.kind and name in results.TENSOR_ONLY_ATTRIBUTES:
            return attribute_of_tensor(TENSOR, name)
        if base.kind == "object" and isinstance(base.ref, ClassRef):
            self._asked(base.ref, node)
            if self._answers_itself(base.ref):
                self.note("protocol", node, "eager")
            return self._of_module(base.ref, name)
        match node.value:
            case ast.Attribute(ast.Name(owner), attribute) if owner == self.own:
                holder = ir.Attribute(ir.Name(owner), attribute)
                return self.interpreter.configured(holder, name, Context(self.where, self.receiver))
        return Value(asked=base.asked)

    def _of_module(self, owner: ClassRef, name: str) -> Value:
        """An attribute of an instance of a project class."""
        found = self.interpreter.attribute(owner, name)
        if found.kind:
            return found
        values = evaluate(
            self.project, ir.Attribute(ir.Name(self.own or ""), name), Context(self.where, owner)
        )
        for value in values if self.own else ():
            if isinstance(value, Instance) and self.project.is_module(value.ref):
                return Value("module", ref=value.ref)
            if getattr(value, "kind", "") in {"list", "each", "dict", "sequential"}:
                return Value("modules")
        return found

    def _outlives(self, node: ast.Call) -> bool:
        """Whether torch gives the function up for a gradient: one by what it computed, or still needs."""
        if not self.table.has("gradients-of-kept-tensors-end-the-function"):
            return False
        given = {parameter.name for parameter in self.project.function(self.where).parameters}
        made = {name for name, value in self.names.items() if value.kind in {"", "tensor"}} - given
        inputs = [*node.args[1:2], *(one.value for one in node.keywords if one.arg == "inputs")]
        kept = _read([node]) & _read(self.body, after=node.end_lineno or node.lineno)
        return bool(made & (_read(inputs) | kept))

    def _asked(self, owner: ClassRef, node: ast.AST) -> None:
        """Ask an instance for an attribute: a class of the project may answer in a way of its own."""
        if self.project.method(owner, "__getattribute__") is None:
            return
        if not self.table.has("getattribute-is-traced"):
            self.note("protocol", node)

    def _answers_itself(self, owner: ClassRef) -> bool:
        """`__getattr__ = dict.__getitem__`: what looks an attribute up is no function of Python."""
        _, given = self.project.member(owner, "__getattr__")
        return any(isinstance(one, ir.Attribute | ir.Name) for one in given)

    def _subscript(self, node: ast.Subscript) -> Value:
        base, index = self.value(node.value), self.value(node.slice)
        parts = index.items if index.kind == "tuple" and index.items is not None else (index,)
        if base.kind == "tensor" or (not base.kind and any(part.kind == "bool" for part in parts)):
            self.reading.asked |= base.asked | asked(part for part in parts if part.kind in {"", "bool"})
        if base.kind == "tensor":
            for part in parts:
                bounds = part.items if part.kind == "slice" and part.items is not None else ()
                if part.kind == "tensor" and part.dtype == "bool":
                    self.note("mask", node)
                elif part.kind == "tensor" and part.scalar and part.dtype in {"int", ""}:
                    self.note("index" if part.argument else "scalar", node)
                elif any(one.kind == "tensor" for one in bounds):
                    self.note("index", node)
                self.reading.asked |= asked(bounds) if part.kind == "slice" else frozenset()
            return replace(TENSOR, dtype=base.dtype, made=base.made)
        if index.kind == "tensor" and base.kind in {"list", "tuple", "modules"}:
            self.note("scalar", node)
        if base.kind in {"list", "tuple", "modules", "dict"}:
            self._decide(index, node)
        items = base.items if base.items is not None and base.kind in {"list", "tuple"} else ()
        if isinstance(index.constant, int) and -len(items) <= index.constant < len(items):
            return items[index.constant]
        if base.kind == "sizes":
            return Value("sizes") if index.kind == "slice" else Value("int")
        return element(base) if base.kind in {"list", "tuple", "modules"} else Value(asked=base.asked)

    def _arithmetic(self, node: ast.AST, left: Value, op: ast.operator, right: Value) -> Value:
        if isinstance(op, ast.Mod) and left.kind == "str":
            for one in right.items or (right,):
                self._formatted(one, "percent", node)
            return Value("str")
        if isinstance(op, ast.Mult) and "list" in {left.kind, right.kind}:
            for one in (left, right):
                if one.kind == "tensor":
                    self.note("scalar", node)
                self._counted(one)
            return Value("list")
        if left.kind == right.kind and left.kind in {"list", "tuple", "str", "sizes"}:
            return Value(left.kind)
        return arithmetic(left, op, right)

    def _formatted(self, value: Value, kind: str, node: ast.AST) -> None:
        if value.changes and value.kind in {"int", "float"}:
            self.note(kind, node)

    def _text(self, node: ast.JoinedStr, parts: list[ast.expr]) -> Value:
        places = [part for part in parts if isinstance(part, ast.FormattedValue)]
        inside = [self.value(part.value) for part in places]
        for value, part in zip(inside, places, strict=True):
            self._formatted(value, "text with a format" if part.format_spec else "text", node)
        taken = tuple(place for value in inside for place in value.taken)
        if len(parts) > 1:
            self._spelt(node, "text", taken)
        return Value("str", taken=taken)

    def _spelt(self, node: ast.AST, kind: str, taken: tuple[Position, ...]) -> None:
        """A text is made of numbers that breaks gave: Dynamo compiles again for any number, and cannot.

        A message, and a line that gives the number itself, are told by themselves. A graph stands before it.
        """
        if taken and self.unused is None and all(one.line != position_of(node).line for one in taken):
            self.settled = max(self.settled, _WORTH)
            self.note(kind, node, "break")

    def _keyed(self, node: ast.expr, value: Value) -> None:
        """A text of a number that a break gives becomes a key: each one is compiled anew."""
        match node:
            case ast.JoinedStr([_]) | ast.Call(ast.Name("str")):
                self._counted(value)

    def _counted(self, value: Value) -> None:
        """A number that a break gives says how often something happens: each one is compiled anew."""
        for place in value.taken:
            self.reading.spots = [
                replace(spot, row=replace(spot.row, effect="storm"))
                if spot.position == place and spot.row.code in {"DYN401", "DYN402"}
                else spot
                for spot in self.reading.spots
            ]

    def _compare(self, node: ast.Compare, values: list[Value], operators: list[ast.cmpop]) -> Value:
        numbers = {"int", "float", "tensor"}
        if (
            isinstance(operators[0], ast.In | ast.NotIn)
            and values[-1].kind == "tensor"
            and values[0].kind in numbers
        ):
            self.note("scalar", node, "eager")
        found = compared(values, operators)
        if self.captures and found.kind == "bool":  # else a break has made numbers of them
            found = replace(found, taken=tuple(place for one in values for place in one.taken))
        return found

    def _either(self, op: ast.boolop, parts: list[ast.expr]) -> Value:
        """`a or b` as a value: all but the last are tested."""
        values: list[Value] = []
        with self.on(self.path):
            for part in parts[:-1]:
                known = truth_when_compiling(part, {})
                value = self.value(part) if known is None else literal(known)
                if value.kind == "tensor":
                    self.note("branch", part)
                self._decide(value, part)
                truth = value.truth
                if truth == frozenset({isinstance(op, ast.Or)}):
                    return joined([*values, value])
                self.path = self.path.after(RARELY if truth is None or value.kind == "tensor" else ALWAYS)
                if truth is None or len(truth) > 1:
                    values.append(value)
            values.append(self.value(parts[-1]))
        return joined(values)

    def _choice(self, known: Truth, body: ast.expr, orelse: ast.expr) -> Value:
        if known is not None and len(known) == 1:
            return self.value(body if True in known else orelse)
        with self.supposing(known, True):
            return joined([self.value(body), self.value(orelse)])

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        path, held, names = self.path, self.held, dict(self.names)
        for part in node.generators:
            over = self.value(part.iter)
            self._bind(part.target, element(over))
            # Dynamo goes on after a break in a comprehension, unless it runs over modules.
            held = over.kind == "modules" and self.table.has("comprehensions-over-modules-end-the-function")
            self.held = self.held or held or isinstance(node, ast.GeneratorExp)
            certain = repeats(over) and not part.ifs
            self.path = self.path.after(ALWAYS if certain else Path(False, not part.ifs))
            for condition in part.ifs:
                self.test(condition)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        values = [self.value(one) for one in parts]
        self.path, self.held, self.names = path, held, names
        kind = "dict" if isinstance(node, ast.DictComp) else "list"
        return Value(kind, items=None, dtype="tensor" if values[-1].kind == "tensor" else "")

    # --- calls --------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        self._run_unspelled(node)
        naming = self.naming
        self.naming = naming or (callee_name(node.func) in _LOOKUPS and isinstance(node.func, ast.Name))
        values = tuple([self.value(argument) for argument in node.args])
        self.naming = naming
        words = {keyword.arg or "**": self.value(keyword.value) for keyword in node.keywords}
        place = node.lineno, callee_name(node.func)
        if self.path.certain:
            self.reading.calls[place] = self.reading.calls.get(place, False) or self.held
        made = EvaluatedCall(node, values, words)
        if not made.spread:
            self.reading.passed[place] = values, words
        dotted = self.symbol(node.func)
        found = self._external(made, dotted) if dotted else self._on_value(made)
        targets = self.direct.get(place, [])
        return joined(self._follow(made, call) for call in targets) if targets else found

    def _run_unspelled(self, node: ast.Attribute | ast.Call) -> None:
        """Run what an expression calls without spelling it: a property by its name, others by their line."""
        for call in tuple(self.unspelled):
            name = call.target.function.key.rpartition(".")[2]
            if not (node.attr == name if isinstance(node, ast.Attribute) else call.line == node.lineno):
                continue
            self.unspelled.remove(call)
            handed = isinstance(node, ast.Attribute) or _hands_over(node, name)
            lazy = _LAZY in self._marks(call.target.function)
            if lazy and isinstance(node, ast.Attribute) and not self._is_touched(node.attr):
                self.note("cached", node)
            # A hook runs on the modules that somebody put it on, which need not be those of this call.
            self.follow(call, self.path if handed else self.path.after(RARELY))

    def follow(self, call: CallEdge, path: Path) -> None:
        """Go on into a function of whose arguments nothing is known."""
        if not call.disabled:
            self.reading.followed.append((self.interpreter.read(call.target, ()), path))

    def _marks(self, where: FunctionRef | ClassRef) -> set[str]:
        """The dotted names of the decorators of a function or class, as far as they are of libraries."""
        project = self.project
        definition = project.class_(where) if isinstance(where, ClassRef) else project.function(where)
        home = FunctionRef(where.path, definition.outer or MODULE_KEY)
        return {self.interpreter.symbol(_callee(one), home) for one in definition.decorators}

    def _is_touched(self, name: str) -> bool:
        """Some code that is not compiled asks for the property, which is then in place."""
        return any(
            load.name == name
            for ref in self.project.functions()
            if ref not in self.interpreter.hot
            for load in self.project.function(ref).loads
        )

    def _follow(self, made: EvaluatedCall, call: CallEdge) -> Value:
        node, target = made.node, call.target
        if call.disabled:
            if not self.interpreter.is_documented(target.function):
                # All of a class that a decorator disables runs eagerly by design.
                owner = self.project.owner(target.function)
                whole = owner is not None and not _DISABLE.isdisjoint(self._marks(owner))
                self.note("disabled class" if whole else "island", node)
            return UNKNOWN
        function = self.project.function(target.function)
        for one in function.decorators:
            outer = FunctionRef(target.function.path, function.outer or MODULE_KEY)
            if isinstance(one, ir.Call) and self.interpreter.symbol(one.function, outer) in _DISABLE:
                # With `recursive=False` it runs eagerly itself, and what it calls is compiled.
                self.note("documented" if self.interpreter.is_documented(target.function) else "island", node)
            if self._decorates_by_manager(one, target.function):
                self.note("decorating manager", node)
        reading = self.interpreter.read(target, self._given(made, target))
        self.reading.followed.append((reading, self.path))
        # A constructor gives the object, whatever its code returns.
        if is_constructor(target.function) and target.receiver is not None:
            return self._instance(target.receiver)
        return reading.returned

    def _decorates_by_manager(self, decorator: ir.Expr, where: FunctionRef) -> bool:
        outer = self.project.function(where).outer or MODULE_KEY
        return any(
            isinstance(one, ClassRef) and "contextlib.ContextDecorator" in self.project.external_bases(one)
            for one in self.project.symbols(_callee(decorator), where.path, outer)
        )

    def _given(self, made: EvaluatedCall, target: Node) -> Given:
        """The values of the parameters, where the call tells them."""
        function = self.project.function(target.function)
        return () if made.spread else bound(self.project, function, target, made.values, made.words)

    def _on_value(self, made: EvaluatedCall) -> Value:
        """A call of something that is held: a module, a method of an object or a tensor."""
        node = made.node
        if isinstance(node.func, ast.Call) and self.symbol(node.func.func) in _DISABLE:
            self.note("island", node)
            return UNKNOWN
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in {"register_buffer", "register_parameter"} and len(node.args) > 1:
                self._register(node.args[0], made.values[1])
            receiver = self.value(node.func.value)
            if receiver.kind in {"module", "object"} and isinstance(receiver.ref, ClassRef):
                held = self._attribute_of(receiver, node.func)
                if held.kind == "module":
                    self._suspect("hooked", node, self.interpreter.setup.hook(receiver.ref, node.func.attr))
                    return self._module(node, held)
            return self._method(made, receiver, node.func.attr)
        callee = self.value(node.func)
        if callee.kind == "class" and isinstance(callee.ref, ClassRef):
            return self._constructed(made, callee.ref)
        return self._module(node, callee) if callee.kind == "module" else UNKNOWN

    def _register(self, name: ast.expr, value: Value) -> None:
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            tensor = TENSOR if not value.kind else value
            self.reading.stored[name.value] = tensor

    def _module(self, node: ast.Call, callee: Value) -> Value:
        row = self.table.modules.get(callee.dotted)
        if row is not None:
            self.record(row, node)
        name = callee.dotted.rpartition(".")[2]
        plain = callee.dotted.startswith("torch.nn.") and name not in results.TUPLE_MODULES
        return TENSOR if plain else UNKNOWN

    def _constructed(self, made: EvaluatedCall, ref: ClassRef) -> Value:
        found = self._instance(ref)
        if found.kind == "module" and (made.node is not self.kept or self.reading.building):
            init = self.project.method(ref, "__init__")
            given = self._given(made, Node(init, ref)) if init is not None else ()
            if self.interpreter.builds(ref, given):
                self.note("parts", made.node)
        if found.kind == "object" and self.project.method(ref, "__getattribute__") is not None:
            self.note("protocol", made.node)
        return found

    def _instance(self, ref: ClassRef) -> Value:
        return Value("module" if self.project.is_module(ref) else "object", ref=ref)

    def _method(self, made: EvaluatedCall, receiver: Value, name: str) -> Value:
        node, tensor = made.node, receiver.kind == "tensor"
        if not receiver.kind and not self.direct.get((node.lineno, name)):
            # A method that hardly anything but a tensor has.
            tensor = (name in _ASKING and not node.args) or name in results.TENSOR_METHODS
            if tensor and name in _ASKING:
                with self.on(self.path.after(Path(False, True))):
                    return self._of_tensor(made, TENSOR, name)
            if not tensor and name in results.INT_METHODS:
                return Value("sizes" if name in {"size", "stride"} and not made.values else "int")
        if tensor:
            return self._of_tensor(made, receiver if receiver.kind else TENSOR, name)
        if receiver.kind in {"module", "modules"}:
            row = self.table.method("module", name)
            if row is not None:
                self.record(row, node)
            if name == "requires_grad_":
                self._switch(
                    node, made.first if made.values else made.words.get("requires_grad", literal(True))
                )
            if receiver.dotted and name in {"forward", "__call__"}:
                return self._module(node, receiver)
            return receiver if name in results.MOVES | {"eval", "train", "requires_grad_"} else UNKNOWN
        if receiver.kind == "str" and name == "format":
            return Value("str")  # Dynamo formats a number that changes here
        if isinstance(receiver.ref, FunctionRef) and _CACHES & self._marks(receiver.ref):
            receiver = replace(receiver, dotted="functools.lru_cache")
        if isinstance(receiver.ref, ClassRef) and receiver.kind == "class" and name == "apply":
            if self.project.method(receiver.ref, "jvp") is not None:
                self.note("kernel", node)
            return TENSOR
        row = self.table.method(receiver.dotted, name) if receiver.dotted else None
        # What the call makes anew is right each time.
        if row is not None and not (receiver.fresh and row.effect == "stale"):
            self.record(row, node)
            if row.varies and self.table.applies(row, self.off):
                return self._drawn(made)
        if receiver.dotted == "torch.Generator" and name == "manual_seed":
            return receiver
        return Value(asked=receiver.asked)

    def _switch(self, node: ast.Call, flag: Value) -> None:
        """Freeze or thaw a module: the graph breaks if that changes one of its parameters."""
        if not isinstance(flag.constant, bool) or not isinstance(node.func, ast.Attribute):
            return
        module = node.func.value
        attribute = module.attr if isinstance(module, ast.Attribute) else ""
        changes = self.interpreter.setup.changes(self.where, node.lineno, attribute, flag.constant)
        self._suspect("switch", node, changes)

    def _suspect(self, kind: str, node: ast.AST, breaks: bool | None) -> None:
        """Note a break that is certain, or one of which it is not known whether it happens: None."""
        if breaks is not False:
            with self.on(self.path if breaks else self.path.after(RARELY)):
                self.note(kind, node)

    def _of_tensor(self, made: EvaluatedCall, receiver: Value, name: str) -> Value:
        node, values, words = made
        row, repeated = self.table.method("tensor", name), name == "repeat_interleave"
        if repeated:
            self.reading.asked |= asked(values)
        if row is not None:
            self.record(row, node)
            if name in _ASKING:
                kind = "list" if name == "tolist" else "float" if receiver.dtype == "float" else "int"
                return Value(kind, taken=(position_of(node),))
        if repeated and any(one.kind == "tensor" for one in values) and "output_size" not in words:
            self.note("size", node)
        if name == "data_ptr" and node is not self.unused and id(node) not in self.tested:
            self.note("address", node)
        if made.draws:
            self.note("source", node)
        return of_method(made, receiver, name)

    def _external(self, made: EvaluatedCall, dotted: str) -> Value:
        node, words = made.node, made.words
        package, _, name = dotted.rpartition(".")
        if package == "builtins" and (found := self._builtin(made, name)) is not None:
            return found
        if package == "math" and made.meets_tensor:
            self.note("scalar", node)
            return Value("float")
        if dotted == "copy.deepcopy":
            if made.first.kind in {"tensor", "module", "modules"}:
                self.note("copy", node)
            return made.first
        if dotted in _VOUCHING:
            self.checked |= {*made.first.taken}
        row = self.table.function(dotted)
        if row is not None and "layout" not in words and not self._is_free(made, dotted):
            ends = dotted == _GRADIENT and self._outlives(node)
            self.record(replace(row, effect="eager", final=True) if ends else row, node)
            if row.varies and self.table.applies(row, self.off):
                return self._drawn(made)
        built = self.table.built.get(name) if package.startswith("torch.nn") else None
        if built is not None and not _is_plain(words) and (node is not self.kept or self.reading.building):
            self.record(built, node)
        if dotted.startswith(_COLLECTIVES) and _is_true(words.get("async_op")):
            self.note("collective", node)
        if made.draws and package.startswith(("torch", "builtins")):
            self.note("source", node)
        if dotted.startswith("torch.") and _is_true(words.get("requires_grad")):
            self.note("gradient", node)
        if has_unknown_size(made, dotted):
            self.note("size", node)
        return of_library(made, dotted, self.table.methods)

    def _drawn(self, made: EvaluatedCall) -> Value:
        """The result of a call that gives another one each time; of a few each can be compiled."""
        first = made.first
        limits = [one.constant for one in first.items or () if isinstance(one.constant, int)]
        few = first.kind in {"list", "tuple"} and first.items is not None and len(first.items) <= _FEW
        if first.kind == "range" and first.items and len(limits) == len(first.items):
            few = len(range(*limits)) <= _FEW
        return UNKNOWN if few else Value(taken=(position_of(made.node),))

    def _is_free(self, made: EvaluatedCall, dotted: str) -> bool:
        """A call that breaks the graph as a rule, with arguments for which it does not."""
        if dotted == "dataclasses.fields":
            return made.first.kind != "class"
        if dotted.endswith(".Parameter"):  # of what the call was given, or of a buffer
            return made.first.argument or any(map(self._is_own, made.node.args[:1]))
        return False

    def _builtin(self, made: EvaluatedCall, name: str) -> Value | None:
        node, first = made.node, made.first
        if name in _CONVERSIONS:
            return self._converted(made, name)
        if name == "isinstance" and len(node.args) == 2:
            types = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else node.args[1:]
            return tested(first, {self.symbol(one) for one in types})
        if name in {"any", "all"} and first.kind == "list":
            if first.dtype == "tensor" or holds_tensor(first):
                self.note("branch", node)
        elif name == "sorted" and len(made.values) == 1 and holds_tensor(first):
            self.note("branch", node)
        if name == "next" and first.kind == "iterator" and isinstance(node.args[0], ast.Attribute):
            self.note("iterator", node)
        return of_builtin(made, name)

    def _converted(self, made: EvaluatedCall, name: str) -> Value:
        node, values, first = made.node, made.values, made.first
        kind = {"range": "range", "repr": "str", "complex": "float"}.get(name, name)
        for value in values:
            if value.kind == "tensor":
                self.note("scalar", node, "storm" if name == "range" else None)
                return Value(kind, taken=(position_of(node),))
            if name == "range":
                self._counted(value)
                self._decide(value, node)
        self.reading.asked |= asked(value for value in values if not value.kind)
        if name in {"str", "repr"} and values:
            self._formatted(first, "string", node)
            self._spelt(node, "string", first.taken)
        if name in {"int", "float", "bool"} and type(first.constant) in {int, float, bool}:
            return literal({"int": int, "float": float, "bool": bool}[name](first.constant))
        if name == "range":
            return Value("range", items=values)
        return Value(kind, changes=first.changes, taken=first.taken)


def _callee(decorator: ir.Expr) -> ir.Expr:
    return decorator.function if isinstance(decorator, ir.Call) else decorator


def callee_name(function: ast.expr) -> str:
    """The last part of what a call calls, empty if it is no name."""
    match function:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
    return ""


def position_of(node: ast.AST) -> Position:
    """The place of a node in its file."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end = getattr(node, "end_lineno", None) or line
    return Position(line, column + 1, end, (getattr(node, "end_col_offset", None) or column) + 1)


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that statements bind."""
    for statement in body:
        for node in nodes(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _containers(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The names that are used as dictionaries or lists are."""
    for statement in body:
        for node in nodes(statement):
            match node:
                case ast.Subscript(ast.Name(name), ast.Constant(str())):
                    yield name
                case ast.Compare(ast.Constant(str()), [ast.In() | ast.NotIn()], [ast.Name(name)]):
                    yield name
                case ast.Call(ast.Attribute(ast.Name(name), method)) if method in _OF_CONTAINERS:
                    yield name


def _hands_over(node: ast.Call, name: str) -> bool:
    """Whether a call is given a function by its name: `checkpoint(self.inner, x)`."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return any(callee_name(one) == name for one in given)


def _mentions(node: ast.expr | None, names: tuple[str, ...]) -> bool:
    return node is not None and any(isinstance(one, ast.Name) and one.id in names for one in nodes(node))


def _is_true(value: Value | None) -> bool:
    return value is not None and value.constant is True


def _is_plain(words: Mapping[str, Value]) -> bool:
    """A normalisation that is built without parameters."""
    return any(words.get(name, UNKNOWN).constant is False for name in ("elementwise_affine", "affine"))
