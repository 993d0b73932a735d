"""Whether anybody calls what a function compiles; replaces the walk over syntax of the rule DYN501.

A trainer that got the model before `model = torch.compile(model)` runs the uncompiled one, and asking the
compiled one for its parameters, or a method of the module below it, compiles nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index.ir import MODULE_KEY, Attribute, Call, Expr, Function, Name
from dynamo_lint.index.walking import arguments_of, itself, parts, untested, walk
from dynamo_lint.program.classes import OF_MODULES, SELF_RETURNING
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.model import Context, ExternalInstance, Instance
from dynamo_lint.values.points_to import evaluate

_COMPILED = frozenset({"forward", "__call__", "compile", "dynamo_ctx", "module"})
"""Attributes of a compiled module that run compiled, compile, or are what a wrapper holds; the others belong
to the module below it (OptimizedModule in torch/_dynamo/eval_frame.py)."""
_STATES = frozenset({"state_dict", "load_state_dict"})
"""Methods that make use of a wrapper nobody calls: what it saves or loads is run elsewhere."""
_LOOKING = frozenset(f"builtins.{name}" for name in ("print", "isinstance", "type", "id", "hasattr", "str"))
"""Functions that look at an object and never call it."""
_DEEPEST = 3
"""Functions that pass an object on further than this count as calling it."""

Methods = tuple[str, ...]


def methods_of_uncalled(project: Project, where: FunctionRef, call: Call) -> Methods | None:
    """The methods of its own that are called on what a compile call gives, if nobody calls that itself.

    None if it may be called: it is returned, kept, handed on or closed over, or a module's top level has it.
    """
    name = _name_of(project, where, call)
    return None if name is None else _methods(project, where, name, call.line, _DEEPEST)


def is_set_aside(project: Project, where: FunctionRef, call: Call) -> bool:
    """Whether somebody uses what a compile call gives, and nobody calls it.

    Code that ends there is an example of how to compile, as far as it goes.
    """
    name = _name_of(project, where, call)
    if name is None or _methods(project, where, name, call.line, _DEEPEST) is None:
        return False
    return any(Name(name) in walk(value) for value in _values(project.function(where), name, call.line))


def owner_of_call(project: Project, where: FunctionRef, call: Call) -> Expr | None:
    """The object whose `__call__` the result of a call is stored as, if it is known for an object.

    Python looks `__call__` up on classes alone: `m.__call__ = torch.compile(m)` changes nothing for `m(x)`.
    """
    for store in project.function(where).stores:
        if store.name == "__call__" and untested(store.value) == call:
            values = evaluate(project, store.owner, Context(where, project.owner(where)))
            called = (
                site.call.function
                for _, site in project.calls_of("__call__")
                if isinstance(site.call.function, Attribute)
            )
            if any(not isinstance(one.value, Call) for one in called if isinstance(one, Attribute)):
                return None  # by its name it is found
            if values and all(isinstance(value, Instance | ExternalInstance) for value in values):
                return store.owner
    return None


def methods_called_on(project: Project, where: FunctionRef, call: Call, compiled: Expr) -> Methods:
    """The methods of a module without a forward that its file calls on what a compile call makes of it."""
    values = evaluate(project, compiled, Context(where, project.owner(where)))
    refs = [value.ref for value in values if isinstance(value, Instance)]
    function = project.function(where)
    holders: list[Expr] = [Name(one.name) for one in function.bindings if untested(one.value) == call]
    holders += [Attribute(one.owner, one.name) for one in function.stores if untested(one.value) == call]
    if not call.arguments and isinstance(call.function, Attribute):  # in place
        holders.append(call.function.value)
    found: dict[str, None] = {}
    for key, other in project.files[where.path].functions.items():
        for callee in (site.call.function for site in other.calls):
            if not isinstance(callee, Attribute) or callee.value not in holders:
                continue
            name = callee.value.id if isinstance(callee.value, Name) else ""
            same = not name or project.home_of(name, FunctionRef(where.path, key)) == project.home_of(
                name, where
            )
            if same and callee.name not in _COMPILED | OF_MODULES:
                found.update({callee.name: None} if any(project.method(r, callee.name) for r in refs) else {})
    return tuple(found)


def _name_of(project: Project, where: FunctionRef, call: Call) -> str | None:
    """The one name of its function that a call is bound to, outside of loops."""
    function = project.function(where)
    if where.key == MODULE_KEY or any(first <= call.line <= last for first, last in function.loops):
        return None
    names = [binding.name for binding in function.bindings if untested(binding.value) == call]
    return names[0] if len(names) == 1 and names[0] not in function.globals else None


def _methods(project: Project, where: FunctionRef, name: str, line: int, deep: int) -> Methods | None:
    """The methods called on what a name holds behind a line, or None if that itself may be called."""
    if deep == 0 or _closes_over(project, where, name):
        return None
    function = project.function(where)
    uses = [
        use for value in _values(function, name, line) for use in _uses(project, where, value, name, deep)
    ]
    if any(use is None or use in _COMPILED or use in _STATES for use in uses):
        return None
    callees = (site.call.function for site in function.calls if site.call.line > line)
    called = [one.name for one in callees if isinstance(one, Attribute) and one.value == Name(name)]
    return tuple(dict.fromkeys(method for method in called if method not in OF_MODULES))


def _values(function: Function, name: str, line: int) -> Iterator[Expr]:
    """The values that a function keeps, gives back, hands on or calls behind a line."""
    for binding in function.bindings:
        renewed = binding.name == name and itself(binding.value, SELF_RETURNING) == Name(name)
        if binding.line > line and not renewed:
            yield binding.value
    yield from (store.value for store in function.stores if store.line > line)
    returns = zip(function.returns, function.returned_at, strict=True)
    yield from (value for value, at in returns if at > line)
    for call in (site.call for site in function.calls if site.call.line > line):
        yield call.function if itself(call, SELF_RETURNING) == Name(name) else call


def _uses(project: Project, where: FunctionRef, value: Expr, name: str, deep: int) -> Iterator[str | None]:
    """The attributes of a name that an expression asks for; None for the object itself."""
    pending = [value]
    while pending:
        match pending.pop():
            case Name(known) if known == name:
                yield None
            case Attribute(Name(known), attribute) if known == name:
                yield attribute
            case Call(Attribute(Name(known), attribute)) if known == name and attribute in SELF_RETURNING:
                yield None
            case Call(function) as call if Name(name) in arguments_of(call):
                pending += [function, *(one for one in arguments_of(call) if one != Name(name))]
                if not _only_looks(project, where, call, name, deep):
                    yield None
            case expr:
                pending += parts(expr)


def _only_looks(project: Project, where: FunctionRef, call: Call, name: str, deep: int) -> bool:
    """Whether a call that is given an object runs one function, which never calls it."""
    symbols = list(project.symbols(call.function, where.path, where.key))
    match symbols:
        case [ExternalSymbol(dotted)]:
            return dotted in _LOOKING
        case [FunctionRef() as callee]:
            function = project.function(callee)
            given = [one for one in function.parameters if argument_for(one, function, call) == Name(name)]
            return len(given) == arguments_of(call).count(Name(name)) and all(
                _methods(project, callee, one.name, 0, deep - 1) is not None for one in given
            )
    return False


def _closes_over(project: Project, where: FunctionRef, name: str) -> bool:
    """Whether a function inside another has to do with a name of that: it may run behind any line."""
    for inner in (FunctionRef(where.path, key) for key in project.inside(where)):
        function = project.function(inner)
        if any(parameter.name == name for parameter in function.parameters):
            continue
        values = (*_values(function, "", 0), *function.loads)
        if any(Name(name) in walk(value) for value in values) or _closes_over(project, inner, name):
            return True
    return False
