"""The parts of a custom operator beside its kernel: fakes and derivatives, and what is wrong with each."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Call, Constant, Name
from dynamo_lint.index.lower import as_fact, terminal_name
from dynamo_lint.index.spelling import spelled
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef
from dynamo_lint.regions.model import CompiledFunction, Regions
from dynamo_lint.state.operators import (
    Operator,
    called_operators,
    decorated_operators,
    is_call,
    is_operator,
    means,
)

DEFINES = "torch.library.define"
_FAKES = ("register_fake", "impl_abstract", "fake_impl")
_AUTOGRAD = "register_autograd"
_HIDES = knowledge.names("hides") - {name for name in knowledge.names("hides") if "assume" in name}
_KERNELS = knowledge.last_names("kernels")
_SIZES = frozenset(
    {"shape", "dtype", "device", "ndim", "layout", "is_cuda", "requires_grad", "names", "is_cpu"}
)
_MEASURES = frozenset(
    {"size", "dim", "numel", "stride", "is_contiguous", "element_size", "storage_offset", "nelement"}
)
_VIEWS = frozenset(
    {"view", "detach", "t", "transpose", "permute", "squeeze", "unsqueeze", "expand", "view_as", "narrow"}
)
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class Parts:
    """An operator that compiled code calls, with what is registered for it."""

    operator: Operator
    hot: CompiledFunction
    call: int
    """The line of the call."""
    fakes: tuple[FunctionRef, ...]
    backwards: tuple[FunctionRef, ...]
    differentiable: bool
    """Some derivative is registered, or may be."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A line of a kernel, a fake or a derivative that is wrong."""

    where: FunctionRef
    line: int
    text: str
    name: str = ""
    """The argument that it is about."""


def called_parts(project: Project, regions: Regions) -> tuple[Parts, ...]:
    """The operators that compiled code calls, one for each compiled function that does."""
    if "called operators" not in project.memo:
        project.memo["called operators"] = tuple(_called_parts(project, regions))
    return project.memo["called operators"]  # type: ignore[return-value]


def _called_parts(project: Project, regions: Regions) -> Iterator[Parts]:
    operators = [*decorated_operators(project), *called_operators(project), *_defined(project)]
    if not operators:
        return
    registered = [*_registered(project)]
    names = {name for one in operators for name in (one.name, one.operator.rpartition("::")[2])} - {""}
    spelt = names.union({"default"}, *(project.aliases_of(name) for name in names))
    for hot in regions.hot:
        said: set[Operator] = set()
        for site in project.function(hot.function).calls:
            called = not site.eager and terminal_name(site.call.function) in spelt
            for one in operators if called else ():
                if one not in said and is_call(project, site.call.function, hot.function, one):
                    said.add(one)
                    fakes, backwards, differentiable = _of(project, one, registered)
                    yield Parts(one, hot, site.call.line, fakes, backwards, differentiable)


def _defined(project: Project) -> Iterator[Operator]:
    """The operators of `torch.library.define`, and of a `Library` by its methods."""
    for where, site in project.calls_of("define"):
        match site.call.arguments:
            case (Constant(str(text)), Constant(str(schema)), *_) if means(
                project, site.call.function, where.path, where.key, frozenset({DEFINES})
            ):
                yield Operator(where.path, "", text, site.call.line, None, *_in_schema(schema), defined=True)
            case (Constant(str(schema)), *_) if (
                space := _space(project, site.call, where)
            ) and "(" in schema:
                name = f"{space}::{schema.partition('(')[0].partition('.')[0].strip()}"
                yield Operator(where.path, "", name, site.call.line, None, *_in_schema(schema), defined=True)


def _space(project: Project, call: Call, where: FunctionRef) -> str:
    """The namespace of the `Library` whose method is called; empty if it is none."""
    owner = call.function.value if isinstance(call.function, ir.Attribute) else None
    if not isinstance(owner, Name):
        return ""
    for home in (where, FunctionRef(where.path, MODULE_KEY)):
        for binding in project.bindings_of(home).get(owner.id, ()):
            match binding.value:
                case Call(callee, (Constant(str(space)), *_)) if terminal_name(callee) == "Library":
                    return space
    return ""


def _in_schema(schema: str) -> tuple[frozenset[str], tuple[bool, ...]]:
    """The arguments that a schema marks as changed, `Tensor(a!) x`, and whether each is a tensor."""
    inside = schema.partition("(")[2].rpartition("->")[0].rpartition(")")[0]
    parts = [part.strip() for part in inside.split(",") if part.strip() not in ("", "*")]
    changed = (part.split()[-1].partition("=")[0] for part in parts if "!" in part)
    return frozenset(changed), tuple(part.startswith("Tensor") for part in parts)


_Registration = tuple[str, str, Call, FunctionRef | None]
"""A file, a function in it, the call that registers, and the function that it decorates."""


