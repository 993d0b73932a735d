"""Which calls hand over something that may differ from call to call, by what the index keeps of a function.

It is asked of every call of a project, before anything is worked out about who is called, and errs on the
safe side: it is yes wherever `Varying` finds a change, a literal, or a kind that is not that of a default.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from dynamo_lint.index import facts
from dynamo_lint.index.facts import ITEM, Expr, Function
from dynamo_lint.regions.model import FunctionRef, HotFunction
from dynamo_lint.regions.project import Project
from dynamo_lint.state.varying import CASTS

Argument = tuple[bool, bool]
"""What is handed over may be a literal or change; it may be of a kind that can be told."""
Shape = tuple[tuple[Argument, ...], Argument | None, tuple[tuple[str, Argument], ...]]
"""What a call hands over by position, what follows with a star, and what it hands over by keyword."""
_COUNTERS = frozenset({"range", "enumerate"})


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a compiled function, as a call fills them."""

    positional: tuple[str, ...]
    starred: bool
    open: bool
    """It takes any keyword."""
    names: frozenset[str]
    needed: frozenset[str]
    """Those without a default."""
    defaults: frozenset[str]
    """Those with a literal default: a call that leaves them out hands that over."""

    @staticmethod
    def of(project: Project, hot: HotFunction) -> Signature:
        """Of a compiled function, without its instance."""
        function = project.function(hot.function)
        parameters = function.parameters
        bound = int(hot.receiver is not None and function.owner is not None)
        taken = [p for p in parameters[bound:] if p.kind in ("positional", "keyword")]
        return Signature(
            tuple(p.name for p in taken if p.kind == "positional"),
            any(p.kind == "vararg" for p in parameters),
            any(p.kind == "kwarg" for p in parameters),
            frozenset(p.name for p in parameters),
            frozenset(p.name for p in taken if p.default is None),
            frozenset(p.name for p in parameters if isinstance(p.default, facts.Constant)),
        )

    def fits(self, call: facts.Call) -> bool:
        """Whether a call can be one of the function: it fills what has no default, and nothing else."""
        words = {name for name, _ in call.keywords}
        if any(isinstance(argument, facts.Element) for argument in call.arguments) or None in words:
            return True
        filled = self.positional[: len(call.arguments)]
        return (
            (self.starred or len(filled) == len(call.arguments))
            and (self.open or words <= self.names)
            and self.needed <= words.union(filled)
        )

    def tells(self, shape: Shape) -> bool:
        """Whether a call of this shape may be one of those that make a parameter change."""
        by_position, starred, by_keyword = shape
        if starred is not None and self.starred and len(by_position) >= len(self.positional) and any(starred):
            return True
        filled = (*zip(self.positional, by_position, strict=False), *by_keyword)
        return any(
            name in self.names and (changes or (known and name in self.defaults))
            for name, (changes, known) in filled
        )


@dataclass(slots=True)
class _Names:
    """What a function and those inside it bind, and what follows for each name."""

    bound: dict[str, list[facts.Binding]] = field(default_factory=lambda: defaultdict(list))
    grown: set[str] = field(default_factory=set)
    """Names of containers that something is put into."""
    reads_out: bool = False
    """Something here is a number that nobody knows before, or counts up from call to call."""
    answers: dict[_Question, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))

    def any_bound(self, name: str, question: _Question) -> bool:
        """Whether the answer is yes for one of the values that a name is bound to."""
        answers = self.answers[question]
        if name not in answers:
            before = len(answers)
            answers[name] = False  # a name that is bound to itself ends here
            found = any(
                question(facts.UNKNOWN if binding.augmented else binding.value, self)
                for binding in self.bound.get(name, ())
            )
            if found:
                # What said no meanwhile may have done so because this name was not settled yet.
                for other in [*answers][before:]:
                    if not answers[other]:
                        del answers[other]
            answers[name] = found
        return answers[name]


_Question = Callable[[Expr, _Names], bool]


