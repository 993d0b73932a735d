"""Classes that one place of the code names together, so that a configuration picks one of them.

A slot that very different classes flow into says little; a table of models, the branches of one factory or a
registry says exactly which classes there are.
"""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Attribute, Call, Constant, Expr, Name, Subscript
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import walk
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.values.model import ClassValue, FunctionValue, Instance, Value, ValueSet

MOST = 64
"""More models than this are a library: its users choose, whatever a place of it names."""
_OFFERED = "offered together"
_TO_ONE_OTHER = 4
"""Beside so many that a decorator registers may stand one that is not: it does nothing, or wraps another."""


def note(project: Project, made: Iterable[Value]) -> None:
    """Take down what one place of the code picks from by a name that only the run knows."""
    refs = {value.ref for value in made if isinstance(value, Instance | ClassValue)}
    project.memo[_OFFERED] = refs | _all_offered(project)


def picks(project: Project, callee: Expr, where: FunctionRef) -> bool:
    """Whether what is called comes out of a table under a key that only the run knows: `MODELS[name](…)`."""
    match callee:
        case Subscript(_, index):
            return not isinstance(index, Constant)
        case Call(Attribute(_, "get"), (index, *_)):
            return not isinstance(index, Constant)
        case Name(name):
            local = project.locals_of(where).get(name)
            bound = local.bound if local is not None and local.parameter is None else ()
            return any(not isinstance(value, Name) and picks(project, value, where) for value in bound)
    return False


def is_overridden(project: Project, callees: ValueSet) -> bool:
    """Whether one method is called that subclasses of a class have each of their own: `package.get_model()`.

    So it is with a function that several files have each of their own.
    """
    called = [value.ref for value in callees if isinstance(value, FunctionValue)]
    owners = {project.owner(ref) for ref in called}
    if owners == {None} and len({ref.key for ref in called}) == 1:
        return len(called) == len(callees)
    if len(owners) < 2 or None in owners or len(owners) < len(callees):
        return False
    orders = [set(project.mro(owner)) for owner in owners if owner is not None]
    return bool(set.intersection(*orders))


def named_together(project: Project, refs: frozenset[ClassRef], few: int) -> frozenset[ClassRef]:
    """The classes that one table, one factory or one registering decorator names, if it names all of some.

    A base of some of them is what these are declared as, and need not be named; nor need `few` that come from
    elsewhere beside what is picked by a name that only the run knows. Empty if there is no such place.
    """
    nothing: frozenset[ClassRef] = frozenset()
    key = ("named together", refs)
    if key not in project.memo:
        bases = {base for ref in refs for base in project.mro(ref)[1:]}
        ends = refs - bases
        named = len(refs) <= MOST and (
            _in_table(project, ends)
            or _in_factory(project, ends, few)
            or _registered(project, ends, few)
            or _offered(project, ends, few)
        )
        project.memo[key] = (named | (refs & bases)) if named else nothing
    return project.memo[key]  # type: ignore[return-value]


def _in_table(project: Project, refs: frozenset[ClassRef]) -> frozenset[ClassRef]:
    tables = project.named("listed").get(min(refs).name, ())
    return refs if any(refs <= _classes(project, table, path) for path, table in tables) else frozenset()


def _classes(project: Project, table: ir.Display, path: str) -> frozenset[ClassRef]:
    parts = (part for part in walk(table) if isinstance(part, ir.Name | ir.Attribute))
    return frozenset(s for part in parts for s in project.symbols(part, path) if isinstance(s, ClassRef))


def _in_factory(project: Project, refs: frozenset[ClassRef], few: int) -> frozenset[ClassRef]:
    """The classes that one function gives back, or binds one name or attribute to.

    `few` may come from elsewhere beside the many that it does: what is put around the model it gives.
    """
    names = {ref.name for ref in refs}
    for ref in sorted(refs)[: few + 1]:
        for where in dict.fromkeys(where for where, _ in project.calls_of(ref.name)):
            for alternatives in _alternatives(project.function(where)):
                if names <= alternatives or len(names & alternatives) > few >= len(names - alternatives):
                    return frozenset(one for one in refs if one.name in alternatives)
    return frozenset()


def _alternatives(function: ir.Function) -> list[set[str]]:
    """The callees for the values that one place of a function may get: its result, or a name."""
    made: dict[str, set[str]] = {}
    pairs = [("", value) for value in function.returns]
    bound: list[ir.Binding | ir.Store] = [*function.bindings, *function.stores]
    pairs += [(one.name, one.value) for one in bound]
    for name, value in pairs:
        for part in walk(value):
            if isinstance(part, ir.Call):
                made.setdefault(name, set()).add(terminal_name(part) or "")
    return list(made.values())


def _registered(project: Project, refs: frozenset[ClassRef], few: int) -> frozenset[ClassRef]:
    """The classes that one function, or one method of one object, decorates: all, or all but a few."""
    decorated: dict[Expr, set[ClassRef]] = {}
    for ref in sorted(refs):
        mine = {d.function if isinstance(d, ir.Call) else d for d in project.class_(ref).decorators}
        for one in mine:
            if "regist" in (terminal_name(one) or ""):
                decorated.setdefault(one, set()).add(ref)
    registered = max(decorated.values(), key=len, default=set())
    others = len(refs) - len(registered)
    told = not others or len(registered) >= max(few, _TO_ONE_OTHER * others)
    return frozenset(registered if told else ())


def _offered(project: Project, refs: frozenset[ClassRef], few: int) -> frozenset[ClassRef]:
    offered = refs & _all_offered(project)
    return offered if offered == refs or len(offered) > few >= len(refs - offered) else frozenset()


def _all_offered(project: Project) -> set[ClassRef]:
    return project.memo.get(_OFFERED, set())  # type: ignore[return-value]
