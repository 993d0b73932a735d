"""The work of other code on modules of the compiled one: it freezes them and puts backward hooks on them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.values.model import Context, Instance
from dynamo_lint.values.points_to import evaluate

_HOOKS = knowledge.in_order("hooks_backward")


class Switch(NamedTuple):
    """A place that makes parameters need a gradient, or need none."""

    where: FunctionRef
    line: int
    attribute: str
    """The attribute that holds the module; empty for a name, which may be any module, or all of a model."""
    on: bool


@dataclass
class Setup:
    """Answers about one project."""

    project: Project
    hot: Collection[FunctionRef]

    @cached_property
    def hooked(self) -> dict[tuple[ClassRef, str], bool]:
        """The attributes, by class, whose modules get a backward hook, and whether that certainly happens.

        Nobody may call a method that puts a hook on a part of its own object, unless it is the constructor.
        """
        found: dict[tuple[ClassRef, str], bool] = {}
        for method in _HOOKS:
            for where, site in self.project.calls_of(method):
                held = _held(site.call.function)
                if held is None or where in self.hot:
                    continue
                base, name = held
                own = base == ir.Name(self.project.self_name(where) or "")
                certain = not own or where.key.endswith(".__init__")
                for value in evaluate(self.project, base, Context(where, self.project.owner(where))):
                    if isinstance(value, Instance):
                        found[value.ref, name] = certain or found.get((value.ref, name), False)
        return found

    def hook(self, owner: ClassRef, name: str) -> bool | None:
        """Whether the module under an attribute has a backward hook; None if that is not known."""
        known = [self.hooked[part, name] for part in self.project.mro(owner) if (part, name) in self.hooked]
        return (any(known) or None) if known else False

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """Where parameters of modules are frozen and thawed, in compiled code and elsewhere."""
        found = []
        for where, site in self.project.calls_of("requires_grad_"):
            on = _flag(site.call)
            match site.call.function:
                case ir.Attribute(ir.Attribute(_, name), _) if on is not None:
                    found.append(Switch(where, site.call.line, name, on))
                case ir.Attribute(ir.Name(), _) if on is not None:
                    found.append(Switch(where, site.call.line, "", on))
        for where, store in self.project.stores_of("requires_grad"):
            if isinstance(store.value, ir.Constant) and isinstance(store.value.value, bool):
                found.append(Switch(where, store.line, "", store.value.value))
        return tuple(found)

    def changes(self, where: FunctionRef, line: int, attribute: str, on: bool) -> bool | None:
        """Whether `requires_grad_` in compiled code changes a module; None if that is not known."""
        others = [one for one in self.switches if (one.where, one.line) != (where, line)]
        frozen = [one for one in others if not one.on and one.attribute in {attribute, ""}]
        if on:
            return True if any(one.attribute for one in frozen) else None if frozen else False
        before = any(one.where not in self.hot for one in frozen)
        thawed = any(one.on and one.attribute == attribute for one in others)
        return not before or (None if thawed else False)


def _held(function: ir.Expr) -> tuple[ir.Expr, str] | None:
    """The object and the attribute of `model.layer.register…`."""
    match function:
        case ir.Attribute(ir.Attribute(base, name), _):
            return base, name
    return None


def _flag(call: ir.Call) -> bool | None:
    given = [*call.arguments, *(value for name, value in call.keywords if name == "requires_grad")]
    match given:
        case []:
            return True
        case [ir.Constant(bool() as flag)]:
            return flag
    return None
