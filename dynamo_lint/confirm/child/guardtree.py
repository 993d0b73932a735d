"""Evaluates every guard of a cached version against the frame that it did not fit.

Dynamo names the first guard that fails and stops (`get_guard_fail_reason_helper` in torch/_dynamo/guards.py),
so what failed besides is masked. The tree of guards is walked here instead: each manager knows the source
expression of its value, and each leaf can be called with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType
from typing import Any

import torch

from dynamo_lint.confirm.child.stacks import Stacks, stack_of, user_frame
from dynamo_lint.confirm.child.values import displayed, displayed_tensor
from dynamo_lint.confirm.model import Cause
from dynamo_lint.logs.texts import Place, place_of, readable

STATEFUL = ("NO_TENSOR_ALIASING", "OBJECT_ALIASING", "STORAGE_OVERLAPPING")
"""Leaves that remember what they saw, so that calling them out of turn would be wrong."""

ENDS = ("TYPE_MATCH", "ID_MATCH", "NONE_MATCH", "CLASS_MATCH", "MODULE_MATCH", "CLOSURE_MATCH")
"""When one of these fails, what is guarded below it is about another object."""


CHECK_TENSOR = re.compile(
    r", (\w+), DispatchKeySet\(.*?\), (torch\.\w+).*?"
    r"requires_grad=(\w+), size=(\[.*?\]), stride=(\[.*?\])"
)
"""`check_tensor(L['x'], Tensor, DispatchKeySet(...), torch.float32, device=..., size=[..], ...)`"""


@dataclass(slots=True)
class _Walk:
    scope: dict[str, Any]
    function: str
    reason: str
    stacks: Stacks
    found: list[Cause]
    problems: list[str]


def failures(
    manager: Any, f_locals: dict[str, Any], function: str, reason: str, stacks: Stacks, problems: list[str]
) -> list[Cause]:
    """Every guard of a version that does not hold in a frame with these locals.

    `manager` is the `GuardManagerWrapper` of a cache entry, `reason` what Dynamo says about it; `stacks`
    knows for the text of a guard which code made Dynamo install it.
    """
    scope = {"L": f_locals, "G": manager.global_scope["G"], **manager.closure_vars}
    walk = _Walk(scope, function, reason, stacks, [], problems)
    _visit(walk, manager.root, f_locals)
    for leaf in manager.root.get_epilogue_lambda_guards():
        _shapes(walk, leaf)
    return walk.found


def _visit(walk: _Walk, manager: Any, value: Any) -> None:
    source = manager.get_source()
    leaves = manager.get_leaf_guards()
    ends = False
    for leaf in leaves:
        kind = type(leaf).__name__
        if kind in STATEFUL or (kind == "LAMBDA_GUARD" and source == "L"):
            continue
        try:
            holds = leaf(value)
        except Exception as error:
            walk.problems.append(f"{kind} on {source}: {error!r}"[:200])
            continue
        if not holds:
            text = (leaf.verbose_code_parts() or [""])[0]
            walk.found.append(_cause(walk, kind, source, value, text))
            ends = ends or kind in ENDS
    pairs = manager.get_key_value_managers() if hasattr(manager, "get_key_value_managers") else None
    if pairs is not None and not ends and isinstance(value, dict) and len(value) != len(pairs):
        # A manager of a whole dict checks its length in C++, without a leaf to ask.
        near = next((text for text in _strings(pairs) if text in walk.stacks), "")
        text = f"len({source}) == {len(pairs)}"
        walk.found.append(
            replace(
                _cause(walk, "DICT_LENGTH", source, value, near),
                guard=readable(text),
                expected=str(len(pairs)),
                actual=str(len(value)),
            )
        )
        ends = True
    if ends:
        return
    for child in _children(manager, pairs):
        below = child.get_source()
        if below in ("L", ""):
            continue
        try:
            inner = eval(_compiled(below), walk.scope)
        except Exception:
            walk.found.append(_missing(walk, child, below))
            continue
        _visit(walk, child, inner)


def _children(manager: Any, pairs: Mapping[int, tuple[Any, Any]] | None) -> Iterator[Any]:
    yield from manager.get_child_managers()
    for pair in (pairs or {}).values():
        yield from (one for one in pair if one is not None)


def _strings(pairs: Mapping[int, tuple[Any, Any]]) -> Iterator[str]:
    for pair in pairs.values():
        for manager in pair:
            for leaf in manager.get_leaf_guards() if manager is not None else ():
                yield from leaf.verbose_code_parts()


def _shapes(walk: _Walk, leaf: Any) -> None:
    """Relations between sizes stand in one guard, as a list of expressions."""
    for text in leaf.verbose_code_parts():
        code = _code(text)
        try:
            holds = eval(_compiled(code), walk.scope)
        except Exception:
            continue
        if not holds:
            sources = re.findall(r"[LG]\[.*?\](?:\.\w+|\[[^\]]*\])*", code)
            source = sources[0].removesuffix(".size") if sources else code
            value = walk.scope.get("L", {})
            cause = _cause(walk, "SHAPE_ENV", source, value, text)
            walk.found.append(replace(cause, actual=_bound(code, walk.scope), aspect="size"))


def _bound(code: str, scope: dict[str, Any]) -> str:
    """The values of the calls and names in a relation between sizes."""
    parts = dict.fromkeys(re.findall(r"[LG]\[[^\]]*\](?:\.\w+(?:\(\))?|\[[^\]]*\])*", code))
    with suppress(Exception):
        return ", ".join(f"{readable(part)} = {displayed(eval(part, scope))}" for part in parts)
    return ""


def _missing(walk: _Walk, child: Any, source: str) -> Cause:
    """The value that a guard is about is not there any more."""
    text = next((part for leaf in child.get_leaf_guards() for part in leaf.verbose_code_parts()), "")
    cause = _cause(walk, "MISSING", source, None, text)
    return replace(cause, guard=f"{readable(source)} exists", expected="present", actual="missing")


def _cause(walk: _Walk, kind: str, source: str, value: Any, text: str) -> Cause:
    code = _code(text)
    source, presence = _subject(kind, source, code)
    place = place_of(source)
    if kind == "GLOBAL_STATE":
        return _global_state(walk.reason)
    expected, actual, aspect = compared(kind, code, value, presence)
    owner, bases = owner_of(place.owner, walk.scope) if place.owner else (_holder(walk, place), ())
    stack = stack_of(text, walk.stacks)
    here = user_frame(stack)
    return Cause(
        kind=kind,
        source=source,
        guard=readable(code),
        owner=owner,
        bases=bases,
        attribute=place.attribute,
        inside=place.inside,
        expected=expected,
        actual=actual,
        aspect=aspect,
        path=here.path if here else "",
        line=here.line if here else 0,
        stack=stack,
    )


def _holder(walk: _Walk, place: Place) -> str:
    """The function or module whose local or global is guarded."""
    return walk.function if place.root == "local" else str(walk.scope["G"].get("__name__", ""))


def _global_state(reason: str) -> Cause:
    """Grad mode, autocast, default dtype and the like; only Dynamo itself says which."""
    match = re.search(r"GLOBAL_STATE changed: (.+)", reason)
    what = match[1].strip() if match else "global state"
    guard = f"torch's {what} is as it was"
    return Cause("GLOBAL_STATE", "torch", guard, "torch", (), what, "", "unchanged", "changed")


def _subject(kind: str, source: str, code: str) -> tuple[str, bool | None]:
    """The key whose presence a guard checks: not the object that was searched, but what was looked for."""
    if match := re.search(r"hasattr\((.*), (['\"]\w+['\"])\)", code):
        return f"getattr({match[1]}, {match[2]})", code.startswith("not ")
    if match := re.search(r"_contains(?:__)?\((.+?), (.+)\)\s*$", code):
        key, holder = match[1], match[2]
        if kind.startswith("SET_"):
            key, holder = holder, key
        return f"{holder}[{key}]", code.startswith("not ")
    return source, None


def owner_of(expression: str, scope: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Dotted name of the class or module that an owner expression leads to, and of its classes."""
    try:
        value = eval(_compiled(expression), dict(scope))
    except Exception:
        return "", ()
    if type(value).__name__ == "module":
        return str(value.__name__), ()
    cls = value if isinstance(value, type) else type(value)
    names = tuple(f"{one.__module__}.{one.__qualname__}" for one in cls.__mro__ if one is not object)
    return f"{cls.__module__}.{cls.__qualname__}", names


def _code(text: str) -> str:
    """A guard without the comment behind it."""
    return text.partition("  # ")[0].strip()


@lru_cache(maxsize=65536)
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<guard>", "eval")


def compared(kind: str, code: str, value: Any, absent: bool | None) -> tuple[str, str, str]:
    """Expected, actual, and for tensors what differs; `absent` is what a presence check expects."""
    if absent is not None:
        return ("absent", "present", "") if absent else ("present", "absent", "")
    if kind == "TENSOR_MATCH":
        return _tensors(code, value)
    if match := re.search(r"type=<class '(.*?)'>", code):
        if "type_id" not in code:
            return f"the same {match[1]}", displayed(value), ""
        cls = type(value)
        return match[1], f"{cls.__module__}.{cls.__qualname__}".removeprefix("builtins."), ""
    match kind:
        case "LENGTH_CHECK" | "SEQUENCE_LENGTH":
            return _after(code) or "0", _length(value), ""
        case "NONE_MATCH":
            return "None", displayed(value), ""
        case "NOT_NONE":
            return "not None", displayed(value), ""
        case _:
            return _after(code) or code, displayed(value), ""


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
