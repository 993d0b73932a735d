"""Constructor arguments by instance, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.instances.terms import OPEN, Term, Terms, decider

Row = Mapping[str, Term]


def settled(rows: Sequence[Row], defaults: Row) -> list[Row]:
    """Rows in which a flag of the maker counts as its default where all other rows have that very literal.

    `Block(fused=fused)` and `Block()` are alike until somebody passes `fused`.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: {row.get(name) for row in rows} for name in names}
    same: dict[str, Term] = {}
    for name, column in columns.items():
        values = {
            defaults.get(str(value.leaf), value) if value is not None and value.kind == "param" else value
            for value in column
        }
        (value, *others) = values
        if len(column) > 1 and not others and value is not None:
            same[name] = value
    return [{name: same.get(name, value) for name, value in row.items()} for row in rows]


@dataclass(slots=True)
class Given:
    """Rows of arguments, with the answers to what follows from them."""

    terms: Terms
    rows: Sequence[Row]
    index: tuple[int, ...] = ()
    """Which instances the rows belong to."""
    root: Given | None = None
    """All rows, where these are some of them."""
    assumed: tuple[frozenset[tuple[Term, bool]], ...] = ()
    """The tests that are known to be true or false of each row."""
    done: Sequence[dict[int, Term]] = ()
    """The values already found for each row, by the identity of terms."""
    varying: frozenset[str] = field(init=False)
    _values: dict[Term, tuple[Term, ...] | None] = field(default_factory=dict)
    _alike: dict[frozenset[str], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = dict.fromkeys(name for row in self.rows for name in row)
        self.varying = frozenset(
            name for name in names if len({row[name] for row in self.rows if name in row}) > 1
        )
        if self.root is None:
            # What all are given alike decides tests only where it is a literal.
            self.rows = [
                {name: value for name, value in row.items() if name in self.varying or value.kind == "const"}
                for row in self.rows
            ]
        self.index = self.index or tuple(range(len(self.rows)))
        self.assumed = self.assumed or (frozenset(),) * len(self.rows)
        self.done = self.done or [{} for _ in self.rows]

    def column(self, term: Term) -> tuple[Term, ...]:
        """The value for every row."""
        firsts = self._firsts(term.params & self.varying)
        value = {n: self.terms.substitute(term, self.rows[n], self.done[n]) for n in dict.fromkeys(firsts)}
        return tuple(value[n] for n in firsts)

    def _firsts(self, names: frozenset[str]) -> list[int]:
        """For each row, the first that is given the same under these names."""
        if names not in self._alike:
            seen: dict[tuple[Term | None, ...], int] = {}
            order = sorted(names)
            self._alike[names] = [
                seen.setdefault(tuple(row.get(name) for name in order), n) for n, row in enumerate(self.rows)
            ]
        return self._alike[names]

    def values(self, term: Term) -> tuple[Term, ...] | None:
        """The value for every row; None if it is the same for all."""
        if not term.params & self.varying:
            return None
        if term not in self._values:
            values = self.column(term)
            self._values[term] = values if len(set(values)) > 1 else None
        return self._values[term]

    def everywhere(self, term: Term) -> tuple[Term, ...] | None:
        """The value for every instance, also for those without a row; None if it is the same for all."""
        return (self.root or self).values(term)

    def outcomes(self, term: Term) -> Iterator[tuple[Term, Given]]:
        """Each outcome of a choice, with the rows that can come out there."""
        if term.kind != "ite":
            yield term, self
            return
        test, then, other = term.parts
        tests = self.column(test)
        for branch, wanted in ((then, True), (other, False)):
            those = self._where(tests, wanted)
            if those is not None:
                yield from those.outcomes(branch)

    def _where(self, tests: tuple[Term, ...], wanted: bool) -> Given | None:
        kept = [
            number
            for number, test in enumerate(tests)
            if (test.kind != "const" or bool(test.leaf) == wanted)
            and (test, not wanted) not in self.assumed[number]
        ]
        if not kept:
            return None
        return Given(
            self.terms,
            [self.rows[number] for number in kept],
            tuple(self.index[number] for number in kept),
            self.root or self,
            tuple(self.assumed[number] | {(tests[number], wanted)} for number in kept),
            [self.done[number] for number in kept],
        )

    def inside(self, term: Term) -> Given:
        """The constructor arguments of the objects that a term stands for, all of one class."""
        rows = [value.argument for value in self.column(term)]
        whole = self.root.column(term) if self.root is not None else ()
        one = whole[0].leaf if whole else None
        if not whole or any(value.kind != "new" or value.leaf != one for value in whole):
            return Given(self.terms, rows, self.index)
        root = Given(self.terms, [value.argument for value in whole], self.root.index if self.root else ())
        return Given(self.terms, rows, self.index, root)


def usual(tests: Sequence[Term]) -> bool | None:
    """How a test comes out if all that it asks is the type of an argument, or for an option nobody gives.

    `isinstance(kernel_size, list)`: an unknown argument is of the type that the known ones are of.
    """
    undecided = [test for test in tests if test.kind != "const"]
    if undecided and all(_asks_for_option(test) for test in undecided):
        return False
    known = {bool(test.leaf) for test in tests if test.kind == "const"}
    asked = all(decider(test).kind == "isinstance" for test in undecided)
    return known.pop() if asked and len(known) == 1 else None


def _asks_for_option(test: Term) -> bool:
    """`"experts" in options`, and what else is asked of it then."""
    if test.kind == "and":
        return _asks_for_option(test.parts[0])
    return test.kind == "In" and test.parts[0].kind == "const" and test.parts[1].kind in OPEN
