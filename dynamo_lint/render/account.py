"""The account of the state that compiled code reads, in words: each value with the findings about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding
from dynamo_lint.interpreter.account import CHANGED, KEPT, MAY, SET_ONCE, Accounted
from dynamo_lint.terminal import clean, counted

WRITERS = {
    "compiled": "compiled code",
    "outside": "code outside",
    "constructor": "its constructor alone",
    "import": "no code after the import",
    "nobody": "no code that is seen",
    "caller": "its callers",
}
"""Who writes a value, in words."""
_CHECKS = {
    "value": "its value",
    "length": "its length",
    "keys": "its keys",
    "presence": "whether it is there",
}
"""What Dynamo compares, where the word alone does not say it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A value with the findings about it."""

    about: Accounted
    findings: tuple[Finding, ...]

    @property
    def guarded_by(self) -> str:
        """All that Dynamo compares in every call."""
        checks = [_CHECKS.get(check, f"its {check}") for check in self.about.checks]
        return " and ".join(checks) if checks else "nothing: a filter drops its guards"

    @property
    def fate(self) -> str:
        """Whether it changes between calls, and what shows it."""
        one = self.about
        programs = ", ".join(clean(program.removesuffix("::<module>")) for program in one.programs)
        writers = f"written by {WRITERS[one.guarded.writers]}"
        if one.change == CHANGED:
            values = f" from {clean(one.was)} to {clean(one.now)}" if one.was and one.now else ""
            return f"changes{values}: {counted(one.compiles, 'recompile')} in {programs}; {writers}"
        if one.change == KEPT:
            return f"never changes in {programs}; {writers}"
        if one.change == SET_ONCE:
            return f"never changes: {'no code sets it' if one.guarded.kind == 'environment' else writers}"
        return f"may change: {writers}"


@dataclass(frozen=True, slots=True)
class Account:
    """All values, and how many of them there are, each counted once however many regions read it."""

    rows: tuple[Row, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The values by their worst fate, and the findings about them."""
        worst: dict[tuple[str, str], str] = {}
        for fate in (SET_ONCE, KEPT, MAY, CHANGED):
            worst |= {row.about.value: fate for row in self.rows if row.about.change == fate}
        count = Counter(worst.values())
        return {
            "read": len(worst),
            "never_change": count[SET_ONCE] + count[KEPT],
            "may_change": count[MAY],
            "changed": count[CHANGED],
            "findings": len({one.fingerprint for row in self.rows for one in row.findings}),
        }

    @property
    def summary(self) -> str:
        """`214 values read, 211 never change, 3 findings`."""
        count = self.counts
        parts = [f"{counted(count['read'], 'value')} read", f"{count['never_change']:,} never change"]
        parts += [f"{count['may_change']:,} may change"] if count["may_change"] else []
        parts += [f"{count['changed']:,} changed between calls"] if count["changed"] else []
        return ", ".join([*parts, counted(count["findings"], "finding")])

    def by_region(self) -> Iterator[tuple[str, list[Row]]]:
        """The rows of each region."""
        rows = sorted(self.rows, key=lambda row: row.about.guarded.region)
        for region, some in groupby(rows, key=lambda row: row.about.guarded.region):
            yield region, list(some)


def joined(rows: Iterable[Accounted], findings: Sequence[Finding]) -> Account:
    """The values with the findings that are about them."""
    made = []
    for row in rows:
        name = row.guarded.name.rpartition(":")[2]
        subjects = {name, f'os.environ["{name}"]'}
        about = tuple(one for one in findings if row.keys & {*one.keys} or one.subject in subjects)
        made.append(Row(row, about))
    return Account(tuple(made))
