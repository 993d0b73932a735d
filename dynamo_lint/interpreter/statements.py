"""Statements of eager code, run in order; what is not known is run either way, in doubt."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice

from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.spelling import spelled
from dynamo_lint.interpreter.expressions import OPERATORS, ROUNDS, bounds, comparison, is_mask
from dynamo_lint.interpreter.guards import LENGTH
from dynamo_lint.interpreter.library import EXIT_STACK, is_setting, setting_text
from dynamo_lint.interpreter.model import (
    LONGEST,
    METHOD_OF,
    MISSING,
    PLAIN,
    UNKNOWN,
    Catcher,
    ClassObject,
    Closure,
    External,
    Failed,
    FileValue,
    Frame,
    Manager,
    Member,
    Met,
    Method,
    Object,
    Partial,
    Site,
    Sourced,
    Tensor,
    Unknown,
    Unwrapped,
    Wrapper,
    is_key,
    is_known,
    is_stand_in,
)
from dynamo_lint.interpreter.presumed import Presumed
from dynamo_lint.models.drivers import NAMED, NAMES
from dynamo_lint.program.refs import ClassRef, FunctionRef

_BROAD = frozenset({"Exception", "BaseException"})
_ENDINGS = frozenset(
    {"StopIteration", "StopAsyncIteration", "SystemExit", "KeyboardInterrupt", "GeneratorExit"}
)
"""Exceptions that end something as planned."""
_UNCAUGHT = "an exception that nothing catches"


_WITHOUT_EFFECT = (ast.Pass, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)
"""Statements that only name things: what a name stands for is asked of the project."""


_ASKED = {
    ast.If: "test",
    ast.While: "test",
    ast.For: "iter",
    ast.AsyncFor: "iter",
    ast.With: "items",
    ast.AsyncWith: "items",
    ast.Match: "subject",
}
"""The field of a compound statement that is evaluated first."""


_MOST_TURNS = 4
"""Numbers that the tests in a loop compare its count with."""
_ABSENCES = frozenset({"ImportError", "ModuleNotFoundError", "Exception", ""})
"""What handlers name that take the absence of a package."""


class _Leave(Exception):
    """A `return`, `break` or `continue`."""


class _Return(_Leave):
    pass


class _Break(_Leave):
    pass


class _Continue(_Leave):
    pass


class Runner(Presumed):
    """A stage that runs statements."""

    __slots__ = ()

    def function(self, body: list[ast.stmt], frame: Frame) -> Iterator[object]:
        """Run the body of a function; what it yields."""
        try:
            yield from self.block(body, frame)
        except _Leave:
            return

    def block(self, body: Sequence[ast.stmt], frame: Frame) -> Iterator[object]:
        """Run statements; what they yield."""
        for statement in body:
            self.step()
            if self.trace is not None and self.trace.pending:
                self.go_on(self.trace)
            self.current = self.header(statement, frame)
            trace = self.trace
            if trace is not None:
                self.reach(statement, frame)
                if len(trace.frames) == 1 and not frame.held:
                    trace.settled = trace.operations
            run = getattr(self, METHOD_OF[type(statement)], None)
            if run is not None:
                running = run(statement, frame)
                if running is not None:
                    yield from running
                if not hasattr(statement, "body"):
                    self.split_behind(statement, frame)
            elif not isinstance(statement, _WITHOUT_EFFECT):
                self.give_up(self.current, f"a statement of the kind {type(statement).__name__}")

    def reach(self, statement: ast.stmt, frame: Frame) -> None:
        """Note the lines of a statement of compiled code, and of a compound one those before its body."""
        if (frame.where, statement.lineno) in self.ran:
            return
        self.ran.update((frame.where, line) for line in range(statement.lineno, _last_line(statement) + 1))

    def split_behind(self, statement: ast.stmt, frame: Frame) -> None:
        """Split the frame where the graph has ended in a statement, or before the body of a compound one."""
        trace = self.trace
        if trace is not None and trace.broken:
            lost, trace.broken = trace.broken == "eager", ""
            self.current = self.header(statement, frame)
            frame.held += lost
            self.split()
            frame.held -= lost

    def header(self, statement: ast.stmt, frame: Frame) -> Site:
        """The place of a statement, or of what a compound one asks first."""
        field = _ASKED.get(type(statement))
        if field is None:
            return Site(frame.where, statement)
        asked = getattr(statement, field)
        return Site(frame.where, asked[0].context_expr if isinstance(asked, list) else asked)

    def _doubted(self, body: Sequence[ast.stmt], frame: Frame) -> Iterator[object]:
        """Run statements of which it is not known whether they run; they do not leave what is around them."""
        self.doubt += 1
        try:
            yield from self.block(body, frame)
        except _Return:
            frame.may_return = True
        except (_Leave, Failed):
            pass
        finally:
            self.doubt -= 1

    # --- plain statements -------------------------------------------------------------------------------

    def _Expr(self, node: ast.Expr, frame: Frame) -> Iterator[object] | None:
        return self._assigned(node.value, (), frame)

    def _Assign(self, node: ast.Assign, frame: Frame) -> Iterator[object] | None:
        return self._assigned(node.value, node.targets, frame)

    def _AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> Iterator[object] | None:
        return self._assigned(node.value, (node.target,), frame) if node.value is not None else None

    def _assigned(self, node: ast.expr, targets: Sequence[ast.expr], frame: Frame) -> Iterator[object] | None:
        """Run a statement that gives a value to targets; what it yields, if it does."""
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return self._yielding(node, targets, frame)
        value = self.value(node, frame)
        for target in targets:
            self.bind(target, value, frame)
        return None

    def _yielding(
        self, node: ast.Yield | ast.YieldFrom, targets: Sequence[ast.expr], frame: Frame
    ) -> Iterator[object]:
        sent: object = None
        if isinstance(node, ast.YieldFrom):
            yield from self.elements(self.value(node.value, frame))
        else:
            sent = yield self.value(node.value, frame) if node.value is not None else None
        for target in targets:
            self.bind(target, UNKNOWN if sent is None else sent, frame)

    def _AugAssign(self, node: ast.AugAssign, frame: Frame) -> None:
        before = self.value(node.target, frame)
        added = self.value(node.value, frame)
        if isinstance(before, list) and isinstance(node.op, ast.Add):
            self.length(before)
            before += self.elements(added)
            self.wrote(before, LENGTH, UNKNOWN)
            return
        if isinstance(before, dict) and isinstance(node.op, ast.BitOr) and isinstance(added, dict):
            for key, value in added.items():
                self.put(before, key, value)
            return
        result = self.special(before, f"__i{OPERATORS[type(node.op)]}__", [added], self.current)
        self.bind(node.target, self.binary(before, node.op, added) if result is MISSING else result, frame)

    def bind(self, target: ast.expr, value: object, frame: Frame) -> None:
        """Assign a value to a target."""
        match target:
            case ast.Name(id=name):
                self._bind_name(name, value, frame)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part, item in zip(parts, self._unpacked(value, parts), strict=True):
                    self.bind(part.value if isinstance(part, ast.Starred) else part, item, frame)
            case ast.Attribute(value=inner, attr=name):
                self.store(self.value(inner, frame), name, value, self.current)
            case ast.Subscript(value=inner, slice=index):
                owner, key = self.value(inner, frame), self.value(index, frame)
                if self.trace is not None:
                    self.keyed(index, frame)
                    number = isinstance(key, Tensor) and key.shape == () and not is_mask(key)
                    if isinstance(owner, Tensor) and number and self.is_argument(key):
                        self.breaking("index", Site(frame.where, target))
                key = self.sized(key) if isinstance(owner, Tensor) else self.use(key)
                if owner == External("os.environ"):
                    self.set(f"os.environ.{key}", value, Site(frame.where, target))
                if isinstance(owner, Tensor):
                    self.fill(owner, key, value)
                elif self.special(owner, "__setitem__", [key, value], self.current) is MISSING:
                    self.put(owner, key, value)

    def _unpacked(self, value: object, parts: list[ast.expr]) -> list[object]:
        """The values that the parts of a target get; `*rest` gets a list."""
        star = next((n for n, part in enumerate(parts) if isinstance(part, ast.Starred)), None)
        unended = self.unended
        values = [*islice(self.each(value), LONGEST if star is not None else len(parts))]
        self.unended = unended or (self.unended and isinstance(value, Iterator))  # a tensor has these parts
        if value is UNKNOWN or (star is not None and isinstance(value, Tensor)):
            return [UNKNOWN] * len(parts)
        values += [UNKNOWN] * (len(parts) - len(values) - (star is not None))
        if star is None:
            return values
        behind = len(values) - (len(parts) - star - 1)
        return [*values[:star], values[star:behind], *values[behind:]]

    def _bind_name(self, name: str, value: object, frame: Frame) -> None:
        """Assign a name: of the frame, or of one around it that is declared `global` or `nonlocal`."""
        home = frame
        if frame.where.key != MODULE_KEY and name in self.project.function(frame.where).globals:
            around = frame.outer
            while around is not None and name not in around.names:
                around = around.outer
            home = around or self.file(frame.where.path)
            self.wrote(home, name, value)
            value = self.named(value)
        if isinstance(value, Sourced) and not self.has("names-are-unguarded"):
            self.use(value, symbolic=True)
        home.names[name] = value
        home.carried.discard(name)
        drawn = self.drawn.get((home.where, name))
        if drawn is not None and drawn != self.current.place:
            del self.drawn[home.where, name]

    def store(self, owner: object, name: str, value: object, site: Site) -> None:
        """Assign an attribute: of an object, or a setting of torch."""
        match owner:
            case External(dotted):
                key = f"{dotted}.{name}"
                if key not in NAMED:
                    self.set(key, value, site)
                elif is_setting(value):
                    self.set(key, setting_text(value), site)
            case Object(kind=ClassRef() as kind) if (setter := self._setter(kind, name)) is not None:
                self.invoke(self.code(setter, owner), [value], {}, site)
            case Object(kind=ClassRef() as kind) if (
                held := self.descriptor(kind, name, "__set__")
            ) is not None:
                self.special(held, "__set__", [owner, value], site)
            case Object() | ClassObject() | Tensor():
                if isinstance(owner, Tensor) and name == "requires_grad" and value is not False:
                    self.breaking("gradient", site)
                self.assign(owner, name, value, site)
            case FileValue(path):
                self.file(path).names[name] = self.kept(value)
                self.wrote(self.file(path), name, value, site)
            case Closure() if name == "__defaults__" and isinstance(value, tuple):
                self._redefault(owner, value, site)
            case Closure():
                kept = self.kept(value)
                met = self.source_of(owner) is not None and not self.has("attributes-of-functions-are-set")
                if self.trace is not None and met:
                    self.end_graph("attribute of a function")
                owner.attributes[name] = kept
                self.wrote(owner, name, value, site)
            case Unwrapped() if name == "forward":
                owner.changed = True
            case Wrapper(target=Closure()):
                owner.attributes[name] = self.kept(value)
            case Wrapper(target=Object() as target) | Unwrapped(target=Object() as target):
                self.assign(target, name, value, site)

    def _redefault(self, function: Closure, values: tuple[object, ...], site: Site) -> None:
        """Give the last positional parameters of a function other defaults."""
        names = [
            one.name for one in self.project.function(function.where).parameters if one.kind == "positional"
        ]
        for name, value in zip(names[max(0, len(names) - len(values)) :], values, strict=False):
            function.defaults[name] = self.use_raw(value)
            self.wrote(function, name, value, site)

    def _setter(self, kind: ClassRef, name: str) -> FunctionRef | None:
        """The setter of a property."""
        getter = self.project.method(kind, name)
        if getter is None or "property" not in self.project.method_kind(getter):
            return None
        setter = FunctionRef(getter.path, f"{getter.key}@setter")
        return setter if setter.key in self.project.files[getter.path].functions else None

    def _Return(self, node: ast.Return, frame: Frame) -> None:
        value = self.value(node.value, frame) if node.value is not None else None
        if self.trace is not None and self.trace.frames[:1] == [frame]:
            self.returned(value)
        before = frame.result  # of a return that is in doubt
        if isinstance(value, PLAIN) and (
            before is UNKNOWN or (is_known(before) and before not in (None, value))
        ):
            frame.result = UNKNOWN
        elif not self.doubt or before is None:
            frame.result = value
        if UNKNOWN is not before is not None and before is not value and not isinstance(value, PLAIN):
            self.weaken()  # which of the values the function returns is not known
        raise _Return

    def _Break(self, node: ast.Break, frame: Frame) -> None:
        raise _Break

    def _Continue(self, node: ast.Continue, frame: Frame) -> None:
        raise _Continue

    def _Assert(self, node: ast.Assert, frame: Frame) -> None:
        self.vouch(node.test, frame)
        holds = self.value(node.test, frame)
        in_graph = isinstance(holds, Tensor)  # it becomes a node that checks
        if in_graph and node.msg is not None and not isinstance(node.msg, ast.Constant):
            self.breaking("branch", Site(frame.where, node.test))
        if not in_graph and self.truth(holds) is False:
            if node.msg is not None:
                self.value(node.msg, frame)
            if not self.catching:
                self.give_up(self.current, _UNCAUGHT)
                return
            raise Failed(frozenset({"AssertionError", *_BROAD}))

    def _TypeAlias(self, node: ast.stmt, frame: Frame) -> None:
        if isinstance(name := getattr(node, "name", None), ast.Name):
            self.bind(name, UNKNOWN, frame)

    def _Raise(self, node: ast.Raise, frame: Frame) -> None:
        for part in (node.exc, node.cause):
            if part is not None:
                self.value(part, frame)
        raise Failed(frozenset({_raised(node), *_BROAD}))

    def _Delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            self._delete(target, frame)

    def _delete(self, target: ast.expr, frame: Frame) -> None:
        match target:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._delete(part, frame)
            case ast.Name(id=name):
                frame.names.pop(name, None)
            case ast.Attribute(value=inner, attr=name):
                self.remove(self.value(inner, frame), name)
            case ast.Subscript(value=inner, slice=index):
                owner, key = self.value(inner, frame), self.use(self.value(index, frame))
                if owner == External("os.environ"):
                    self.settings.pop(f"os.environ.{key}", None)
                elif isinstance(owner, list) and isinstance(key, slice) and is_known([*bounds(key)]):
                    self.length(owner)
                    del owner[key]
                    self.wrote(owner, LENGTH, UNKNOWN)
                elif isinstance(owner, dict | list):
                    self.invoke(Method(owner, "pop"), [key], {}, self.current)
                elif self.special(owner, "__delitem__", [key], self.current) is MISSING:
                    self.lost([owner], self.current, "an item is deleted from what is not known")

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        where = self._defined(node, frame)
        if where is None:
            return
        value: object = Closure(
            where, frame, disabled=where in self.disabled, defaults=self.defaults(node.args, frame)
        )
        for decorator in reversed(node.decorator_list):
            made = self.value(decorator, frame)
            given = self.decorated(made, value, Site(frame.where, decorator))
            value = given if given is not UNKNOWN else value
        frame.names[node.name] = value

    _AsyncFunctionDef = _FunctionDef

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> FunctionRef | None:
        """The function that a `def` makes."""
        return next(iter(self.project.functions_at(frame.where.path, node.lineno)), None)

    def _ClassDef(self, node: ast.ClassDef, frame: Frame) -> None:
        if self.trace is not None and frame.where.key != MODULE_KEY:
            unused = node.name not in self.bodies.mentions(frame.where).read
            self.breaking(
                "class", Site(frame.where, node), "eager" if frame.held else "break" if unused else ""
            )
        ref = next(iter(self.project.classes_at(frame.where.path, node.lineno)), None)
        if ref is None:
            frame.names[node.name] = UNKNOWN
            return
        frame.names[node.name] = self.class_object(ref)
        body = Frame(frame.where, outer=frame)
        for base in node.bases:
            match base:
                case ast.Call(args=[_, fields]) if self.value(base.func, frame) == External(
                    "collections.namedtuple"
                ):
                    self.class_attributes.setdefault(ref, {})["_fields"] = _fields(self.value(fields, frame))
        for decorator in reversed(node.decorator_list):
            given = self.decorated(self.value(decorator, frame), frame.names[node.name], self.current)
            frame.names[node.name] = given if isinstance(given, ClassObject) else frame.names[node.name]
        members = any(base.startswith("enum.") for base in self.project.external_bases(ref))
        for statement in node.body:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    method = self._defined(statement, frame)
                    body.names[statement.name] = self.code(method, None) if method is not None else UNKNOWN
                    if method is not None and (statement.args.defaults or statement.args.kw_defaults):
                        self.defaults_of[method] = self.defaults(statement.args, body)
                    if method is not None and statement.decorator_list:
                        self._wrap(ref, statement, method, body)
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    body.names[name] = self.value(value, body)
                    if members and _is_automatic(value):
                        flags = any("Flag" in base for base in self.project.external_bases(ref))
                        body.names[name] = _next_number(self.class_attributes.get(ref, {}), flags)
                    held = Member(ref, name, body.names[name]) if members else body.names[name]
                    self.class_attributes.setdefault(ref, {})[name] = held
        above = (self.project.method(part, "__init_subclass__") for part in self.project.mro(ref)[1:2])
        for told in (method for method in above if method is not None):
            given = {one.arg: self.value(one.value, frame) for one in node.keywords if one.arg is not None}
            self.run(self.code(told, self.class_object(ref)), [], {**given})

    def _wrap(
        self, ref: ClassRef, node: ast.FunctionDef | ast.AsyncFunctionDef, method: FunctionRef, body: Frame
    ) -> None:
        """Put what decorators of the project make of a method in its place."""
        value: object = self.code(method, None)
        for decorator in reversed(node.decorator_list):
            made = self.value(decorator, body)
            if isinstance(made, Partial) and getattr(made.function, "dotted", "") in NAMES["compile"]:
                self.compiling[method] = tuple(made.keywords.items())
            if not isinstance(made, Closure):
                return  # those of torch and Python are known by their names
            value = self.invoke(made, [value], {}, Site(body.where, decorator))
        if isinstance(value, Closure) and value.where != method:
            self.class_attributes.setdefault(ref, {})[node.name] = value

    # --- control ----------------------------------------------------------------------------------------

    def _If(self, node: ast.If, frame: Frame) -> Iterator[object]:
        if _asks_for_main(node.test):
            truth: bool | None = frame.where.path == self.main
        else:
            truth = self.truth(self.value(node.test, frame))
        self.split_behind(node, frame)
        if self.sweeping and truth is not None and self.is_new(node.orelse if truth else node.body, frame):
            truth = None
        if truth is not None:
            taken, other = (node.body, node.orelse) if truth else (node.orelse, node.body)
            if self._ends_program(taken):
                self.give_up(self.current, _UNCAUGHT)
                taken = other
            return self.block(taken, frame)
        return self._arms([node.body, node.orelse], frame)

    def is_new(self, body: Sequence[ast.stmt], frame: Frame) -> bool:
        """Whether compiled code has not come to a block yet."""
        return self.trace is not None and bool(body) and (frame.where, body[0].lineno) not in self.ran

    def _ends_program(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a block ends in an error that nothing catches: a check of what is not known as it is."""
        if self.catching or not body or not isinstance(body[-1], ast.Raise):
            return False
        return _raised(body[-1]) not in _ENDINGS

    def _arms(self, bodies: Sequence[Sequence[ast.stmt]], frame: Frame) -> Iterator[object]:
        """Run blocks of which it is not known which runs, each with the names as they were before.

        One that ends in a `raise` which nothing catches has no part in what comes behind it.
        """
        if not self.catching:
            going_on = [body for body in bodies if not (body and isinstance(body[-1], ast.Raise))]
            bodies = going_on or bodies[:1]
        if len(bodies) == 1:
            yield from self.block(bodies[0], frame)
            return
        before = {name: value for name, value in frame.names.items() if isinstance(value, PLAIN)}
        first: dict[str, object] = {}
        for body in bodies:
            frame.names |= before
            yield from self._doubted(body, frame)
            for name, value in first.items():
                other = frame.names.get(name, MISSING)
                if other is MISSING or isinstance(other, Unknown):
                    frame.names[name] = value
                elif isinstance(value, Object) and isinstance(other, Object) and value is not other:
                    value.chosen = other.chosen = True
                    frame.names[name] = other if isinstance(other.kind, ClassRef) else value
                elif is_known(other) and value is not other and (not is_known(value) or value != other):
                    frame.names[name] = _one_of(value, other)
            first = dict(frame.names)

    def _Match(self, node: ast.Match, frame: Frame) -> Iterator[object]:
        subject = self.value(node.subject, frame)
        self.split_behind(node, frame)
        possible: list[list[ast.stmt]] = []
        for case in node.cases:
            fits = self.matches(case.pattern, subject, frame)
            if fits is not False and case.guard is not None:
                self.doubt += fits is None
                holds = self.truth(self.value(case.guard, frame))
                self.doubt -= fits is None
                fits = holds if fits or holds is False else None
            if fits and not possible:
                yield from self.block(case.body, frame)
                return
            possible += [case.body] if fits is not False else []
            if fits:
                break
        else:
            possible += [[]] if possible else []  # none of them may fit
        if possible:
            yield from self._arms(possible, frame)

    def matches(self, pattern: ast.pattern, subject: object, frame: Frame) -> bool | None:
        """Whether a value fits a pattern, whose names are bound; None if that is not known."""
        self.step()
        match pattern:
            case ast.MatchAs(pattern=inner, name=name):
                fits = self.matches(inner, subject, frame) if inner is not None else True
                if name is not None and fits is not False:
                    self._bind_name(name, subject, frame)
                return fits
            case ast.MatchOr(patterns=parts):
                answers = [self.matches(part, subject, frame) for part in parts]
                return True if True in answers else None if None in answers else False
            case ast.MatchValue(value=wanted):
                answer = self.compared(subject, self.value(wanted, frame), partial(comparison, ast.Eq()))
                return answer if isinstance(answer, bool) else None
            case ast.MatchSingleton(value=wanted):
                answer = self.compared(subject, wanted, partial(comparison, ast.Is()))
                return answer if isinstance(answer, bool) else None
            case ast.MatchSequence(patterns=parts):
                return self._matches_sequence(parts, subject, frame)
            case ast.MatchMapping():
                return self._matches_mapping(pattern, subject, frame)
            case ast.MatchClass():
                return self._matches_class(pattern, subject, frame)
        for captured in ast.walk(pattern):
            if isinstance(captured, ast.MatchStar | ast.MatchAs) and captured.name is not None:
                self._bind_name(captured.name, UNKNOWN, frame)
        return None

    def _all_match(self, pairs: Iterable[tuple[ast.pattern, object]], frame: Frame) -> bool | None:
        answers = [self.matches(part, value, frame) for part, value in pairs]
        return False if False in answers else None if None in answers else True

    def _matches_sequence(self, parts: list[ast.pattern], subject: object, frame: Frame) -> bool | None:
        star = next((n for n, part in enumerate(parts) if isinstance(part, ast.MatchStar)), None)
        if not isinstance(subject, list | tuple):
            unknown = not isinstance(subject, (*PLAIN, dict, Object, Closure, Member))
            self._all_match(((part, UNKNOWN) for part in parts if unknown), frame)
            return None if unknown else False
        self.length(subject)
        values = [*self.each(subject)]
        if star is None:
            return len(values) == len(parts) and self._all_match(zip(parts, values, strict=True), frame)
        behind = len(values) - (len(parts) - star - 1)
        if behind < star:
            return False
        rest = parts[star]
        if isinstance(rest, ast.MatchStar) and rest.name is not None:
            self._bind_name(rest.name, values[star:behind], frame)
        ends = zip([*parts[:star], *parts[star + 1 :]], [*values[:star], *values[behind:]], strict=True)
        return self._all_match(ends, frame)

    def _matches_mapping(self, pattern: ast.MatchMapping, subject: object, frame: Frame) -> bool | None:
        keys = [self.use(self.value(key, frame)) for key in pattern.keys]
        if not isinstance(subject, dict) or not all(map(is_key, keys)):
            unknown = not isinstance(subject, (*PLAIN, list, tuple, Object, Closure, Member))
            self._all_match(((part, UNKNOWN) for part in pattern.patterns if unknown), frame)
            if pattern.rest is not None:
                self._bind_name(pattern.rest, UNKNOWN, frame)
            return None if unknown else False
        for key in keys:
            self.absent(subject, "item", key, present=key in subject)
        if not all(key in subject for key in keys):
            return False
        if pattern.rest is not None:
            rest = {key: value for key, value in subject.items() if key not in keys}
            self._bind_name(pattern.rest, rest, frame)
        values = [self.item(subject, key) for key in keys]
        return self._all_match(zip(pattern.patterns, values, strict=True), frame)

    def _matches_class(self, pattern: ast.MatchClass, subject: object, frame: Frame) -> bool | None:
        kind = self.value(pattern.cls, frame)
        fits = self.invoke(External("builtins.isinstance"), [subject, kind], {}, self.current)
        if fits is False:
            return False
        names: object = None
        if pattern.patterns and isinstance(kind, ClassObject):
            names = self.peek(kind, "__match_args__")
        of_builtin = isinstance(kind, External) and len(pattern.patterns) == 1  # `int(n)` is the value itself
        fields: list[tuple[ast.pattern, object]] = [(part, UNKNOWN) for part in pattern.patterns]
        if of_builtin:
            fields = [(pattern.patterns[0], subject)]
        elif isinstance(names, list | tuple):
            fields = [
                (part, self.attribute(subject, str(name), self.current))
                for part, name in zip(pattern.patterns, names, strict=False)
            ]
        fields += [
            (part, self.attribute(subject, name, self.current))
            for part, name in zip(pattern.kwd_patterns, pattern.kwd_attrs, strict=True)
        ]
        answer = self._all_match(fields, frame)
        return answer if fits is True or answer is False else None

    def _For(self, node: ast.For | ast.AsyncFor, frame: Frame) -> Iterator[object]:
        items = self.value(node.iter, frame)
        self.split_behind(node, frame)
        if self.sweeping and self.is_new(node.body, frame):
            self.bind(node.target, UNKNOWN, frame)
            yield from self._doubted(node.body, frame)
        for value in self.elements(items, _turns(node)):
            self.bind(node.target, value, frame)
            try:
                yield from self._held(node.body, frame)
            except _Break:
                return
            except _Continue:
                continue
        yield from self.block(node.orelse, frame)

    def _held(self, body: Sequence[ast.stmt], frame: Frame) -> Iterator[object]:
        """Run statements behind which Dynamo could not go on in the same frame, if the graph ended there."""
        frame.held += 1
        try:
            yield from self.block(body, frame)
        finally:
            frame.held -= 1

    _AsyncFor = _For

    def _While(self, node: ast.While, frame: Frame) -> Iterator[object]:
        compiled, met, number = len(self.recompiles), len(self.met), 0
        longest = ROUNDS if isinstance(node.test, ast.Constant) else LONGEST
        while number < ROUNDS or (len(self.met) == met and number < longest):
            number += 1
            before, self.current = len(self.recompiles), self.header(node, frame)
            truth = self.truth(self.value(node.test, frame))
            self.split_behind(node, frame)
            if truth is False:
                yield from self.block(node.orelse, frame)
                return
            if truth is None:
                self.unended = True
                if number > 3 and before == compiled:
                    yield from self._doubted(node.orelse, frame)
                    return
            compiled = before
            try:
                yield from self._held(node.body, frame)
            except _Break:
                return
            except _Continue:
                continue
        self.unended = True

    def _With(self, node: ast.With | ast.AsyncWith, frame: Frame) -> Iterator[object]:
        entered: list[object] = []
        closed, traced = False, True
        prefix = "__a" if isinstance(node, ast.AsyncWith) else "__"
        for item in node.items:
            manager = self.value(item.context_expr, frame)
            entered.append(manager)
            traced &= self.entered_manager(manager, item.context_expr)
            value = self.enter_context(manager, f"{prefix}enter__")
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, frame)
        self.split_behind(node, frame)
        catching = any(isinstance(manager, Catcher) for manager in entered)
        restored = traced or all(isinstance(manager, Manager) and not manager.dotted for manager in entered)
        try:
            self.catching += catching
            try:
                yield from (self.block if restored else self._held)(node.body, frame)
            finally:
                self.catching -= catching
        except GeneratorExit:
            closed = True
            raise
        except Failed as failure:
            catchers = (one for one in entered if isinstance(one, Catcher) and one.names & failure.names)
            catcher = next(catchers, None)
            if catcher is None:
                raise
            self._swallowed(failure, catcher.site)
        finally:
            for one in reversed(_unstacked(entered)):
                if isinstance(one, Manager):
                    self.leave(one)
                elif isinstance(one, Iterator) and not closed:
                    next(one, None)
                elif isinstance(one, Object) and not closed:
                    self.special(one, f"{prefix}exit__", [None, None, None], self.current)

    _AsyncWith = _With

    def _Try(self, node: ast.Try, frame: Frame) -> Iterator[object]:
        start, closed = len(self.met), False
        if self.trace is not None and any(_names(one) & _ABSENCES for one in node.handlers):
            self._imports(node.body, frame)
        named = frozenset[str]().union(*(_names(handler) for handler in node.handlers))
        try:
            self.catching += bool(node.handlers)
            self.expected += [named] if node.handlers else []
            try:
                yield from self._held(node.body, frame)
            finally:
                self.catching -= bool(node.handlers)
                del self.expected[len(self.expected) - bool(node.handlers) :]
            self._hiding(node, self.met[start:], frame)
            yield from self.block(node.orelse, frame)
        except GeneratorExit:
            closed = True  # nobody asks for more: nothing else of it runs
            raise
        except _Leave:
            self._hiding(node, self.met[start:], frame)
            raise
        except Failed as failure:
            handler = next((one for one in node.handlers if _catches(one, failure.names)), None)
            if handler is None:
                raise
            try:
                yield from self.block(handler.body, frame)
            except _Leave:
                self._swallowed(failure, Site(frame.where, handler))
                raise
            self._swallowed(failure, Site(frame.where, handler))
        finally:
            if node.finalbody and not closed:
                yield from self.block(node.finalbody, frame)

    _TryStar = _Try

    def _imports(self, body: Sequence[ast.stmt], frame: Frame) -> None:
        """Notice packages that compiled code imports, of which nobody knows whether they are there."""
        for statement in body:
            names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
            if isinstance(statement, ast.ImportFrom) and not statement.level:
                names = [statement.module or ""]
            for root in (name.partition(".")[0] for name in names):
                installed = root in {*sys.stdlib_module_names, "torch"}
                if not installed and not self.project.find_module(root, frame.where.path):
                    self.doubt += 1
                    self.breaking("package", Site(frame.where, statement))
                    self.doubt -= 1

    def _swallowed(self, failure: Failed, handler: Site) -> None:
        """Notice a compiled call that failed, and a handler that went on."""
        if failure.called is not None:
            self.meet(replace(failure.called, site=handler))

    def _hiding(self, node: ast.Try, met: list[Met], frame: Frame) -> None:
        """Notice compiled calls whose failure a broad handler would hide."""
        for handler in node.handlers:
            names = _names(handler)
            if names & {*_BROAD, ""} and not _gives_up(handler):
                called = next(
                    (one for one in met if one.compile is not None and one.what == "compiled"), None
                )
                if called is not None and any(isinstance(one, ast.Call) for one in ast.walk(handler)):
                    site = Site(frame.where, handler)
                    self.meet(Met("hiding", site, called.called, called.unit, True, called.compile))


