"""The value that a guard expects, and the one it met instead."""

from __future__ import annotations

import re
from typing import Any

import torch

from dynamo_lint.confirm.child.values import displayed, displayed_tensor

CHECK_TENSOR = re.compile(
    r", (\w+), DispatchKeySet\(.*?\), (torch\.\w+).*?"
    r"requires_grad=(\w+), size=(\[.*?\]), stride=(\[.*?\])"
)
"""`check_tensor(L['x'], Tensor, DispatchKeySet(...), torch.float32, device=..., size=[..], ...)`"""


def compared(kind: str, code: str, value: Any, absent: bool | None) -> tuple[str, str, str]:
    """Expected, actual, and for tensors what differs; `absent` is what a presence check expects."""
    if absent is not None:
        return ("absent", "present", "") if absent else ("present", "absent", "")
    if kind == "TENSOR_MATCH":
        return _tensors(code, value)
    if match := re.search(r"type=<class '(.*?)'>", code):
        return _objects("type_id" in code, match[1], value)
    match kind:
        case "LENGTH_CHECK" | "SEQUENCE_LENGTH":
            return _after(code) or "0", _length(value), ""
        case "NONE_MATCH":
            return "None", displayed(value), ""
        case "NOT_NONE":
            return "not None", displayed(value), ""
        case _:
            return _after(code) or code, displayed(value), ""


def _objects(by_type: bool, expected: str, value: Any) -> tuple[str, str, str]:
    cls = type(value)
    if by_type:
        return expected, f"{cls.__module__}.{cls.__qualname__}".removeprefix("builtins."), ""
    return f"the same {expected}", displayed(value), ""


def _after(code: str) -> str:
    return code.partition(" == ")[2].strip()


def _length(value: Any) -> str:
    try:
        return str(len(value))
    except TypeError:
        return displayed(value)


def _tensors(code: str, value: Any) -> tuple[str, str, str]:
    listed = CHECK_TENSOR.search(code)
    if not isinstance(value, torch.Tensor):
        return (listed[1] if listed else "a tensor"), displayed(value), "class"
    actual = displayed_tensor(value)
    if listed is None:
        return code, actual, ""
    cls, dtype, grad, size, stride = listed.groups()
    expected = f"{cls} {dtype.removeprefix('torch.')}{size}"
    sizes = _numbers(size)
    if type(value).__name__ != cls:
        return expected, actual, "class"
    if str(value.dtype) != dtype:
        return expected, actual, "dtype"
    if str(value.requires_grad) != grad:
        return f"requires_grad={grad}", f"requires_grad={value.requires_grad}", "requires_grad"
    if len(sizes) != value.dim():
        return expected, actual, "rank"
    if _differ(sizes, list(value.shape)):
        return expected, actual, "size"
    if _differ(_numbers(stride), _strides(value)):
        return f"stride={stride}", f"stride={_strides(value)}", "stride"
    return expected, actual, "dispatch"


def _numbers(listed: str) -> list[str]:
    return [part.strip() for part in listed.strip("[]").split(",") if part.strip()]


def _strides(value: torch.Tensor) -> list[int]:
    try:
        return list(value.stride())
    except RuntimeError:  # sparse tensors have none
        return []


def _differ(wanted: list[str], have: list[int]) -> bool:
    """Dimensions that are dynamic are listed as None."""
    return len(wanted) != len(have) or any(
        want not in ("None", str(one)) for want, one in zip(wanted, have, strict=True)
    )
