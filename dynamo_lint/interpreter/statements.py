"""Statements of eager code, run in order; what is not known is run either way, in doubt."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.interpreter.calls import Calls
from dynamo_lint.interpreter.expressions import ROUNDS
from dynamo_lint.interpreter.guards import LENGTH
from dynamo_lint.interpreter.library import is_setting, spelled
from dynamo_lint.interpreter.model import (
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
    Site,
    Sourced,
    Tensor,
    Unknown,
    Unwrapped,
    Wrapper,
    is_known,
)
from dynamo_lint.models.drivers import NAMED
from dynamo_lint.program.refs import ClassRef, FunctionRef

_BROAD = frozenset({"Exception", "BaseException"})


class _Leave(Exception):
    """A `return`, `break` or `continue`."""


class _Return(_Leave):
    pass


class _Break(_Leave):
    pass


class _Continue(_Leave):
    pass


class Runner(Calls):
    """A stage that runs statements."""

    __slots__ = ()

    def function(self, body: list[ast.stmt], frame: Frame) -> Iterator[object]:
        """Run the body of a function; what it yields."""
        with suppress(_Leave):
            yield from self.block(body, frame)

    def block(self, body: Sequence[ast.stmt], frame: Frame) -> Iterator[object]:
        """Run statements; what they yield."""
        for statement in body:
            self.step()
            self.current = self.header(statement, frame)
            run = getattr(self, f"_{type(statement).__name__}", None)
            if run is not None:
                yield from run(statement, frame) or ()

    def header(self, statement: ast.stmt, frame: Frame) -> Site:
        """The place of a statement, or of what a compound one asks first."""
        match statement:
            case ast.If(test=node) | ast.While(test=node) | ast.For(iter=node):
                return Site(frame.where, node)
            case ast.With(items=[ast.withitem(context_expr=node), *_]):
                return Site(frame.where, node)
        return Site(frame.where, statement)

    def _doubted(self, body: Sequence[ast.stmt], frame: Frame) -> Iterator[object]:
        """Run statements of which it is not known whether they run; they do not leave what is around them."""
        self.doubt += 1
        try:
            yield from self.block(body, frame)
        except (_Leave, Failed):
            pass
        finally:
            self.doubt -= 1

    # --- plain statements -------------------------------------------------------------------------------

    def _Expr(self, node: ast.Expr, frame: Frame) -> Iterator[object]:
        yield from self._yielding(node.value, None, frame)

    def _Assign(self, node: ast.Assign, frame: Frame) -> Iterator[object]:
        yield from self._yielding(node.value, node.targets, frame)

    def _AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> Iterator[object]:
        if node.value is not None:
            yield from self._yielding(node.value, [node.target], frame)

    def _yielding(self, node: ast.expr, targets: list[ast.expr] | None, frame: Frame) -> Iterator[object]:
        value: object = UNKNOWN
        if isinstance(node, ast.Yield):
            yield self.value(node.value, frame) if node.value is not None else None
        elif isinstance(node, ast.YieldFrom):
            yield from self.elements(self.value(node.value, frame))
        else:
            value = self.value(node, frame)
        for target in targets or ():
            self.bind(target, value, frame)

    def _AugAssign(self, node: ast.AugAssign, frame: Frame) -> None:
        before = self.value(node.target, frame)
        added = self.value(node.value, frame)
        if isinstance(before, list) and isinstance(node.op, ast.Add):
            self.length(before)
            before += self.elements(added)
            self.wrote(before, LENGTH, UNKNOWN)
            return
        self.bind(node.target, self.binary(before, node.op, added), frame)

    def bind(self, target: ast.expr, value: object, frame: Frame) -> None:
        """Assign a value to a target."""
        match target:
            case ast.Name(id=name):
                self._bind_name(name, value, frame)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                cut = self.cut
                values = [*islice(self.each(value), len(parts))] if value is not UNKNOWN else []
                self.cut = cut or (self.cut and isinstance(value, Iterator))  # a tensor has these parts
                values += [UNKNOWN] * (len(parts) - len(values))
                for part, one in zip(parts, values, strict=False):
                    self.bind(part, one, frame)
            case ast.Attribute(value=inner, attr=name):
                self.store(self.value(inner, frame), name, value, Site(frame.where, target))
            case ast.Subscript(value=inner, slice=index):
                owner, key = self.value(inner, frame), self.value(index, frame)
                key = self.sized(key) if isinstance(owner, Tensor) else self.use(key)
                if owner == External("os.environ"):
                    self.set(f"os.environ.{key}", value, Site(frame.where, target))
                self.put(owner, key, value)

    def _bind_name(self, name: str, value: object, frame: Frame) -> None:
        """Assign a name: of the frame, or of one around it that is declared `global` or `nonlocal`."""
        home = frame
        if frame.where.key != MODULE_KEY and name in self.project.function(frame.where).globals:
            around = frame.outer
            while around is not None and name not in around.names:
                around = around.outer
            home = around or self.file(frame.where.path)
            self.wrote(home, name, value)
            value = self.use_raw(value)
        if isinstance(value, Sourced) and not self.has("names-are-unguarded"):
            self.use(value, symbolic=True)
        home.names[name] = value

    def store(self, owner: object, name: str, value: object, site: Site) -> None:
        """Assign an attribute: of an object, or a setting of torch."""
        match owner:
            case External(dotted):
                key = f"{dotted}.{name}"
                if key not in NAMED:
                    self.set(key, value, site)
                elif is_setting(value):
                    self.set(key, spelled(value), site)
            case Object(kind=ClassRef() as kind) if (setter := self._setter(kind, name)) is not None:
                self.invoke(self.code(setter, owner), [value], {}, site)
            case Object() | ClassObject() | Tensor():
                self.assign(owner, name, value, site)
            case FileValue(path):
                self.file(path).names[name] = self.use_raw(value)
                self.wrote(self.file(path), name, value, site)
            case Closure() if name == "__defaults__" and isinstance(value, tuple):
                self._redefault(owner, value, site)
            case Closure():
                owner.attributes[name] = self.use_raw(value)
                self.wrote(owner, name, value, site)
            case Unwrapped() if name == "forward":
                owner.changed = True
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
        before = frame.result  # of a return that is in doubt
        if isinstance(value, PLAIN) and (
            before is UNKNOWN or (is_known(before) and before not in (None, value))
        ):
            frame.result = UNKNOWN
        elif not self.doubt or before is None:
            frame.result = value
        raise _Return

    def _Break(self, node: ast.Break, frame: Frame) -> None:
        raise _Break

    def _Continue(self, node: ast.Continue, frame: Frame) -> None:
        raise _Continue

    def _Raise(self, node: ast.Raise, frame: Frame) -> None:
        if node.exc is not None:
            self.value(node.exc, frame)
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = ast.unparse(raised).rpartition(".")[2] if raised is not None else "Exception"
        raise Failed(frozenset({name, *_BROAD}))

    def _Delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                frame.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                owner = self.value(target.value, frame)
                if isinstance(owner, Object) and target.attr in owner.attributes:
                    del owner.attributes[target.attr]
                    self.wrote(owner, target.attr, MISSING)
            elif isinstance(target, ast.Subscript):
                owner, key = self.value(target.value, frame), self.use(self.value(target.slice, frame))
                if owner == External("os.environ"):
                    self.settings.pop(f"os.environ.{key}", None)
                elif isinstance(owner, dict | list):
                    self.invoke(Method(owner, "pop"), [key], {}, self.current)

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        where = self._defined(node, frame)
        if where is None:
            return
        value: object = Closure(
            where, frame, disabled=where in self.disabled, defaults=self.defaults(node.args, frame)
        )
        for decorator in reversed(node.decorator_list):
            made = self.value(decorator, frame)
            site = Site(frame.where, decorator)
            given = self.invoke(made, [value], {}, site)
            value = given if given is not UNKNOWN else value
        frame.names[node.name] = value

    _AsyncFunctionDef = _FunctionDef

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> FunctionRef | None:
        """The function that a `def` makes."""
        functions = self.project.files[frame.where.path].functions
        key = next((key for key, one in functions.items() if one.line == node.lineno), None)
        return FunctionRef(frame.where.path, key) if key is not None else None

    def _ClassDef(self, node: ast.ClassDef, frame: Frame) -> None:
        classes = self.project.files[frame.where.path].classes
        key = next((key for key, one in classes.items() if one.line == node.lineno), None)
        if key is None:
            frame.names[node.name] = UNKNOWN
            return
        ref = ClassRef(frame.where.path, key)
        frame.names[node.name] = self.class_object(ref)
        body = Frame(frame.where, outer=frame)
        for base in node.bases:
            match base:
                case ast.Call(args=[_, fields]) if self.value(base.func, frame) == External(
                    "collections.namedtuple"
                ):
                    self.class_attributes.setdefault(ref, {})["_fields"] = _fields(self.value(fields, frame))
        for decorator in reversed(node.decorator_list):
            given = self.invoke(self.value(decorator, frame), [frame.names[node.name]], {}, self.current)
            frame.names[node.name] = given if isinstance(given, ClassObject) else frame.names[node.name]
        members = any(base.startswith("enum.") for base in self.project.external_bases(ref))
        for statement in node.body:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    method = self._defined(statement, frame)
                    if method is not None and (statement.args.defaults or statement.args.kw_defaults):
                        self.defaults_of[method] = self.defaults(statement.args, body)
                    if method is not None and statement.decorator_list:
                        self._wrap(ref, statement, method, body)
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    body.names[name] = self.value(value, body)
                    held = Member(ref, name, body.names[name]) if members else body.names[name]
                    self.class_attributes.setdefault(ref, {})[name] = held

    def _wrap(
        self, ref: ClassRef, node: ast.FunctionDef | ast.AsyncFunctionDef, method: FunctionRef, body: Frame
    ) -> None:
        """Put what decorators of the project make of a method in its place."""
        value: object = self.code(method, None)
        for decorator in reversed(node.decorator_list):
            made = self.value(decorator, body)
            if not isinstance(made, Closure):
                return  # those of torch and Python are known by their names
            value = self.invoke(made, [value], {}, Site(body.where, decorator))
        if isinstance(value, Closure) and value.where != method:
            self.class_attributes.setdefault(ref, {})[node.name] = value

    # --- control ----------------------------------------------------------------------------------------

    def _If(self, node: ast.If, frame: Frame) -> Iterator[object]:
        truth = True if _is_main(node.test) else self.truth(self.value(node.test, frame))
        if truth is not None:
            yield from self.block(node.body if truth else node.orelse, frame)
            return
        before = dict(frame.names)
        yield from self._doubted(node.body, frame)
        first = dict(frame.names)
        frame.names |= {name: value for name, value in before.items() if isinstance(value, PLAIN)}
        yield from self._doubted(node.orelse, frame)
        for name, value in first.items():
            other = frame.names.get(name, MISSING)
            if other is MISSING or isinstance(other, Unknown):
                frame.names[name] = value
            elif is_known(other) and value is not other and (not is_known(value) or value != other):
                frame.names[name] = UNKNOWN if is_known(value) or isinstance(value, Unknown) else value

    def _For(self, node: ast.For | ast.AsyncFor, frame: Frame) -> Iterator[object]:
        for value in self.elements(self.value(node.iter, frame)):
            self.bind(node.target, value, frame)
            try:
                yield from self.block(node.body, frame)
            except _Break:
                return
            except _Continue:
                continue
        yield from self.block(node.orelse, frame)

    _AsyncFor = _For

    def _While(self, node: ast.While, frame: Frame) -> Iterator[object]:
        compiled = len(self.recompiles)
        for number in range(ROUNDS):
            before = len(self.recompiles)
            truth = self.truth(self.value(node.test, frame))
            if truth is False:
                return
            if truth is None:
                self.cut = True
                if number > 2 and before == compiled:
                    return
            compiled = before
            try:
                yield from self.block(node.body, frame)
            except _Break:
                return
            except _Continue:
                continue
        self.cut = True

    def _With(self, node: ast.With | ast.AsyncWith, frame: Frame) -> Iterator[object]:
        entered: list[object] = []
        closed = False
        for item in node.items:
            manager = value = self.value(item.context_expr, frame)
            entered.append(manager)
            if isinstance(manager, Manager) and not manager.before:
                self.enter(manager)
            elif isinstance(manager, Iterator):  # what a `contextmanager` of the project yields
                value = next(manager, None)
            elif isinstance(manager, Object):
                enter = self.attribute(manager, "__enter__", self.current)
                value = self.invoke(enter, [], {}, self.current) if isinstance(enter, Closure) else manager
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, frame)
        try:
            yield from self.block(node.body, frame)
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
            for one in reversed(entered):
                if isinstance(one, Manager):
                    self.leave(one)
                elif isinstance(one, Iterator) and not closed:
                    next(one, None)
                elif isinstance(one, Object) and not closed:
                    leave = self.attribute(one, "__exit__", self.current)
                    if isinstance(leave, Closure):
                        self.invoke(leave, [None, None, None], {}, self.current)

    _AsyncWith = _With

    def _Try(self, node: ast.Try, frame: Frame) -> Iterator[object]:
        start, closed = len(self.met), False
        try:
            yield from self.block(node.body, frame)
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


def _fields(given: object) -> object:
    """The names of the fields of a named tuple."""
    return given.replace(",", " ").split() if isinstance(given, str) else given


def _gives_up(handler: ast.ExceptHandler) -> bool:
    """Whether a handler raises, or compiles in another way."""
    return any(
        isinstance(one, ast.Raise) or (isinstance(one, ast.Attribute) and one.attr == "compile")
        for one in ast.walk(handler)
    )


def _names(handler: ast.ExceptHandler) -> set[str]:
    """The last names of the exceptions that a handler takes; an empty one for all."""
    if handler.type is None:
        return {""}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(kind).rpartition(".")[2] for kind in kinds}


def _catches(handler: ast.ExceptHandler, names: frozenset[str]) -> bool:
    return not _names(handler).isdisjoint({*names, ""})


def _is_main(test: ast.expr) -> bool:
    """`__name__ == "__main__"`."""
    match test:
        case ast.Compare(
            left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant("__main__")]
        ):
            return True
    return False