def _one_of(value: object, known: object) -> object:
    """The value of a name that one block leaves with a value, and another one with a known value."""
    numbers = [one for one in (known, value) if is_stand_in(one)]
    if numbers:
        return numbers[0]  # one that is not known, whichever of them it is
    return UNKNOWN if is_known(value) or isinstance(value, Unknown) else value


def _last_line(statement: ast.stmt) -> int:
    """The last line of a statement, or of what stands before the body of a compound one."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    if body and isinstance(body[0], ast.stmt):
        return max(body[0].lineno - 1, statement.lineno)
    return statement.end_lineno or statement.lineno


def _unstacked(managers: list[object]) -> list[object]:
    """The context managers in order, those of an exit stack in its place."""
    found: list[object] = []
    for manager in managers:
        stack = isinstance(manager, Object) and manager.kind == EXIT_STACK
        found += manager.items if isinstance(manager, Object) and stack else [manager]
    return found


def _is_automatic(node: ast.expr) -> bool:
    """Whether the value of a member is what comes next: `enum.auto()`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="auto") | ast.Name(id="auto")):
            return True
    return False


def _next_number(members: Mapping[str, object], flags: bool) -> int:
    """The value that `enum.auto()` has behind some members: the next number, or the next bit."""
    values = (one.value for one in members.values() if isinstance(one, Member))
    largest = max((value for value in values if isinstance(value, int)), default=0)
    return 1 << largest.bit_length() if flags else largest + 1


