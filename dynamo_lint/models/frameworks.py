"""Frameworks that compile for their users, behind a flag or an argument."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import CallSite
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values.model import (
    Container,
    Context,
    ExternalInstance,
    Instance,
    Value,
    ValueSet,
    elements,
    union,
)
from dynamo_lint.values.module_tree import descendants
from dynamo_lint.values.points_to import PointsTo

DECORATORS = knowledge.names("compiles_decorated")
"""Decorators that compile: the `forward` of a class, or a function."""
DROPPERS = frozenset(name.rpartition(".")[2] for name in DECORATORS)
"""The same by their last names: they compile once and keep no guard."""
_OFF = (ir.Constant(False), ir.Constant(None), ir.Constant("no"), ir.Constant("NO"))
REPEATED_BLOCKS = "compile_repeated_blocks"
"""Method of diffusers models: compiles the submodules whose class `_repeated_blocks` names, each in place
(diffusers/models/modeling_utils.py)."""
_OF_BLOCKS = knowledge.names("compiles_blocks")
_ARGUMENTS = knowledge.names("compile_arguments")
_SWITCHES = knowledge.names("compile_switches")
_PLUGINS = frozenset({"Accelerator", "TorchDynamoPlugin"})
_PLUGGED = frozenset({"dynamo_backend", "backend"})
"""The options that make accelerate's `prepare` compile its models (accelerate/accelerator.py)."""
_TRAINERS = knowledge.names("trainers")
_COMPILE_CONFIG = frozenset({"compile_config"})
"""Unless it is None, Composer's Trainer compiles the forward of its model (composer/trainer/trainer.py)."""
_INSTANTIATE = "instantiate"
"""How hydra makes such a Trainer that a configuration describes (hydra/_internal/instantiate): nothing else
is given a `compile_config`."""
_BLOCK_MASK = "create_block_mask"
"""With `_compile=True` it compiles itself, and with itself the mask function that it is given
(torch/nn/attention/flex_attention.py)."""
_MASK_SWITCH = frozenset({"_compile"})
_PREPARING = frozenset(knowledge.libraries()["accelerate"]["prepares"])
NAMES = (
    knowledge.last_names("compiles_decorated")
    | knowledge.last_names("compiles_blocks")
    | {REPEATED_BLOCKS, _BLOCK_MASK, _INSTANTIATE}
    | _TRAINERS
    | _PREPARING
)
"""Last names of everything here: what is not called so need not be looked at."""


def may_compile(project: Project, call: ir.Call, where: FunctionRef) -> bool:
    """Whether a call of one of these names may be what a library compiles by: told without any values.

    Of hundreds of methods called `prepare` hardly one is accelerate's, and what each is given is long to see.
    """
    match call.function:
        case ir.Name("compile_regions") | ir.Attribute(_, "compile_regions"):
            symbols = project.symbols(call.function, where.path, where.key)
            return bool(call.arguments) and any(getattr(one, "dotted", None) in _OF_BLOCKS for one in symbols)
        case ir.Name(name) | ir.Attribute(_, name) if name == _BLOCK_MASK:
            return bool(call.arguments) and _says([call], _MASK_SWITCH)
        case ir.Name(name) | ir.Attribute(_, name) if name in _TRAINERS or name == _INSTANTIATE:
            return _model_of(call, name) is not None and _is_switched(project, call, where)
        case ir.Attribute(_, name) if name in _PREPARING:
            return bool(call.arguments) and _says(_setting_calls(project, _PLUGINS), _PLUGGED)
        case ir.Name(name):
            return name not in _PREPARING
    return True


def compiled_by_library(pts: PointsTo, site: CallSite, context: Context) -> tuple[ValueSet, bool] | None:
    """Return the values that a library call compiles, and whether per instance; None if nothing."""
    call = site.call
    if not may_compile(pts.project, call, context.function):
        return None
    match call.function:
        case ir.Attribute(owner, name) if name == REPEATED_BLOCKS:
            values = pts.value(owner, context)
            return union(
                _repeated_blocks(pts, value, confidence) for value, confidence in values.items()
            ), True
        case ir.Name("compile_regions") | ir.Attribute(_, "compile_regions"):
            values = pts.value(call.arguments[0], context)
            return union([_blocks(pts, value, confidence) for value, confidence in values.items()]), True
        case ir.Name(name) | ir.Attribute(_, name) if name == _BLOCK_MASK:
            return pts.value(call.arguments[0], context), False
        case ir.Name(name) | ir.Attribute(_, name) if name in _TRAINERS or name == _INSTANTIATE:
            return union([pts.value(_model_of(call, name) or ir.UNKNOWN, context)], Confidence.LIKELY), False
        case ir.Attribute(_, name) if name in _PREPARING:
            makers = _makers(pts, call.function.value, context)
            if _says(makers, _PLUGGED):
                prepared = _prepared(pts, call, context, makers)
                # It prepares optimizers and loaders too: what is none of our models is no site to ask about.
                return prepared if prepared[0] else None
    return None


