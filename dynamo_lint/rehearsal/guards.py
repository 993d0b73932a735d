"""Dynamo's cache of one compiled function, as far as sizes and modes decide which calls compile again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dynamo_lint.rehearsal.model import Tensor
from dynamo_lint.rehearsal.sizes import Shape

SIZES = "sizes"
_Pattern = tuple[tuple[int | str | None, ...] | None, ...]
"""For each tensor the sizes that an entry expects: a number, the name of a symbol, None for one not known."""


@dataclass(frozen=True, slots=True)
class _Entry:
    sizes: _Pattern
    modes: Mapping[str, object]


@dataclass(slots=True)
class Cache:
    """The entries of one compiled function."""

    entries: list[_Entry] = field(default_factory=list)
    seen: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    """The sizes of each axis of each argument in calls that compiled."""
    dynamic: set[tuple[int, int]] = field(default_factory=set)

    def call(
        self, tensors: Sequence[Tensor], modes: Mapping[str, object], *, static: bool, dynamic: bool
    ) -> str | None:
        """Why a call compiles again; None if an entry fits, or for the first call."""
        shapes = [tensor.shape for tensor in tensors]
        if any(_fits(entry, shapes, modes) for entry in self.entries):
            return None
        why = self._why(shapes, modes)
        self._compile(tensors, modes, static, dynamic)
        return why

    def _why(self, shapes: Sequence[Shape | None], modes: Mapping[str, object]) -> str | None:
        """The difference from the entry that is nearest: the sizes, or the name of a mode."""
        if not self.entries:
            return None
        differences = []
        for entry in self.entries:
            changed = [one for one in {**entry.modes, **modes} if entry.modes.get(one) != modes.get(one)]
            if not _sizes_fit(entry.sizes, shapes):
                changed.append(SIZES)
            differences.append(changed)
        return min(differences, key=len)[0]

    def _compile(
        self, tensors: Sequence[Tensor], modes: Mapping[str, object], static: bool, dynamic: bool
    ) -> None:
        pattern: list[tuple[int | str | None, ...] | None] = []
        for number, tensor in enumerate(tensors):
            if tensor.shape is None:
                pattern.append(None)
                continue
            axes: list[int | str | None] = []
            for axis, size in enumerate(tensor.shape):
                place = (number, axis)
                marked = axis in tensor.marked or axis - len(tensor.shape) in tensor.marked
                if size is not None:
                    known = self.seen.setdefault(place, set())
                    if marked or (not static and not tensor.static and (dynamic or known - {size})):
                        self.dynamic.add(place)
                    known.add(size)
                turns = place in self.dynamic and size is not None and size > 1
                axes.append(f"s{size}" if turns else size)
            pattern.append(tuple(axes))
        self.entries.append(_Entry(tuple(pattern), dict(modes)))


def _fits(entry: _Entry, shapes: Sequence[Shape | None], modes: Mapping[str, object]) -> bool:
    return entry.modes == modes and _sizes_fit(entry.sizes, shapes)


def _sizes_fit(pattern: _Pattern, shapes: Sequence[Shape | None]) -> bool:
    """Whether sizes are those of a pattern; a symbol stands for one number of at least 2."""
    if len(pattern) != len(shapes):
        return True  # called in another way: that is no matter of sizes
    bound: dict[str, int] = {}
    for wanted, shape in zip(pattern, shapes, strict=True):
        if wanted is None or shape is None:
            continue
        if len(wanted) != len(shape):
            return False
        for expected, size in zip(wanted, shape, strict=True):
            if size is None or expected is None:
                continue
            if isinstance(expected, str):
                if size < 2 or bound.setdefault(expected, size) != size:
                    return False
            elif expected != size:
                return False
    return True