def _registered(project: Project) -> Iterator[_Registration]:
    for name in (*_FAKES, _AUTOGRAD, "impl", "register_kernel"):
        for ref, decorator in project.decorated_with(name):
            if isinstance(ref, FunctionRef):
                made = decorator if isinstance(decorator, Call) else Call(decorator, (), (), 0)
                yield ref.path, project.function(ref).outer or MODULE_KEY, made, ref
        for where, site in project.calls_of(name):
            yield where.path, where.key, site.call, None


def _of(
    project: Project, one: Operator, registered: Sequence[_Registration]
) -> tuple[tuple[FunctionRef, ...], tuple[FunctionRef, ...], bool]:
    """The fakes and derivatives of an operator, and whether it may have any of the latter."""
    fakes, backwards, differentiable = [], [], False
    for path, key, call, decorated in registered:
        name = terminal_name(call.function) or ""
        first = call.arguments[0] if call.arguments else ir.UNKNOWN
        inside = call.function.value if isinstance(call.function, ir.Attribute) else ir.UNKNOWN
        by_name = isinstance(first, Constant) and first.value == one.operator != ""
        short = isinstance(first, Constant) and first.value == one.operator.rpartition("::")[2] != ""
        own = by_name or (short and _space(project, call, FunctionRef(path, key)) != "")
        as_method = one.name != "" and is_operator(project, inside, path, key, one)
        as_argument = one.name != "" and is_operator(project, first, path, key, one)
        if not (own or as_method or as_argument):
            unknown = name == _AUTOGRAD and not isinstance(first, Constant) and not as_method
            differentiable = differentiable or (
                unknown and decorated is None and not project.symbols(first, path, key)
            )
            continue
        given = call.arguments if as_method else call.arguments[1:]
        named = [
            one for part in given for one in project.symbols(part, path, key) if isinstance(one, FunctionRef)
        ]
        if name in _FAKES:
            fakes += [decorated] if decorated is not None else named[:1]
        elif name == _AUTOGRAD:
            differentiable = True
            backwards += [decorated] if decorated is not None else named[:1]
        elif name == "impl":
            keys = [
                part.value
                for part in (*call.arguments, *(v for _, v in call.keywords))
                if isinstance(part, Constant)
            ]
            differentiable = differentiable or any(
                "Autograd" in str(k) or "Composite" in str(k) for k in keys
            )
    return tuple(dict.fromkeys(fakes)), tuple(dict.fromkeys(backwards)), differentiable


# --- what is wrong with them ----------------------------------------------------------------------------


def opaque_lines(project: Project, bodies: Bodies, where: FunctionRef, depth: int = 0) -> Iterator[Fault]:
    """The lines of a function, and of those that it calls, that need the memory of a tensor."""
    for node in (node for statement in bodies.of(where) or () for node in ast.walk(statement)):
        match node:
            case ast.Call(func=ast.Attribute(attr="data_ptr")):
                yield Fault(where, node.lineno, spelled(node))
            case ast.Call(func=ast.Subscript(value=kernel)) if _is_kernel(project, kernel, where):
                yield Fault(where, node.lineno, spelled(node.func))
            case ast.Call(func=callee):
                symbols = project.symbols(as_fact(callee), where.path, where.key)
                if any(
                    isinstance(one, ExternalSymbol) and one.dotted.startswith("ctypes.") for one in symbols
                ):
                    yield Fault(where, node.lineno, spelled(node))
                for one in symbols if depth < _DEEPEST else ():
                    if isinstance(one, FunctionRef) and one != where and not _is_operator(project, one):
                        yield from opaque_lines(project, bodies, one, depth + 1)


def _is_kernel(project: Project, expr: ast.expr, where: FunctionRef) -> bool:
    """Whether what is launched, `kernel[grid](…)`, is one of Triton."""
    for symbol in project.symbols(as_fact(expr), where.path, where.key):
        if isinstance(symbol, FunctionRef):
            marks = project.function(symbol).decorators
            if any(
                terminal_name(one.function if isinstance(one, Call) else one) in _KERNELS for one in marks
            ):
                return True
    return False


def _is_operator(project: Project, where: FunctionRef) -> bool:
    marks = (one.function if isinstance(one, Call) else one for one in project.function(where).decorators)
    return any(terminal_name(one) in {"custom_op", "triton_op"} for one in marks)


def taken_into_graphs(project: Project, regions: Regions) -> Iterator[tuple[FunctionRef, CompiledFunction]]:
    """The functions that compiled code calls and that are put into the graph as they are, with their code."""
    allowed: dict[FunctionRef, None] = {}
    for name in sorted({one.rpartition(".")[2] for one in _HIDES}):
        for ref, decorator in project.decorated_with(name):
            outer = project.function(ref).outer if isinstance(ref, FunctionRef) else project.class_(ref).outer
            callee = decorator.function if isinstance(decorator, Call) else decorator
            if means(project, callee, ref.path, outer or MODULE_KEY, _HIDES):
                allowed.update(dict.fromkeys(_methods(project, ref)))
        for where, site in project.calls_of(name):
            if site.call.arguments and means(project, site.call.function, where.path, where.key, _HIDES):
                for symbol in project.symbols(site.call.arguments[0], where.path, where.key):
                    allowed.update(dict.fromkeys(_methods(project, symbol)))
    for hot in regions.hot if allowed else ():
        for site in project.function(hot.function).calls:
            callee = site.call.function
            if isinstance(callee, ir.Attribute) and callee.name == "apply":
                callee = callee.value
            for symbol in project.symbols(callee, hot.function.path, hot.function.key):
                for one in _methods(project, symbol):
                    if one in allowed:
                        yield one, hot