def _model_of(call: ir.Call, name: str) -> ir.Expr | None:
    """The model that a trainer is made with."""
    first = call.arguments[0] if call.arguments and name in _TRAINERS else None
    return next((value for key, value in call.keywords if key == "model"), first)


def _is_switched(project: Project, call: ir.Call, where: FunctionRef) -> bool:
    """Whether a trainer of one of the libraries is made with settings that have it compile."""
    symbols = project.symbols(call.function, where.path, where.key)
    homes = {str(getattr(symbol, "dotted", "")).partition(".")[0] for symbol in symbols}
    if homes & {"transformers", "trl"}:
        return _says(_setting_calls(project, _ARGUMENTS, where), _SWITCHES)
    return bool(homes & {"composer", "hydra"}) and _says([call], _COMPILE_CONFIG)


def _makers(pts: PointsTo, preparing: ir.Expr, context: Context) -> list[ir.Call]:
    """The calls that make the Accelerator that prepares: in the same file, or else where that comes from."""
    here = _setting_calls(pts.project, _PLUGINS, context.function)
    if here or not _setting_calls(pts.project, _PLUGINS):
        return here
    ours = (value.dotted for value in pts.value(preparing, context) if isinstance(value, ExternalInstance))
    return _setting_calls(pts.project, _PLUGINS) if any(_is_accelerator(dotted) for dotted in ours) else []


def _is_accelerator(dotted: str) -> bool:
    return dotted.startswith("accelerate.") and dotted.endswith(".Accelerator")


def _prepared(pts: PointsTo, call: ir.Call, context: Context, makers: list[ir.Call]) -> tuple[ValueSet, bool]:
    """The models that `accelerator.prepare` is given, or their blocks if it compiles region by region."""
    given = union((pts.value(argument, context) for argument in call.arguments), Confidence.LIKELY)
    models: ValueSet = {v: t for v, t in given.items() if isinstance(v, Instance) and pts.holds_module(v)}
    if not _says(makers, frozenset({"use_regional_compilation"})):
        return models, False
    return union(_blocks(pts, value, confidence) for value, confidence in models.items()), True


def _repeated_blocks(pts: PointsTo, value: Value, confidence: Confidence) -> ValueSet:
    if not isinstance(value, Instance):
        return {}
    names = set(block_names(pts.project, value.ref, "_repeated_blocks"))
    found = descendants(pts, value.ref)
    return {
        v: max(t, confidence) for v, t in found.items() if isinstance(v, Instance) and v.ref.name in names
    }


def _blocks(pts: PointsTo, value: Value, confidence: Confidence) -> ValueSet:
    if not isinstance(value, Instance):
        return {}
    lists = [v for v in descendants(pts, value.ref) if isinstance(v, Container)]
    inside = union(elements({group: confidence}) for group in lists)
    return {v: t for v, t in inside.items() if isinstance(v, Instance)} or {value: confidence}


def block_names(project: Project, ref: ClassRef, attribute: str) -> Iterator[str]:
    """The class names that a class attribute lists."""
    for part in project.mro(ref):
        for binding in project.class_bindings(part).get(attribute, ()):
            if isinstance(binding.value, ir.Display):
                for item in binding.value.items:
                    if isinstance(item, ir.Constant) and isinstance(item.value, str):
                        yield item.value


def _setting_calls(
    project: Project, makers: frozenset[str], near: FunctionRef | None = None
) -> list[ir.Call]:
    """The calls that make settings: those in the file of a function, or all that are no test's."""
    return [
        site.call
        for name in sorted(makers)
        for where, site in project.calls_of(name)
        if (not in_tests(where.path) if near is None else where.path == near.path)
    ]


def _says(makers: list[ir.Call], switches: frozenset[str]) -> bool:
    """Whether settings switch compiling on."""
    given = (one for maker in makers for one in maker.keywords)
    return any(key in switches and value not in _OFF for key, value in given)
