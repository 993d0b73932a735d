"""What frameworks hand to the methods of ours that they call, and keep of what our classes are made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index.facts import UNKNOWN, Attribute, Call, Expr, Name, Parameter
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.regions import choices, flow
from dynamo_lint.regions.abstract import heirs
from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.project import External, Project
from dynamo_lint.regions.rehearsals import in_tests
from dynamo_lint.regions.settings import described
from dynamo_lint.regions.values import EMPTY, ClassValue, FunctionValue, Instance, Scope, Values, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_CALLBACKS = (".Callback", ".ModelCheckpoint")
_TRAINED = "pl_module"
"""What Lightning calls the module in the hooks of a callback (lightning/pytorch/callbacks/callback.py)."""
_STEPS = frozenset({"compute_loss", "training_step", "prediction_step"})
"""What a trainer of transformers or trl hands its model to (transformers/trainer.py)."""
_FEW = 8
"""Of more sorts of modules than this a callback may get any."""
_COMMANDS = ("CLI", "auto_cli", "LightningCLI")
"""What jsonargparse and Lightning call the functions that make a command line of what they are given."""


_NONE: frozenset[FunctionRef] = frozenset()


def handed(ev: Evaluation, parameter: Parameter, scope: Scope) -> Values:
    """What a library passes for a parameter of a method of ours: the module that is trained."""
    project = ev.project
    if scope.function in _commands(ev):
        return described(ev, Attribute(UNKNOWN, parameter.name), scope, anything=False)
    if parameter.name not in (_TRAINED, "model") or (owner := project.owner(scope.function)) is None:
        return EMPTY
    bases = project.external_bases(owner)
    if parameter.name == _TRAINED and any(base.endswith(_CALLBACKS) for base in bases):
        direct = [ref for ref in project.derived_from("LightningModule") if not in_tests(ref.path)]
        found = dict.fromkeys(part for ref in direct for part in (ref, *heirs(project, ref)))
        if len(direct) > _FEW:
            return EMPTY
        trained: Values = {Instance(ref): Tier.LIKELY for ref in found}
        choices.note(project, trained)  # the heirs of one are its variants
        return trained
    step = scope.function.key.rpartition(".")[2]
    if parameter.name == "model" and step in _STEPS and any(base.endswith("Trainer") for base in bases):
        return ev.attributes({Instance(scope.receiver or owner): Tier.LIKELY}, "model")
    return EMPTY


def _commands(ev: Evaluation) -> frozenset[FunctionRef]:
    """The functions whose parameters a configuration fills: `LightningCLI(Net)` asks for those of `Net`."""
    return ev.ask_nearby(("commands",), lambda: _of_command_lines(ev), _NONE)


def _of_command_lines(ev: Evaluation) -> frozenset[FunctionRef]:
    project = ev.project
    own = (ref for base in _COMMANDS for ref in project.derived_from(base))
    names = dict.fromkeys((*_COMMANDS, *(ref.name for ref in own)))
    found = set()
    for where, site in (site for name in names for site in project.calls_of(name)):
        if not _makes_commands(project, site.call.function, where):
            continue
        for argument in arguments_of(site.call):
            for value in ev.value(argument, Scope(where, project.owner(where))):
                match value:
                    case ClassValue(ref):
                        found.add(project.method(ref, "__init__"))
                    case FunctionValue(ref):
                        found.add(ref)
    return frozenset(ref for ref in found if ref is not None)


def _makes_commands(project: Project, callee: Expr, where: FunctionRef) -> bool:
    for symbol in project.symbols(callee, where.path, where.key):
        bases = project.external_bases(symbol) if isinstance(symbol, ClassRef) else ()
        outside = [symbol.dotted] if isinstance(symbol, External) else bases
        if any(dotted.rpartition(".")[2] in _COMMANDS for dotted in outside):
            return True
    return False


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
