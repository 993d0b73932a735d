"""Comparison of the instances of one class: the attributes in which they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index.ir import Attribute, Definition
from dynamo_lint.instances.arguments import Given, settled, usual
from dynamo_lint.instances.construct import BASE, ConstructedInstance, Construction
from dynamo_lint.instances.loops import elements
from dynamo_lint.instances.model import Count, Difference, DifferenceKind
from dynamo_lint.instances.parts import CONTAINERS, arguments, part_name, signature_of
from dynamo_lint.instances.shapes import Shapes, Tests
from dynamo_lint.instances.terms import BOOLEAN, CODE, Term, decider, leaves
from dynamo_lint.program.refs import ClassRef, FunctionRef, Position

_MANY = 4
"""This many different values among samples: there may be as many as there are instances."""
_SIZES = frozenset({"Gt", "GtE", "Lt", "LtE"})
_MAX_DEPTH = 6
MAX_TERMS = 40_000
"""Of one comparison; several times what real models take, while objects nested in loops multiply."""
Report = Callable[[DifferenceKind, tuple[Term, ...], str], None]


def compare(
    run: Construction, unit: ClassRef, made: list[ConstructedInstance], defaults: Mapping[str, Term]
) -> tuple[list[Difference], bool]:
    """The differences between instances, given the defaults of their maker, and whether there may be more."""
    names = dict.fromkeys(name for one in made for name in one.arguments)
    absent = run.terms.make("absent")
    rows = settled([{name: one.arguments.get(name, absent) for name in names} for one in made], defaults)
    sampled = any(one.sampled for one in made)
    comparison = _Comparison(run, unit, sampled, made[0].path, made[0].line, len(made))
    comparison.walk(unit, run.attributes(unit), Given(run.terms, rows), None, 0)
    return comparison.results(), comparison.cut


@dataclass(slots=True)
class _Comparison:
    run: Construction
    unit: ClassRef
    sampled: bool
    path: str
    line: int
    instances: int
    found: list[tuple[Difference, tuple[int, ...], Tests, Term | None]] = field(default_factory=list)
    """Differences, the instances that have the attribute, the tests for it to be there, and its choice."""
    test: Term | None = None
    """The test that chooses among the parts that are being reported."""
    reported: set[Difference] = field(default_factory=set)
    """The same in the words of a report."""
    shapes: Shapes = field(default_factory=Shapes)
    most: int = field(init=False)
    cut: bool = False
    """There were more terms than that."""

    def __post_init__(self) -> None:
        self.most = len(self.run.terms.known) + MAX_TERMS

    def results(self) -> list[Difference]:
        """The differences that cost something: not those that follow the shapes of the parameters."""
        self.shapes.settle()
        return [
            one
            for one, index, under, test in self.found
            if not self.shapes.decide(one.values, index, under, test)
        ]

    # --- walking ----------------------------------------------------------------------------------------

    def walk(
        self,
        owner: ClassRef,
        attributes: Mapping[str, Term],
        given: Given,
        roots: frozenset[str] | None,
        depth: int,
    ) -> None:
        """Compare all attributes of one object, given as terms over what differs between the given."""
        if depth > _MAX_DEPTH:
            return
        for name, term in attributes.items():
            if name != BASE:
                self._compare(owner, name, term, given, roots, depth)

    def _compare(
        self, owner: ClassRef, name: str, term: Term, given: Given, roots: frozenset[str] | None, depth: int
    ) -> None:
        self.cut = self.cut or len(self.run.terms.known) >= self.most
        if self.cut or (values := given.values(term)) is None:
            return

        def again(inner: Term, to: str = name) -> None:
            self._compare(owner, to, inner, given, roots, depth)

        def report(sort: DifferenceKind, values: tuple[Term, ...], setting: str) -> None:
            cause = roots if roots is not None else term.params & given.varying
            self._report(owner, name, sort, values, cause, given.index, setting)

        match term.kind, term.leaf:
            case "ite", _:
                if (outcome := usual(given.column(term.parts[0]))) is not None:
                    again(term.parts[1] if outcome else term.parts[2])
                elif given.values(term.parts[0]) is None:
                    for branch, outcome in ((term.parts[1], True), (term.parts[2], False)):
                        with self.shapes.supposing(term.parts[0], outcome):
                            again(branch)
                elif any(leaf.kind in CODE for leaf in leaves(term)) or self._called(owner, name):
                    self.test = term.parts[0]
                    report(DifferenceKind.VARIANT, tuple(self._variant(value) for value in values), "")
                    self.test = None
                    for leaf, those in given.outcomes(term):
                        if leaf.kind in {"new", "part"}:
                            with self.shapes.passing(term.parts[0]):
                                self._compare(owner, name, leaf, those, roots, depth)
                else:
                    report(DifferenceKind.SCALAR, values, "")
            case "new", ClassRef() as ref:
                arguments_ = term.argument
                live = {n for n, value in arguments_.items() if value.params & given.varying}
                done = self.run.inside.setdefault(term, {})
                inner = {
                    n: self.run.terms.substitute(t, arguments_, done)
                    for n, t in self.run.attributes(ref).items()
                    if t.params & live
                }
                self.walk(ref, inner, given, roots, depth + 1)
            case "part", _ if part_name(term) in CONTAINERS:
                for part in dict.fromkeys(term.parts):
                    # What is unknown in a container is a module, and no number.
                    if part.kind in CODE | {"seq", "each", "items", "ite", "call"}:
                        again(part)
            case "part", _:
                self._part(term, given, report)
            case "each" | "items", _:
                self._group(term, given, again, report)
            case "seq", _ if any(part.kind in CODE | {"seq", "each", "ite"} for part in term.parts):
                for part in dict.fromkeys(term.parts):
                    again(part)
            case "call", FunctionRef() as ref:
                result = self.run.result(ref)
                if result is not None and depth < _MAX_DEPTH:
                    made = self.run.terms.substitute(result, term.argument)
                    self._compare(owner, name, made, given, roots, depth + 1)
            case "call", str() as dotted if "." in dotted and not dotted.startswith("math."):
                pass  # a tensor, or something unknown
            case "with", _:
                again(term.parts[1], f"{name}.{term.leaf}")
                again(term.parts[0])
            case "partial" | "function", _:
                report(DifferenceKind.VARIANT, values, "")
            case "result" | "mapping", _:
                pass
            case _:
                self._values_of_any_sort(owner, name, values, term, given, roots, depth)

    def _values_of_any_sort(
        self,
        owner: ClassRef,
        name: str,
        values: tuple[Term, ...],
        term: Term,
        given: Given,
        roots: frozenset[str] | None,
        depth: int,
    ) -> None:
        """Compare values that the caller passed in: numbers, functions, or whole modules."""
        cause = roots if roots is not None else term.params & given.varying
        first = values[0]
        if first.kind == "new" and all(v.kind == "new" and v.leaf == first.leaf for v in values):
            if isinstance(first.leaf, ClassRef):
                inner = given.inside(term)
                self.walk(first.leaf, self.run.attributes(first.leaf), inner, cause, depth + 1)
        elif any(leaf.kind in CODE for value in values for leaf in leaves(value)):
            self._report(
                owner,
                name,
                DifferenceKind.VARIANT,
                tuple(self._variant(v) for v in values),
                cause,
                given.index,
            )
        elif not any(
            value.kind in {"tensor", "seq", "each", "result"} and not _scalars(value) for value in values
        ):
            self._report(owner, name, DifferenceKind.SCALAR, values, cause, given.index)

    def _called(self, owner: ClassRef, name: str) -> bool:
        """Methods call it: what nobody can name is code too."""
        return any(
            isinstance(called := site.call.function, Attribute)
            and called.name == name
            and self.run.project.is_self(called.value, ref)
            for part in self.run.project.mro(owner)
            for binding in self.run.project.class_bindings(part).get("forward", ())
            if isinstance(binding.value, Definition)
            for ref in (FunctionRef(part.path, binding.value.key),)
            for site in self.run.project.function(ref).calls
        )

    def _part(self, term: Term, given: Given, report: Report) -> None:
        signature = signature_of(part_name(term))
        if signature is None:
            return
        differing: list[str] = []
        columns: list[tuple[Term, ...]] = []
        # `groups=channels`: another number of channels is compiled anew anyway.
        plain = signature.shapes - signature.guarded
        widths = {given.values(value) for parameter, value in arguments(term).items() if parameter in plain}
        for parameter, value in arguments(term).items():
            column = given.values(value)
            if column is None:
                continue
            if parameter in signature.shapes:
                self._shape(value, given)
            if parameter in signature.guarded and column not in widths:
                column = tuple(map(self._computed, column))
                if len(set(column)) > 1:
                    differing.append(parameter)
                    columns.append(column)
        if differing:
            joint = tuple(self.run.terms.make("seq", "tuple", row) for row in zip(*columns, strict=True))
            values = columns[0] if len(columns) == 1 else joint
            report(DifferenceKind.PART, values, f"{part_name(term)} {', '.join(differing)}")

    def _computed(self, value: Term, depth: int = 0) -> Term:
        """The literal that functions of the project compute from their arguments; else the value as it is."""
        if value.kind != "call" or not isinstance(value.leaf, FunctionRef) or depth > _MAX_DEPTH:
            return value
        result = self.run.result(value.leaf)
        if result is None:
            return value
        found = self._computed(self.run.terms.substitute(result, value.argument), depth + 1)
        return found if found.kind == "const" else value

    def _shape(self, value: Term, given: Given) -> None:
        """A shape counts for all instances, also where it is that of a part which only some have."""
        column = given.everywhere(value)
        if column is not None and len(column) == self.instances:
            self.shapes.add(column)

    def _group(self, term: Term, given: Given, again: Callable[[Term], None], report: Report) -> None:
        """A container filled by loops: of another length where they run over something that differs."""
        loops = term.parts[: term.leaf] if isinstance(term.leaf, int) else ()
        if not any(_holds_code(part, 6) for part in term.parts[len(loops) :]):
            return  # numbers, and not modules
        for loop in (*loops, *(part for part in term.parts if term.kind == "items" and _is_iterable(part))):
            iterables = given.values(loop)
            lengths = tuple(map(self._length, iterables)) if iterables is not None else ()
            if len(set(lengths)) > 1:
                report(DifferenceKind.VARIANT, lengths, "")
                return
        for part in dict.fromkeys(term.parts[len(loops) :]):
            again(part)

    def _length(self, iterable: Term) -> Term:
        items, sampled = elements(self.run.terms, iterable, 0)
        known = None if sampled else len(items)
        return self.run.terms.make("length", known, (iterable,) if sampled else ())

    # --- values -----------------------------------------------------------------------------------------

    def _variant(self, value: Term, depth: int = 0) -> Term:
        """The part of a value that decides which code runs: the type of a module, not its arguments."""
        if value.kind == "part" and part_name(value) in CONTAINERS:
            inside = tuple(self._variant(part, depth) for part in value.parts if part.kind != "each")
            return self.run.terms.make("external", value.leaf, inside)
        if value.kind in {"new", "part"}:
            return self.run.terms.make("class" if value.kind == "new" else "external", value.leaf)
        if value.kind == "call" and isinstance(value.leaf, FunctionRef):
            result = self.run.result(value.leaf)
            if result is not None and result.kind != "result" and depth < _MAX_DEPTH:
                return self._variant(self.run.terms.substitute(result, value.argument), depth + 1)
            return self.run.terms.make("made", value.leaf)
        if value.kind == "result":
            maker = value.parts[0]
            return self.run.terms.make("made", maker.leaf if maker.kind == "param" else None)
        if value.kind == "ite":
            test, then, other = value.parts
            return self.run.terms.choice(test, self._variant(then, depth), self._variant(other, depth))
        return value

    def _report(
        self,
        owner: ClassRef,
        name: str,
        sort: DifferenceKind,
        values: tuple[Term, ...],
        roots: frozenset[str],
        index: tuple[int, ...],
        setting: str = "",
    ) -> None:
        different = tuple(dict.fromkeys(values))
        if len(different) < 2 or (
            sort == DifferenceKind.SCALAR and any(_holds_code(value, 6) for value in different)
        ):
            return
        if _alike_by_default(different) or _ask_for_a_size(different):
            return
        count = self._count(different, len(values))
        samples = tuple(dict.fromkeys(leaf for value in different for leaf in leaves(value)))
        difference = Difference(
            self.unit,
            owner,
            name,
            sort,
            count,
            samples[:16],
            roots,
            self.path,
            self.line,
            self._stores(owner, name.partition(".")[0]),
            values,
            _cause(values),
            setting,
        )
        alike = replace(difference, samples=(), values=(), cause=())
        if alike not in self.reported:
            self.reported.add(alike)
            self.found.append((difference, index, self.shapes.under, self.test))

    def _stores(self, owner: ClassRef, name: str) -> tuple[tuple[str, Position], ...]:
        places = self.run.stored.get((owner, name), {})
        # `self.norm = None` is where it starts, not where it is chosen.
        return tuple(sorted(places, key=lambda place: not places[place]))

    def _count(self, different: tuple[Term, ...], instances: int) -> Count:
        kinds = {
            leaf.kind if leaf.kind != "const" else type(leaf.leaf).__name__
            for v in different
            for leaf in leaves(v)
        }
        if kinds <= BOOLEAN | {"bool"}:
            return Count(2, each=False)
        options = {leaf for value in different for leaf in leaves(value)}
        if len(options) < len(different):
            # Who gets which may be unknown, but there are only so many to choose from.
            return Count(max(2, len(options)), each=False)
        each = len(different) == instances
        if self.sampled and len(different) >= _MANY:
            return Count(None, each)
        return Count(len(different), each)


def _alike_by_default(values: tuple[Term, ...]) -> bool:
    """Whether values are one literal wherever a parameter is left at None: others are for callers to give."""
    if any(value.kind != "ite" or value.parts[0].kind != "Is" for value in values):
        return False
    defaults = {value.parts[1] for value in values if not _is_beyond(value.parts[1])}
    return len({value.parts[0] for value in values}) == len(defaults) == 1 and defaults.pop().kind == "const"


def _is_beyond(value: Term) -> bool:
    """Whether a value is an item that its list does not have."""
    return value.kind == "item" and value.parts[0].kind == "seq" and value.parts[1].kind == "const"


def _ask_for_a_size(values: tuple[Term, ...]) -> bool:
    """Whether values differ in nothing but in which size they hold against a number: `if width > 0`.

    Nothing says of sizes that only the run knows that one is above and another below, nor that they are not
    as large as those that are written out.
    """
    asking = [value for value in values if value.kind == "ite" and value.parts[0].kind in _SIZES]
    alike = {(value.parts[0].kind, value.parts[0].parts[1], *value.parts[1:]) for value in asking}
    if len(alike) != 1 or any(value.parts[0].parts[0].kind not in {"param", "attribute"} for value in asking):
        return False
    kind, _, then, other = alike.pop()
    large = then if kind in {"Gt", "GtE"} else other
    return set(values) <= {*asking, large}


def _cause(values: tuple[Term, ...]) -> tuple[Term, ...] | tuple[int, ...]:
    """The cause of a difference: the tests, or which instances go together where the values are known."""
    deciding = tuple(map(decider, values))
    distinct = list(dict.fromkeys(deciding))
    known = all(one.kind in CODE | {"const"} for one in deciding)
    if known and len(distinct) < len(deciding):
        return tuple(map(distinct.index, deciding))
    return deciding


def _is_iterable(part: Term) -> bool:
    return part.kind not in CODE | {"ite", "seq", "call"}


def _holds_code(value: Term, depth: int) -> bool:
    """It is made of modules: `blocks + [Block()]` is no number."""
    if value.kind in {"new", "part", "result", "each", "items"}:
        return True
    built = value.kind in {"Add", "ite", "repeat", "seq"}
    return built and depth > 0 and any(_holds_code(part, depth - 1) for part in value.parts)


def _scalars(value: Term) -> bool:
    """A tuple of numbers."""
    return value.kind == "seq" and value.leaf == "tuple" and all(p.kind not in CODE for p in value.parts)
