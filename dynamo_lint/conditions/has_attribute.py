"""Narrowing by `hasattr`: which instances have an attribute."""

from __future__ import annotations

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import Function
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence
from dynamo_lint.program.scopes import method_kind
from dynamo_lint.values.model import Instance, Value, ValueSet

_PLAIN = knowledge.names("plain_bases")
"""Bases outside the project whose attributes are known."""
_SETTERS = knowledge.names("registers_module") | knowledge.names("registers_tensor") | {"setattr"}


def by_attributes(project: Project, values: ValueSet, names: list[str], holds: bool) -> ValueSet:
    """The values that have one of the attributes, or those that have none: likely where it depends."""
    if not holds:
        return {
            value: max(confidence, Confidence.LIKELY)
            if any(may_have(project, value, name) for name in names)
            else confidence
            for value, confidence in values.items()
            if not any(_has(project, value, name) for name in names)
        }
    having = {value for value in values if any(may_have(project, value, name) for name in names)}
    if not any(isinstance(value, Instance) for value in having):
        return values  # nobody is known to have it, and somebody has: this says nothing of who
    return {
        value: confidence
        if any(_has(project, value, name) for name in names)
        else max(confidence, Confidence.LIKELY)
        for value, confidence in values.items()
        if value in having or not isinstance(value, Instance) or not is_known(project, value.ref)
    }


def is_set_by_methods(project: Project, ref: ClassRef, name: str) -> bool:
    """Whether some method of a class or of its bases sets an attribute on an instance."""
    return any(name in project.own_stores(part) for part in project.mro(ref))


def _has(project: Project, value: Value, name: str) -> bool:
    """Whether an instance has an attribute as soon as it is made: from a class body or its constructor."""
    if not isinstance(value, Instance):
        return False
    order = project.mro(value.ref)
    if any(name in project.class_bindings(part) for part in order):
        return True
    for part in order:
        init = next((b for b in project.class_bindings(part).get("__init__", ())), None)
        if init is None:
            continue
        if not isinstance(init.value, ir.Definition):
            return False
        function = project.files[part.path].functions[init.value.key]
        stores = [s for where, s in project.own_stores(part).get(name, ()) if where.key == function.key]
        if name in function.set_either_way or any(not _depends(function, s.line) for s in stores):
            return True
        if not any(_is_init(s.call.function) and not _depends(function, s.call.line) for s in function.calls):
            return False
    return False


def may_have(project: Project, value: Value, name: str) -> bool:
    """Whether something in the project gives an instance an attribute, maybe later, maybe never."""
    if not isinstance(value, Instance):
        return False
    order = project.mro(value.ref)
    own = any(name in project.class_bindings(part) or name in project.own_stores(part) for part in order)
    return own or any(name == one for part in order for one in _set_by_call(project, part))


def _set_by_call(project: Project, part: ClassRef) -> list[str]:
    """The attributes that methods of a class set by a call, as `register_buffer` does; "" for any."""
    found = []
    for bindings in project.class_bindings(part).values():
        for binding in bindings:
            function = None
            if isinstance(binding.value, ir.Definition):
                function = project.files[part.path].functions.get(binding.value.key)
            for site in function.calls if function is not None and method_kind(function) == "method" else ():
                match site.call:
                    case ir.Call(ir.Attribute(_, setter), (first, *_)) if setter in _SETTERS:
                        found.append(_text(first))
                    case ir.Call(ir.Name(setter), (_, key, *_)) if setter in _SETTERS:
                        found.append(_text(key))
    return found


def _text(expr: ir.Expr) -> str:
    return expr.value if isinstance(expr, ir.Constant) and isinstance(expr.value, str) else ""


def is_known(project: Project, ref: ClassRef) -> bool:
    """Whether all that can give instances attributes has been looked at."""
    order = project.mro(ref)
    if any(base not in _PLAIN for base in project.external_bases(ref)):
        return False
    if any(project.method(ref, name) is not None for name in ("__getattr__", "__getattribute__")):
        return False
    return not any("" in _set_by_call(project, part) for part in order)


def _is_init(callee: ir.Expr) -> bool:
    return isinstance(callee, ir.Attribute) and callee.name == "__init__"


def _depends(function: Function, line: int) -> bool:
    """Whether a line of a constructor runs in some constructions alone."""
    return any(first <= line <= last for first, last in (*function.branches, *function.loops))