def _fields(given: object) -> object:
    """The names of the fields of a named tuple."""
    return given.replace(",", " ").split() if isinstance(given, str) else given


def _gives_up(handler: ast.ExceptHandler) -> bool:
    """Whether a handler raises, or compiles in another way."""
    return any(
        isinstance(one, ast.Raise) or (isinstance(one, ast.Attribute) and one.attr == "compile")
        for one in ast.walk(handler)
    )


def _raised(node: ast.Raise) -> str:
    """The last name of what is raised."""
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return spelled(raised).rpartition(".")[2] if raised is not None else "Exception"


def _names(handler: ast.ExceptHandler) -> set[str]:
    """The last names of the exceptions that a handler takes; an empty one for all."""
    if handler.type is None:
        return {""}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {spelled(kind).rpartition(".")[2] for kind in kinds}


def _catches(handler: ast.ExceptHandler, names: frozenset[str]) -> bool:
    return not _names(handler).isdisjoint({*names, ""})


@lru_cache(maxsize=128)
def _turns(loop: ast.For | ast.AsyncFor) -> tuple[int, ...]:
    """The rounds at which tests in a loop on what it counts may come out otherwise, and those behind."""
    names = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    found: set[int] = set()
    for node in (node for statement in loop.body for node in ast.walk(statement)):
        if isinstance(node, ast.Compare) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)):
            parts = [*ast.walk(node)]
            if any(isinstance(part, ast.Name) and part.id in names for part in parts):
                found |= {
                    part.value
                    for part in parts
                    if isinstance(part, ast.Constant) and type(part.value) is int and part.value > 0
                }
    first = sorted(found)[:_MOST_TURNS]
    return tuple(sorted({*first, *(one + 1 for one in first)}))


def _asks_for_main(test: ast.expr) -> bool:
    """`__name__ == "__main__"`."""
    match test:
        case ast.Compare(
            left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant("__main__")]
        ):
            return True
    return False
