"""Which rules a word names: a code, a prefix of codes, a rule's name or `ALL`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter

from dynamo_lint.pages import page_names
from dynamo_lint.trouble import Trouble

QUIET_RULES = frozenset({"DYN902"})
"""Off unless selected by their own code or prefix, or by `pedantic`."""

_NEAR = 0.6
"""The likeness of two words of which one may be meant by the other, as difflib measures it."""


class UnknownSelector(Trouble):
    """A selector that names no rule."""

    def __init__(self, selector: str, catalogue: Mapping[str, str]) -> None:
        super().__init__(selector)
        self.selector, self.catalogue = selector, catalogue

    def __str__(self) -> str:
        """The line for people, made where it is wanted: a guess takes long."""
        guess = closest(self.selector, [*self.catalogue, *self.catalogue.values(), "ALL"])
        return f"no rule is named {self.selector!r}{hint(guess)}"


def catalogue() -> dict[str, str]:
    """Every rule's name by its code, told by its page: to import all rules takes longer than a cached run."""
    return page_names()


def matching(selector: str, catalogue: Mapping[str, str]) -> frozenset[str]:
    """The codes that a selector names."""
    word = selector.strip()
    if word.upper() == "ALL":
        return frozenset(catalogue)
    named = {code for code, name in catalogue.items() if name == word.lower()}
    prefixed = {code for code in catalogue if word and code.startswith(word.upper())}
    if not named and not prefixed:
        raise UnknownSelector(word, catalogue)
    return frozenset(named or prefixed)


def enabled(
    select: Iterable[str] | None, ignore: Iterable[str], pedantic: bool, catalogue: Mapping[str, str]
) -> frozenset[str]:
    """The codes to report; without `select` everything that is not quiet by nature."""
    if select is None:
        chosen = frozenset(catalogue) - (frozenset() if pedantic else QUIET_RULES)
    else:
        chosen = frozenset().union(*(matching(selector, catalogue) for selector in select))
    return chosen.difference(*(matching(selector, catalogue) for selector in ignore))


def completions(incomplete: str) -> list[tuple[str, str]]:
    """The lists of selectors that begin so, each with the name or the code of the last."""
    before, comma, last = incomplete.rpartition(",")
    known = catalogue()
    codes = [(code, name) for code, name in known.items() if code.startswith(last.upper())]
    names = [(name, code) for code, name in known.items() if last and name.startswith(last.lower())]
    return [(f"{before}{comma}{word}", about) for word, about in (*codes, *names)]


def hint(guess: str | None) -> str:
    """The end of a message about a word that is not known, if there is a guess."""
    return f"; did you mean {guess!r}?" if guess else ""


def closest(word: str, words: Iterable[str]) -> str | None:
    """The word that was probably meant; of two that are as near, the one that begins like it."""
    by_case = {candidate.lower(): candidate for candidate in words}
    from difflib import SequenceMatcher  # late: only what is misspelt needs a guess

    matcher, meant = SequenceMatcher(), word.lower()
    matcher.set_seq2(meant)

    def nearness(candidate: str) -> tuple[float, int]:
        matcher.set_seq1(candidate)
        near = min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= _NEAR
        begins = sum(one == other for one, other in zip(candidate, meant, strict=False))
        return matcher.ratio() if near else 0, begins

    best = max(
        ((nearness(candidate), candidate) for candidate in sorted(by_case)), key=itemgetter(0), default=None
    )
    return by_case[best[1]] if best is not None and best[0][0] >= _NEAR else None
