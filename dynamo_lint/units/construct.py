"""Runs construction code on terms: what attributes an instance gets, and which instances a loop makes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.state.model import Position
from dynamo_lint.units import keywords
from dynamo_lint.units.expressions import evaluate
from dynamo_lint.units.frames import Arguments, Frame
from dynamo_lint.units.lookups import Lookups
from dynamo_lint.units.loops import elements, merged
from dynamo_lint.units.source import Bodies
from dynamo_lint.units.terms import OPERATORS, Term, Terms, leaves

_MAX_DEPTH = 8
_MAX_INSTANCES = 64
MAX_RUNS = 2000
"""Runs of functions from one outermost function: loops nested in loops would take for ever."""
BASE = "()"
"""The attribute that holds what an instance is besides: `class Norm(nn.LayerNorm)`."""


@dataclass(frozen=True, slots=True)
class Made:
    """One instance of the class that is looked for, with what its constructor was given."""

    arguments: Mapping[str, Term]
    path: str
    line: int
    sampled: bool
    """It stands for an unknown number of instances: nobody says how often the loop runs."""
    alone: bool = False
    """It is an attribute of some object by itself, and no element of a list."""


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
    """What became of the terms of a class where one instance of it is made."""
    wanted: frozenset[ClassRef] = frozenset()
    path: frozenset[FunctionRef] = frozenset()
    """Functions that lead to an instance of a wanted class: these are entered, others are not."""
    made: dict[ClassRef, list[Made]] = field(default_factory=dict)
    stored: dict[tuple[ClassRef, str], dict[tuple[str, Position], bool]] = field(default_factory=dict)
    """Where an attribute of a class gets its value, and whether that is something else than None."""
    places: dict[ast.expr, tuple[str, Position]] = field(default_factory=dict)
    """Where the targets of assignments stand."""
    mentioned: dict[ast.If, frozenset[str]] = field(default_factory=dict)
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
        """What instances of a class have, as terms over the parameters of its constructor."""
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
        """What a function returns, as a term over its parameters."""
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
    ) -> Mapping[ClassRef, list[Made]]:
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

    def _frame(self, function: FunctionRef, receiver: ClassRef | None, given: dict[str, Term]) -> Frame:
        own = self.lookups.self_name(function) if receiver is not None else None
        return Frame(function, receiver, given, own)

    def _run(self, frame: Frame, *, alone: bool = False) -> None:
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
        self.block(self._making(body, frame) if self.wanted and alone else body, frame)
        self.active.pop()

    def _making(self, body: list[ast.stmt], frame: Frame) -> list[ast.stmt]:
        """The statements but for those at the end that call the object's own methods: `self.post_init()`."""
        leading = {ref.key.rpartition(".")[2] for ref in self.path}
        end = len(body)
        while end and _own_call(body[end - 1], frame.own) not in {None, *leading}:
            end -= 1
        return body[:end]

    def _returned(self, frame: Frame) -> Term | None:
        if not frame.returned:
            return None
        _, result = frame.returned[-1]
        for tests, other in reversed(frame.returned[:-1]):
            result = self.terms.choice(self.terms.all(tests), other, result)
        return result

    def enter(
        self, function: FunctionRef, receiver: ClassRef | None, given: dict[str, Term], frame: Frame | None
    ) -> Term | None:
        """Run a function for what it makes and returns; `frame` is that of the same `self`."""
        inner = self._frame(function, receiver, given)
        if frame is not None:
            inner.attributes = frame.attributes
        self._run(inner, alone=frame is None)
        return self._returned(inner)

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
        options = keywords.packed(self.terms, others)
        for name, default in signature.defaults:
            if name in bound:
                continue
            if name == rest:
                # What a caller hands over besides may be among the named ones.
                names = [n for n, _ in signature.defaults] if others else []
                bound[name] = keywords.lacking(self.terms, options, names)
                continue
            bound[name] = keywords.looked_up(self.terms, options, name, default) if others else default
        return bound

    def construct(self, ref: ClassRef, arguments: Arguments, frame: Frame, line: int) -> Term:
        """`Class(…)`."""
        init = self.lookups.init(ref)
        if init is None:
            names = iter(self.lookups.fields(ref))
            bound = {name or next(names, "*"): value for name, value in arguments}
        else:
            bound = self.bind(init, arguments, method=True)
        if ref in self.wanted and len(self.made[ref]) < _MAX_INSTANCES:
            self.made[ref].append(Made(bound, frame.function.path, line, self.sampling > 0))
        elif init is not None and init in self.path:
            self.enter(init, ref, dict(bound), None)
        return self.terms.make("new", ref, tuple(bound.values()), tuple(bound), line)

    # --- statements -------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt], frame: Frame) -> None:
        """Run statements until one leaves."""
        for statement in body:
            if frame.ended:
                return
            self._statement(statement, frame)

    def _statement(self, node: ast.stmt, frame: Frame) -> None:
        match node:
            case ast.Assign():
                self._assignment(node, frame)
            case ast.Expr(value=value):
                evaluate(self, value, frame)
            case ast.If():
                self._if(node, frame)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, evaluate(self, value, frame), frame)
            case ast.AugAssign(target=target, op=op, value=value):
                old = evaluate(self, target, frame)
                new = self.terms.operation(OPERATORS[op.__class__], old, evaluate(self, value, frame))
                self.assign(target, new, frame)
            case ast.Return(value=value):
                result = evaluate(self, value, frame) if value else self.terms.const(None)
                frame.returned.append((frame.tests, result))
                frame.ended = True
            case ast.Raise() | ast.Continue() | ast.Break():
                frame.ended = True
            case ast.For(target=target, iter=iterable, body=body):
                self._for(target, evaluate(self, iterable, frame), body, frame)
            case ast.While(body=body):
                self._sampled(lambda: self.block(body, frame))
                frame.ended = False
            case ast.With(body=body):
                for item in node.items:
                    evaluate(self, item.context_expr, frame)
                self.block(body, frame)
            case ast.Try(body=body, orelse=orelse, finalbody=final):
                self.block([*body, *orelse, *final], frame)
            case ast.FunctionDef(name=name):
                self._nested(name, node.lineno, frame)
            case _:
                pass

    def _assignment(self, node: ast.Assign, frame: Frame) -> None:
        kept = isinstance(node.targets[0], ast.Attribute)
        before = {ref: len(made) for ref, made in self.made.items()} if kept else {}
        result = evaluate(self, node.value, frame)
        for target in node.targets:
            self.assign(target, result, frame)
        if before:
            self._set_apart(result, before)

    def _set_apart(self, value: Term, before: Mapping[ClassRef, int]) -> None:
        """`self.mixer = Block(…)`: what was made just now is no element of a list."""
        for ref in {leaf.leaf for leaf in leaves(value) if leaf.kind == "new"} & self.made.keys():
            made = self.made[ref]  # type: ignore[index]
            made[before[ref] :] = [replace(one, alone=True) for one in made[before[ref] :]]  # type: ignore[index]

    def _nested(self, name: str, line: int, frame: Frame) -> None:
        functions = self.project.files[frame.function.path].functions
        for key, function in functions.items():
            if function.line == line and function.qualname.endswith(name):
                frame.names[name] = frame.closure(self, FunctionRef(frame.function.path, key))

    def _sampled(self, run: object) -> None:
        self.sampling += 1
        run()  # type: ignore[operator]
        self.sampling -= 1

    def _for(self, target: ast.expr, iterable: Term, body: list[ast.stmt], frame: Frame) -> None:
        items, sampled = elements(self.terms, iterable, self.sampling)
        self.sampling += sampled
        frame.loops += [iterable] * sampled
        tests = frame.tests
        frame.tests = (*tests, self.terms.make("symbol", f"a turn in {frame.function.id}"))
        for item in items:
            self.assign(target, item, frame)
            self.block(body, frame)
            # `continue` and `break` end one round; what they skip is skipped for this element only.
            frame.ended = bool(frame.returned) and frame.ended
        self.sampling -= sampled
        del frame.loops[len(frame.loops) - sampled :]
        frame.tests = tests

    def _if(self, node: ast.If, frame: Frame) -> None:
        test = evaluate(self, node.test, frame)
        if test.kind == "const":
            self.block(node.body if test.leaf else node.orelse, frame)
            return
        # The dictionary of attributes is shared with whoever called for the same `self`.
        names, own, tests = dict(frame.names), frame.attributes, frame.tests
        attributes = dict(own)
        frame.tests = (*tests, test)
        self.block(node.body, frame)
        ended, frame.ended = frame.ended, False
        then = frame.names, dict(own)
        frame.tests = (*tests, self.terms.operation("not", test))
        frame.names = names
        own.clear()
        own.update(attributes)
        self.block(node.orelse, frame)
        frame.tests = tests
        other = frame.names, dict(own)
        if ended or frame.ended:
            kept = other if ended else then
            frame.ended = ended and frame.ended
        else:
            bound = self._merged(test, then[0], other[0], self._mentioned(node))
            kept = bound, self._merged(test, then[1], other[1], (*then[1], *other[1]))
        frame.names = kept[0]
        own.clear()
        own.update(kept[1])

    def _merged(
        self, test: Term, then: dict[str, Term], other: dict[str, Term], changed: Iterable[str]
    ) -> dict[str, Term]:
        """What is so after either branch; only the `changed` names can differ."""
        if then == other:
            return then
        absent = self.terms.make("absent")
        found = dict(then)
        for name in changed:
            one, two = then.get(name, absent), other.get(name, absent)
            if one is not two:
                found[name] = merged(self.terms, test, one, two)
        return found

    def _mentioned(self, node: ast.If) -> frozenset[str]:
        """The names that a branch may bind."""
        if node not in self.mentioned:
            self.mentioned[node] = frozenset(
                inner.id if isinstance(inner, ast.Name) else inner.name
                for inner in ast.walk(node)
                if isinstance(inner, ast.Name | ast.FunctionDef)
            )
        return self.mentioned[node]

    def note(self, node: ast.expr, attribute: str, value: Term, frame: Frame) -> None:
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

    def assign(self, target: ast.expr, value: Term, frame: Frame) -> None:
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
                keywords.is_dictionary(frame.names.get(name))
            ):
                frame.names[name] = keywords.extended(self.terms, frame.names[name], key, value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                value = self.unfolded(value)
                for number, element in enumerate(elts):
                    self.assign(element, self.terms.item(value, self.terms.const(number)), frame)
            case _:
                pass


def _own_call(statement: ast.stmt, own: str | None) -> str | None:
    """`post_init` for a statement `self.post_init()` that makes nothing for it."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), attr), args, keywords)) if name == own:
            given = [*args, *(keyword.value for keyword in keywords)]
            calls = any(isinstance(node, ast.Call) for value in given for node in ast.walk(value))
            return None if calls else attr
    return None
