"""Copies, compares and prints what a program computes."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import torch

DEEPEST = 6
TOLERANCE = {"inductor": (1e-3, 1e-4)}
"""Relative and absolute; other backends run the same kernels as eager."""

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80


def displayed(value: Any) -> str:
    """A value in one short line; never fails, whatever its `__repr__` does."""
    if isinstance(value, torch.Tensor):
        return displayed_tensor(value)
    if isinstance(value, torch.nn.Module):
        return type(value).__qualname__
    try:
        text = _short.repr(value)
    except Exception:
        text = f"<{type(value).__qualname__}>"
    return " ".join(text.split())


def displayed_tensor(value: torch.Tensor) -> str:
    """`Tensor float32[2, 4]`."""
    try:
        return f"{type(value).__name__} {str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    except Exception:
        return type(value).__name__


def frozen(value: Any, depth: int = 0) -> Any:
    """A copy of an output that later in-place updates cannot reach, made of plain containers."""
    match value:
        case torch.Tensor():
            return value.detach().clone()
        case None | bool() | int() | float() | complex() | str() | bytes():
            return value
        case list() | tuple():
            return [frozen(item, depth + 1) for item in value] if depth < DEEPEST else "..."
        case Mapping():
            return {key: frozen(item, depth + 1) for key, item in value.items()} if depth < DEEPEST else "..."
        case set() | frozenset():
            return {"set": sorted(map(displayed, value))}
        case torch.nn.Module() | type() | ModuleType() | FunctionType() | BuiltinFunctionType():
            return {"object": f"{type(value).__qualname__}"}
    names = (
        [field.name for field in fields(value)]
        if is_dataclass(value)
        else list(getattr(value, "__dict__", ()))
    )
    parts = {name: frozen(getattr(value, name, None), depth + 1) for name in names} if depth < DEEPEST else {}
    return {"object": type(value).__qualname__, **parts}


def digest(value: Any) -> Iterator[float]:
    """The numbers of a frozen output, each tensor summed up; a number and a tensor of one are alike."""
    match value:
        case torch.Tensor():
            numbers = (
                value.detach().double() if not value.is_complex() else torch.view_as_real(value).double()
            )
            yield from (float(numbers.sum()), float(numbers.abs().sum()))
        case bool() | int() | float():
            yield from (float(value), abs(float(value)))
        case list():
            for item in value:
                yield from digest(item)
        case dict():
            for item in value.values():
                yield from digest(item)


def difference(ours: Any, theirs: Any, backend: str, where: str = "output") -> str:
    """Where two frozen outputs differ first; empty if they are the same."""
    match ours, theirs:
        case torch.Tensor(), torch.Tensor():
            return _tensors_differ(ours, theirs, backend, where)
        case list(), list():
            if len(ours) != len(theirs):
                return f"{where} has {len(ours)} items instead of {len(theirs)}"
            pairs = ((f"{where}[{i}]", *pair) for i, pair in enumerate(zip(ours, theirs, strict=True)))
        case dict(), dict():
            if ours.keys() != theirs.keys():
                return f"{where} has the keys {displayed(list(ours))} instead of {displayed(list(theirs))}"
            pairs = ((f"{where}[{key!r}]", ours[key], theirs[key]) for key in ours)
        case float(), float():
            one, other = (torch.tensor(value, dtype=torch.float64) for value in (ours, theirs))
            return _tensors_differ(one, other, backend, where) and f"{where} is {ours} instead of {theirs}"
        case _:
            same = type(ours) is type(theirs) and ours == theirs
            return "" if same else f"{where} is {displayed(ours)} instead of {displayed(theirs)}"
    return next((text for name, one, other in pairs if (text := difference(one, other, backend, name))), "")


def _tensors_differ(ours: torch.Tensor, theirs: torch.Tensor, backend: str, where: str) -> str:
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        return f"{where} is {displayed_tensor(ours)} instead of {displayed_tensor(theirs)}"
    relative, absolute = TOLERANCE.get(backend, (1e-5, 1e-7))
    try:
        if torch.allclose(ours, theirs, relative, absolute, equal_nan=True):
            return ""
        gap = (ours.double() - theirs.double()).abs().max().item()
    except (RuntimeError, NotImplementedError, TypeError):
        return "" if torch.equal(ours, theirs) else f"{where} differs"
    return f"{where} is off by up to {gap:.3g}"
