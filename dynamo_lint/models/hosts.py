"""Frameworks that call methods of ours with known arguments."""

from __future__ import annotations

from dynamo_lint.index.ir import MODULE_KEY, UNKNOWN, Attribute, Call, Name, Parameter
from dynamo_lint.models import command_line
from dynamo_lint.models.config import described
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values import alternatives
from dynamo_lint.values.model import EMPTY, Context, Instance, ValueSet, union
from dynamo_lint.values.points_to import PointsTo

_CALLBACKS = (".Callback", ".ModelCheckpoint")
_TRAINED = "pl_module"
"""The name of the module in the hooks of a Lightning callback (lightning/pytorch/callbacks/callback.py)."""
_STEPS = frozenset({"compute_loss", "training_step", "prediction_step"})
"""Methods to which a trainer of transformers or trl passes its model (transformers/trainer.py)."""
_FEW = 8
"""Of more sorts of modules than this a callback may get any."""


def passed_by_library(pts: PointsTo, parameter: Parameter, context: Context) -> ValueSet:
    """The values that a library passes for a parameter of a method of ours: the module that is trained."""
    project = pts.project
    if filled := command_line.filled(pts, parameter, context):
        return filled
    if parameter.name not in (_TRAINED, "model") or (owner := project.owner(context.function)) is None:
        return EMPTY
    bases = project.external_bases(owner)
    is_callback = any(base.endswith(_CALLBACKS) for base in bases)
    if parameter.name == _TRAINED and is_callback:
        direct = [ref for ref in project.derived_from("LightningModule") if not in_tests(ref.path)]
        found = dict.fromkeys(part for ref in direct for part in (ref, *subclasses(project, ref)))
        if len(direct) > _FEW:
            return EMPTY
        trained: ValueSet = {Instance(ref): Confidence.LIKELY for ref in found}
        alternatives.note(project, trained)  # the subclasses of one are its variants
        return trained
    step = context.function.key.rpartition(".")[2]
    if parameter.name == "model" and step.startswith("on_") and is_callback:
        return described(pts, Attribute(UNKNOWN, "model"), context, anything=False)
    if parameter.name == "model" and step in _STEPS and any(base.endswith("Trainer") for base in bases):
        return pts.attributes({Instance(context.receiver or owner): Confidence.LIKELY}, "model")
    if parameter.name == "model" and step in command_line.RUNS:
        return command_line.models_of(pts, owner, context)
    return EMPTY


def kept_by_library(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    """The values that our class is made with by this keyword, where it passes all keywords to a library's.

    `class Mine(Trainer)` with `super().__init__(*args, **kwargs)`, and `Mine(model=Net())`: `self.model`.
    """
    project = pts.project
    here = Context(FunctionRef(ref.path, MODULE_KEY))
    if name == "model" and (made := command_line.models_of(pts, ref, here)):
        return made
    if name not in project.named("keyword names") or project.is_module(ref):
        return EMPTY
    if not project.external_bases(ref) or not _hands_on(pts, ref):
        return EMPTY
    sites = pts.constructions(ref)
    given = [pts.value(v, caller) for caller, site in sites for key, v in site.call.keywords if key == name]
    held = union(given, Confidence.LIKELY)
    return {value: confidence for value, confidence in held.items() if pts.holds_module(value)}


def _hands_on(pts: PointsTo, ref: ClassRef) -> bool:
    """Whether the constructor of a class, if it has one, gives all other keywords to that of its base."""
    init = pts.project.method(ref, "__init__")
    if init is None:
        return True
    function = pts.project.function(init)
    rest = [(None, Name(p.name)) for p in function.parameters if p.kind == "kwarg"]
    for site in function.calls:
        match site.call.function:
            case Attribute(Call(Name("super")), "__init__") if rest and rest[0] in site.call.keywords:
                return True
    return False
