"""What an expression may hold, asked on demand: flow-insensitive, across functions, classes and files.

A name may hold whatever is assigned to it anywhere in its scope, an attribute whatever any method stores in
it, a parameter what its annotation says or what any call site passes. Only what is asked for is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.regions import (
    attributes,
    choices,
    compiling,
    containers,
    displays,
    enumerations,
    flow,
    iterables,
    keywords,
    made,
    picked,
    registries,
    results,
    selecting,
    structure,
    submodules,
    texts,
)
from dynamo_lint.regions.annotations import typed
from dynamo_lint.regions.beforehand import with_passed
from dynamo_lint.regions.filling import filled_elsewhere, kept_as
from dynamo_lint.regions.hanging import hung_on_unknown
from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.naming import gives_more
from dynamo_lint.regions.narrowing import by_key, by_text, is_keyed, narrow
from dynamo_lint.regions.project import COMPILE, External, File, Project, Symbol
from dynamo_lint.regions.questions import NEARBY, Questions
from dynamo_lint.regions.receivers import depends_on_class, receiver
from dynamo_lint.regions.scopes import Local
from dynamo_lint.regions.settled import is_settled
from dynamo_lint.regions.values import (
    EMPTY,
    ClassValue,
    Foreign,
    FunctionValue,
    Group,
    Held,
    Instance,
    Scope,
    Text,
    Value,
    Values,
    at_best,
    elements,
    stored,
    union,
)

T = TypeVar("T")

FAN_OUT = 8
"""An attribute or parameter with more module classes than this is a generic slot: demoted to assumed."""

_ANYTHING = 500
"""One with more values than this, of any sort, is followed for its modules only.

An interpreter's stack or a tracer's table of operators holds everything, looked up by a hundred names.
"""


def evaluate(project: Project, expr: Expr, scope: Scope) -> Values:
    """The values `expr` may hold in `scope`, each with the tier of its proof."""
    return evaluation_of(project).value(expr, scope)


def evaluation_of(project: Project) -> Evaluation:
    """The project's one `Evaluation`, so that every stage shares its answers."""
    evaluation = project.memo.get(Evaluation)
    if not isinstance(evaluation, Evaluation):
        evaluation = project.memo[Evaluation] = Evaluation(project)
    return evaluation


