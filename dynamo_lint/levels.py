"""Levels: which rules are reported in a file, how severe each is there, and what fails the run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.findings import SEVERITIES, Finding
from dynamo_lint.raw_values import stated
from dynamo_lint.selectors import enabled, matching

OFF = "off"
"""The level of a rule that is not reported."""
LEVELS = (*SEVERITIES, OFF)
CONFIDENCES = ("possible", "likely", "certain")
"""From a guess to a proof; `min-confidence` compares positions in this tuple."""
OLDER_WORDS = {"assumed": "possible"}
"""Words that earlier versions used, which configurations and scripts may still hold."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A policy by name: what it sets where the configuration says nothing else."""

    pedantic: bool
    severity: Mapping[str, str]
    mutable_state: str
    """The key of the contract."""


PRESETS: Mapping[str, Preset] = {
    "strict": Preset(
        pedantic=True,
        mutable_state="forbid",
        severity=dict.fromkeys(
            (
                # Python state that compiled code writes.
                "mutable-state",
                "mutated-scalar-attribute",
                "none-or-tensor-attribute",
                "lazy-attribute",
                "growing-container",
                "global-counter",
                "eager-only-mutation",
                # Attributes that compiled code looks up by text.
                "dynamic-attribute-lookup",
                "attribute-lookup",
                "unguarded-absence",
                # Reads of the environment.
                "environment-read",
                "unguarded-environment-read",
            ),
            "error",
        ),
    ),
}
"""The house policy in one place: whether or not Dynamo guards on it today, it is an error."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The levels of one table; None leaves it to the tables before."""

    select: tuple[str, ...] | None = None
    """None selects all rules but the pedantic ones."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] | None = None
    extend_ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    min_confidence: str | None = None
    fail_level: str | None = None


@dataclass(frozen=True, slots=True)
class Override:
    """Choices for some paths."""

    paths: tuple[str, ...]
    choices: Choices

    def as_table(self) -> dict[str, object]:
        """The keys that are set, as the configuration file gives them."""
        return {"paths": self.paths} | stated(self.choices)


@dataclass(frozen=True, slots=True)
class Policy:
    """The levels of the whole configuration, in the order in which they count."""

    tables: tuple[Choices, ...]
    """Those for every file, the weakest first."""
    overrides: tuple[Override, ...] = ()
    commanded: Choices = Choices()
    """Those of the command line, which count before the overrides."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pedantic: bool = False
    home: Path = Path()
    """The folder that paths count from."""
    nested: tuple[Policy, ...] = ()
    """Those that count instead in the folders that their paths count from."""


@dataclass(frozen=True, slots=True)
class Level:
    """The rules of one file."""

    codes: frozenset[str]
    """The rules that are reported."""
    severity: Mapping[str, str]
    """By code, where it is not what the rule says."""
    min_confidence: str
    fail_level: str

    def judged(self, finding: Finding) -> Finding | None:
        """The finding as it is reported; None if it is not."""
        sure = CONFIDENCES.index(finding.confidence) >= CONFIDENCES.index(self.min_confidence)
        if not sure or finding.code not in self.codes:
            return None
        severity = self.severity.get(finding.code, finding.severity)
        return finding if severity == finding.severity else replace(finding, severity=severity)


def levels_of(policy: Policy, catalogue: Mapping[str, str], root: Path) -> Callable[[str], Level]:
    """A function that tells what holds in a file, whose path counts from `root`."""
    outer = _level_of(policy, catalogue, root)
    inner = {str(one.home): _level_of(one, catalogue, root) for one in policy.nested}
    if not inner:
        return outer

    def level(path: str) -> Level:
        above = map(str, Path(os.path.normpath(root / path)).parents)
        return next((inner[folder] for folder in above if folder in inner), outer)(path)

    return level


def _level_of(policy: Policy, catalogue: Mapping[str, str], root: Path) -> Callable[[str], Level]:
    """A function that tells what one configuration says of a file."""
    ignores = policy.per_file_ignores
    tables = [one.choices for one in policy.overrides]
    tables += [policy.commanded, *(Choices(extend_ignore=codes) for codes in ignores.values())]
    places = [_matcher(one.paths) for one in policy.overrides]
    places += [lambda _: True, *(_matcher((path,)) for path in ignores)]
    known: dict[tuple[bool, ...], Level] = {}

    def level(path: str) -> Level:
        here = os.path.relpath(root / path, policy.home).replace(os.sep, "/") if len(places) > 1 else ""
        applies = tuple(holds(here) for holds in places)
        if applies not in known:
            holding = (table for table, holds in zip(tables, applies, strict=True) if holds)
            known[applies] = _merged((*policy.tables, *holding), policy.pedantic, catalogue)
        return known[applies]

    return level


def unmatched(policy: Policy, root: Path, files: Iterable[str]) -> tuple[str, ...]:
    """The patterns of overrides that no file matches."""
    wanted = {path: _matcher((path,)) for one in policy.overrides for path in one.paths}
    for file in files if wanted else ():
        here = os.path.relpath(root / file, policy.home).replace(os.sep, "/")
        wanted = {path: matches for path, matches in wanted.items() if not matches(here)}
    return tuple(wanted)


def _matcher(paths: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a path is one of some patterns, written as in `.gitignore`."""
    from dynamo_lint.discovery import patterns  # late: few configurations have any

    opinion = patterns(paths)
    return lambda path: bool(opinion(path))


def _merged(tables: tuple[Choices, ...], pedantic: bool, catalogue: Mapping[str, str]) -> Level:
    """The level that some tables give together: each counts before those that stand before it."""
    select: tuple[str, ...] | None = None
    more: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    severity: dict[str, str] = {}
    least, fails = "likely", "warning"
    for table in tables:
        if table.select is not None:
            select, more = table.select, ()
        more += table.extend_select
        ignore = ignore if table.ignore is None else table.ignore
        less += table.extend_ignore
        severity |= _by_code(table.severity, catalogue)
        least, fails = table.min_confidence or least, table.fail_level or fails
    codes = enabled(select, (), pedantic, catalogue).union(*(matching(one, catalogue) for one in more))
    codes = codes.difference(*(matching(one, catalogue) for one in (*ignore, *less)))
    off = {code for code, level in severity.items() if level == OFF}
    return Level(codes - off, severity, least, fails)


def _by_code(table: Mapping[str, str], catalogue: Mapping[str, str]) -> dict[str, str]:
    """The level of each code: of two selectors that name it, the one that names fewer counts."""
    named = [(matching(selector, catalogue), level) for selector, level in table.items()]
    named.sort(key=lambda one: -len(one[0]))
    return {code: level for codes, level in named for code in codes}
