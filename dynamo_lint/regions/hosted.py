"""What frameworks hand to the methods of ours that they call, and keep of what our classes are made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index.facts import Attribute, Call, Name, Parameter
from dynamo_lint.regions import flow
from dynamo_lint.regions.abstract import heirs
from dynamo_lint.regions.model import ClassRef, Tier
from dynamo_lint.regions.values import EMPTY, Instance, Scope, Values, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_CALLBACKS = (".Callback", ".ModelCheckpoint")
_TRAINED = "pl_module"
"""What Lightning calls the module in the hooks of a callback (lightning/pytorch/callbacks/callback.py)."""
_STEPS = frozenset({"compute_loss", "training_step", "prediction_step"})
"""What a trainer of transformers or trl hands its model to (transformers/trainer.py)."""
_FEW = 8
"""Of more modules than this a callback may get any."""


def handed(ev: Evaluation, parameter: Parameter, scope: Scope) -> Values:
    """What a library passes for a parameter of a method of ours: the module that is trained."""
    project = ev.project
    if parameter.name not in (_TRAINED, "model") or (owner := project.owner(scope.function)) is None:
        return EMPTY
    bases = project.external_bases(owner)
    if parameter.name == _TRAINED and any(base.endswith(_CALLBACKS) for base in bases):
        direct = project.derived_from("LightningModule")
        found = dict.fromkeys(part for ref in direct for part in (ref, *heirs(project, ref)))
        return {Instance(ref): Tier.LIKELY for ref in found} if len(found) <= _FEW else EMPTY
    step = scope.function.key.rpartition(".")[2]
    if parameter.name == "model" and step in _STEPS and any(base.endswith("Trainer") for base in bases):
        return ev.attributes({Instance(scope.receiver or owner): Tier.LIKELY}, "model")
    return EMPTY


def kept(ev: Evaluation, ref: ClassRef, name: str) -> Values:
    """What our class is made with by this keyword, where it leaves all keywords to that of a library.

    `class Mine(Trainer)` with `super().__init__(*args, **kwargs)`, and `Mine(model=Net())`: `self.model`.
    """
    project = ev.project
    if name not in project.named("keyword names") or project.is_module(ref):
        return EMPTY
    if not project.external_bases(ref) or not _hands_on(ev, ref):
        return EMPTY
    sites = flow.constructions(ev, ref)
    given = [ev.value(v, caller) for caller, site in sites for key, v in site.call.keywords if key == name]
    held = union(given, Tier.LIKELY)
    return {value: tier for value, tier in held.items() if ev.holds_module(value)}


def _hands_on(ev: Evaluation, ref: ClassRef) -> bool:
    """Whether the constructor of a class, if it has one, gives all other keywords to that of its base."""
    init = ev.project.method(ref, "__init__")
    if init is None:
        return True
    function = ev.project.function(init)
    rest = [(None, Name(p.name)) for p in function.parameters if p.kind == "kwarg"]
    for site in function.calls:
        match site.call.function:
            case Attribute(Call(Name("super")), "__init__") if rest and rest[0] in site.call.keywords:
                return True
    return False
