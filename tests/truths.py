"""Reads tests/truth: small programs, each with the claim that the linter makes and that Dynamo must bear out.

A file is a theme and is cut into cells by `# %% title`. The first cell holds what all programs of the theme
share, every other one is a program with a driver, `def drive()`, that yields the result of one call after the
other. A line `# file: name.py` starts a further file of the program. The comment `# expect: CODE effect` stands
where a hazard is; a program without one claims that nothing is lost. `# expect: CODE effect note` is for
what would have that effect if anything changed it, and nothing does: a note is welcome, more would be noise.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dynamo_lint.config import Settings, override
from dynamo_lint.discovery import discover
from dynamo_lint.findings import Finding
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

if TYPE_CHECKING:
    from tests.proof import Receipt

FOLDER = Path(__file__).parent / "truth"
PAGES = Path(__file__).parent.parent / "rules"
STATIC = '\nproof = "static"\n'
"""The line of a page of which no run under torch can prove what it says."""
THEMES = tuple(sorted(path.stem for path in FOLDER.glob("*.py")))
MAIN = "program.py"
LIMIT = 8
"""Dynamo's default recompile limit."""

CELL = re.compile(r"^# %% (.+)$", re.MULTILINE)
FILE = re.compile(r"^# file: (\S+)$", re.MULTILINE)
EXPECTED = re.compile(r"# expect: (DYN\d+) ([a-z-]+)( note)?")


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said about a program, by the linter or by the comment beside the line."""

    code: str
    effect: str
    entries: int | None = None
    note: bool = False

    def many(self, limit: int) -> bool:
        """It claims a compile per call, or for each of a number of values that is unknown or over the limit."""
        if self.effect in {"per-value", "per-instance"}:
            return self.entries is None or self.entries > limit
        return self.effect in {"storm", "break"}


@dataclass(frozen=True, slots=True)
class Case:
    """One program."""

    theme: str
    title: str
    files: tuple[tuple[str, str], ...]
    """Name and text of each file, the one with the driver first."""

    @property
    def id(self) -> str:
        """`theme: title`, by which a test run names it."""
        return f"{self.theme}: {self.title}"

    @property
    def digest(self) -> str:
        """A short hash of its files, by which a run of an older text is told."""
        return hashlib.sha256(json.dumps(self.files).encode()).hexdigest()[:8]

    @property
    def expected(self) -> list[Claim]:
        """The claims beside its lines."""
        marks = [mark for _, text in self.files for mark in EXPECTED.finditer(text)]
        return [Claim(mark[1], mark[2], note=mark[3] is not None) for mark in marks]

    @property
    def marks(self) -> dict[tuple[str, int], str]:
        """The effects that are claimed, by the line and the name of its file; without notes."""
        return {
            (name, number): mark[2]
            for name, text in self.files
            for number, line in enumerate(text.splitlines(), 1)
            for mark in EXPECTED.finditer(line)
            if mark[3] is None
        }

    def write(self, folder: Path) -> Path:
        """Put its files into a folder; the path of the one with the driver."""
        for name, text in self.files:
            (folder / name).write_text(text)
        return folder / MAIN


def cases(theme: str) -> list[Case]:
    """The programs of a theme."""
    head, *cells = CELL.split((FOLDER / f"{theme}.py").read_text())
    found = []
    for title, text in zip(cells[::2], cells[1::2], strict=True):
        main, *others = FILE.split(text)
        files = ((MAIN, head + main), *zip(others[::2], others[1::2], strict=True))
        found.append(Case(theme, title.strip(), files))
    return found


def hazards_of_pages() -> list[Case]:
    """The programs of the rule pages that Dynamo runs, as cases: `pages: DYN101 hazard`, `pages: DYN101 fixed`."""
    found = []
    for page in sorted(PAGES.glob("DYN[!9]*.md")):
        text = page.read_text(encoding="utf-8")
        for title in ("Hazard", "Fixed") if STATIC not in text else ():
            (program,) = re.findall(rf"^## {title}\n.*?```python\n(.*?)```", text, re.MULTILINE | re.DOTALL)
            found.append(Case("pages", f"{page.stem[:6]} {title.lower()}", ((MAIN, program),)))
    return found


def claims(folder: Path, limit: int = LIMIT, torch_version: tuple[int, int] | None = None) -> list[Claim]:
    """What the linter says about the programs in a folder, given Dynamo's recompile limit and torch's version."""
    return claims_in(findings(folder, limit, torch_version))


def claims_in(said: Iterable[Finding]) -> list[Claim]:
    """What findings claim."""
    return [Claim(one.code, one.effect, one.entries, one.severity == "note") for one in said]


def findings(
    folder: Path, limit: int = LIMIT, torch_version: tuple[int, int] | None = None
) -> tuple[Finding, ...]:
    """The findings that `claims` is made of."""
    found = discover((folder,), [], force_exclude=False)
    settings = override(Settings(recompile_limit=limit), torch_version=torch_version)
    return check(settings, found, catalogue(), Sources(found.root)).findings


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the calls of a program lost under Dynamo."""

    storm: bool = False
    """Something is compiled in every call, or until the recompile limit is hit."""
    eager: bool = False
    """Calls run no compiled code at all, and not because of the limit."""
    stale: bool = False
    recompiles: int = 0
    breaks: bool = False

    @classmethod
    def of(cls, receipt: Receipt) -> Verdict:
        """The verdict on a run."""
        return cls(
            storm=receipt.limit or receipt.never_settles,
            eager=receipt.graphs_run < receipt.calls and not receipt.limit,
            stale=receipt.stale,
            recompiles=receipt.recompiles,
            breaks=receipt.breaks > 0,
        )


def agreement(claimed: list[Claim], told: Verdict | Receipt, limit: int = LIMIT) -> str:
    """How claims compare with what Dynamo did: `agree`, `missed`, `false` or `wrong effect`.

    A break is compared where one is claimed. Where nothing is lost a note is no claim.
    """
    verdict = told if isinstance(told, Verdict) else Verdict.of(told)
    if not (verdict.storm or verdict.eager or verdict.stale or verdict.recompiles):
        loud = [claim for claim in claimed if not claim.note]
        return "agree" if all(claim.effect == "break" and verdict.breaks for claim in loud) else "false"
    # A note about more than one extra compile says what would happen if something changed: it may be idle.
    claimed = [
        claim for claim in claimed if not claim.note or claim.effect == "once" or _borne_out(claim, verdict)
    ]
    if not claimed:
        return "missed"
    is_told = (
        (not verdict.storm or any(claim.many(limit) for claim in claimed))
        and (not verdict.eager or any(claim.effect == "eager" for claim in claimed))
        and (not verdict.stale or any(claim.effect == "stale" for claim in claimed))
    )
    onces = sum(claim.effect == "once" for claim in claimed)
    if any(claim.effect in {"per-value", "per-instance"} for claim in claimed):
        onces = max(onces, verdict.recompiles)  # those are of any number
    borne_out = all(_borne_out(claim, verdict, onces) for claim in claimed)
    return "agree" if is_told and borne_out else "wrong effect"


def _borne_out(claim: Claim, verdict: Verdict, onces: int = 1) -> bool:
    match claim.effect:
        case "storm":
            return verdict.storm
        case "once":  # among many compiles one cannot be told apart; several may come at one call
            return verdict.storm or 1 <= verdict.recompiles <= onces
        case "per-value" | "per-instance":
            return verdict.storm or verdict.recompiles > 0
        case "stale":
            return verdict.stale
        case "eager":
            return verdict.eager
        case _:
            return verdict.breaks
