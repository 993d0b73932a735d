"""Which modules of a model are its repeated blocks: what regional compilation compiles one by one."""

from __future__ import annotations

from typing import Any

import torch

CONTAINERS = (torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.Sequential)


def repeated_blocks(model: torch.nn.Module) -> list[tuple[str, torch.nn.Module]]:
    """The outermost elements of every container of at least two modules, torch's own layers apart."""
    found: list[tuple[str, torch.nn.Module]] = []

    def walk(name: str, module: torch.nn.Module) -> None:
        for child_name, child in module.named_children():
            path = f"{name}.{child_name}".lstrip(".")
            if isinstance(module, CONTAINERS) and len(module) > 1 and _is_own(child):
                found.append((path, child))
            else:
                walk(path, child)

    walk("", model)
    return found


def _is_own(module: Any) -> bool:
    return not type(module).__module__.startswith("torch.") and not isinstance(module, CONTAINERS)
