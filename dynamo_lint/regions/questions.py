"""Remembering answers to questions that may, directly or not, depend on themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_MAX_DEPTH = 60
"""Questions nested deeper than this are given up: no real model needs them, and recursion must end."""


class Questions:
    """Each question is computed once. One that meets itself gets what `unknown` says.

    An answer that leaned on a question still open is provisional: it serves until that question is
    answered and is then forgotten, because asked afresh it may say more.
    """

    def __init__(self) -> None:
        self._known: dict[object, object] = {}
        self._active: dict[object, int] = {}
        self._provisional: dict[object, tuple[object, int]] = {}
        self._lowest = _MAX_DEPTH
        """Depth of the outermost open question that the current answer leaned on."""

    def ask(self, key: object, compute: Callable[[], T], unknown: T) -> T:
        """The answer to `key`, from memory or from `compute`."""
        if key in self._known:
            return self._known[key]  # type: ignore[return-value]
        if key in self._provisional:
            answer, lowest = self._provisional[key]
            self._lowest = min(self._lowest, lowest)
            return answer  # type: ignore[return-value]
        depth = len(self._active)
        if key in self._active or depth >= _MAX_DEPTH:
            self._lowest = min(self._lowest, self._active.get(key, 0))
            return unknown
        before, self._lowest = self._lowest, _MAX_DEPTH
        self._active[key] = depth
        computed = compute()
        del self._active[key]
        if self._lowest >= depth:
            self._known[key] = computed
            self._provisional.clear()
            self._lowest = before
        else:
            self._provisional[key] = (computed, self._lowest)
            self._lowest = min(before, self._lowest)
        return computed
