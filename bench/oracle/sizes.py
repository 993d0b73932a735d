"""Which state goes with the size of the weights: instances that differ in it differ in a weight's shape too.

Dynamo compiles an instance of another size anew whatever else is alike, so no change of that state could
spare the compile. The receipt does not always show it: where the type of a part is another one, or a list has
another length, the guards on the weights below are about other objects and are not evaluated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

import torch

from bench.oracle.attributes import shown, values_of


def sized(compiled: Iterable[torch.nn.Module]) -> dict[str, list[str]]:
    """By the name of the compiled function, the paths below `self` that never differ without the sizes."""
    groups: dict[str, dict[torch.nn.Module, None]] = defaultdict(dict)
    for module in compiled:
        groups[type(module).forward.__qualname__][module] = None
    found = {name: _companions(list(modules)) for name, modules in groups.items()}
    return {name: paths for name, paths in found.items() if paths}


def _companions(modules: Sequence[torch.nn.Module]) -> list[str]:
    states = [_state(module) for module in modules]
    shapes = [{name: tuple(one.shape) for name, one in module.named_parameters()} for module in modules]
    alike = [
        (first, second)
        for first, second in combinations(range(len(modules)), 2)
        if not any(shapes[second].get(name, shape) != shape for name, shape in shapes[first].items())
    ]
    paths = dict.fromkeys(path for state in states for path in state)
    return sorted(
        path
        for path in paths
        if len({state.get(path) for state in states}) > 1
        and all(states[first].get(path) == states[second].get(path) for first, second in alike)
    )


def _state(module: torch.nn.Module) -> dict[str, str]:
    """What every path below a module holds: values, classes of parts, and how many parts there are."""
    found: dict[str, str] = {}
    for name, inner in module.named_modules(remove_duplicate=False):
        for attribute, value in values_of(inner):
            found[f"{name}.{attribute}".lstrip(".")] = shown(value)
        found[f"{name}._modules".lstrip(".")] = str(len(inner._modules))
    return found
