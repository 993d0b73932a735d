"""Which classes are modules: by what their bases outside the project are called, or by a `forward`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynamo_lint.regions.model import ClassRef
    from dynamo_lint.regions.project import Project

_NAMES = ("Module", "Layer", "Model", "Linear", "ModelMixin", "MessagePassing")
"""What bases are called that are modules themselves, in torch, transformers, diffusers, PyG and others."""
_NO_MODULES = ("abc.", "builtins.", "collections.", "dataclasses.", "enum.", "typing.", "torch.autograd.")
"""Where bases come from that never are."""


def is_module(project: Project, ref: ClassRef) -> bool:
    """Whether instances are `nn.Module`s; an outside base is believed by its name."""
    key = ("is module", ref)
    if key not in project.memo:
        bases = project.external_bases(ref)
        named = any(base.startswith("torch.nn.") or base.endswith(_NAMES) for base in bases)
        project.memo[key] = named or (_may_derive(bases) and _runs_forward(project, ref))
    return bool(project.memo[key])


def _may_derive(bases: tuple[str, ...]) -> bool:
    return any("." in base and not base.startswith(_NO_MODULES) for base in bases)


def _runs_forward(project: Project, ref: ClassRef) -> bool:
    """A class with a base of some library whose instances have a `forward`: what else would call it?"""
    method = project.method(ref, "forward")
    return method is not None and project.method_kind(method) == "method"
