"""Yes-or-no questions that may lead back to themselves: what only rests on itself is no."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

_DEEPEST = 60
"""Questions that are nested deeper count as yes, which is the safe side."""


@dataclass(slots=True)
class Whether:
    """Each question is worked out once, also where questions form circles."""

    known: dict[object, bool] = field(default_factory=dict)
    _open: dict[object, int] = field(default_factory=dict)
    """The depth of each question that is being worked out."""
    _resting: dict[object, int] = field(default_factory=dict)
    """What is no as long as an open question is, with the depth of the outermost such; in order."""
    _outermost: int = _DEEPEST

    def ask(self, key: object, compute: Callable[[], bool]) -> bool:
        """The answer to a question, from memory or from `compute`, which is yes if one of its parts is."""
        answer = self.known.get(key)
        if answer is not None:
            if key in self._resting:
                self._outermost = min(self._outermost, self._resting[key])
            return answer
        depth = len(self._open)
        if key in self._open:
            self._outermost = min(self._outermost, self._open[key])
            return False
        if depth >= _DEEPEST:
            return True
        before, self._outermost, resting = self._outermost, _DEEPEST, len(self._resting)
        self._open[key] = depth
        answer = self.known[key] = compute()
        del self._open[key]
        if answer or self._outermost >= depth:
            for other in [*self._resting][resting:]:
                del self._resting[other]
                if answer:  # what said no because this was open may be yes after all
                    del self.known[other]
            self._outermost = before
        else:
            self._resting[key] = self._outermost
            self._outermost = min(before, self._outermost)
        return answer