def _methods(project: Project, symbol: object) -> list[FunctionRef]:
    """A function, or those of an autograd.Function."""
    if isinstance(symbol, FunctionRef):
        found = [symbol]
        for site in project.function(symbol).calls:
            if isinstance(site.call.function, ir.Attribute) and site.call.function.name == "apply":
                for one in project.symbols(site.call.function.value, symbol.path, symbol.key):
                    found += _methods(project, one) if isinstance(one, ClassRef) else []
        return found
    if isinstance(symbol, ClassRef):
        methods = (project.method(symbol, name) for name in ("forward", "backward"))
        return [one for one in methods if one is not None]
    return []


def read_values(project: Project, bodies: Bodies, fake: FunctionRef, one: Operator) -> Iterator[Fault]:
    """The lines of a fake that take a value out of a tensor: it has none."""
    tensors = _tensors(project, fake, one)
    for node in (node for statement in bodies.of(fake) or () for node in ast.walk(statement)):
        match node:
            case ast.Call(func=ast.Attribute(attr="item" | "tolist", value=held)) if _is_value(held, tensors):
                yield Fault(fake, node.lineno, spelled(node))
            case ast.Call(func=ast.Name("int" | "float" | "bool"), args=[given]) if _is_value(given, tensors):
                yield Fault(fake, node.lineno, spelled(node))
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if _is_value(test, tensors):
                yield Fault(fake, node.lineno, spelled(test))


def _tensors(project: Project, fake: FunctionRef, one: Operator) -> frozenset[str]:
    """The parameters of a fake that are tensors, by the schema, its annotations or those of the kernel."""
    own = project.function(fake).parameters
    if one.tensors:
        return frozenset(mine.name for mine, is_one in zip(own, one.tensors, strict=False) if is_one)
    given = project.function(one.kernel).parameters if one.kernel is not None else own
    return frozenset(
        mine.name
        for mine, other in zip(own, given, strict=False)
        if "Tensor" in (terminal_name(mine.annotation or other.annotation or ir.UNKNOWN) or "")
        or (mine.annotation is None and other.annotation is None)
    )


def _is_value(node: ast.expr, tensors: frozenset[str]) -> bool:
    """Whether an expression hangs on the numbers in a tensor, not just on its sizes."""
    match node:
        case ast.Name(name):
            return name in tensors
        case ast.Attribute(attr=name) if name in _SIZES:
            return False
        case ast.Call(func=ast.Attribute(attr=name)) if name in _MEASURES:
            return False
        case ast.Call(func=ast.Name("len" | "isinstance")):
            return False
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return False
    return any(_is_value(one, tensors) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))


def undeclared_changes(
    project: Project, bodies: Bodies, kernel: FunctionRef, declared: frozenset[str]
) -> Iterator[Fault]:
    """The lines of a kernel that change an argument which `mutates_args` does not name."""
    own = {one.name for one in project.function(kernel).parameters} - declared
    nodes = [node for statement in bodies.of(kernel) or () for node in ast.walk(statement)]
    own -= {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    for node in nodes:
        changed = ""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(name), attr=method)) if method.endswith(
                "_"
            ) and not method.endswith("__"):
                changed = name
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(name))):
                changed = name
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(name))]):
                changed = name
            case ast.Call(keywords=keywords):
                changed = next(
                    (k.value.id for k in keywords if k.arg == "out" and isinstance(k.value, ast.Name)), ""
                )
        if changed in own:
            yield Fault(kernel, getattr(node, "lineno", 1), spelled(node), changed)


def returned_arguments(project: Project, bodies: Bodies, kernel: FunctionRef) -> Iterator[Fault]:
    """The lines of a kernel that return an argument, or a view of one."""
    own = {one.name for one in project.function(kernel).parameters}
    nodes = [node for statement in bodies.of(kernel) or () for node in ast.walk(statement)]
    own -= {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Return) and node.value is not None:
            parts = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else [node.value]
            for part in parts:
                name = _viewed(part)
                if name in own:
                    yield Fault(kernel, node.lineno, spelled(part), name)


def _viewed(node: ast.expr) -> str:
    """The argument that an expression is, or is a view of; empty for anything else."""
    while True:
        match node:
            case ast.Name(name):
                return name
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _VIEWS or (
                name.endswith("_") and not name.endswith("__")
            ):
                node = inner
            case ast.Attribute(value=inner, attr="T" | "mT" | "data"):
                node = inner
            case _:
                return ""
