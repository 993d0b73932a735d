"""Every place in the project that speaks of one attribute: a rewrite has to reach all of them or none."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dynamo_lint.fixes.workbench import OpenFile, Workbench
from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.index.plain import as_fact
from dynamo_lint.regions.evaluate import evaluate
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.values import ClassValue, Foreign, Instance, Parent, Scope

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
    members = frozenset(ref for ref in project.classes() if declared_in in project.mro(ref))
    bases = frozenset(base for ref in members for base in project.mro(ref)) - members
    for ref in members | bases:
        _check_class(bench, ref, name)
    hot = {one.function for one in bench.tables.regions.hot}
    found: list[Mention] = []
    for path in bench.files_naming(name):
        file = bench.file(path)
        if file is None:
            raise Unclear(f"{path} mentions it and cannot be read")
        for node in file.nodes:
            match node:
                case ast.Attribute(attr=attr) if attr == name:
                    where = file.reference(node)
                    ours = _belongs(bench, node, where, members, bases)
                    called = isinstance(outer := file.parents[node], ast.Call) and outer.func is node
                    # A number or a tensor is never called, but many objects have a method of that name.
                    if ours == "yes" or (ours == "likely" and not called):
                        traced = where in hot and not project.function(where).runs_eagerly(node.lineno)
                        found.append(Mention(file, node, where, traced, ours == "likely"))
                case ast.Call(args=[owner, *rest]) if _reflects(node, name) and node is not except_for:
                    named = ast.Attribute(owner if rest else node.func, name)
                    ast.copy_location(named, node)
                    file.parents[named] = node
                    if _belongs(bench, named, file.reference(node), members, bases) != "no":
                        raise Unclear(f"it is looked up by name at {path}:{node.lineno}")
    return Family(declared_in, name, members, tuple(found))


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
    for node in file.nodes:
        if not class_.line <= getattr(node, "lineno", 0) <= class_.end_line:
            continue
        match node:
            case ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name(id="vars")):
                raise Unclear(f"`{ref.name}` looks into its `__dict__`")
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), key, *_]):
                if not isinstance(key, ast.Constant):
                    raise Unclear(f"`{ref.name}` sets attributes by computed names")


def _belongs(
    bench: Workbench,
    node: ast.Attribute,
    where: FunctionRef,
    members: frozenset[ClassRef],
    bases: frozenset[ClassRef],
) -> str:
    """Whether this is the family's attribute: `yes`, `likely` or `no`; raises Unclear if it may be."""
    project = bench.tables.project
    holder = project.owner(where)
    expr = as_fact(node.value)
    if holder is not None and expr == facts.Name(project.self_name(where) or ""):
        if holder in members:
            return "yes"
        if holder in bases:
            outsiders = [
                ref for ref in project.classes() if holder in project.mro(ref) and ref not in members
            ]
            if outsiders != [holder]:
                raise Unclear(f"`{holder.name}` uses it too, and has other heirs")
            return "yes"
        return "no"
    values = evaluate(project, expr, Scope(where, holder))
    known = [v for v in values if isinstance(v, Instance | ClassValue | Foreign | Parent)]
    refs = {v.ref for v in known if isinstance(v, Instance | ClassValue)}
    if any(isinstance(v, ClassValue) and v.ref in members for v in known):
        raise Unclear(f"it is used through the class at {where.path}:{node.lineno}")
    if refs & (members | bases):
        if refs - members:
            raise Unclear(f"several classes meet at {where.path}:{node.lineno}")
        return "yes"
    if known or _is_import(bench, expr, where):
        return "no"
    if _owners_elsewhere(bench, node.attr, members | bases):
        raise Unclear(f"whose `{node.attr}` {where.path}:{node.lineno} means is not known")
    # Nothing else in the project has an attribute of this name.
    return "likely"


def _is_import(bench: Workbench, expr: Expr, where: FunctionRef) -> bool:
    """A module or something else that is known by its name and is no instance."""
    return bool(bench.tables.project.symbols(expr, where.path, where.key))


def _owners_elsewhere(bench: Workbench, name: str, ours: frozenset[ClassRef]) -> bool:
    project = bench.tables.project
    for where, store in project.stores_of(name):
        holder = project.owner(where)
        if holder not in ours and store.owner == facts.Name(project.self_name(where) or ""):
            return True
    return any(name in project.class_bindings(ref) for ref in project.classes() if ref not in ours)