class Telling:
    """Answers for the calls of all functions."""

    def __init__(self, project: Project, signatures: Iterable[Signature]) -> None:
        self._project = project
        self._signatures = frozenset(signatures)
        self._shapes: dict[Shape, bool] = {}

    def calls(
        self, ref: FunctionRef, may_be_called: Callable[[Expr, str], bool]
    ) -> Iterator[tuple[int, Shape]]:
        """The calls in a function that may tell something, by their numbers."""
        function = self._project.function(ref)
        names: _Names | None = None
        for number, site in enumerate(function.calls):
            call = site.call
            if not (call.arguments or call.keywords) or not may_be_called(call.function, ref.path):
                continue
            if names is None:
                names = self._names(ref)
            shape = _shape(call, function, names)
            if shape not in self._shapes:
                self._shapes[shape] = any(one.tells(shape) for one in self._signatures)
            if self._shapes[shape]:
                yield number, shape

    def moving(self, ref: FunctionRef, call: facts.Call) -> Shape | None:
        """What a call in a function hands over; None where nothing can be another one each time."""
        function, names = self._project.function(ref), self._names(ref)
        return _shape(call, function, names) if _moves(call, function, names) else None

    def _names(self, ref: FunctionRef) -> _Names:
        names = _Names()
        todo = [self._project.function(ref)]
        while todo:
            function = todo.pop()
            inside = self._project.inside(FunctionRef(ref.path, function.key))
            todo += [self._project.function(FunctionRef(ref.path, key)) for key in inside]
            for binding in function.bindings:
                names.bound[binding.name].append(binding)
                names.reads_out |= binding.augmented and binding.name in function.globals
            for store in function.stores:
                if store.name == ITEM and isinstance(store.owner, facts.Name):
                    names.grown.add(store.owner.id)
            names.reads_out = names.reads_out or any(_reads_out(site.call) for site in function.calls)
        return names


def _reads_out(call: facts.Call) -> bool:
    """`int(x)`, `x.item()`."""
    match call.function:
        case facts.Name(name):
            return name in CASTS
        case facts.Attribute(_, name):
            return name == "item"
    return False


def _moves(call: facts.Call, function: Function, names: _Names) -> bool:
    return names.reads_out or any(first <= call.line <= last for first, last in function.loops)


def _shape(call: facts.Call, function: Function, names: _Names) -> Shape:
    moving = _moves(call, function, names)

    def of(expr: Expr) -> Argument:
        changes = _is_literal(expr, names) or (moving and _changes(expr, names))
        return changes, changes or _is_known(expr, names)

    by_position: list[Argument] = []
    starred = None
    for argument in call.arguments:
        if isinstance(argument, facts.Element):
            starred = of(argument.iterable)
            break
        by_position.append(of(argument))
    by_keyword = tuple((name, of(value)) for name, value in call.keywords if name is not None)
    return tuple(by_position), starred, by_keyword


def _changes(expr: Expr, names: _Names) -> bool:
    """Whether an expression may be another one each time, in a function where something is."""
    match expr:
        case facts.Narrowed(inner):
            return _changes(inner, names)
        case facts.Name(name):
            return name in names.grown or names.any_bound(name, _turns)
        case facts.Call(facts.Name(name), arguments):
            return name in CASTS or (name[:1].isupper() and any(_turns(one, names) for one in arguments))
        case facts.Call(facts.Attribute(_, name)):
            return name == "item"
        case facts.Subscript(_, index):
            return _turns(index, names)
        case facts.Choice(options):
            return any(_turns(one, names) or _is_known(one, names) for one in options)
        case facts.Display("each"):
            return False
        case facts.Display(_, items, keys):
            return None in keys or any(_turns(one, names) for one in items)
        case facts.Element(facts.Call(facts.Name(name))):
            return name in _COUNTERS
        case facts.Element(iterable):
            return isinstance(iterable, facts.Display | facts.Element | facts.Subscript)
    return isinstance(expr, facts.Unknown)


def _turns(expr: Expr, names: _Names) -> bool:
    """The same of a part of it; a name may be rebound to another literal."""
    match expr:
        case facts.Constant():
            return False
        case facts.Subscript(facts.Element() | facts.Subscript() as value, facts.Constant()):
            return _changes(value, names)  # a loop variable, one of several
    return _changes(expr, names) or _is_literal(expr, names)


def _is_literal(expr: Expr, names: _Names) -> bool:
    """Whether an expression may be a literal, or None."""
    match expr:
        case facts.Constant() | facts.Attribute(facts.Name("torch")):
            return True
        case facts.Narrowed(inner):
            return _is_literal(inner, names)
        case facts.Choice(options):
            return any(_is_literal(one, names) for one in options)
        case facts.Name(name):
            return names.any_bound(name, _is_literal)
    return False


def _is_known(expr: Expr, names: _Names) -> bool:
    """Whether the kind of an expression may be known."""
    match expr:
        case facts.Attribute(owner):
            return owner == facts.Name("torch")
        case facts.Narrowed(inner):
            return _is_known(inner, names)
        case facts.Choice(options):
            return any(_is_known(one, names) for one in options)
        case facts.Name(name):
            return names.any_bound(name, _is_known)
        case facts.Call(facts.Name(name)):
            return name in CASTS or name[:1].isupper()
        case facts.Call(facts.Attribute(owner, name)):
            return name == "item" or owner == facts.Name("torch")
        case facts.Call() | facts.Subscript():
            return False
    return True
