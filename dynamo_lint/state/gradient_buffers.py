"""Buffers that take, in place, what needs a gradient: the graph of one step is held until the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index.ir import Call, Constant, Expr
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.spelling import spelled
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.model import CompiledFunction, Regions
from dynamo_lint.values.points_to import points_to_of

_LEARNING = tuple(knowledge.in_order("learning"))
_WITHOUT = frozenset({"no_grad", "inference_mode"})
_CUTS = frozenset(
    {"detach", "data", "item", "tolist", "argmax", "argmin", "argsort", "indices", "bincount", "one_hot"}
    | {"long", "int", "bool", "byte", "numel", "size", "histc", "sign", "round", "floor", "ceil", "eq", "ne"}
    | {"gt", "ge", "lt", "le", "isnan", "isfinite", "logical_and", "logical_or", "logical_not", "bernoulli"}
    | {"multinomial", "ones_like", "zeros_like", "empty_like", "full_like", "rand_like", "randn_like", "dim"}
    | {"shape", "new_zeros", "new_ones", "new_full", "new_empty", "searchsorted", "bucketize"}
)
"""Attributes and functions whose result needs no gradient, whatever they are given."""
_WITH_PLACES = frozenset({"topk", "max", "min", "sort", "kthvalue", "median", "mode", "unique"})
"""Functions that give places beside values: those have no gradient."""
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Taken:
    """A statement of compiled code by which a buffer takes what needs a gradient."""

    hot: CompiledFunction
    line: int
    buffer: str
    text: str


def gradient_buffers(project: Project, bodies: Bodies, regions: Regions) -> Iterator[Taken]:
    """Every such statement, once."""
    said: set[tuple[FunctionRef, int]] = set()
    for hot in regions.hot:
        owner = project.self_name(hot.function)
        if hot.receiver is None or owner is None or not project.is_module(hot.receiver):
            continue
        buffers = _buffers(project, hot.receiver)
        if not buffers or _is_without(project, bodies, hot.function, 0):
            continue
        walk = GradientFlow(project, hot.receiver, owner, buffers)
        walk.block(bodies.of(hot.function) or ())
        for line, buffer, text in walk.taken:
            if buffer not in walk.cut and (hot.function, line) not in said:
                said.add((hot.function, line))
                yield Taken(hot, line, buffer, text)


def _buffers(project: Project, ref: ClassRef) -> frozenset[str]:
    """The names of the buffers of a module."""
    line, found = project.mro(ref), set[str]()
    for where, site in project.calls_of("register_buffer"):
        match site.call.arguments:
            case (Constant(str(name)), *_) if project.owner(where) in line:
                found.add(name)
    for base in line:
        for name, stores in project.own_stores(base).items():
            calls = (store.value for _, store in stores if isinstance(store.value, Call))
            if any(terminal_name(one.function) == "Buffer" for one in calls):
                found.add(name)
    return frozenset(found)


def _is_without(project: Project, bodies: Bodies, where: FunctionRef, depth: int) -> bool:
    """Whether a function runs without gradients: by a decorator, or in all of its calls."""
    marks = project.function(where).decorators
    if any(terminal_name(one.function if isinstance(one, Call) else one) in _WITHOUT for one in marks):
        return True
    calls = [*points_to_of(project).call_sites(where)] if depth < _DEEPEST else []
    return bool(calls) and all(
        _is_inside(bodies.of(caller.function) or (), site.call.line)
        or _is_without(project, bodies, caller.function, depth + 1)
        for caller, site in calls
        if caller.function != where
    )


def _is_inside(body: Sequence[ast.stmt], line: int) -> bool:
    """Whether a line stands in a block without gradients."""
    return any(
        isinstance(node, ast.With | ast.AsyncWith)
        and node.lineno <= line <= (node.end_lineno or 0)
        and any(_switches_off(item.context_expr) for item in node.items)
        for statement in body
        for node in ast.walk(statement)
    )


def _switches_off(manager: ast.expr) -> bool:
    match manager:
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=arguments):
            off = any(isinstance(one, ast.Constant) and one.value is False for one in arguments)
            return name in _WITHOUT or (name == "set_grad_enabled" and off)
    return False


@dataclass(slots=True)
class GradientFlow:
    """The statements of one method in order, with the names that hold what needs a gradient."""

    project: Project
    module: ClassRef | None
    owner: str
    """The name of the module in there: `self`."""
    buffers: frozenset[str] = frozenset()
    names: set[str] = field(default_factory=set)
    taken: list[tuple[int, str, str]] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)
    """The buffers that are detached again."""

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Read statements."""
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                if not any(_switches_off(item.context_expr) for item in items):
                    self.block(body)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value, node)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, value, node)
            case ast.AugAssign(target=target, value=value):
                self._take(self._buffer(target), [value], node)
                if isinstance(target, ast.Name) and self.needs(value):
                    self.names.add(target.id)
            case ast.Expr(value=value):
                self._call(value, node)
            case ast.If(test=test) if "is_compiling" in spelled(test) and "not" in spelled(test):
                self.block(node.orelse)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case _:
                for part in ("body", "orelse", "finalbody"):
                    self.block(getattr(node, part, ()))

    def _bind(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
        needs = self.needs(value)
        match target:
            case ast.Name(name):
                self.names = self.names | {name} if needs else self.names - {name}
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts[:1] if _gives_places(value) else parts:
                    self._bind(part, value, node)
            case ast.Subscript(value=held):
                self._take(self._buffer(held), [value], node)

    def _call(self, value: ast.expr, node: ast.stmt) -> None:
        """`self.buffer.add_(value)`, also as one of a chain of such calls."""
        inner = value
        while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            name, held = inner.func.attr, inner.func.value
            buffer = self._buffer(held)
            if buffer and name in {"detach_", "requires_grad_"}:
                self.cut.add(buffer)
            if name.endswith("_") and not name.startswith("_"):
                root = held
                while isinstance(root, ast.Call) and isinstance(root.func, ast.Attribute):
                    root = root.func.value
                self._take(self._buffer(root), [*inner.args, *(one.value for one in inner.keywords)], node)
            inner = held

    def _take(self, buffer: str, values: list[ast.expr], node: ast.stmt) -> None:
        if buffer and any(map(self.needs, values)):
            self.taken.append((node.lineno, buffer, spelled(node).partition("\n")[0]))

    def _buffer(self, node: ast.expr) -> str:
        """The buffer that an expression is, or a part of; empty if it is none."""
        while isinstance(node, ast.Subscript):
            node = node.value
        match node:
            case ast.Attribute(value=ast.Name(name), attr=attribute) if name == self.owner:
                return attribute if attribute in self.buffers else ""
        return ""

    def needs(self, node: ast.expr) -> bool:
        """Whether a value surely needs a gradient: a parameter is computed into it."""
        match node:
            case ast.Name(name):
                return name in self.names
            case ast.Compare() | ast.Constant() | ast.Lambda():
                return False
            case ast.Attribute(attr=name) if name in _CUTS:
                return False
            case ast.Attribute(value=ast.Name(name), attr=attribute) if name == self.owner:
                return self.module is not None and _is_parameter(self.project, self.module, attribute)
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if name in _CUTS:
                return False
            case ast.Call(func=ast.Attribute(value=ast.Name(owner), attr=name)) if owner == self.owner:
                learns = self.module is not None and _learns(self.project, self.module, name, 0)
                return learns or self._any(node)
            case ast.Call(func=callee):
                inner = [callee.value] if isinstance(callee, ast.Attribute) else []
                return any(map(self.needs, inner)) or self._any(node)
            case ast.Subscript(value=value, slice=index):
                places = isinstance(index, ast.Constant) and index.value == 1 and _gives_places(value)
                return not places and self.needs(value)
            case ast.IfExp(body=body, orelse=orelse):
                return self.needs(body) and self.needs(orelse)
        parts = (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
        return any(map(self.needs, parts))

    def _any(self, node: ast.Call) -> bool:
        given = [*node.args, *(one.value for one in node.keywords)]
        return any(self.needs(one.value if isinstance(one, ast.Starred) else one) for one in given)


def _gives_places(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)):
            return name in _WITH_PLACES
    return False


def _stored(project: Project, ref: ClassRef, name: str) -> Iterator[tuple[FunctionRef, Expr]]:
    for base in project.mro(ref):
        for where, store in project.own_stores(base).get(name, ()):
            yield where, store.value


def _is_parameter(project: Project, ref: ClassRef, name: str) -> bool:
    """Whether an attribute of a module is a parameter that is trained."""
    return any(
        isinstance(value, Call)
        and terminal_name(value.function) == "Parameter"
        and dict(value.keywords).get("requires_grad") != Constant(False)
        for _, value in _stored(project, ref, name)
    )


def _learns(project: Project, ref: ClassRef, name: str, depth: int) -> bool:
    """Whether an attribute of a module is a module with parameters."""
    for where, value in _stored(project, ref, name):
        if not isinstance(value, Call):
            continue
        if (terminal_name(value.function) or "").startswith(_LEARNING):
            return True
        for symbol in project.symbols(value.function, where.path, where.key):
            if isinstance(symbol, ClassRef) and project.is_module(symbol) and depth < _DEEPEST:
                names = {one for base in project.mro(symbol) for one in project.own_stores(base)}
                if any(
                    _is_parameter(project, symbol, one) or _learns(project, symbol, one, depth + 1)
                    for one in names
                ):
                    return True
    return False
