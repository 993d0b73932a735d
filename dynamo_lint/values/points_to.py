"""The points-to analysis: which abstract values an expression may hold, asked on demand.

Flow-insensitive, across functions, classes and files: a name may hold whatever is assigned to it anywhere in
its scope, an attribute whatever any method stores in it, a parameter what its annotation says or what any
call site passes. Only what is asked for is computed, and answers that depend on each other are iterated to a
fixpoint.

And they do: to know a call site takes the value of its callee, which takes the call sites of the function
around it. So the questions stand here, where any code that needs an answer asks, and the functions that find
the answers are handed in as `Answers` by the one place that knows them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import MethodType
from typing import TypeVar

from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import Call, CallSite, Expr, Parameter
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, File, FunctionRef, Symbol
from dynamo_lint.values import alternatives
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.model import (
    EMPTY,
    Arguments,
    ClassValue,
    Container,
    Context,
    FunctionValue,
    Instance,
    Value,
    ValueSet,
    Written,
    at_best,
    union,
)
from dynamo_lint.values.solver import NEARBY, Solver

T = TypeVar("T")

FAN_OUT = 8
"""An attribute or parameter with more module classes than this is a generic slot: demoted to possible."""

_ANYTHING = 500
"""One with more values than this, of any kind, is followed for its modules only.

An interpreter's stack or a tracer's table of operators holds everything, looked up by a hundred names.
"""

Slot = tuple[ClassRef | FunctionRef, str]
"""An attribute of a class, or a parameter of a function."""

Sites = tuple[tuple[Context, CallSite], ...]
"""Calls, each with where it stands."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The functions that answer the questions of `PointsTo`, which each of them is given first."""

    value: Callable[[PointsTo, Expr, Context], ValueSet]
    item: Callable[[PointsTo, ValueSet, object], ValueSet]
    elements: Callable[[PointsTo, ValueSet], ValueSet]
    assigned: Callable[[PointsTo, str, Sequence[Expr], Context], ValueSet]
    before: Callable[[PointsTo, Expr, Context, Call], ValueSet]
    attribute: Callable[[PointsTo, Value, str], ValueSet]
    returned: Callable[[PointsTo, Context], ValueSet]
    parameter: Callable[[PointsTo, Parameter, Context, bool], ValueSet]
    passed_by: Callable[[PointsTo, Parameter, FunctionRef, Context, CallSite], ValueSet]
    call_sites: Callable[[PointsTo, FunctionRef], Sites]
    constructions: Callable[[PointsTo, ClassRef], Sites]


