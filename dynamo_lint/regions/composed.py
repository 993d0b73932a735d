"""What a library's code runs in a class of ours: the modules and processors that it was handed."""

from __future__ import annotations

from dynamo_lint.index.facts import Attribute, Call, Expr, Name
from dynamo_lint.program.refs import ClassRef, External, FunctionRef, Tier
from dynamo_lint.regions.inlaid import PROCESSOR
from dynamo_lint.regions.modules import inherits_code
from dynamo_lint.regions.outside import composing
from dynamo_lint.regions.submodules import children
from dynamo_lint.regions.values import EMPTY, Instance, Scope, Values, union
from dynamo_lint.values.points_to import Evaluation

_WITHOUT_FORWARD = ("ModuleList", "ModuleDict", "LightningModule", "DataModule")
"""Classes of libraries that leave the forward to others, or have no use for one."""


def composed(ev: Evaluation, ref: ClassRef) -> Values:
    """Our modules and layers that a library's forward runs of a class of ours that has no forward itself.

    Which of them it runs is only known to the library, so they are likely at best.
    """
    return ev.ask(("composed", ref), lambda: _composed(ev, ref), EMPTY)


def _composed(ev: Evaluation, ref: ClassRef) -> Values:
    bases = ev.project.external_bases(ref)
    if not inherits_code(ev.project, ref) or any(base.endswith(_WITHOUT_FORWARD) for base in bases):
        return EMPTY
    handed = [composing(ev, call, scope) for call, scope in _constructions(ev, ref)]
    if ev.project.is_container(ref):  # a Sequential runs whatever is put into it
        handed.append(children(ev, ref))
    return union(handed, Tier.LIKELY)


def processors(ev: Evaluation, ref: ClassRef) -> list[ClassRef]:
    """What a class of ours gives the library's parts of it to run: `block.attn.processor = Processor()`.

    A module of diffusers calls it (diffusers/models/attention_processor.py: Attention.forward).
    """
    project = ev.project
    if not inherits_code(project, ref):
        return []
    inits = {init for part in project.mro(ref) if (init := project.method(part, "__init__")) is not None}
    given = union(
        ev.value(store.value, Scope(init, ref))
        for init in sorted(inits)
        for store in project.function(init).stores
        if store.name == PROCESSOR and not project.is_self(store.owner, init)
    )
    return [value.ref for value in given if isinstance(value, Instance)]


def _constructions(ev: Evaluation, ref: ClassRef) -> list[tuple[Call, Scope]]:
    """The calls that reach the constructor of the library: of our class itself, or of its base's in it."""
    project = ev.project
    own = [part for part in project.mro(ref) if "__init__" in project.class_bindings(part)]
    if not own:
        return [(site.call, caller) for caller, site in ev.constructions(ref)]
    last = next((part for part in reversed(own) if project.external_bases(part)), None)
    init = project.method(last, "__init__") if last is not None else None
    found = []
    for site in project.function(init).calls if init is not None else ():
        match site.call.function:
            case Attribute(base, "__init__") if init and _is_library(ev, base, init):
                found.append((site.call, Scope(init, ref)))
    return found


def _is_library(ev: Evaluation, base: Expr, where: FunctionRef) -> bool:
    """Whether a constructor is the library's: `super().__init__(…)`, `Base.__init__(self, …)`."""
    if isinstance(base, Call):
        return base.function == Name("super")
    symbols = ev.project.symbols(base, where.path, where.key)
    return bool(symbols) and all(isinstance(symbol, External) for symbol in symbols)
