"""Every use of an attribute in the project, by evaluation and by name."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass

from dynamo_lint.fixes.edit_session import OpenFile, Workbench
from dynamo_lint.index.ir import Expr
from dynamo_lint.index.lower import as_fact
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.values.model import ClassValue, Context, ExternalInstance, Instance, SuperProxy
from dynamo_lint.values.points_to import evaluate

REFLECTION = frozenset({"getattr", "setattr", "hasattr", "delattr", "attrgetter", "register_buffer"})
OPAQUE_METHODS = frozenset({"__getattr__", "__setattr__", "__getattribute__", "__getstate__", "__setstate__"})
"""Methods that can do anything with an attribute without naming it."""


@dataclass(frozen=True, slots=True)
class Mention:
    """`owner.name` somewhere in the project."""

    file: OpenFile
    node: ast.Attribute
    function: FunctionRef
    hot: bool
    """Dynamo traces this line."""
    guessed: bool = False
    """Whose attribute it is was told by its name alone."""

    @property
    def owner(self) -> str:
        """Source of the object it belongs to."""
        return self.file.text(self.node.value)


@dataclass(frozen=True, slots=True)
class Family:
    """The classes that share an attribute, and everything said about it."""

    declared_in: ClassRef
    name: str
    members: frozenset[ClassRef]
    mentions: tuple[Mention, ...]


class Unclear(Exception):
    """The rewrite cannot be shown to be right; the message says what stands against it."""


def family_of(
    bench: Workbench, declared_in: ClassRef, name: str, except_for: ast.Call | None = None
) -> Family:
    """All mentions of an attribute; raises Unclear where it may be touched without being seen.

    `except_for` is a lookup by name that is about to become a mention.
    """
    project = bench.tables.project
    members = frozenset(bench.below.get(declared_in, ()))
    bases = frozenset(base for ref in members for base in project.mro(ref)) - members
    for ref in members | bases:
        _check_class(bench, ref, name)
    found: list[Mention] = []
    for path in bench.files_naming(name):
        file = bench.file(path)
        if file is None:
            raise Unclear(f"{path} mentions it and cannot be read")
        spoken = _spoken(bench, file, name)
        own = (one for ref in members | bases for one in spoken.own.get(ref, ()))
        for one in sorted((*own, *spoken.others), key=lambda one: one.number):
            if one.node is except_for:
                continue
            ours = _belongs(bench, one, name, members, bases)
            if isinstance(one.node, ast.Call):
                if ours != "no":
                    raise Unclear(f"it is looked up by name at {path}:{one.node.lineno}")
                continue
            called = isinstance(outer := file.parents[one.node], ast.Call) and outer.func is one.node
            # A number or a tensor is never called, but many objects have a method of that name.
            if ours == "yes" or (ours == "likely" and not called):
                eager = project.function(one.where).runs_eagerly(one.node.lineno)
                traced = one.where in bench.hot and not eager
                found.append(Mention(file, one.node, one.where, traced, ours == "likely"))
    return Family(declared_in, name, members, tuple(found))


def computed_reader(bench: Workbench, family: Family) -> str | None:
    """Where an object that may be of the family has an attribute looked up that no text names; or None."""
    for path in bench.files_reflecting():
        file = bench.file(path)
        for node in file.reflecting if file is not None else ():
            owner = _reflected(node)
            if file is not None and owner is not None and _may_be_of(bench, file, owner, family):
                return f"{path}:{_line(node)}"
    return None


def _reflected(node: ast.AST) -> ast.expr | None:
    """The object whose attributes a piece of code reaches without naming them; None if it names them."""
    match node:
        case ast.Attribute(value=owner, attr="__dict__"):
            return owner
        case ast.Call(func=ast.Name(id="vars"), args=[owner]):
            return owner
        case ast.Call(func=ast.Name(id="getattr" | "setattr" | "hasattr" | "delattr"), args=[owner, key, *_]):
            return None if isinstance(key, ast.Constant) else owner
        case ast.Call(func=ast.Name(id="attrgetter") | ast.Attribute(attr="attrgetter")):
            return node.func  # of whatever it is called with
    return None


def _may_be_of(bench: Workbench, file: OpenFile, owner: ast.expr, family: Family) -> bool:
    """Whether an object may be an instance of the family: it is, or nothing is known of it."""
    project, where = bench.tables.project, file.reference(owner)
    if getattr(owner, "id", getattr(owner, "attr", "")) == "attrgetter":
        return True
    expr, holder = as_fact(owner), project.owner(where)
    if holder is not None and project.is_self(expr, where):
        return any(holder in project.mro(member) for member in family.members)
    values = evaluate(project, expr, Context(where, holder))
    if any(isinstance(value, Instance) and value.ref in family.members for value in values):
        return True
    return not values and not _is_import(bench, expr, where)


@dataclass(frozen=True, slots=True)
class _Mention:
    """One place that names an attribute."""

    number: int
    """Its place among those of the file."""
    node: ast.Attribute | ast.Call
    where: FunctionRef
    owner: Expr
    """The object it belongs to."""


@dataclass(frozen=True, slots=True)
class _Spoken:
    """All that one file says of attributes of one name."""

    own: dict[ClassRef, list[_Mention]]
    """`self.name` and `getattr(self, "name")`, by the class around it."""
    others: list[_Mention]


def _spoken(bench: Workbench, file: OpenFile, name: str) -> _Spoken:
    """Worked out once: many classes may have an attribute of that name."""
    known = bench.spoken.get((file.path, name))
    if isinstance(known, _Spoken):
        return known
    project = bench.tables.project
    spoken = _Spoken(defaultdict(list), [])
    for number, node in enumerate(file.speaking.get(name, ())):
        match node:
            case ast.Attribute(value=owner):
                pass
            case ast.Call(args=[owner, *rest]) if _reflects(node, name):
                owner = owner if rest else node.func
            case _:
                continue
        where = file.reference(node)
        holder = project.owner(where)
        said = _Mention(number, node, where, as_fact(owner))
        if holder is not None and project.is_self(said.owner, where):
            spoken.own[holder].append(said)
        else:
            spoken.others.append(said)
    bench.spoken[file.path, name] = spoken
    return spoken


def _reflects(node: ast.Call, name: str) -> bool:
    """`getattr(owner, "name")` and the like."""
    match node.func:
        case ast.Name(id=function) | ast.Attribute(attr=function):
            named = any(isinstance(a, ast.Constant) and a.value == name for a in node.args)
            return function in REFLECTION and named
    return False


def _check_class(bench: Workbench, ref: ClassRef, name: str) -> None:
    """Refuse a class that can reach its attributes without naming them."""
    class_ = bench.tables.project.class_(ref)
    for binding in class_.bindings:
        if binding.name in OPAQUE_METHODS or binding.name == "__slots__":
            raise Unclear(f"`{ref.name}` defines `{binding.name}`")
        if binding.name == name:
            raise Unclear(f"`{ref.name}` has it as a class attribute")
    file = bench.file(ref.path)
    if file is None:
        raise Unclear(f"{ref.path} cannot be read")
    first = bisect_left(file.reflecting, class_.line, key=_line)
    for node in file.reflecting[first : bisect_right(file.reflecting, class_.end_line, key=_line)]:
        match node:
            case ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name(id="vars")):
                raise Unclear(f"`{ref.name}` reads its `__dict__`")
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), key, *_]):
                if not isinstance(key, ast.Constant):
                    raise Unclear(f"`{ref.name}` sets attributes by computed names")


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _belongs(
    bench: Workbench, said: _Mention, name: str, members: frozenset[ClassRef], bases: frozenset[ClassRef]
) -> str:
    """Whether this is the family's attribute: `yes`, `likely` or `no`; raises Unclear if it may be."""
    project, where, expr = bench.tables.project, said.where, said.owner
    holder = project.owner(where)
    if holder is not None and project.is_self(expr, where):
        if holder in members:
            return "yes"
        if holder in bases:
            outsiders = [ref for ref in bench.below.get(holder, ()) if ref not in members]
            if outsiders != [holder]:
                raise Unclear(f"`{holder.name}` uses it too and has other subclasses")
            return "yes"
        return "no"
    values = evaluate(project, expr, Context(where, holder))
    known = [v for v in values if isinstance(v, Instance | ClassValue | ExternalInstance | SuperProxy)]
    refs = {v.ref for v in known if isinstance(v, Instance | ClassValue)}
    if any(isinstance(v, ClassValue) and v.ref in members for v in known):
        raise Unclear(f"it is used through the class at {where.path}:{said.node.lineno}")
    if refs & (members | bases):
        if refs - members:
            raise Unclear(f"several classes are possible at {where.path}:{said.node.lineno}")
        return "yes"
    if known or _is_import(bench, expr, where):
        return "no"
    if _owners_elsewhere(bench, name, members | bases):
        raise Unclear(f"the owner of `{name}` at {where.path}:{said.node.lineno} is unknown")
    # Nothing else in the project has an attribute of this name.
    return "likely"


def _is_import(bench: Workbench, expr: Expr, where: FunctionRef) -> bool:
    """A module or something else that is known by its name and is no instance."""
    return bool(bench.tables.project.symbols(expr, where.path, where.key))


def _owners_elsewhere(bench: Workbench, name: str, ours: frozenset[ClassRef]) -> bool:
    project = bench.tables.project
    for where, store in project.stores_of(name):
        holder = project.owner(where)
        if holder not in ours and project.is_self(store.owner, where):
            return True
    return any(name in project.class_bindings(ref) for ref in project.classes() if ref not in ours)
