"""Abstract execution of constructors: the attributes an instance gets, and the instances a loop makes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.instances import terms
from dynamo_lint.instances.lookups import Lookups
from dynamo_lint.instances.loops import elements, longer, merged
from dynamo_lint.instances.terms import (
    OPERATORS,
    Term,
    Terms,
    extended,
    is_dictionary,
    leaves,
    looked_up,
    without,
)
from dynamo_lint.program.forward import Forward
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef, Position

Arguments = list[tuple[str | None, Term]]
"""The arguments of a call, with the keyword; `*` and `**` for those that are unpacked."""


@dataclass(slots=True)
class ConstructionFrame:
    """One run of a function."""

    function: FunctionRef
    receiver: ClassRef | None
    names: dict[str, Term]
    own: str | None
    """The name of the instance in the function."""
    attributes: dict[str, Term] = field(default_factory=dict)
    """The attributes of `self` so far; shared by the methods that one constructor calls."""
    returned: list[tuple[tuple[Term, ...], Term]] = field(default_factory=list)
    """The returned terms, each with the tests that lead there; the first one that holds counts."""
    tests: tuple[Term, ...] = ()
    """The tests around the statement that runs."""
    loops: list[Term] = field(default_factory=list)
    """The iterables of the enclosing loops of unknown length: they say how long a container gets."""

    def closure(self, run: Construction, ref: FunctionRef) -> Term:
        """A nested function with the values of the local names that it mentions."""
        body = run.bodies.of(ref)
        nodes = body if body is not None else []
        return self.capture(run, ref, nodes)

    def capture(self, run: Construction, ref: FunctionRef, nodes: list[ast.stmt] | ast.expr) -> Term:
        """A function over the values it closes over."""
        own = {p.name for p in run.project.function(ref).parameters}
        trees = nodes if isinstance(nodes, list) else [nodes]
        used = {n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name)} - own
        held = {name: self.names[name] for name in sorted(used & self.names.keys())}
        held = {n: v for n, v in held.items() if v.kind not in {"class", "external"}}
        return run.terms.make("function", ref, tuple(held.values()), tuple(held))


_MAX_DEPTH = 8
_MAX_INSTANCES = 64
MAX_RUNS = 2000
"""Runs of functions from one outermost function: loops nested in loops could take hours."""
BASE = "()"
"""The attribute that holds what an instance is besides: `class Norm(nn.LayerNorm)`."""


@dataclass(frozen=True, slots=True)
class ConstructedInstance:
    """One instance of the class that is looked for, with what its constructor was given."""

    arguments: Mapping[str, Term]
    path: str
    line: int
    sampled: bool
    """It stands for an unknown number of instances: nobody says how often the loop runs."""
    alone: bool = False
    """It is an attribute of some object by itself, and no element of a list."""


_Note = tuple[tuple[ClassRef, str], tuple[str, Position], bool]


@dataclass(frozen=True, slots=True)
class _Entered:
    """The outcome of running a function on an object of its own: many programs make a model so."""

    returned: Term | None
    made: Mapping[ClassRef, list[ConstructedInstance]]
    noted: list[_Note]
    runs: int
    asked: frozenset[FunctionRef | str]
    """The functions that it may have entered, or their names."""


@dataclass(slots=True)
class Construction:
    """Interprets functions; remembers what each class does with its arguments."""

    project: Project
    bodies: Bodies
    terms: Terms = field(default_factory=Terms)
    lookups: Lookups = field(init=False)
    summaries: dict[ClassRef, Mapping[str, Term]] = field(default_factory=dict)
    results: dict[FunctionRef, Term | None] = field(default_factory=dict)
    inside: dict[Term, dict[int, Term]] = field(default_factory=dict)
    """The terms of a class as they are where one instance of it is made."""
    wanted: frozenset[ClassRef] = frozenset()
    path: frozenset[FunctionRef] = frozenset()
    """Functions that lead to an instance of a wanted class: these are entered, others are not."""
    made: dict[ClassRef, list[ConstructedInstance]] = field(default_factory=dict)
    stored: dict[tuple[ClassRef, str], dict[tuple[str, Position], bool]] = field(default_factory=dict)
    """Where an attribute of a class gets its value, and whether that is something else than None."""
    noted: list[_Note] = field(default_factory=list)
    """The same, in the order found."""
    entered: dict[object, _Entered] = field(default_factory=dict)
    asked: set[FunctionRef | str] = field(default_factory=set)
    """The functions that may have been entered, or their names."""
    places: dict[ast.expr, tuple[str, Position]] = field(default_factory=dict)
    """Where the targets of assignments stand."""
    sampling: int = 0
    """How many loops of unknown length are being run."""
    runs: int = 0
    """How many functions were run for the wanted classes."""
    cut: bool = False
    """More would have had to be run."""
    active: list[FunctionRef] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lookups = Lookups(self.project, self.terms)

    # --- questions --------------------------------------------------------------------------------------

    def attributes(self, ref: ClassRef) -> Mapping[str, Term]:
        """The attributes of instances of a class, as terms over the parameters of its constructor."""
        if ref not in self.summaries:
            self.summaries[ref] = {}  # a class that makes instances of itself ends here
            before = self.wanted, self.path, self.made
            self.wanted, self.path, self.made = frozenset(), frozenset(), {}
            init = self.lookups.init(ref)
            if init is None:
                names = self.lookups.fields(ref)
                self.summaries[ref] = {name: self.terms.make("param", name) for name in names}
            else:
                given = {p.name: self.terms.make("param", p.name) for p in self.lookups.parameters(init)}
                frame = self._frame(init, ref, given)
                self._run(frame)
                self.summaries[ref] = frame.attributes
            self.wanted, self.path, self.made = before
        return self.summaries[ref]

    def result(self, ref: FunctionRef) -> Term | None:
        """The result of a function, as a term over its parameters."""
        if ref not in self.results:
            self.results[ref] = None
            before = self.wanted, self.path, self.made
            self.wanted, self.path, self.made = frozenset(), frozenset(), {}
            owner = self.project.owner(ref)
            given = {p.name: self.terms.make("param", p.name) for p in self.project.function(ref).parameters}
            frame = self._frame(ref, owner, given)
            self._run(frame)
            self.results[ref] = self._returned(frame)
            self.wanted, self.path, self.made = before
        return self.results[ref]

    def instances(
        self, wanted: frozenset[ClassRef], top: FunctionRef, path: frozenset[FunctionRef]
    ) -> Mapping[ClassRef, list[ConstructedInstance]]:
        """The instances of classes that running a function makes, directly or through functions on a path."""
        self.wanted, self.path, self.made = wanted, path, {ref: [] for ref in wanted}
        self.sampling, self.runs, self.cut = 0, 0, False
        parameters = self.project.function(top).parameters
        given = {p.name: self.lookups.unknown(top, p) for p in parameters}
        self._run(self._frame(top, self.project.owner(top), given), alone=True)
        self.wanted = frozenset()
        return self.made

    def unfolded(self, value: Term) -> Term:
        """The tuple that a function of the project returns, in terms of what it is given."""
        if value.kind != "call" or not isinstance(value.leaf, FunctionRef):
            return value
        result = self.result(value.leaf)
        alike = result is not None and all(leaf.kind == "seq" for leaf in leaves(result))
        return self.terms.substitute(result, value.argument) if alike and result is not None else value

    # --- running ----------------------------------------------------------------------------------------

    def _frame(
        self, function: FunctionRef, receiver: ClassRef | None, given: dict[str, Term]
    ) -> ConstructionFrame:
        own = self.lookups.self_name(function) if receiver is not None else None
        return ConstructionFrame(function, receiver, given, own)

    def _run(self, frame: ConstructionFrame, *, alone: bool = False) -> None:
        """Run a function; `alone` if nobody asks afterwards what it did to its object."""
        if self.wanted:
            self.runs += 1
            if all(len(made) >= _MAX_INSTANCES for made in self.made.values()):
                return  # there is nothing more to be found
            if self.runs > MAX_RUNS:
                self.cut = True
                return
        body = self.bodies.of(frame.function)
        if body is None or len(self.active) >= _MAX_DEPTH or self.active.count(frame.function) > 1:
            return
        self.active.append(frame.function)
        _ConstructionWalk(self, frame).block(self._making(body, frame) if self.wanted and alone else body)
        self.active.pop()

    def _making(self, body: list[ast.stmt], frame: ConstructionFrame) -> list[ast.stmt]:
        """The statements but for those at the end that call the object's own methods: `self.post_init()`."""
        leading = set(map(_last, self.path))
        end = len(body)
        while end and (called := _own_call(body[end - 1], frame.own)) is not None:
            self.asked.add(called)
            if called in leading:
                break
            end -= 1
        return body[:end]

    def _returned(self, frame: ConstructionFrame) -> Term | None:
        if not frame.returned:
            return None
        _, result = frame.returned[-1]
        for tests, other in reversed(frame.returned[:-1]):
            result = self.terms.choice(self.terms.all(tests), other, result)
        return result

    def enter(
        self,
        function: FunctionRef,
        receiver: ClassRef | None,
        given: dict[str, Term],
        frame: ConstructionFrame | None,
    ) -> Term | None:
        """Run a function for what it makes and returns; `frame` is that of the same `self`."""
        inner = self._frame(function, receiver, given)
        if frame is not None:
            inner.attributes = frame.attributes
        if frame is None and self.wanted:
            return self._enter_alone(inner)
        self._run(inner, alone=frame is None)
        return self._returned(inner)

    def _enter_alone(self, frame: ConstructionFrame) -> Term | None:
        """Run a function for what it makes and returns, once for all that call it so."""
        path, given = self.path.difference(self.active), tuple(frame.names.items())
        key = (frame.function, frame.receiver, given, self.wanted, path, self.sampling, len(self.active))
        # Whether one of these is entered again depends on who calls.
        around = {*self.active, *map(_last, self.active)}
        known, runs = self.entered.get(key), self.runs
        if known is not None and known.asked.isdisjoint(around) and self._has_room(known):
            for ref, made in known.made.items():
                self.made[ref] += made
            for attribute, place, is_value in known.noted:
                self.stored[attribute][place] = is_value
            self.noted += known.noted
            self.runs += known.runs
            self.asked |= known.asked
            return known.returned
        asked, self.asked, notes = self.asked, set(), len(self.noted)
        before = {ref: len(made) for ref, made in self.made.items()}
        self._run(frame, alone=True)
        returned, found = self._returned(frame), frozenset(self.asked)
        whole = not self.cut and all(len(made) < _MAX_INSTANCES for made in self.made.values())
        if whole and found.isdisjoint(around):
            new = {ref: self.made[ref][start:] for ref, start in before.items()}
            self.entered[key] = _Entered(returned, new, self.noted[notes:], self.runs - runs, found)
        self.asked |= asked
        return returned

    def _has_room(self, known: _Entered) -> bool:
        """Whether no limit would have cut it short this time."""
        counts = [len(self.made[ref]) + len(made) for ref, made in known.made.items()]
        return self.runs + known.runs <= MAX_RUNS and all(count < _MAX_INSTANCES for count in counts)

    def bind(self, function: FunctionRef, arguments: Arguments, *, method: bool) -> dict[str, Term]:
        """Arguments by parameter name, defaults filled in."""
        signature = self.lookups.signature(function, method=method)
        positional, rest = iter(signature.positional), signature.rest
        bound: dict[str, Term] = {}
        others: list[tuple[str, Term]] = []
        for name, value in arguments:
            if name == "*":
                positional = iter(())
            elif name is None and (place := next(positional, None)) is not None:
                bound[place] = value
            elif name in signature.named or (rest is None and name not in {None, "**"}):
                bound[str(name)] = value
            elif name is not None:
                others.append((name, value))
        options = terms.packed(self.terms, others)
        for name, default in signature.defaults:
            if name in bound:
                continue
            if name == rest:
                # What a caller hands over besides may be among the named ones.
                names = [n for n, _ in signature.defaults] if others else []
                bound[name] = terms.lacking(self.terms, options, names)
                continue
            bound[name] = terms.looked_up(self.terms, options, name, default) if others else default
        return bound

    def leads(self, function: FunctionRef) -> bool:
        """Whether a function leads to an instance of a wanted class."""
        self.asked.add(function)
        return function in self.path

    def construct(self, ref: ClassRef, arguments: Arguments, frame: ConstructionFrame, line: int) -> Term:
        """`Class(…)`."""
        init = self.lookups.init(ref)
        if init is None:
            names = iter(self.lookups.fields(ref))
            bound = {name or next(names, "*"): value for name, value in arguments}
        else:
            bound = self.bind(init, arguments, method=True)
        if ref in self.wanted and len(self.made[ref]) < _MAX_INSTANCES:
            self.made[ref].append(ConstructedInstance(bound, frame.function.path, line, self.sampling > 0))
        elif init is not None and self.leads(init):
            self.enter(init, ref, dict(bound), None)
        return self.terms.make("new", ref, tuple(bound.values()), tuple(bound), line)

    def note(self, node: ast.expr, attribute: str, value: Term, frame: ConstructionFrame) -> None:
        """Remember where an attribute of `self` is given."""
        if frame.receiver is None:
            return
        place = self.places.get(node)
        if place is None:
            end = (node.end_lineno or node.lineno, (node.end_col_offset or node.col_offset) + 1)
            place = frame.function.path, Position(node.lineno, node.col_offset + 1, *end)
            self.places[node] = place
        given = self.stored.setdefault((frame.receiver, attribute), {})
        given[place] = value.kind != "const" or value.leaf is not None
        self.noted.append(((frame.receiver, attribute), place, given[place]))

    def assign(self, target: ast.expr, value: Term, frame: ConstructionFrame) -> None:
        """`target = value`."""
        match target:
            case ast.Name(id=name):
                frame.names[name] = value
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == frame.own:
                frame.attributes[attr] = value
                self.note(target, attr, value, frame)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in frame.names:
                # `cfg.layer_idx = i` on a local object: it is another object from here on.
                frame.names[name] = self.terms.make("with", attr, (frame.names[name], value))
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)) if (
                terms.is_dictionary(frame.names.get(name))
            ):
                frame.names[name] = terms.extended(self.terms, frame.names[name], key, value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                value = self.unfolded(value)
                for number, element in enumerate(elts):
                    self.assign(element, self.terms.item(value, self.terms.const(number)), frame)
            case _:
                pass


_Attributes = tuple[dict[str, Term], dict[str, Term]]


class _ConstructionWalk(Forward[_Attributes, Term]):
    """One run of a function, whose state are its names and the attributes of its object."""

    def __init__(self, run: Construction, frame: ConstructionFrame) -> None:
        super().__init__()
        self.run, self.frame = run, frame

    def fork(self) -> _Attributes:
        """Return copies of the names and attributes."""
        return dict(self.frame.names), dict(self.frame.attributes)

    def restore(self, state: _Attributes) -> None:
        """Go on with other names and, in the dictionary that callers share, with other attributes."""
        self.frame.names, attributes = state
        self.frame.attributes.clear()
        self.frame.attributes.update(attributes)

    def join(self, test: Term | None, ways: Sequence[_Attributes]) -> _Attributes:
        """Return the names and attributes as choices by a test; by an unknown one if there is none."""
        first, *others = ways
        for number, other in enumerate(others):
            chosen = self._unknown(f"way {number}") if test is None else test
            first = self._merged(chosen, first[0], other[0]), self._merged(chosen, first[1], other[1])
        return first

    def _merged(self, test: Term, then: dict[str, Term], other: dict[str, Term]) -> dict[str, Term]:
        absent = self.run.terms.make("absent")
        found = dict(then)
        for name in (*then, *(name for name in other if name not in then)):
            one, two = then.get(name, absent), other.get(name, absent)
            if one is not two:
                found[name] = merged(self.run.terms, test, one, two)
        return found

    def _unknown(self, what: str) -> Term:
        return self.run.terms.make("symbol", f"{what} in {self.frame.function.id}")

    def test(self, node: ast.expr) -> Term:
        """Evaluate a test."""
        return evaluate(self.run, node, self.frame)

    def decided(self, test: Term) -> bool | None:
        """Return the truth of a literal."""
        return bool(test.leaf) if test.kind == "const" else None

    @contextmanager
    def supposing(self, test: Term | None, outcome: bool) -> Iterator[None]:
        """Run what is inside under one more test."""
        tests, terms = self.frame.tests, self.run.terms
        test = self._unknown("a case") if test is None else test
        self.frame.tests = (*tests, test if outcome else terms.operation("not", test))
        yield
        self.frame.tests = tests

    def returns(self, value: ast.expr | None) -> None:
        """Keep what is returned, under the tests that lead there."""
        result = self.test(value) if value else self.run.terms.const(None)
        self.frame.returned.append((self.frame.tests, result))

    def rounds(self, node: ast.For | ast.AsyncFor | ast.While) -> Iterator[None]:
        """Run the head of a loop; yield for each item, or for some that stand for an unknown number."""
        if isinstance(node, ast.While):
            self.run.sampling += 1
            yield
            self.run.sampling -= 1
            self.ended = False  # it may have no round
            return
        frame, run, iterable = self.frame, self.run, self.test(node.iter)
        items, sampled = elements(run.terms, iterable, run.sampling)
        run.sampling += sampled
        frame.loops += [iterable] * sampled
        tests = frame.tests
        frame.tests = (*tests, self._unknown("a turn"))
        for item in items:
            run.assign(node.target, item, frame)
            yield
        run.sampling -= sampled
        del frame.loops[len(frame.loops) - sampled :]
        frame.tests = tests

    def turned(self, ways: list[_Attributes]) -> None:
        """End a round: `continue` and `break` skip the rest for this element only."""
        self.ended = bool(self.frame.returned) and self.ended

    @contextmanager
    def entering(self, items: list[ast.withitem]) -> Iterator[None]:
        """Evaluate context managers."""
        for item in items:
            self.test(item.context_expr)
        yield

    def handle(self, handlers: list[ast.ExceptHandler], before: _Attributes) -> None:
        """Run no handler: what a constructor makes is what it makes when nothing fails."""

    def assign(self, targets: list[ast.expr], value: ast.expr, node: ast.stmt) -> None:
        """Assign a term; what was made just now for `self.mixer = Block(…)` is no element of a list."""
        kept = isinstance(targets[0], ast.Attribute)
        before = {ref: len(made) for ref, made in self.run.made.items()} if kept else {}
        result = self.test(value)
        for target in targets:
            self.run.assign(target, result, self.frame)
        for ref in {leaf.leaf for leaf in leaves(result) if leaf.kind == "new"} if before else ():
            if isinstance(ref, ClassRef) and ref in before:
                made = self.run.made[ref]
                made[before[ref] :] = [replace(one, alone=True) for one in made[before[ref] :]]

    def augment(self, node: ast.AugAssign) -> None:
        """Assign the outcome of an operation."""
        parts = self.test(node.target), self.test(node.value)
        self.run.assign(
            node.target, self.run.terms.operation(OPERATORS[node.op.__class__], *parts), self.frame
        )

    def evaluate(self, node: ast.expr) -> None:
        """Evaluate an expression for what it makes."""
        self.test(node)

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Bind a nested function."""
        path = self.frame.function.path
        for function in self.run.project.functions_at(path, node.lineno):
            if self.run.project.function(function).qualname.endswith(node.name):
                self.frame.names[node.name] = self.frame.closure(self.run, function)


def _last(ref: FunctionRef) -> str:
    return ref.key.rpartition(".")[2]


def _own_call(statement: ast.stmt, own: str | None) -> str | None:
    """`post_init` for a statement `self.post_init()` that makes nothing for it."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), attr), args, terms)) if name == own:
            given = [*args, *(keyword.value for keyword in terms)]
            calls = any(isinstance(node, ast.Call) for value in given for node in ast.walk(value))
            return None if calls else attr
    return None


_PARTIALS = frozenset({"functools.partial"})
_SEQUENCES = frozenset({"list", "tuple"})
_CALLABLE = frozenset({"class", "function", "external", "ite", "partial"})
_GROWING = frozenset({"append", "extend", "add_module", "register_buffer"})
_TAKING = frozenset({"pop", "get", "setdefault"})


def evaluate(run: Construction, node: ast.expr, frame: ConstructionFrame) -> Term:
    """The term of an expression."""
    reader = _READERS.get(node.__class__)
    found = reader(run, node, frame) if reader is not None else None
    if found is None:
        return run.terms.make("symbol", f"{frame.function.id}: {ast.unparse(node)}"[:200])
    return found


def _constant(run: Construction, node: ast.Constant, frame: ConstructionFrame) -> Term | None:
    value = node.value
    return run.terms.const(value) if value is None or isinstance(value, str | int | float) else None


def _name(run: Construction, node: ast.Name, frame: ConstructionFrame) -> Term:
    found = frame.names.get(node.id)
    return found if found is not None else run.lookups.outer(node.id, frame.function)


def _attribute(run: Construction, node: ast.Attribute, frame: ConstructionFrame) -> Term:
    value, attr = node.value, node.attr
    if isinstance(value, ast.Name) and value.id == frame.own and frame.receiver is not None:
        found = frame.attributes.get(attr)
        if found is None:
            method = run.project.method(frame.receiver, attr)
            if method is not None:
                return run.terms.make("function", method)
            return run.terms.make("symbol", f"{frame.receiver.id}.{attr}")
        return found
    owner = evaluate(run, value, frame)
    found = None
    if owner.kind == "class" and isinstance(owner.leaf, ClassRef):
        found = run.lookups.member(owner.leaf, attr)
    elif owner.kind == "symbol":
        found = run.lookups.named(node, frame.function)
    return found if found is not None else run.terms.attribute(owner, attr)


def _subscript(run: Construction, node: ast.Subscript, frame: ConstructionFrame) -> Term:
    return run.terms.item(evaluate(run, node.value, frame), evaluate(run, node.slice, frame))


def _tuple(run: Construction, node: ast.Tuple, frame: ConstructionFrame) -> Term:
    return _sequence(run, node.elts, "tuple", frame)


def _list(run: Construction, node: ast.List, frame: ConstructionFrame) -> Term:
    return _sequence(run, node.elts, "list", frame)


def _sequence(run: Construction, elts: list[ast.expr], kind: str, frame: ConstructionFrame) -> Term:
    items: list[Term] = []
    for elt in elts:
        if isinstance(elt, ast.Starred):
            inner = evaluate(run, elt.value, frame)
            if inner.kind != "seq":
                return run.terms.make("items", kind, (*items, inner))
            items += inner.parts
        else:
            items.append(evaluate(run, elt, frame))
    return run.terms.make("seq", kind, tuple(items))


def _dict(run: Construction, node: ast.Dict, frame: ConstructionFrame) -> Term:
    names = ["**" if k is None else k.value if isinstance(k, ast.Constant) else None for k in node.keys]
    parts = tuple([evaluate(run, value, frame) for value in node.values])
    if all(isinstance(name, str) for name in names):
        return terms.packed(run.terms, zip(map(str, names), parts, strict=True))
    return run.terms.make("mapping", None, parts)


def _choice(run: Construction, node: ast.IfExp, frame: ConstructionFrame) -> Term:
    truth = evaluate(run, node.test, frame)
    if truth.kind == "const":
        return evaluate(run, node.body if truth.leaf else node.orelse, frame)
    return run.terms.choice(truth, evaluate(run, node.body, frame), evaluate(run, node.orelse, frame))


def _boolean(run: Construction, node: ast.BoolOp, frame: ConstructionFrame) -> Term:
    stops = isinstance(node.op, ast.Or)
    parts: list[Term] = []
    for value in node.values:
        part = evaluate(run, value, frame)
        if part.kind == "const" and bool(part.leaf) == stops:
            # `False and x` is false whatever x is; behind unknown parts it only may be reached.
            return part if not parts else run.terms.make("or" if stops else "and", None, (*parts, part))
        if part.kind != "const" or value is node.values[-1]:
            parts.append(part)
    return parts[0] if len(parts) == 1 else run.terms.make("or" if stops else "and", None, tuple(parts))


def _binary(run: Construction, node: ast.BinOp, frame: ConstructionFrame) -> Term:
    left, right = evaluate(run, node.left, frame), evaluate(run, node.right, frame)
    return run.terms.operation(OPERATORS[node.op.__class__], left, right)


def _unary(run: Construction, node: ast.UnaryOp, frame: ConstructionFrame) -> Term | None:
    match node.op:
        case ast.Not():
            return run.terms.operation("not", evaluate(run, node.operand, frame))
        case ast.USub():
            return run.terms.operation("Sub", run.terms.const(0), evaluate(run, node.operand, frame))
    return None


def _compare(run: Construction, node: ast.Compare, frame: ConstructionFrame) -> Term:
    sides = [evaluate(run, side, frame) for side in (node.left, *node.comparators)]
    if len(node.ops) == 1:
        return run.terms.operation(OPERATORS[node.ops[0].__class__], *sides)
    return run.terms.make("and", None, tuple(sides))


def _listed(
    run: Construction, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, frame: ConstructionFrame
) -> Term:
    return _comprehension(run, node.elt, node.generators, frame)


def _mapped(run: Construction, node: ast.DictComp, frame: ConstructionFrame) -> Term:
    return _comprehension(run, node.value, node.generators, frame)


def _comprehension(
    run: Construction, item: ast.expr, generators: list[ast.comprehension], frame: ConstructionFrame
) -> Term:
    iterables: list[Term] = []
    before = dict(frame.names)

    def walk(rest: list[ast.comprehension]) -> list[Term]:
        if not rest:
            return [evaluate(run, item, frame)]
        first = rest[0]
        iterable = evaluate(run, first.iter, frame)
        found, sampled = elements(run.terms, iterable, run.sampling)
        if sampled:
            iterables.append(iterable)
        run.sampling += sampled
        results: list[Term] = []
        for element in found:
            run.assign(first.target, element, frame)
            tests = [evaluate(run, test, frame) for test in first.ifs]
            if not any(test.kind == "const" and not test.leaf for test in tests):
                results += walk(rest[1:])
        run.sampling -= sampled
        return results

    found = walk(generators)
    frame.names = before
    if iterables:
        return run.terms.make("each", len(iterables), (*iterables, *found))
    return run.terms.make("seq", "list", tuple(found))


def _lambda(run: Construction, node: ast.Lambda, frame: ConstructionFrame) -> Term:
    for function in run.project.functions_at(frame.function.path, node.lineno):
        if run.project.function(function).qualname.endswith("<lambda>"):
            return frame.capture(run, function, node.body)
    return run.terms.make("symbol", f"{frame.function.path}:{node.lineno}")


def _walrus(run: Construction, node: ast.NamedExpr, frame: ConstructionFrame) -> Term:
    found = frame.names[node.target.id] = evaluate(run, node.value, frame)
    return found


def _text(run: Construction, node: ast.JoinedStr, frame: ConstructionFrame) -> Term:
    holes = [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
    text = "{}".join(str(v.value) for v in node.values if isinstance(v, ast.Constant))
    return run.terms.make("text", text, tuple([evaluate(run, hole, frame) for hole in holes]))


def _starred(run: Construction, node: ast.Starred, frame: ConstructionFrame) -> Term:
    return evaluate(run, node.value, frame)


def _awaited(run: Construction, node: ast.Await, frame: ConstructionFrame) -> Term:
    return evaluate(run, node.value, frame)


def _yielded(run: Construction, node: ast.Yield | ast.YieldFrom, frame: ConstructionFrame) -> None:
    """Evaluate what a generator yields, for what it makes: what comes back is not known."""
    if node.value is not None:
        evaluate(run, node.value, frame)


def _slice(run: Construction, node: ast.Slice, frame: ConstructionFrame) -> Term:
    return run.terms.make("slice", ast.unparse(node))


def _call(run: Construction, node: ast.Call, frame: ConstructionFrame) -> Term:
    arguments = _arguments(run, node, frame)
    func = node.func
    if isinstance(func, ast.Attribute):
        if func.attr == "__init__" and _is_super(func.value):
            return _parent(run, arguments, frame, node.lineno)
        if func.attr in _GROWING and arguments:
            return _grown(run, func, node, arguments, frame)
        if func.attr in _TAKING and isinstance(func.value, ast.Name) and func.value.id in frame.names:
            constant = isinstance(node.args[0] if node.args else None, ast.Constant)
            found = dictionary_method(run, func.value.id, func.attr, arguments, frame) if constant else None
            if found is not None:
                return found
    callee = evaluate(run, func, frame)
    if callee.kind not in _CALLABLE:
        callee = run.lookups.callee(func, frame.function, frame.receiver) or callee
    return apply(run, callee, arguments, frame, node)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _arguments(run: Construction, node: ast.Call, frame: ConstructionFrame) -> Arguments:
    found: Arguments = []
    for argument in node.args:
        value = evaluate(run, argument, frame)
        if not isinstance(argument, ast.Starred):
            found.append((None, value))
        elif value.kind == "seq":
            found += [(None, part) for part in value.parts]
        else:
            found.append(("*", value))
    for keyword in node.keywords:
        value = evaluate(run, keyword.value, frame)
        if keyword.arg is None:
            found += terms.opened([("**", value)])
        else:
            found.append((keyword.arg, value))
    return found


def apply(
    run: Construction, callee: Term, arguments: Arguments, frame: ConstructionFrame, node: ast.Call
) -> Term:
    """The result of calling a term."""
    terms = run.terms
    match callee.kind:
        case "class" if isinstance(callee.leaf, ClassRef):
            return run.construct(callee.leaf, arguments, frame, node.lineno)
        case "function" if isinstance(callee.leaf, FunctionRef):
            return _function(run, callee.leaf, arguments, frame, node)
        case "external" if isinstance(callee.leaf, str):
            return _external(run, callee.leaf, arguments, node)
        case "ite":
            test, then, other = callee.parts
            return terms.choice(
                test, apply(run, then, arguments, frame, node), apply(run, other, arguments, frame, node)
            )
        case "partial":
            held = [
                (None if n == "*" else n, v) for n, v in zip(callee.names[1:], callee.parts[1:], strict=True)
            ]
            return apply(run, callee.parts[0], [*held, *arguments], frame, node)
    names = ("", *[name or "*" for name, _ in arguments])
    return terms.make("result", None, (callee, *[value for _, value in arguments]), names)


def _external(run: Construction, dotted: str, arguments: Arguments, node: ast.Call) -> Term:
    if dotted in _PARTIALS and arguments:
        names = tuple([name or "*" for name, _ in arguments[1:]])
        return run.terms.make("partial", None, tuple([value for _, value in arguments]), ("", *names))
    if dotted in _SEQUENCES and len(arguments) == 1 and arguments[0][1].kind in {"seq", "each"}:
        return arguments[0][1]
    if dotted == "len" and arguments and arguments[0][1].kind == "seq":
        return run.terms.const(len(arguments[0][1].parts))
    if dotted in {"any", "all"} and len(arguments) == 1 and arguments[0][1].kind == "seq":
        return (run.terms.any if dotted == "any" else run.terms.all)(arguments[0][1].parts)
    if dotted == "isinstance" and len(arguments) == 2:
        return run.terms.operation(dotted, *[value for _, value in arguments])
    if dotted == "dict" and all(name not in {None, "*"} for name, _ in arguments):
        return terms.packed(run.terms, [(str(name), value) for name, value in arguments])
    kind = "part" if dotted.startswith("torch.nn.") else "call"
    names = tuple([name or "*" for name, _ in arguments])
    return run.terms.make(kind, dotted, tuple([value for _, value in arguments]), names, node.lineno)


def _function(
    run: Construction, ref: FunctionRef, arguments: Arguments, frame: ConstructionFrame, node: ast.Call
) -> Term:
    func = node.func
    own = (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and frame.own is not None
        and func.value.id == frame.own
    )
    method = run.project.function(ref).owner is not None
    given = run.bind(ref, arguments, method=method)
    if run.leads(ref) or own:
        receiver = frame.receiver if own else run.project.owner(ref)
        found = run.enter(ref, receiver, dict(given), frame if own else None)
        if found is not None:
            return found
    return run.terms.make("call", ref, tuple(given.values()), tuple(given), node.lineno)


def _parent(run: Construction, arguments: Arguments, frame: ConstructionFrame, line: int) -> Term:
    """`super().__init__(…)` on the same attributes."""
    if frame.receiver is not None:
        parent = run.lookups.parent(frame.function, frame.receiver)
        if isinstance(parent, FunctionRef):
            run.enter(parent, frame.receiver, run.bind(parent, arguments, method=True), frame)
        elif parent is not None and arguments:
            names = tuple(name or "*" for name, _ in arguments)
            base = run.terms.make("part", parent, tuple(v for _, v in arguments), names, line)
            frame.attributes["()"] = base
    return run.terms.const(None)


def _grown(
    run: Construction, func: ast.Attribute, node: ast.Call, arguments: Arguments, frame: ConstructionFrame
) -> Term:
    """`self.layers.append(x)` and what else adds to a container or to the module itself."""
    terms, value = run.terms, arguments[-1][1]
    how, owner = func.attr, func.value
    if how in {"add_module", "register_buffer"}:
        name = arguments[0][1].leaf
        own = isinstance(owner, ast.Name) and owner.id == frame.own
        if own and isinstance(name, str) and len(arguments) > 1:
            frame.attributes[name] = arguments[1][1] if how == "add_module" else terms.make("tensor")
            run.note(node, name, arguments[1][1], frame)
        return terms.const(None)
    new = value.parts if how == "extend" and value.kind == "seq" else (value,)
    more = longer(terms, evaluate(run, owner, frame), new, frame.loops, run.sampling > 0)
    if more is not None:
        run.assign(owner, more, frame)
    return terms.const(None)


_READERS: dict[type[ast.expr], Callable[[Construction, Any, ConstructionFrame], Term | None]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Dict: _dict,
    ast.IfExp: _choice,
    ast.BoolOp: _boolean,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.ListComp: _listed,
    ast.GeneratorExp: _listed,
    ast.SetComp: _listed,
    ast.DictComp: _mapped,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.JoinedStr: _text,
    ast.Starred: _starred,
    ast.Await: _awaited,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded,
    ast.Slice: _slice,
}


def dictionary_method(
    run: Construction, name: str, how: str, arguments: list[tuple[str | None, Term]], frame: ConstructionFrame
) -> Term | None:
    """`options.pop("bias", True)` and its kin, on a dictionary or on the options that a function is given."""
    owner, key = frame.names[name], arguments[0][1].leaf
    rest = owner.kind == "param" and any(
        parameter.name == owner.leaf and parameter.kind == "kwarg"
        for parameter in run.project.function(frame.function).parameters
    )
    if not isinstance(key, str) or not (rest or is_dictionary(owner)):
        return None
    default = arguments[1][1] if len(arguments) > 1 else run.terms.const(None)
    found = looked_up(run.terms, owner, key, default)
    if how == "pop":
        frame.names[name] = without(run.terms, owner, key)
    elif how == "setdefault":
        frame.names[name] = extended(run.terms, owner, key, found)
    return found
