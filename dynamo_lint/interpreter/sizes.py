"""The sizes of tensors in eager code, as far as literals and loops tell them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dynamo_lint.interpreter.model import UNKNOWN, External, Tensor, is_stand_in
from dynamo_lint.models.drivers import CASTS, MADE, MADE_WITH
from dynamo_lint.models.tensor_results import BOOL_FUNCTIONS, INT_METHODS

Shape = tuple[int | None, ...]


FLOAT = "torch.float32"
"""The dtype of what says nothing else."""


def made(name: str, arguments: Sequence[object], keywords: Mapping[str, object]) -> Tensor | None:
    """The tensor that a function of torch makes; None if it is not known to make one."""
    found = _shaped(name, arguments, keywords)
    given, first = keywords.get("dtype"), arguments[0] if arguments else None
    if found is None:
        return None
    if "dtype" in keywords:
        found.dtype = given.dotted if isinstance(given, External) else None
    elif MADE.get(name) in {"sizes", "steps"}:
        found.dtype = FLOAT
    elif MADE.get(name) in {"like", "padded"} and isinstance(first, Tensor):
        found.dtype = first.dtype
    elif MADE.get(name) in {"joined", "stacked"} and isinstance(first, list | tuple):
        kinds = {one.dtype if isinstance(one, Tensor) else None for one in first}
        found.dtype = kinds.pop() if len(kinds) == 1 else None
    return found


def weights(kind: str, made_with: Mapping[str, object]) -> Shape | None:
    """The sizes of the weight of a module of torch, from the arguments it was made with."""
    given = [made_with.get(name) for name in MADE_WITH.get(kind, ())]
    numbers = [one for one in given if isinstance(one, int) and not is_stand_in(one)]
    match kind, numbers:
        case "Linear", [inside, outside]:
            return outside, inside
        case "Embedding", [count, width]:
            return count, width
        case "LayerNorm" | "RMSNorm" | "BatchNorm1d" | "BatchNorm2d", [width]:
            return (width,)
        case "Conv1d" | "Conv2d", [inside, outside, kernel] if "groups" not in made_with:
            return outside, inside, *(kernel,) * int(kind[4])
    return None


def fixed_axis(kind: str, rank: int) -> int | None:
    """The axis of its input whose size a module or function of torch fixes, by the number of axes."""
    match kind:
        case "Linear" | "linear" | "LayerNorm" | "RMSNorm" | "MultiheadAttention" | "GRU" | "LSTM":
            return rank - 1
        case "Conv1d" | "Conv2d" | "Conv3d" if rank == int(kind[4]) + 2:
            return 1
        case "BatchNorm1d" | "BatchNorm2d" | "BatchNorm3d" | "GroupNorm" if rank > 1:
            return 1
    return None


def cast(name: str, arguments: Sequence[object], keywords: Mapping[str, object]) -> str | None:
    """The dtype to which `x.half()` or `x.to(dtype)` turns a tensor or a module; None for no other."""
    given = [one.dotted for one in (*arguments, *keywords.values()) if isinstance(one, External)]
    return CASTS.get(name) or next((one for one in given if one in CASTS.values()), None)


def _shaped(name: str, arguments: Sequence[object], keywords: Mapping[str, object]) -> Tensor | None:
    first = arguments[0] if arguments else keywords.get("size", keywords.get("input"))
    match MADE.get(name):
        case "sizes":
            return Tensor(_dims(arguments or [first]))
        case "size":
            return Tensor(_dims([first]))
        case "count":
            return Tensor(_counted(arguments))
        case "drawn":
            sizes = (one for one in arguments if isinstance(one, list | tuple))
            return Tensor(_dims([next(sizes, keywords.get("size"))]))
        case "steps":
            return Tensor(_dims([arguments[2] if len(arguments) > 2 else keywords.get("steps")]))
        case "like":
            return Tensor(first.shape if isinstance(first, Tensor) else None)
        case "data":
            return Tensor(_nested(first))
        case "padded":
            return Tensor(_padded(first, arguments[1] if len(arguments) > 1 else keywords.get("pad")))
        case "joined":
            axis = arguments[1] if len(arguments) > 1 else keywords.get("dim", 0)
            return Tensor(_joined(first, axis))
        case "stacked":
            return Tensor(_stacked(first))
    return Tensor() if name.startswith("torch.") and name.count(".") == 1 else None


def method(
    tensor: Tensor, name: str, arguments: Sequence[object], keywords: Mapping[str, object] | None = None
) -> object:
    """The result of a method of a tensor: another tensor, or its sizes."""
    if name in BOOL_FUNCTIONS or (name in INT_METHODS and name != "size"):
        known = tensor.shape is not None and None not in tensor.shape
        whole = name in {"numel", "nelement"} and known
        if name in {"dim", "ndimension"} and tensor.shape is not None:
            return len(tensor.shape)
        return math.prod(size or 0 for size in tensor.shape or ()) if whole else UNKNOWN
    found = _of_method(tensor, name, arguments)
    if isinstance(found, Tensor) and name in MADE:
        told = not keywords and (name != "to" or all(isinstance(one, External | str) for one in arguments))
        found.dtype = cast(name, arguments, keywords or {}) or (tensor.dtype if told else None)
    return found


def _of_method(tensor: Tensor, name: str, arguments: Sequence[object]) -> object:
    match name, MADE.get(name):
        case _, "same":
            return Tensor(tensor.shape, set(tensor.marked))
        case (("reshape" | "view"), "shaped"):
            return Tensor(_inferred(_dims(arguments), tensor.shape))
        case "expand", "shaped":
            return Tensor(_expanded(_dims(arguments), tensor.shape))
        case _, "shaped":
            return Tensor(_dims(arguments))
        case "repeat", _:
            return Tensor(_repeated(tensor.shape, _dims(arguments)))
        case "size", _ if tensor.shape is not None:
            return _at(tensor.shape, arguments[0]) if arguments else tensor.shape
        case "size", _:
            return UNKNOWN
        case ("narrow", _) if len(arguments) == 3 and tensor.shape is not None:
            axis, length = arguments[0], arguments[2]
            return Tensor(
                tuple(
                    (length if isinstance(length, int) else None) if place == axis else size
                    for place, size in enumerate(tensor.shape)
                )
            )
    return Tensor()


def indexed(tensor: Tensor, index: object) -> Tensor:
    """Part of a tensor: `x[:n]`, `x[0]`, `x[:, :n]`."""
    parts = index if isinstance(index, tuple) else (index,)
    if tensor.shape is None or len(parts) > len(tensor.shape):
        return Tensor()
    shape: list[int | None] = []
    for size, part in zip(tensor.shape, parts, strict=False):
        if isinstance(part, slice):
            shape.append(_sliced(size, part))
        elif not isinstance(part, int):
            return Tensor()
    return Tensor((*shape, *tensor.shape[len(parts) :]), dtype=tensor.dtype)


def combined(left: object, right: object) -> Tensor:
    """Arithmetic of a tensor with another, or with a number."""
    kinds = {one.dtype for one in (left, right) if isinstance(one, Tensor)}
    found, kind = _combined(left, right), kinds.pop()
    found.dtype = kind if not kinds and "float" in (kind or "") else None
    return found


def _combined(left: object, right: object) -> Tensor:
    shapes = [one.shape for one in (left, right) if isinstance(one, Tensor)]
    if None in shapes:
        return Tensor()
    known = [shape for shape in shapes if shape is not None]
    if len(known) == 2 and len(known[0]) == len(known[1]):
        pairs = zip(*known, strict=True)
        return Tensor(tuple(b if a == 1 else a if b == 1 or a == b else None for a, b in pairs))
    return Tensor(max(known, key=len, default=None))


def _dims(arguments: Sequence[object]) -> Shape | None:
    """Sizes that are passed one by one, or in one tuple or list."""
    if len(arguments) == 1 and isinstance(arguments[0], list | tuple):
        arguments = arguments[0]
    if not all(isinstance(one, int) for one in arguments):
        sizes = tuple(one if isinstance(one, int) else None for one in arguments)
        return sizes if any(one is not None for one in sizes) and len(arguments) > 1 else None
    return tuple(one for one in arguments if isinstance(one, int))


def _counted(arguments: Sequence[object]) -> Shape | None:
    numbers = [one for one in arguments if isinstance(one, int)]
    told = numbers and len(numbers) == len(arguments) <= 3 and 0 not in numbers[2:]
    return (len(range(*numbers)),) if told else None


def _nested(data: object) -> Shape | None:
    if not isinstance(data, list | tuple):
        return () if isinstance(data, int | float) else None
    inner = _nested(data[0]) if data else ()
    return (len(data), *inner) if inner is not None else None


def _sliced(size: int | None, part: slice) -> int | None:
    if size is None:
        return part.stop if isinstance(part.stop, int) and part.start is None and part.stop > 0 else None
    bounds = (part.start, part.stop, part.step)
    if part.step == 0 or any(bound is not None and not isinstance(bound, int) for bound in bounds):
        return None
    return len(range(*part.indices(size)))


def _padded(first: object, widths: object) -> Shape | None:
    if not isinstance(first, Tensor) or first.shape is None or not isinstance(widths, list | tuple):
        return None
    shape = list(first.shape)
    if len(widths) > 2 * len(shape):
        return None  # an error where it runs, or a tensor of more axes than it was taken for
    for number in range(len(widths) // 2):
        added, size = widths[2 * number : 2 * number + 2], shape[-1 - number]
        known = all(isinstance(one, int) for one in added)
        shape[-1 - number] = size + sum(added) if known and size is not None else None
    return tuple(shape)


def _shapes(parts: object) -> list[Shape] | None:
    if not isinstance(parts, list | tuple) or not parts:
        return None
    shapes = [one.shape for one in parts if isinstance(one, Tensor) and one.shape is not None]
    return shapes if len(shapes) == len(parts) and len({len(shape) for shape in shapes}) == 1 else None


def _joined(parts: object, axis: object) -> Shape | None:
    shapes = _shapes(parts)
    if shapes is None or not isinstance(axis, int) or not -len(shapes[0]) <= axis < len(shapes[0]):
        return None
    sizes = [shape[axis] for shape in shapes]
    known = [size for size in sizes if size is not None]
    place = axis % len(shapes[0])
    whole = sum(known) if len(known) == len(sizes) else None
    return (*shapes[0][:place], whole, *shapes[0][place + 1 :])


def _stacked(parts: object) -> Shape | None:
    shapes = _shapes(parts)
    return (len(shapes), *shapes[0]) if shapes is not None else None


def _inferred(shape: Shape | None, before: Shape | None) -> Shape | None:
    """`reshape(-1, 4)`: the size that follows from the others."""
    if shape is None or -1 not in shape:
        return shape
    total, rest = _product(before), _product(tuple(size for size in shape if size != -1))
    found = total // rest if total is not None and rest else None
    return tuple(found if size == -1 else size for size in shape)


def _product(shape: Shape | None) -> int | None:
    found = 1
    for size in shape or ():
        if size is None:
            return None
        found *= size
    return None if shape is None else found


def _expanded(shape: Shape | None, before: Shape | None) -> Shape | None:
    if shape is None or -1 not in shape:
        return shape
    if before is None or len(before) != len(shape):
        return tuple(None if size == -1 else size for size in shape)
    return tuple(old if size == -1 else size for size, old in zip(shape, before, strict=True))


def _repeated(shape: Shape | None, times: Shape | None) -> Shape | None:
    if shape is None or times is None or len(times) < len(shape):
        return None
    full = (1,) * (len(times) - len(shape)) + shape
    pairs = zip(full, times, strict=True)
    return tuple(None if a is None or b is None else a * b for a, b in pairs)


def _at(shape: Shape, index: object) -> object:
    inside = isinstance(index, int) and -len(shape) <= index < len(shape)
    return shape[index] if inside and isinstance(index, int) else None
