"""Memo tables with fixpoint iteration, for questions that may, directly or not, depend on themselves."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

from dynamo_lint.dataclass import dataclass, field

T = TypeVar("T")
_NOTHING = object()
_FRAMES = 5000
"""Enough Python frames for the deepest nesting of questions, each with its expressions."""
_MAX_DEPTH = 40
"""Questions nested deeper than this are given up: no real model needs them, and recursion must end."""
NEARBY = 8
"""How deep a question may be nested in one that is only worth an easy answer."""
FARTHER = 16
"""How deep where the answer is likely to lead on, as through a container that a helper fills from a table."""
_MORE = 8
"""With so many times the room, a question is asked again whose answer lacks what was given up: what a nearby
one left, where there is all the room. If it took less, more would be asked again, and nothing more found."""
_ROUNDS = 3
"""How often a circle of questions is asked again with the answer of the round before."""


class Solver:
    """Each question is computed once; a circle of questions a few times, until its answer is stable.

    A question that meets itself gets the answer of the round before, at first what `unknown` says. What
    leaned on a question still open is provisional: it serves until that question is settled, and is
    settled with it. What lacks something because a question was nested too deeply serves those who have not
    much more room than who asked first, and is asked again by those who have.

    Several solvers that differ in what one of them sees (`vary`) have the answers in common that rest on
    nothing of it, and lack nothing.
    """

    def __init__(self, common: dict[object, object] | None = None) -> None:
        self.common: dict[object, object] = {} if common is None else common
        self._known: dict[object, object] = {}
        """Answers that lack something, or that are for this solver alone."""
        self._own: set[object] = set()
        """Those that are for this solver alone."""
        self._varied = False
        """Whether the current answer rests on what only this solver sees."""
        self._singles: dict[object, object] = {}
        """Answers of one value, by that value: half of all are such, and most of them the same."""
        self._parts: dict[object, object] = {}
        """Parts of questions that leaned on no open one."""
        self._open: dict[object, int] = {}
        """Depth of every question being computed."""
        self._growing: set[object] = set()
        """Open questions whose answer says more once it is known itself."""
        self._guesses: dict[object, object] = {}
        """The answers of the members of an open cycle in the round before."""
        self._provisional: dict[object, tuple[object, int]] = {}
        """Answers with the depth of the outermost open question they leaned on."""
        self._leaning: dict[int, list[object]] = defaultdict(list)
        """The provisional questions by that depth."""
        self._outermost = _MAX_DEPTH
        """Depth of the outermost open question that the current answer leaned on."""
        self._short: dict[object, int] = {}
        """How much room there was for an answer that lacks what was given up below it."""
        self._cut = False
        """Whether the current answer lacks what was given up."""
        self._limit = _MAX_DEPTH
        """Depth at which questions are given up."""

    def ask_within(self, key: object, compute: Callable[[], T], unknown: T, within: int) -> T:
        """Like `ask`, but give up early: for what is only worth knowing if it is easy to see."""
        before = self._limit
        self._limit = min(before, len(self._open) + within)
        answer = self.ask(key, compute, unknown)
        self._limit = before
        return answer

    def ask(self, key: object, compute: Callable[[], T], unknown: T) -> T:
        """The answer to `key`, from memory or from `compute`."""
        shared = self.common.get(key, _NOTHING)
        if shared is not _NOTHING:
            return shared  # type: ignore[return-value]
        if key in self._known and not self._may_say_more(key):
            self._cut = self._cut or key in self._short
            self._varied = self._varied or key in self._own
            return self._known[key]  # type: ignore[return-value]
        if key in self._provisional:
            answer, outermost = self._provisional[key]
            self._outermost = min(self._outermost, outermost)
            return answer  # type: ignore[return-value]
        depth = len(self._open)
        if key in self._open or depth >= self._limit:
            self._cut = self._cut or key not in self._open
            self._outermost = min(self._outermost, self._open.get(key, depth - 1))
            return self._guesses.get(key, self._known.get(key, unknown))  # type: ignore[return-value]
        before, cut, varied = self._outermost, self._cut, self._varied
        self._cut = self._varied = False
        self._open[key] = depth
        if depth == 0:
            computed = _with_deep_stack(lambda: self._settle(key, depth, compute, unknown))
        else:
            computed = self._settle(key, depth, compute, unknown)
        del self._open[key]
        self._growing.discard(key)
        self._outermost = min(before, self._outermost)
        self._cut, self._varied = self._cut or cut, self._varied or varied
        return computed

    def vary(self) -> None:
        """Note that the open questions rest on what other solvers see otherwise."""
        self._varied = True

    def _may_say_more(self, key: object) -> bool:
        """Whether an answer lacks what was given up, and there is enough room now to find it."""
        short = self._short.get(key)
        return short is not None and self._limit - len(self._open) >= short * _MORE

    def grows(self, key: object) -> None:
        """An open question is asked again with its answer, though it may lean on none but itself."""
        self._growing.add(key)

    def part(self, key: object, compute: Callable[[], T]) -> T:
        """A part of one or more questions that is no question itself: remembered if its answer is final."""
        known = self._parts.get(key)
        if known is not None:
            return known  # type: ignore[return-value]
        before, cut, varied = self._outermost, self._cut, self._varied
        self._outermost, self._cut, self._varied = _MAX_DEPTH, False, False
        computed = compute()
        if self._outermost == _MAX_DEPTH and not (self._cut or self._varied):
            self._parts[key] = computed
        self._outermost, self._cut = min(before, self._outermost), self._cut or cut
        self._varied = self._varied or varied
        return computed

    def _settle(self, key: object, depth: int, compute: Callable[[], T], unknown: T) -> T:
        previous: dict[object, object] = {key: unknown}
        for _ in range(_ROUNDS):
            self._outermost = _MAX_DEPTH
            computed = compute()
            circle = self._leaning.pop(depth, [])
            answers = {member: self._provisional.pop(member)[0] for member in circle} | {key: computed}
            if self._outermost < depth:
                # Not the head of its circle: it and all that leaned on it wait for the one that is.
                for member, answer in answers.items():
                    self._provisional[member] = (answer, self._outermost)
                    self._leaning[self._outermost].append(member)
                return computed
            if not (circle or key in self._growing) or answers == previous:
                break
            previous = answers
            self._guesses.update(answers)
        for member in answers:
            self._guesses.pop(member, None)
        for member, answer in answers.items():
            if not (self._cut or self._varied):
                self.common[member] = self._shared(answer)
                self._known.pop(member, None)
                self._short.pop(member, None)
                self._own.discard(member)
                continue
            self._known[member] = self._shared(answer)
            if self._cut:
                self._short[member] = self._limit - depth
            else:
                self._short.pop(member, None)
            if self._varied:
                self._own.add(member)
        self._outermost = _MAX_DEPTH
        return computed

    def _shared(self, answer: object) -> object:
        """The same answer, one object for all who got it."""
        if type(answer) is not dict or len(answer) != 1:
            return answer
        try:
            return self._singles.setdefault(next(iter(answer.items())), answer)
        except TypeError:  # it holds something that has no hash
            return answer


def _with_deep_stack(compute: Callable[[], T]) -> T:
    """Run with a recursion limit that fits the deepest question, and put the old one back."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        return compute()
    finally:
        sys.setrecursionlimit(limit)


_DEEPEST = 60
"""Questions that are nested deeper count as yes, which is the safe side."""


@dataclass(slots=True)
class BooleanSolver:
    """Each question is worked out once, also where questions form circles."""

    known: dict[object, bool] = field(default_factory=dict)
    _open: dict[object, int] = field(default_factory=dict)
    """The depth of each question that is being worked out."""
    _resting: dict[object, int] = field(default_factory=dict)
    """Answers that are no as long as an open question is, with the depth of the outermost such; in order."""
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
