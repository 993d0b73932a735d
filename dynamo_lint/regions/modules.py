"""Which classes are modules: by what their bases outside the project are called, or by a `forward`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dynamo_lint.index.facts import MODULE_KEY, Name
from dynamo_lint.program.refs import ClassRef, FunctionRef

if TYPE_CHECKING:
    from dynamo_lint.regions.project import Project

_NAMES = ("Module", "Layer", "Model", "Linear", "ModelMixin", "MessagePassing")
"""What bases are called that are modules themselves, in torch, transformers, diffusers, PyG and others."""
_NO_MODULES = (
    *("abc.", "builtins.", "collections.", "dataclasses.", "enum.", "typing.", "torch.autograd."),
    *("pydantic.", "pydantic_settings.", "django.", "sqlmodel.", "peewee.", "keras.", "tensorflow."),
)
"""Where bases come from that never are, whatever they are called."""
_OF_TORCH = (
    *("torch.", "torchvision.", "torchaudio.", "torch_geometric.", "torchrl.", "tensordict.", "torchao."),
    *("transformers.", "diffusers.", "timm.", "lightning.", "pytorch_lightning.", "accelerate.", "peft."),
    *("megatron.", "vllm.", "mmengine.", "torchtune.", "torchtitan.", "einops."),
)
"""Packages whose bases of such names are known to be modules."""
ZOOS = ("torchvision.models.", "timm.models.", "timm.layers.", "segmentation_models_pytorch.")
"""Where models come from that are modules whatever they are called, made of classes that they are handed."""
_PART = re.compile(r"_?forward_\w+")
SELF_RETURNING = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "type"}
    | {"requires_grad_", "apply", "to_empty", "share_memory"}
)
"""Methods of nn.Module that return the module itself (torch/nn/modules/module.py)."""

OF_MODULES = SELF_RETURNING | frozenset(
    {"compile", "parameters", "named_parameters", "buffers", "named_buffers", "children", "named_children"}
    | {"modules", "named_modules", "state_dict", "load_state_dict", "zero_grad", "training"}
    | {"register_buffer", "register_parameter", "register_module", "add_module", "get_submodule"}
    | {"register_forward_hook", "register_forward_pre_hook", "extra_repr"}
)
"""What every nn.Module has (torch/nn/modules/module.py), so that no `__getattr__` is asked for it."""


def is_module(project: Project, ref: ClassRef) -> bool:
    """Whether instances are `nn.Module`s; an outside base is believed by its name."""
    key = ("is module", ref)
    if key not in project.memo:
        bases = _possible(project, ref)
        named = any(base.startswith(("torch.nn.", *ZOOS)) or base.endswith(_NAMES) for base in bases)
        project.memo[key] = named or (
            (_may_derive(bases) or _is_made_of_parameter(project, ref)) and _runs_forward(project, ref)
        )
    return bool(project.memo[key])


def is_surely_module(project: Project, ref: ClassRef) -> bool:
    """Whether a class is known to be a module, and not only called like one."""
    return any(base.startswith(_OF_TORCH) for base in _possible(project, ref))


def _possible(project: Project, ref: ClassRef) -> tuple[str, ...]:
    return tuple(base for base in project.external_bases(ref) if not base.startswith(_NO_MODULES))


def _may_derive(bases: tuple[str, ...]) -> bool:
    return any("." in base for base in bases)


def _is_made_of_parameter(project: Project, ref: ClassRef) -> bool:
    """Whether a function makes a class of a base that it is given: `def make(base): class Head(base): …`."""
    class_ = project.class_(ref)
    if class_.outer in (None, MODULE_KEY):
        return False
    where = FunctionRef(ref.path, class_.outer or MODULE_KEY)
    names = (base.id for base in class_.bases if isinstance(base, Name))
    local = (project.locals_of(project.home_of(name, where)).get(name) for name in names)
    return any(one is not None and one.parameter is not None for one in local)


def _runs_forward(project: Project, ref: ClassRef) -> bool:
    """A class with a base of some library whose instances have a `forward`: what else would call it?"""
    method = project.method(ref, "forward")
    if method is None:  # that of the base may call parts of it
        return is_surely_module(project, ref) and bool(parts_of_forward(project, ref))
    return project.method_kind(method) == "method"


def parts_of_forward(project: Project, ref: ClassRef) -> list[FunctionRef]:
    """What the forward of a library calls of an heir of ours: `forward_features`, `_forward_impl`."""
    names = {name for part in project.mro(ref) for name in project.class_bindings(part)}
    methods = [project.method(ref, name) for name in sorted(names) if _PART.fullmatch(name)]
    return [method for method in methods if method is not None]


def inherits_code(project: Project, ref: ClassRef) -> bool:
    """Whether a module has a base outside the project that may have a forward."""
    return any(not base.endswith(("torch.nn.Module", "LightningModule")) for base in _outside(project, ref))


def call_of(project: Project, ref: ClassRef) -> FunctionRef | None:
    """The `__call__` of the project that a call of an instance runs.

    `class Op(nn.Module, Operation)` has that of nn.Module, which stands before what Operation declares.
    """
    method = project.method(ref, "__call__")
    owner = project.owner(method) if method is not None and is_module(project, ref) else None
    if owner is None or is_module(project, owner):
        return method
    return method if _goes_first(project, ref, owner) else None


def _goes_first(project: Project, ref: ClassRef, mixin: ClassRef) -> bool:
    """Whether a base that is no module stands before nn.Module among the bases of a class."""
    for base in project.bases(ref):
        if isinstance(base, ClassRef):
            if mixin in project.mro(base):
                return base == mixin or _goes_first(project, base, mixin)
            if is_module(project, base):
                return False
        elif base.sort == "external" and base.dotted.startswith("torch.nn."):
            return False
    return True


def _outside(project: Project, ref: ClassRef) -> Iterator[str]:
    return (base for base in project.external_bases(ref) if not base.startswith(("abc.", "typing.")))