class PointsTo:
    """One project's answers so far.

    `swaps` says whether modules put in the place of others count, `guesses` whether to follow what would
    only be assumed, `by_name` whether what code stores on objects of libraries is looked for by its name.
    """

    def __init__(
        self,
        project: Project,
        answers: Answers,
        *,
        swaps: bool = True,
        guesses: bool = False,
        by_name: bool = False,
        common: dict[object, object] | None = None,
    ) -> None:
        self.project = project
        self.guesses = guesses
        self._swaps = swaps
        self._by_name = by_name
        self.generic: dict[Slot, tuple[Value, ...]] = {}
        """The objects and classes that were too many for an attribute or a parameter."""
        self._answers = answers
        self._questions = Solver(common)
        self._holding: dict[Value, bool] = {}
        """Whether containers hold modules."""
        self._plain: PointsTo | None = None
        self._named: PointsTo | None = None
        self._aside: PointsTo | None = None

        # Bound once, instead of a method each that hands on: `value` is called millions of times.
        self.value: Callable[[Expr, Context], ValueSet] = MethodType(answers.value, self)
        """The values that an expression may hold in a scope, each with the tier of its proof."""
        self.item: Callable[[ValueSet, object], ValueSet] = MethodType(answers.item, self)
        """The values at one place in containers; anywhere in them for None."""
        self.elements: Callable[[ValueSet], ValueSet] = MethodType(answers.elements, self)
        """The values that iterating over some values yields."""
        self.assigned: Callable[[str, Sequence[Expr], Context], ValueSet] = MethodType(answers.assigned, self)
        """The union over the assignments to a name."""
        self.before: Callable[[Expr, Context, Call], ValueSet] = MethodType(answers.before, self)
        """The values of an argument by those definitions that reach the call."""
        self.attribute: Callable[[Value, str], ValueSet] = MethodType(answers.attribute, self)
        """The values that `owner.name` may hold."""
        self.parameter: Callable[[Parameter, Context, bool], ValueSet] = MethodType(answers.parameter, self)
        """The values of a parameter; the flag says that its own function asks, not one nested in it."""
        self.passed_by: Callable[[Parameter, FunctionRef, Context, CallSite], ValueSet] = MethodType(
            answers.passed_by, self
        )
        """The values that one call of a function passes for a parameter."""
        self.call_sites: Callable[[FunctionRef], Sites] = MethodType(answers.call_sites, self)
        """The calls in the project that run a function, directly or by constructing its class."""
        self.constructions: Callable[[ClassRef], Sites] = MethodType(answers.constructions, self)
        """The calls in the project that construct a class by its name or an alias of it."""

    # --- memory -----------------------------------------------------------------------------------------

    def ask(self, key: object, compute: Callable[[], T], unknown: T) -> T:
        """The remembered answer to a question that may depend on itself."""
        self.project.go_on()
        return self._questions.ask(key, compute, unknown)

    def ask_within(self, key: object, compute: Callable[[], T], unknown: T, within: int = NEARBY) -> T:
        """Like `ask`, for what is only worth knowing if it is easy to see."""
        return self._questions.ask_within(key, compute, unknown, within)

    def part(self, key: object, compute: Callable[[], T]) -> T:
        """Return a part that several questions share: remembered once it leans on none that is open."""
        return self._questions.part(key, compute)

    def grows(self, key: object) -> None:
        """Ask an open question again with its answer, though it may lean on none but itself."""
        self._questions.grows(key)

    # --- variants ---------------------------------------------------------------------------------------

    def without_swaps(self) -> PointsTo:
        """An evaluation apart that ignores module swaps: what is swapped must not depend on them."""
        if self._plain is None:
            self._plain = self._variant(swaps=False)
        return self._plain

    def with_names(self) -> PointsTo:
        """An evaluation apart for what would otherwise stay unknown: names say more there than they prove."""
        if self._named is None:
            self._named = self._variant(by_name=True)
        return self._named

    def far(self) -> PointsTo:
        """One evaluation for what is only looked for where nothing is known otherwise.

        Its questions reach far: what they give up at their depth must not stay unknown to all others.
        """
        main = points_to_of(self.project)
        if main._aside is None:
            main._aside = main._variant()
        return main._aside

    def _variant(self, *, swaps: bool = True, by_name: bool = False) -> PointsTo:
        """Another evaluation, with the answers in common that come to the same in each."""
        return PointsTo(
            *(self.project, self._answers),
            swaps=swaps,
            guesses=self.guesses,
            by_name=by_name,
            common=self._questions.common,
        )

    @property
    def swaps(self) -> bool:
        """Whether modules put in the place of others count; who asks gets an answer for this variant."""
        self._questions.vary()
        return self._swaps

    @property
    def by_name(self) -> bool:
        """Whether what code stores on objects of libraries is looked for by its name; likewise."""
        self._questions.vary()
        return self._by_name

    # --- values -----------------------------------------------------------------------------------------

    def of_symbols(self, symbols: tuple[Symbol, ...]) -> ValueSet:
        """Definitions and outside names as values."""
        found: dict[Value, Confidence] = {}
        for symbol in symbols:
            match symbol:
                case ClassRef():
                    found[ClassValue(symbol)] = Confidence.CERTAIN
                case FunctionRef():
                    found[FunctionValue(symbol)] = Confidence.CERTAIN
                case File() | ExternalSymbol():
                    found[symbol] = Confidence.CERTAIN
        return found

    def attributes(self, owners: ValueSet, name: str) -> ValueSet:
        """The values that `owner.name` may hold, for any of the owners."""
        found = union([at_best(self.attribute(o, name), confidence) for o, confidence in owners.items()])
        if len(owners) > 1 and any(isinstance(owner, File) for owner in owners):
            alternatives.note(self.project, found)  # which of the modules is imported, only the run knows
        return found

    def given_to(self, parameter: Parameter, function: FunctionRef) -> Iterator[tuple[Context, Expr]]:
        """The expressions that calls pass for a parameter, each with where it stands."""
        called = self.project.function(function)
        for caller, site in self.call_sites(function):
            if (given := argument_for(parameter, called, site.call)) is not None:
                yield caller, given

    def returns(
        self,
        function: FunctionRef,
        receiver: ClassRef | None,
        given: Arguments = (),
        written: Written = (),
    ) -> ValueSet:
        """The values that calling the function may give; `given` and `written` hold what this call passes."""
        context = Context(function, receiver, given, written)
        return self.ask(("returns", context), lambda: self._answers.returned(self, context), EMPTY)

    def holds_module(self, value: Value) -> bool:
        """Whether a value is a module of the project, or a container of some."""
        match value:
            case Instance(ref):
                return self.project.is_module(ref)
            case Container():
                if value not in self._holding:  # what a test leaves of a thousand outputs is asked for again
                    inner = (one for item in value.items for one, _ in item)
                    self._holding[value] = any(map(self.holds_module, inner))
                return self._holding[value]
        return False

    def capped(self, values: ValueSet, slot: Slot | None = None) -> ValueSet:
        """The values, merely possible where they are too many classes to be anything but a generic slot.

        The classes that are left out of a slot are kept in `generic`.
        """
        tiers: ValueSet = {
            v: confidence
            for v, confidence in values.items()
            if isinstance(v, Instance | ClassValue)
            and confidence < Confidence.POSSIBLE
            and self.project.is_module(v.ref)
        }
        if len(values) > _ANYTHING:
            values = tiers
        if len(tiers) <= FAN_OUT or self.choice(v.ref for v in tiers if isinstance(v, Instance | ClassValue)):
            return values
        certain: ValueSet = {
            v: confidence for v, confidence in tiers.items() if confidence == Confidence.CERTAIN
        }
        others: ValueSet = {v: confidence for v, confidence in values.items() if v not in tiers}
        if slot is not None and not self.guesses:
            self._questions.vary()  # another variant is to note it too
            self.generic[slot] = tuple(tiers)
        return union([certain if len(certain) <= FAN_OUT else EMPTY, self.guessed(values), others])

    def choice(self, refs: Iterable[ClassRef]) -> frozenset[ClassRef]:
        """Those of some classes that one place names, for a configuration to pick one; or none."""
        return alternatives.named_together(self.project, frozenset(refs), FAN_OUT)

    def guessed(self, values: ValueSet) -> ValueSet:
        """The values as a mere guess; nothing if guesses are not followed."""
        return at_best(values, Confidence.POSSIBLE) if self.guesses else EMPTY


def points_to_of(project: Project) -> PointsTo:
    """The project's one evaluation, so that every stage shares its answers."""
    evaluation = project.memo[PointsTo]
    assert isinstance(evaluation, PointsTo)
    return evaluation


def evaluate(project: Project, expr: Expr, context: Context) -> ValueSet:
    """The values `expr` may hold in `context`, each with the tier of its proof."""
    return points_to_of(project).value(expr, context)


def glimpse(project: Project, expr: Expr, context: Context) -> ValueSet:
    """The values that an expression is easily seen to hold; what would take long to work out is left out.

    For code around the regions: there is far more of it than of compiled code.
    """
    pts = points_to_of(project)
    return pts.ask_within(("glimpse", expr, context), lambda: pts.value(expr, context), EMPTY, _WITHIN)


_WITHIN = 5
"""How deep a glimpse's questions may be nested: so little that who has all the room asks again."""
