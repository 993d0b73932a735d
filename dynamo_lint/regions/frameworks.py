"""What well-known libraries compile on their users' behalf, as data and a little reading of it."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import CallSite
from dynamo_lint.regions.evaluate import Evaluation
from dynamo_lint.regions.model import ClassRef, Tier
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.results import descendants
from dynamo_lint.regions.values import Group, Instance, Scope, Value, Values, elements, union

DECORATORS = frozenset({"vllm.compilation.decorators.support_torch_compile"})
"""Class decorators that compile `forward` (vllm/compilation/decorators.py)."""
REPEATED_BLOCKS = "compile_repeated_blocks"
"""Method of diffusers models: compiles the submodules whose class `_repeated_blocks` names, each in place
(diffusers/models/modeling_utils.py)."""
_OF_BLOCKS = frozenset({"accelerate.utils.compile_regions", "accelerate.utils.other.compile_regions"})
"""Compiles the elements of every ModuleList whose elements have one class, else the module whole."""
_ARGUMENTS = frozenset({"TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig"})
_SWITCHES = frozenset({"torch_compile", "torch_compile_backend", "torch_compile_mode"})
_TRAINERS = frozenset({"Trainer", "Seq2SeqTrainer", "SFTTrainer", "DPOTrainer"})
NAMES = frozenset({REPEATED_BLOCKS, "compile_regions", "support_torch_compile", *_TRAINERS})
"""Last names of everything here: what is not called so need not be looked at."""


def compiled_by_library(ev: Evaluation, site: CallSite, scope: Scope) -> tuple[Values, bool] | None:
    """What a call into a library compiles and whether instance by instance; None if it compiles nothing."""
    call = site.call
    match call.function:
        case facts.Attribute(owner, name) if name == REPEATED_BLOCKS:
            values = ev.value(owner, scope)
            return union(_repeated_blocks(ev, value, tier) for value, tier in values.items()), True
        case facts.Name("compile_regions") | facts.Attribute(_, "compile_regions") if call.arguments:
            symbols = ev.project.symbols(call.function, scope.function.path, scope.function.key)
            if any(getattr(symbol, "dotted", None) in _OF_BLOCKS for symbol in symbols):
                values = ev.value(call.arguments[0], scope)
                return union([_blocks(ev, value, tier) for value, tier in values.items()]), True
        case facts.Name(name) | facts.Attribute(_, name) if name in _TRAINERS:
            model = next((value for key, value in call.keywords if key == "model"), None)
            if model is None and call.arguments:
                model = call.arguments[0]
            symbols = ev.project.symbols(call.function, scope.function.path, scope.function.key)
            outside = any(str(getattr(s, "dotted", "")).startswith(("transformers", "trl")) for s in symbols)
            if model is not None and outside and _switched_on(ev.project, scope):
                return union([ev.value(model, scope)], Tier.LIKELY), False
    return None


def _repeated_blocks(ev: Evaluation, value: Value, tier: Tier) -> Values:
    if not isinstance(value, Instance):
        return {}
    names = set(block_names(ev.project, value.ref, "_repeated_blocks"))
    found = descendants(ev, value.ref)
    return {v: max(t, tier) for v, t in found.items() if isinstance(v, Instance) and v.ref.name in names}


def _blocks(ev: Evaluation, value: Value, tier: Tier) -> Values:
    if not isinstance(value, Instance):
        return {}
    lists = [v for v in descendants(ev, value.ref) if isinstance(v, Group)]
    inside = union(elements({group: tier}) for group in lists)
    return {v: t for v, t in inside.items() if isinstance(v, Instance)} or {value: tier}


def block_names(project: Project, ref: ClassRef, attribute: str) -> Iterator[str]:
    """The class names that a class attribute lists."""
    for part in project.mro(ref):
        for binding in project.class_bindings(part).get(attribute, ()):
            if isinstance(binding.value, facts.Display):
                for item in binding.value.items:
                    if isinstance(item, facts.Constant) and isinstance(item.value, str):
                        yield item.value


def _switched_on(project: Project, scope: Scope) -> bool:
    """Whether the file makes training arguments that compile the model."""
    for function in project.files[scope.function.path].functions.values():
        for site in function.calls:
            name = getattr(site.call.function, "id", getattr(site.call.function, "name", ""))
            if name in _ARGUMENTS and any(
                key in _SWITCHES and value not in (facts.Constant(False), facts.Constant(None))
                for key, value in site.call.keywords
            ):
                return True
    return False
