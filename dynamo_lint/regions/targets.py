"""What runs when a value is called."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_lint.index.facts import Attribute, Call, Expr
from dynamo_lint.program.refs import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.composed import composed, processors
from dynamo_lint.regions.modules import call_of
from dynamo_lint.regions.outside import wraps
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.temporary import kept_eager
from dynamo_lint.regions.values import (
    ClassValue,
    Foreign,
    FunctionValue,
    Group,
    Instance,
    Parent,
    Value,
    Values,
    elements,
    union,
)
from dynamo_lint.values.arguments import ENOUGH
from dynamo_lint.values.points_to import Evaluation, evaluation_of

_STEPS = ("training_step", "validation_step", "test_step", "predict_step")


@dataclass(frozen=True, slots=True)
class Target:
    """A function that is compiled as such, with the class of its `self`."""

    function: FunctionRef
    receiver: ClassRef | None
    tier: Tier


def of_few(ev: Evaluation, callees: Values) -> Values:
    """What a closure calls, with no more than a guess at functions so many that it says nothing of each.

    It may call whatever was decorated; one of many methods is what a configuration picks.
    """
    plain = {v for v in callees if isinstance(v, FunctionValue) and v.receiver is None}
    if len(plain) <= ENOUGH:
        return callees
    others: Values = {v: tier for v, tier in callees.items() if v not in plain}
    return union([others, ev.guessed({v: tier for v, tier in callees.items() if v in plain})])


def targets_of(project: Project, values: Values) -> tuple[Target, ...]:
    """The functions that run when the values are called."""
    found: dict[tuple[FunctionRef, ClassRef | None], Tier] = {}

    def add(ref: FunctionRef | None, receiver: ClassRef | None, tier: Tier) -> None:
        if ref is not None:
            found[ref, receiver] = min(tier, found.get((ref, receiver), tier))

    for value, tier in values.items():
        match value:
            case Instance(ref) | ClassValue(ref):
                add(call_of(project, ref), ref, tier)
                if project.is_module(ref):
                    if isinstance(value, Instance) and ref in kept_eager(evaluation_of(project)):
                        if evaluation_of(project).guesses:  # not all of its instances need be
                            add(project.method(ref, "forward"), ref, Tier.ASSUMED)
                        continue
                    sure = project.is_surely_module(ref)
                    forward = project.method(ref, "forward")
                    add(forward, ref, tier if sure else max(tier, Tier.LIKELY))
                    for part in project.parts_of_forward(ref) if forward is None else ():
                        add(part, ref, max(tier, Tier.LIKELY))
                    if forward is None and isinstance(value, Instance):
                        for target in _run_by_library(project, value, tier):
                            add(target.function, target.receiver, target.tier)
                    for given in processors(evaluation_of(project), ref):
                        # Not what these have in turn: a class may give itself.
                        add(call_of(project, given), given, max(tier, Tier.LIKELY))
                        if project.is_module(given):
                            add(project.method(given, "forward"), given, max(tier, Tier.LIKELY))
                    for stored in _put_in_place(project, value):
                        add(stored.ref, stored.receiver, max(tier, Tier.LIKELY))
            case FunctionValue(ref, receiver):
                add(ref, receiver or project.owner(ref), tier)
            case Group():
                for target in targets_of(project, elements({value: tier})):
                    add(target.function, target.receiver, max(tier, target.tier))
    return tuple(Target(ref, receiver, tier) for (ref, receiver), tier in found.items())


def _run_by_library(project: Project, module: Instance, tier: Tier) -> tuple[Target, ...]:
    """What the forward of a library's class runs of ours, where the class has none of its own."""
    handed = composed(evaluation_of(project), module.ref)
    others: Values = {v: max(t, tier) for v, t in handed.items() if v != module}
    return targets_of(project, others)


def _put_in_place(project: Project, module: Value) -> list[FunctionValue]:
    """What is assigned to the `forward` of an instance: it runs instead of the method of its class."""
    if not isinstance(module, Instance) or not project.stores_of("forward"):
        return []
    held = evaluation_of(project).attributes({module: Tier.CERTAIN}, "forward")
    return [value for value, tier in held.items() if isinstance(value, FunctionValue) and tier < Tier.ASSUMED]


def steps_of(
    project: Project, ref: ClassRef, tier: Tier, expr: Expr, where: FunctionRef
) -> tuple[Target, ...]:
    """What a Trainer runs compiled of a LightningModule that torch.compile was given, beside its forward
    (lightning/pytorch/utilities/compile.py: from_compiled), unless it is a part of another module."""
    if not any(base.endswith(".LightningModule") for base in project.external_bases(ref)):
        return ()
    holder = project.owner(where)
    if isinstance(expr, Attribute) and holder is not None and project.is_module(holder):
        return ()
    steps = (project.method(ref, name) for name in _STEPS)
    return tuple(Target(step, ref, max(tier, Tier.LIKELY)) for step in steps if step is not None)


def compiled_argument(call: Call, position: int) -> Expr | None:
    """What a call compiles that compiles its argument at some position, or by its name."""
    if position < len(call.arguments):
        return call.arguments[position]
    return next((value for name, value in call.keywords if name in ("model", "module", "fn")), None)


def is_some_module(values: Values) -> bool:
    """Whether values are modules of which nothing else is known."""
    return any(isinstance(v, Foreign) and v.dotted.endswith("Module") for v in values)


def has_own_compile(project: Project, values: Values) -> bool:
    """Whether a class of the project says itself what `.compile()` does: that is found there."""
    return any(isinstance(v, Instance) and project.method(v.ref, "compile") is not None for v in values)


def compiled_in_place(project: Project, values: Values) -> Values:
    """What of a `.compile()` receiver is known to be an `nn.Module` that inherits the method.

    A pipeline of a library compiles each of its layers, functions too.
    """
    found: dict[Value, Tier] = {}
    if has_own_compile(project, values):
        return {}
    pipeline = any(isinstance(value, Foreign) and wraps(value.dotted) for value in values)
    for value, tier in values.items():
        match value:
            case Instance(ref) if project.is_module(ref):
                sure = project.is_surely_module(ref)
                found[value] = tier if sure else max(tier, Tier.LIKELY)
            case Parent(_, ref) if project.is_module(ref):  # super().compile()
                found[Instance(ref)] = tier
            case Foreign(dotted) if dotted.endswith(("nn.Module", "modules.module.Module")):
                found[value] = tier
            case FunctionValue() if pipeline:
                found[value] = tier
            case Group("sequential" | "each"):  # no list has the method
                found |= compiled_in_place(project, elements({value: tier}))
    return found
