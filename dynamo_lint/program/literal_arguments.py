"""Literal or changing arguments of a call, as far as its own function shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index import ir
from dynamo_lint.index.ir import ITEM, MODULE_KEY, CallSite, Expr, FileFacts, Function
from dynamo_lint.index.lower import terminal_name

Argument = tuple[bool, bool]
"""Whether an argument may be a literal or change, and whether its kind can be known."""
Shape = tuple[tuple[Argument, ...], Argument | None, tuple[tuple[str, Argument], ...]]
"""The arguments of a call by position, those that follow with a star, and those by keyword."""
CASTS = {"int": "int", "len": "int", "round": "int", "float": "float", "str": "str", "bool": "bool"}
"""Builtins that give a number or a text of whatever they are given, and of which kind."""
_COUNTERS = frozenset({"range", "enumerate"})


def loggers(file: FileFacts, own: Mapping[str, bool]) -> set[str]:
    """The names that mean a logger all over a file: it runs no code of anybody else."""
    made: dict[str, bool] = {}
    for binding in file.functions[MODULE_KEY].bindings if MODULE_KEY in file.functions else ():
        is_made = isinstance(binding.value, ir.Call) and terminal_name(binding.value) == "getLogger"
        made[binding.name] = made.get(binding.name, True) and is_made
    return {name for name, always in made.items() if always and name not in own}


class PassedArguments(NamedTuple):
    """One call in a function."""

    site: CallSite
    moves: bool
    """Something is another one there from time to time."""
    shape: Shape


class FileCalls(Mapping[str, tuple[PassedArguments, ...]]):
    """The calls in the functions of a file, by function and by what they call; see `question`."""

    def __init__(self, file: FileFacts, own: Mapping[str, bool], inside: Mapping[str, list[str]]) -> None:
        self._file = file
        self._own = own
        self._inside = inside
        self._loggers = loggers(file, own)
        self._last: tuple[str, _Names] = ("", _Names())

    def question(self, key: str, callee: Expr) -> str:
        """Under what a call in a function stands: names that the file has for itself may mean anything."""
        match callee:
            case ir.Attribute(_, name):
                return f"{key} .{name}"
            case ir.Name(name) if name not in self._own:
                return f"{key} {name}"
        return f"{key} "

    def sites(self, key: str) -> Iterator[CallSite]:
        """The calls in a function, but for those that write to a log."""
        for site in self._file.functions[key].calls:
            match site.call.function:
                case ir.Attribute(ir.Name(name)) if name in self._loggers:
                    continue
            yield site

    def arguments_of(self, key: str, site: CallSite) -> PassedArguments:
        """Return the arguments that one call in a function passes."""
        function = self._file.functions[key]
        if self._last[0] != key:
            self._last = (key, self._names(key))
        names = self._last[1]
        return PassedArguments(site, _moves(site.call, function, names), _shape(site.call, function, names))

    def __getitem__(self, question: str) -> tuple[PassedArguments, ...]:
        key = question.rpartition(" ")[0]
        return tuple(
            self.arguments_of(key, site)
            for site in self.sites(key)
            if self.question(key, site.call.function) == question
        )

    def __iter__(self) -> Iterator[str]:
        for key in self._file.functions:
            yield from dict.fromkeys(self.question(key, site.call.function) for site in self.sites(key))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _names(self, key: str) -> _Names:
        names = _Names()
        todo = [key]
        while todo:
            part = todo.pop()
            todo += self._inside.get(part, ())
            function = self._file.functions[part]
            for binding in function.bindings:
                names.bound[binding.name].append(binding)
                names.reads_out |= binding.augmented and binding.name in function.globals
            for store in function.stores:
                if store.name == ITEM and isinstance(store.owner, ir.Name):
                    names.grown.add(store.owner.id)
            names.reads_out = names.reads_out or any(_reads_out(site.call) for site in function.calls)
        return names


@dataclass(slots=True)
class _Names:
    """The bindings of a function and those inside it, and what follows for each name."""

    bound: dict[str, list[ir.Binding]] = field(default_factory=lambda: defaultdict(list))
    grown: set[str] = field(default_factory=set)
    """Names of containers that something is put into."""
    reads_out: bool = False
    """Something here is a number that is not known beforehand, or counts up from call to call."""
    answers: dict[_Question, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))

    def any_bound(self, name: str, question: _Question) -> bool:
        """Whether the answer is yes for one of the values that a name is bound to."""
        answers = self.answers[question]
        if name not in answers:
            before = len(answers)
            answers[name] = False  # a name that is bound to itself ends here
            found = any(
                question(ir.UNKNOWN if binding.augmented else binding.value, self)
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


def _reads_out(call: ir.Call) -> bool:
    """`int(x)`, `x.item()`."""
    match call.function:
        case ir.Name(name):
            return name in CASTS
        case ir.Attribute(_, name):
            return name == "item"
    return False


def _moves(call: ir.Call, function: Function, names: _Names) -> bool:
    return names.reads_out or any(first <= call.line <= last for first, last in function.loops)


def _shape(call: ir.Call, function: Function, names: _Names) -> Shape:
    moving = _moves(call, function, names)

    def of(expr: Expr) -> Argument:
        changes = _is_literal(expr, names) or (moving and _changes(expr, names))
        return changes, changes or _is_known(expr, names)

    by_position: list[Argument] = []
    starred = None
    for argument in call.arguments:
        if isinstance(argument, ir.Element):
            starred = of(argument.iterable)
            break
        by_position.append(of(argument))
    by_keyword = tuple((name, of(value)) for name, value in call.keywords if name is not None)
    return tuple(by_position), starred, by_keyword


def _changes(expr: Expr, names: _Names) -> bool:
    """Whether an expression may be another one each time, in a function where something is."""
    match expr:
        case ir.Narrowed(inner):
            return _changes(inner, names)
        case ir.Name(name):
            return name in names.grown or names.any_bound(name, _turns)
        case ir.Call(ir.Name(name), arguments):
            return name in CASTS or (name[:1].isupper() and any(_turns(one, names) for one in arguments))
        case ir.Call(ir.Attribute(owner, name)):
            return name == "item" or isinstance(owner, ir.Constant)  # a text with a hole in it
        case ir.Subscript(_, index):
            return _turns(index, names)
        case ir.Choice(options):
            return any(_turns(one, names) or _is_known(one, names) for one in options)
        case ir.Display("each"):
            return False
        case ir.Display(_, items, keys):
            return None in keys or any(_turns(one, names) for one in items)
        case ir.Element(ir.Call(ir.Name(name))):
            return name in _COUNTERS
        case ir.Element(iterable):
            return isinstance(iterable, ir.Display | ir.Element | ir.Subscript)
    return isinstance(expr, ir.UnknownExpression)


def _turns(expr: Expr, names: _Names) -> bool:
    """The same of a part of it; a name may be rebound to another literal."""
    match expr:
        case ir.Constant():
            return False
        case ir.Subscript(ir.Element() | ir.Subscript() as value, ir.Constant()):
            return _changes(value, names)  # a loop variable, one of several
    return _changes(expr, names) or _is_literal(expr, names)


def _is_literal(expr: Expr, names: _Names) -> bool:
    """Whether an expression may be a literal, or None."""
    match expr:
        case ir.Constant() | ir.Attribute(ir.Name("torch")):
            return True
        case ir.Narrowed(inner):
            return _is_literal(inner, names)
        case ir.Choice(options):
            return any(_is_literal(one, names) for one in options)
        case ir.Name(name):
            return names.any_bound(name, _is_literal)
    return False


def _is_known(expr: Expr, names: _Names) -> bool:
    """Whether the kind of an expression may be known."""
    match expr:
        case ir.Attribute(owner):
            return owner == ir.Name("torch")
        case ir.Narrowed(inner):
            return _is_known(inner, names)
        case ir.Choice(options):
            return any(_is_known(one, names) for one in options)
        case ir.Name(name):
            return names.any_bound(name, _is_known)
        case ir.Call(ir.Name(name)):
            return name in CASTS or name[:1].isupper()
        case ir.Call(ir.Attribute(owner, name)):
            return name == "item" or isinstance(owner, ir.Constant) or owner == ir.Name("torch")
        case ir.Call() | ir.Subscript():
            return False
    return True
