"""What the linter says about each program of tests/truth, asked once for all tests of a run.

Several tests ask about every program, each under a recompile limit and a version of torch of its own. Nearly
always the linter tells neither the limits nor most versions apart: numbers that note what they are compared with
say so, and what was said for one of them holds for the others. Processes that run tests side by side share it.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from operator import add, eq, floordiv, ge, gt, le, lt, mul, ne, sub
from pathlib import Path
from typing import Any, ClassVar

from dynamo_lint.config import Settings
from dynamo_lint.findings import Finding
from tests.truths import LIMIT, Case, Claim, claims_in, findings

Version = tuple[int, int]
LIMITS = (4, LIMIT)
"""The limits that tests ask for."""
USUAL = Settings().torch_version
"""The version that programs are judged for of which nothing says another."""
OLDEST, NEWEST = (0, 0), (9, 0)
"""Below and above all versions."""


class AskedVersion(tuple[int, int]):
    """A torch version that notes where the answer to a comparison with it changes."""

    noted: ClassVar[set[Version]] = set()

    def _note(self, other: Any, after: bool) -> None:
        self.noted.update({(other[0], other[1] + 1)} if after else {tuple(other)})

    def __lt__(self, other: Any) -> bool:
        self._note(other, after=False)
        return tuple.__lt__(self, other)

    def __ge__(self, other: Any) -> bool:
        self._note(other, after=False)
        return tuple.__ge__(self, other)

    def __le__(self, other: Any) -> bool:
        self._note(other, after=True)
        return tuple.__le__(self, other)

    def __gt__(self, other: Any) -> bool:
        self._note(other, after=True)
        return tuple.__gt__(self, other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple) and not isinstance(other, AskedVersion):
            self._note(other, after=False)
            self._note(other, after=True)
        return tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


class AskedLimit(int):
    """A recompile limit that notes whether anything was made of it that another one would change."""

    told_apart: ClassVar[bool] = False

    @classmethod
    def _noting(cls, made: Callable[..., Any]) -> Callable[..., Any]:
        """An operation of numbers that notes whether all limits come out alike."""

        def operation(self: int, *others: Any) -> Any:
            if len({made(limit, *others) for limit in LIMITS}) > 1:
                cls.told_apart = True
            return made(int(self), *others)

        return operation

    __hash__ = int.__hash__


for _made in (add, sub, mul, floordiv, eq, ne, lt, le, gt, ge):
    setattr(AskedLimit, f"__{_made.__name__}__", AskedLimit._noting(_made))
for _name, _made in {
    "__radd__": lambda one, other: other + one,
    "__rsub__": lambda one, other: other - one,
    "__rmul__": mul,
    "__float__": float,
}.items():
    setattr(AskedLimit, _name, AskedLimit._noting(_made))


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said about a program, and for which limits and versions."""

    limits: tuple[int, ...]
    since: Version
    until: Version
    findings: tuple[Finding, ...]


class Shared:
    """The answers of this run, by the hash of the program's text."""

    folder: ClassVar[Path | None] = None
    """Where the processes of a run leave them for each other."""
    answers: ClassVar[dict[str, list[Answer]]] = {}

    @classmethod
    def load(cls, digest: str) -> list[Answer]:
        """What has been said about a program."""
        if cls.folder is not None and (file := cls.folder / digest).exists():
            cls.answers[digest] = pickle.loads(file.read_bytes())
        return cls.answers.setdefault(digest, [])

    @classmethod
    def add(cls, digest: str, answer: Answer) -> None:
        """Keep what was said; where another process says something at the same time, one of them is lost."""
        cls.answers[digest] = [*cls.load(digest), answer]
        if cls.folder is not None:
            cls.folder.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=cls.folder, delete=False) as draft:
                draft.write(pickle.dumps(cls.answers[digest]))
            Path(draft.name).replace(cls.folder / digest)


def findings_about(case: Case, limit: int = LIMIT, torch_version: Version = USUAL) -> tuple[Finding, ...]:
    """The findings in the files of a program, given Dynamo's recompile limit and torch's version."""
    for read in (Shared.answers.get, Shared.load):
        for answer in read(case.digest) or ():
            if limit in answer.limits and answer.since <= torch_version < answer.until:
                return answer.findings
    AskedVersion.noted.clear()
    AskedLimit.told_apart = False
    with tempfile.TemporaryDirectory() as folder:
        case.write(Path(folder))
        said = findings(Path(folder), AskedLimit(limit), AskedVersion(torch_version))
    answer = Answer(
        limits=(limit,) if AskedLimit.told_apart else LIMITS,
        since=max((noted for noted in AskedVersion.noted if noted <= torch_version), default=OLDEST),
        until=min((noted for noted in AskedVersion.noted if noted > torch_version), default=NEWEST),
        findings=said,
    )
    Shared.add(case.digest, answer)
    return said


def claims_about(case: Case, limit: int = LIMIT, torch_version: Version = USUAL) -> list[Claim]:
    """What the linter says about a program, given Dynamo's recompile limit and torch's version."""
    return claims_in(findings_about(case, limit, torch_version))
