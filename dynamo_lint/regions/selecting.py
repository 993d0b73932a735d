"""Which modules of a loop a test chooses, by their names in the tree of modules or by their classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dynamo_lint.index import facts
from dynamo_lint.index.choosing import TEST
from dynamo_lint.index.facts import Attribute, Call, Constant, Display, Expr, Name
from dynamo_lint.index.walking import walk
from dynamo_lint.regions import paths
from dynamo_lint.regions.abstract import heirs
from dynamo_lint.regions.judging import Judge
from dynamo_lint.regions.model import ClassRef, Tier
from dynamo_lint.regions.values import EMPTY, Group, Instance, Scope, Value, Values, freeze, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_MOST_OWNERS = 80
"""More classes than this that say which of their modules are meant are not looked through."""

_Tree = dict[Value, list[tuple[str, ...]]]
"""Modules with all their names."""


def is_test(types: Expr) -> bool:
    """Whether a narrowing is by a test kept as its source."""
    return isinstance(types, Display) and types.kind == TEST


def chosen(ev: Evaluation, values: Values, test: Expr, holds: bool, scope: Scope) -> Values:
    """The values that a test leaves; of a module of which nothing is known, those that its classes name."""
    match test:
        case Display(
            _, (iterable, Constant(str() as text), Constant(str() as name), Constant(str() as module))
        ):
            names = _Choice(text, name, module, holds)
            left = values
            if any(isinstance(value, Instance | Group) for value in values):
                left = _left(ev, values, _named(ev, iterable, scope) if name else {}, names, scope)
            if not ev.hanging:
                return left
            plain, key = ev.aside(), ("declared", scope.function, test, holds)
            if key not in plain.project.memo:
                plain.project.memo[key] = _declared(plain, iterable, names, scope)
            return union([left, plain.project.memo[key]])  # type: ignore[list-item]
    return values


class _Choice:
    """A test, the variables that it sees a module under, and whether it holds."""

    def __init__(self, text: str, name: str, module: str, holds: bool) -> None:
        self.text = text
        self.test = ast.parse(text, mode="eval").body
        self.name = name
        self.module = module
        self.holds = holds

    def leaves(self, judge: Judge, value: Value, spelled: tuple[str, ...] | None) -> bool | None:
        """Whether a module under one of its names passes; None if that is open."""
        known: dict[str, Any] = {self.module: value}
        open_ = not spelled and bool(self.name)
        for path in spelled or ("",):
            if self.name and spelled:
                known[self.name] = path
            verdict = judge.verdict(self.test, known)
            if verdict is None:
                open_ = True
            elif verdict is self.holds and not open_:
                return True
        return None if open_ else False


def _left(
    ev: Evaluation, values: Values, named: _Tree, choice: _Choice, scope: Scope, *, sure: bool = False
) -> Values:
    judge = Judge(ev, scope)
    kept: dict[Value, Tier] = {}
    doubtful: dict[Value, Tier] = {}
    for value, tier in values.items():
        if not isinstance(value, Instance | Group):
            kept[value] = tier
            continue
        spelled = [paths.spelled(path) for path in named.get(value, ())] or [()]
        verdicts = {choice.leaves(judge, value, one) for one in spelled}
        if True in verdicts:
            kept[value] = tier
        elif None in verdicts:
            doubtful[value] = tier
    if sure or not doubtful:
        return kept
    # A test that says nothing of the only sort of module there is chooses some of it, whichever.
    alone = not kept and len({value for value in doubtful if isinstance(value, Instance)}) == 1
    return union([kept, doubtful if alone else ev.guessed(doubtful)])


def _named(ev: Evaluation, iterable: Expr, scope: Scope) -> _Tree:
    """The names under which a loop over named modules yields each of them."""
    found: _Tree = {}
    match iterable:
        case Call(Attribute(owner, method)):
            for value in ev.value(owner, scope):
                for one in _tree(ev, value, method):
                    found.setdefault(one.value, []).append(one.path)
    return found


def _tree(ev: Evaluation, value: Value, method: str) -> Iterator[paths.Named]:
    match value:
        case Instance(ref) if method == "named_modules":
            yield from paths.below(ev, ref)
        case Instance(ref):
            yield from paths.right_below(ev, ref)
        case Group():
            for one in paths.inside(value):
                yield one
                if method == "named_modules" and isinstance(one.value, Instance):
                    for inner in paths.below(ev, one.value.ref)[1:]:
                        yield paths.Named((*one.path, *inner.path), inner.value)


# --- modules that nothing is known of -------------------------------------------------------------------


def _declared(ev: Evaluation, iterable: Expr, choice: _Choice, scope: Scope) -> Values:
    """What the classes say that a test asks a module for: `model._compile_conditions` names modules below it.

    Any class that has such an attribute has it for the sake of this loop, or of one like it.
    """
    match iterable:
        case Call(Attribute(Name(name), method), ()):
            local = ev.project.locals_of(scope.function).get(name)
            if local is None or local.bound:  # nobody hands it in
                return EMPTY
        case _:
            return EMPTY
    found = []
    for ref in _owners(ev, name, choice, scope):
        given = Scope(scope.function, scope.receiver, ((name, freeze({Instance(ref): Tier.LIKELY})),))
        tree: _Tree = {}
        for one in _tree(ev, Instance(ref), method if choice.name else "named_modules"):
            tree.setdefault(one.value, []).append(one.path)
        modules: Values = dict.fromkeys(tree, Tier.LIKELY)
        found.append(_left(ev, modules, tree if choice.name else {}, choice, given, sure=True))
    return union(found)


def _owners(ev: Evaluation, name: str, choice: _Choice, scope: Scope) -> list[ClassRef]:
    """The modules whose classes have what a test asks of the module that a variable holds."""
    asked = sorted(_asked_of(ev, name, choice, scope))
    classes: dict[ClassRef, None] = {}
    for attribute in asked:
        owners = [ref for ref, _ in ev.project.named("bodies").get(attribute, ())]
        owners += [
            o for where, _ in ev.project.stores_of(attribute) if (o := ev.project.owner(where)) is not None
        ]
        for owner in owners:
            if ev.project.is_module(owner):
                classes.update(dict.fromkeys((owner, *heirs(ev.project, owner))))
    return list(classes) if len(classes) <= _MOST_OWNERS else []


def _asked_of(ev: Evaluation, name: str, choice: _Choice, scope: Scope) -> set[str]:
    """The attributes of a variable that a test reads, by itself or through names of its function."""
    function = ev.project.function(scope.function)
    bound = [binding.value for binding in function.bindings if binding.name in choice.text]
    loaded: list[Expr] = [load for load in function.loads if load.name in choice.text]
    found: set[str] = set()
    for value in (*bound, *loaded):
        for part in walk(value):
            match part:
                case Attribute(facts.Name(owner), attribute) if owner == name:
                    found.add(attribute)
                case Call(Name("getattr"), (Name(owner), Constant(str() as attribute), *_)) if owner == name:
                    found.add(attribute)
    return found - {"named_modules", "named_children", "modules", "children"}