class Evaluation:
    """One project's answers so far.

    `swaps` says whether modules put in the place of others count, `guesses` whether to follow what would
    only be assumed, `hanging` whether what code hangs on objects of libraries is looked for by its name.
    """

    def __init__(
        self, project: Project, *, swaps: bool = True, guesses: bool = False, hanging: bool = False
    ) -> None:
        self.project = project
        self.swaps = swaps
        self.guesses = guesses
        self.hanging = hanging
        self._questions = Questions()
        self._holding: dict[Value, bool] = {}
        """Whether containers hold modules."""
        self._plain: Evaluation | None = None
        self._named: Evaluation | None = None
        self._aside: Evaluation | None = None

    def ask(self, key: object, compute: Callable[[], T], unknown: T) -> T:
        """The remembered answer to a question that may depend on itself."""
        return self._questions.ask(key, compute, unknown)

    def ask_nearby(self, key: object, compute: Callable[[], T], unknown: T, within: int = NEARBY) -> T:
        """Like `ask`, for what is only worth knowing if it is easy to see."""
        return self._questions.ask_nearby(key, compute, unknown, within)

    def part(self, key: object, compute: Callable[[], T]) -> T:
        """What is the same for several questions: remembered once it leans on none that is open."""
        return self._questions.part(key, compute)

    def without_swaps(self) -> Evaluation:
        """An evaluation apart that ignores module swaps: what is swapped must not depend on them."""
        if self._plain is None:
            self._plain = Evaluation(self.project, swaps=False, guesses=self.guesses)
        return self._plain

    def with_hanging(self) -> Evaluation:
        """An evaluation apart for what would otherwise stay unknown: names say more there than they prove."""
        if self._named is None:
            self._named = Evaluation(self.project, guesses=self.guesses, hanging=True)
        return self._named

    def aside(self) -> Evaluation:
        """One evaluation for what is only looked for where nothing is known otherwise.

        Its questions reach far: what they give up at their depth must not stay unknown to all others.
        """
        main = evaluation_of(self.project)
        if main._aside is None:
            main._aside = main.anew()
        return main._aside

    def anew(self) -> Evaluation:
        """An evaluation without answers: what was given up deep inside another question can be known here."""
        return Evaluation(self.project, swaps=self.swaps, guesses=self.guesses)

    # --- expressions ------------------------------------------------------------------------------------

    def value(self, expr: Expr, scope: Scope) -> Values:
        """The values of one expression."""
        match expr:
            case facts.Name(name):
                return self._name(name, scope)
            case facts.Attribute(owner, name):
                owners = self.value(owner, scope)
                found = self.attributes(owners, name)
                if not self.hanging or any(not isinstance(value, Foreign) for value in found):
                    return found
                return hung_on_unknown(self, owners, name) or structure.identified(self, expr, scope) or found
            case facts.Call():
                taken = keywords.taken(self, expr, scope)
                return results.of_call(self, expr, scope) if taken is None else taken
            case facts.Subscript(owner, facts.Constant(index)):
                own = keywords.under(self, owner, index, scope) if isinstance(index, str) else None
                if own is not None:
                    return own
                found = self.item(self.value(owner, scope), index)
                kept = None if found else kept_as(self.project, owner, scope.function)
                return found if kept is None else self.item(self.value(kept, scope), index)
            case facts.Subscript(owner, index):
                return self._items(self.value(owner, scope), index, scope)
            case facts.Element(iterable):
                return self.elements(self.value(iterable, scope))
            case facts.Choice(options, asks):
                return made.one_of(self, [self.value(option, scope) for option in options], asks, scope)
            case facts.Display(kind, items, keys):
                return displays.of_display(self, kind, items, keys, scope)
            case facts.Constant(str() as text):
                return {Text(text): Tier.CERTAIN}
            case facts.Narrowed(inner, types, holds):
                if selecting.is_test(types):
                    return selecting.chosen(self, expr, scope)
                return narrow(self, self.value(inner, scope), types, holds, scope)
            case facts.Typed(annotation):
                return typed(self.project, annotation, scope)
            case facts.Definition(key):
                path = scope.function.path
                if key in self.project.files[path].classes:
                    return {ClassValue(ClassRef(path, key)): Tier.CERTAIN}
                return {FunctionValue(FunctionRef(path, key), scope.receiver): Tier.CERTAIN}
            case facts.Import():
                return self._imported(expr, scope.function.path)
        return EMPTY

    def _items(self, owners: Values, index: Expr, scope: Scope) -> Values:
        """`owner[index]`: the named items if the index is known to be one of some texts."""
        modules: Values = {owner: tier for owner, tier in owners.items() if isinstance(owner, File)}
        if modules:  # `models.__dict__[name]`
            return results.named(self, modules, index, scope)
        if External("sys.modules") in owners:
            return texts.imported(self, index, scope)
        if any(isinstance(owner, Group) and any(owner.keys) for owner in owners):
            left = by_key(owners, index)
            if left is not None:
                others = {owner: tier for owner, tier in owners.items() if not is_keyed(owner)}
                return union([left, self.item(others, None)])
            if found := by_text(self, owners, index, scope):
                return found
        return self.item(owners, None)

    def item(self, owners: Values, index: object) -> Values:
        """What is at one place in containers; anywhere in them for None."""
        parts: list[Values] = []
        for owner, tier in owners.items():
            match owner:
                case Group():
                    parts += [union([dict(item)], tier) for item in owner.at(index)]
                case Instance(ref):
                    own = iterables.item_of(self, ref, index)
                    parts.append(union([self.elements({owner: tier}) if own is None else own], tier))
                case File() if isinstance(index, str):  # `models.__dict__["name"]`
                    parts.append(union([self.attributes({owner: tier}, index)], tier))
                case ClassValue(ref) if enumerations.is_enumeration(self.project, ref):
                    parts.append({Instance(ref): tier})
                case ClassValue() | External():  # Base[T]
                    parts.append({owner: tier})
        return union(parts)

    def elements(self, values: Values) -> Values:
        """What iterating over the values yields; a class of the project may say so, or be of modules."""
        parts = [elements(values)]
        for value, tier in values.items():
            if isinstance(value, Instance):
                own = iterables.of_object(self, value.ref)
                if own is None and self.project.is_container(value.ref):
                    own = submodules.contents(self, value.ref)
                elif own is None:
                    own = containers.put_into(self, value.ref)
                parts.append(union([own or EMPTY], tier))
        return union(parts)

    def of_symbols(self, symbols: tuple[Symbol, ...]) -> Values:
        """Definitions and outside names as values."""
        found: dict[Value, Tier] = {}
        for symbol in symbols:
            match symbol:
                case ClassRef():
                    found[ClassValue(symbol)] = Tier.CERTAIN
                case FunctionRef():
                    found[FunctionValue(symbol)] = Tier.CERTAIN
                case File() | External():
                    found[symbol] = Tier.CERTAIN
        return found

    # --- names ------------------------------------------------------------------------------------------

    def _name(self, name: str, scope: Scope) -> Values:
        path, key = scope.function.path, scope.function.key
        file = self.project.files[path]
        while key != MODULE_KEY:
            direct = key == scope.function.key
            ref = scope.function if direct else FunctionRef(path, key)
            known = self.project.locals_of(ref).get(name)
            if known is not None:
                return self._local(name, known, scope if direct else Scope(ref, scope.receiver), direct)
            key = file.functions[key].outer or MODULE_KEY
        module = Scope(FunctionRef(path, MODULE_KEY))
        bound = self.project.global_bindings(path).get(name, [])
        if bound and is_settled(self.project, name, path):
            return self.of_symbols(self.project.symbols(facts.Name(name), path))
        if bound:
            return self.ask((path, name), lambda: self.assigned(name, bound, module), EMPTY)
        found = self.of_symbols(self.project.symbols(facts.Name(name), path))
        if found:
            return found
        stars = self.project.files[path].stars
        return union(self._imported(facts.Import(s.module, name, s.level), path) for s in stars)

    def _imported(self, target: facts.Import, path: str) -> Values:
        """An imported definition, or whatever the other file assigns to the name."""
        if target.name is not None:
            for source in self.project.imported_modules(target, path):
                if not isinstance(source, File) or source.path == path:
                    continue
                if self.project.global_bindings(source.path).get(target.name):
                    return attributes.of_value(self, source, target.name)
        return self.of_symbols(self.project.symbols(target, path))

    def _local(self, name: str, local: Local, scope: Scope, direct: bool) -> Values:
        given = scope.passed(name)
        if (
            local.parameter is not None
            and not local.bound
            and name not in self.project.items_of(scope.function)
        ):
            told = receiver(self.project, local.parameter, scope) if given is None else dict(given)
            if told or given is not None:
                return told  # nothing to remember
            if not depends_on_class(self.project, local.parameter, scope):
                scope = Scope(scope.function)  # whatever `self` is, the same calls pass the same

        def compute() -> Values:
            found = picked.assigned(self, name, local, scope)
            if found and any(gives_more(value, name) for value in local.bound):
                self._questions.grows((scope, name, direct))
            found = with_passed(self, found, name, local.parameter, scope, direct)
            return displays.of_itself(local.bound, name, found)

        return self.ask((scope, name, direct), compute, EMPTY)

    def assigned(self, name: str, bound: Sequence[Expr], scope: Scope) -> Values:
        """The union over all assignments; none if one of them disables what the others bind."""
        compiled: list[int] = []
        for value in bound:
            if isinstance(value, facts.Call) and value.arguments[:1] == (facts.Name(name),):
                callees = {c.dotted for c in self.value(value.function, scope) if isinstance(c, External)}
                if callees & results.DISABLERS:
                    return EMPTY
                if COMPILE in callees:
                    compiled.append(value.line)
        puts = self.project.items_of(scope.function).get(name, ())
        parts = [(key, self.value(value, scope)) for key, value in puts]
        if scope.function.key == MODULE_KEY:
            path = scope.function.path
            stores = self.project.filled_in(path).get(name, ())
            put = union((displays.put_by(self, at, v) for at, v in stores), Tier.LIKELY)
            parts.append((None, self.capped(put)))
            for at, key, value in filled_elsewhere(self.project, path, name):
                parts.append((key, self.capped(at_best(displays.put_by(self, at, value), Tier.LIKELY))))
        given = displays.set_by_functions(self, name, scope)
        found = union([*[self.value(value, scope) for value in bound], stored(parts), given])
        for line in compiled:  # `f = torch.compile(f)`, of what `f` is by its other assignments
            found = union([found, compiling.compiled(found, scope.function.path, line)])
        return found

    def attributes(self, owners: Values, name: str) -> Values:
        """What `owner.name` may hold, for any of the owners."""
        found = union([at_best(attributes.of_value(self, o, name), tier) for o, tier in owners.items()])
        if len(owners) > 1 and any(isinstance(owner, File) for owner in owners):
            choices.note(self.project, found)  # which of the modules is imported, only the run knows
        return found

    def holds_module(self, value: Value) -> bool:
        """Whether a value is a module of the project, or a container of some."""
        match value:
            case Instance(ref):
                return self.project.is_module(ref)
            case Group():
                if value not in self._holding:  # what a test leaves of a thousand outputs is asked for again
                    inner = (one for item in value.items for one, _ in item)
                    self._holding[value] = any(map(self.holds_module, inner))
                return self._holding[value]
        return False

    def capped(self, values: Values) -> Values:
        """The values, merely assumed where they are too many classes to be anything but a generic slot."""
        tiers: Values = {
            v: tier
            for v, tier in values.items()
            if isinstance(v, Instance | ClassValue) and tier < Tier.ASSUMED and self.project.is_module(v.ref)
        }
        if len(values) > _ANYTHING:
            values = tiers
        if len(tiers) <= FAN_OUT or self._is_choice(tiers):
            return values
        certain: Values = {v: tier for v, tier in tiers.items() if tier == Tier.CERTAIN}
        others: Values = {v: tier for v, tier in values.items() if v not in tiers}
        return union([certain if len(certain) <= FAN_OUT else EMPTY, self.guessed(values), others])

    def _is_choice(self, values: Values) -> bool:
        """Whether one place names all the classes, for a configuration to pick one."""
        refs = frozenset(value.ref for value in values if isinstance(value, Instance | ClassValue))
        return choices.named_together(self.project, refs, FAN_OUT)

    def guessed(self, values: Values) -> Values:
        """The values as a mere guess; nothing if guesses are not followed."""
        return at_best(values, Tier.ASSUMED) if self.guesses else EMPTY

    def given_to(self, parameter: facts.Parameter, function: FunctionRef) -> Iterator[tuple[Scope, Expr]]:
        """The expressions that calls pass for a parameter, each with where it stands."""
        called = self.project.function(function)
        for caller, site in flow.call_sites(self, function):
            if (given := flow.argument_for(parameter, called, site.call)) is not None:
                yield caller, given

    def returns(self, function: FunctionRef, receiver: ClassRef | None, given: Given = ()) -> Values:
        """What calling the function may give; `given` holds what this call passes."""
        scope = Scope(function, receiver, given)
        return self.ask(("returns", scope), lambda: self._returned(scope), EMPTY)

    def _returned(self, scope: Scope) -> Values:
        function = self.project.function(scope.function)
        found = union(picked.returned(self, scope))
        if found or function.annotation is None:
            return registries.without_builders(self, found)
        return typed(self.project, function.annotation, Scope(scope.function, scope.receiver))


Given = tuple[tuple[str, Held], ...]
