"""Condition atoms: what a test says of names where it holds, and where it does not."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dynamo_lint import knowledge
from dynamo_lint.index.ir import (
    UNKNOWN,
    Attribute,
    Binding,
    Call,
    Choice,
    Constant,
    Display,
    Element,
    Expr,
    Name,
    Narrowed,
    Parameter,
    Subscript,
)
from dynamo_lint.index.walking import nodes, untested


def conjuncts(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """Each test of a whole one, and whether it holds, where that tells: as `a and not b` does if it holds."""
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            yield from conjuncts(inner, not holds)
        case ast.BoolOp(operator, parts) if isinstance(operator, ast.And) is holds:
            for part in parts:
                yield from conjuncts(part, holds)
        case _:
            yield test, holds


HAVING = "having"
"""The kind of a `Display` that lists attributes, any of which a value is shown to have, instead of types."""


def tests_attributes(types: Expr) -> bool:
    """Whether a fact is about what attributes a value has."""
    return isinstance(types, Display) and types.kind == HAVING


def attributes_in(types: Expr) -> list[str]:
    """The attributes that a fact is about."""
    items = types.items if isinstance(types, Display) else ()
    return [item.value for item in items if isinstance(item, Constant) and isinstance(item.value, str)]


def compiled_where(call: Call, known: Iterable[Narrowed | None]) -> Call:
    """A call that may compile something, of what the tests around it leave of what it compiles.

    Elsewhere such a test says no more than the use of the attribute itself, which stands behind most.
    """
    shown = (fact for fact in known if fact is not None and fact.value != Name("self"))
    tests = [f for f in shown if tests_attributes(f.types) or isinstance(f.value, Attribute)]
    if not tests:
        return call
    function = _left(call.function, tests)
    return Call(function, tuple(_left(part, tests) for part in call.arguments), call.keywords, call.line)


def _left(value: Expr, tests: list[Narrowed]) -> Expr:
    if isinstance(value, Attribute):
        value = Attribute(_left(value.value, tests), value.name)
    return left_by(value, tests)


def left_by(value: Expr, tests: list[Narrowed]) -> Expr:
    """A value as far as those of some tests that are about itself leave it."""
    inner = untested(value)
    left: Expr = value
    for fact in tests:
        if fact.value == inner:
            left = Narrowed(left, fact.types, fact.holds)
    return left


def set_either_way(node: ast.AST) -> tuple[str, ...]:
    """The attributes that an `__init__` sets in every branch of some `if`: lines do not tell that."""
    match node:
        case ast.FunctionDef(name="__init__", args=ast.arguments(args=[ast.arg(arg=own), *_]), body=body):
            branching = (statement for statement in body if isinstance(statement, ast.If))
            return tuple(sorted({name for statement in branching for name in _set_in(statement, own) or ()}))
    return ()


def _set_in(statement: ast.stmt, own: str) -> set[str] | None:
    """The attributes that a statement sets on every way through it; None if there is no way through."""
    match statement:
        case ast.Raise():
            return None
        case ast.If(body=body, orelse=orelse):
            ways = [names for names in (_set_by(body, own), _set_by(orelse, own)) if names is not None]
            return set.intersection(*ways) if ways else None
        case ast.Assign(targets=targets):
            return {t.attr for t in targets if isinstance(t, ast.Attribute) and is_name(t.value, own)}
        case ast.AnnAssign(ast.Attribute(owner, name), value=ast.expr()) if is_name(owner, own):
            return {name}
    return set()


def _set_by(body: list[ast.stmt], own: str) -> set[str] | None:
    found: set[str] = set()
    for statement in body:
        names = _set_in(statement, own)
        if names is None:
            return None
        found |= names
    return found


def is_name(node: ast.AST, name: str) -> bool:
    """Whether an expression is this very name."""
    return isinstance(node, ast.Name) and node.id == name


class TestFacts(NamedTuple):
    """The facts about names that a test states where it holds, or where it does not."""

    filled: tuple[str, ...]
    """Names that it shows not to be None."""
    on: tuple[str, ...]
    """These, and those that it tests for themselves."""
    empty: tuple[str, ...]
    """Names that it shows to be None."""
    judged: tuple[str, ...]
    """Names whose type it asks for, whatever the answer."""
    in_doubt: bool
    """It needs an attribute on that an object may not even have: `getattr(self, "fused", False)`."""


def facts_of_test(test: ast.expr, holds: bool) -> TestFacts:
    """The facts about names that a test states where it holds, or where it does not."""
    filled: list[str] = []
    on: list[str] = []
    empty: list[str] = []
    in_doubt = False
    for one, held in conjuncts(test, holds):
        match one:
            case ast.Compare(ast.Name(name), [ast.Is() | ast.IsNot() as operator], [ast.Constant(None)]):
                if held is isinstance(operator, ast.Is):
                    empty.append(name)
                else:
                    filled.append(name)
                    on.append(name)
            case ast.Name(name) if held:
                on.append(name)
            case ast.Call(ast.Name("getattr"), [_, _, ast.Constant(literal)]) if held and not literal:
                in_doubt = True
    return TestFacts(tuple(filled), tuple(on), tuple(empty), tuple(_judged(test)), in_doubt)


def _judged(test: ast.expr) -> Iterator[str]:
    """The names whose type a test asks for: `isinstance(x, list)`."""
    match test:
        case ast.Call(ast.Name("isinstance"), [ast.Name(name), _]):
            yield name
        case ast.UnaryOp(ast.Not(), inner):
            yield from _judged(inner)
        case ast.BoolOp(_, parts):
            for part in parts:
                yield from _judged(part)


# torch.compiler's own, and what projects call their own way to ask it: `is_torchdynamo_compiling`.
_TRUE_WHEN_COMPILING = re.compile(r"_*is_(\w+_)?compiling")
_FALSE_WHEN_COMPILING = knowledge.names("false_when_compiling")
_TELLING = frozenset({ast.Call, ast.Name, ast.Attribute, ast.Constant, ast.UnaryOp, ast.BoolOp})
"""The tests that may say anything, so that most are told by one look."""


def truth_when_compiling(test: ast.expr, aliases: Mapping[str, bool]) -> bool | None:
    """The value of `test` while compiling, or None if it depends on anything else.

    `aliases` maps local names to the value of the test they were assigned.
    """
    if test.__class__ not in _TELLING:
        return None
    match test:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            if name.endswith("compiling") and _TRUE_WHEN_COMPILING.fullmatch(name):
                return True
            return False if name in _FALSE_WHEN_COMPILING else None
        case ast.Constant(value=value):
            return bool(value)
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
        case ast.Name(id=name):
            return aliases.get(name)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth_when_compiling(operand, aliases)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values):
            settling = isinstance(op, ast.Or)
            known = [truth_when_compiling(value, aliases) for value in values]
            if settling in known:
                return settling
            return None if None in known else not settling
    return None


def exits(body: list[ast.stmt]) -> bool:
    """Whether control never runs past the end of the block."""
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def last_line(body: Sequence[ast.stmt]) -> int:
    """The line that a block ends on."""
    return (body[-1].end_lineno or body[-1].lineno) if body else 0


def condition_of(tests: list[tuple[ast.expr, bool]], call: ast.Call) -> str | None:
    """Source of what decides whether a call compiles: the innermost `if` test and a `disable=` argument."""
    innermost = [test if holds else ast.UnaryOp(ast.Not(), test) for test, holds in tests[-1:]]
    switches = [
        f"disable={ast.unparse(keyword.value)}"
        for keyword in call.keywords
        if keyword.arg == "disable" and not isinstance(keyword.value, ast.Constant)
    ]
    return ", ".join([*map(ast.unparse, innermost), *switches]) or None


FLAG = "flag"
"""The kind of a `Display` of an attribute that a value is shown to have on, instead of types."""
FLAGGED = frozenset({ast.Attribute, ast.Call, ast.Compare, ast.UnaryOp, ast.BoolOp})
"""The tests that may be of an attribute."""
SWITCHED = frozenset({ast.Name, ast.UnaryOp, ast.BoolOp})
"""The tests that may be of a parameter for itself."""
GIVEN = frozenset({ast.Name, ast.Compare, ast.UnaryOp, ast.BoolOp})
"""The tests that may be of a parameter that is None where no call gives it."""
_NO_FLAGS: Mapping[str, ast.expr] = {}
Flag = tuple[int, int, str, bool]
"""Lines that run only if an attribute of `self` is on, or off."""
Lines = tuple[int, int, str]
"""Lines that run only if an attribute of `self` is not None."""


def tests_flag(types: Expr) -> bool:
    """Whether a fact is about an attribute that is on or off."""
    return isinstance(types, Display) and types.kind == FLAG


def compiles(body: Sequence[ast.stmt]) -> bool:
    """Whether statements call something whose name says that it compiles."""
    for node in (node for one in body for node in nodes(one)):
        match node:
            case ast.Call(ast.Name(name) | ast.Attribute(_, name)) if "compile" in name:
                return True
    return False


COMPARED = frozenset({ast.Compare, ast.BoolOp})
"""The tests that may compare two values."""
_ORDERS = frozenset({ast.Gt, ast.GtE, ast.Lt, ast.LtE})


def exceeds(test: ast.expr) -> bool:
    """Whether a test, or one of several, asks for one value to exceed another, neither of them a literal."""
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    return any(
        isinstance(part, ast.Compare)
        and part.ops[0].__class__ in _ORDERS
        and not any(isinstance(side, ast.Constant) for side in (part.left, *part.comparators))
        for part in parts
    )


def amount_tested(test: ast.expr) -> tuple[str | None, bool]:
    """The name that a test asks to be more than nothing, `p` or `p > 0`, and whether it holds if it is."""
    match list(conjuncts(test, True)):
        case [(ast.Name(name) | ast.Compare(ast.Name(name), [ast.Gt()], [ast.Constant(0)]), on)]:
            return name, on
    return None, True


def compiled_if(
    call: Call,
    tests: Iterable[tuple[ast.expr, bool]],
    bindings: list[Binding],
    answers: Mapping[str, ast.expr],
) -> Call:
    """A call that may compile something, of what tests of its own attributes around it leave of that.

    `answers` are names that hold what was asked of an attribute: `blocks = getattr(model, "blocks", None)`.
    """
    facts = [
        fact
        for test, holds in tests
        for fact in flags(test, holds, answers)
        if not any(Name(one.name) == _root(fact) and one.line > test.lineno for one in bindings)
    ]
    if not facts:
        return call
    function = call.function
    if isinstance(function, Attribute):
        function = Attribute(left_by(function.value, facts), function.name)
    arguments = tuple(left_by(argument, facts) for argument in call.arguments)
    return Call(function, arguments, call.keywords, call.line)


def _root(fact: Narrowed) -> Expr:
    return fact.value.value if isinstance(fact.value, Attribute) else fact.value


def is_switch(parameter: Parameter) -> bool:
    """Whether a parameter is on or off, as its default or its annotation says."""
    default = parameter.default.value if isinstance(parameter.default, Constant) else None
    return isinstance(default, bool) or parameter.annotation == Name("bool")


def switched(test: ast.expr, holds: bool) -> Iterator[tuple[str, bool]]:
    """The names that are on or off themselves where a test holds, or where it does not."""
    return ((one.id, on) for one, on in conjuncts(test, holds) if isinstance(one, ast.Name))


def may_be_off(value: Expr) -> bool:
    """Whether a value may be nothing by its own words: `None`, `m if on else None`, `getattr(m, "n", 0)`."""
    match value:
        case Constant(literal):
            return not literal
        case Choice(options):
            return any(map(may_be_off, options))
        case Call(Name("getattr"), (_, _, Constant(literal))):
            return not literal
    return False


def ranges(test: ast.expr, first: int, last: int, own: str, holds: bool) -> Iterator[Flag]:
    """The lines of a branch with what its test shows of the attributes of `self`."""
    for fact in flags(test, holds):
        match fact.value, fact.types:
            case Name(name), Display(_, (Constant(str() as attribute), *_)) if name == own:
                yield first, last, attribute, fact.holds


def filled_in(test: ast.expr, first: int, last: int, own: str, holds: bool) -> Iterator[Lines]:
    """The lines of a branch that need an attribute of `self` not to be None."""
    for one, on in conjuncts(test, holds):
        match one:
            case ast.Compare(ast.Attribute(ast.Name(name), attribute), [operator], [ast.Constant(None)]):
                if name == own and isinstance(operator, ast.IsNot if on else ast.Is):
                    yield first, last, attribute


def texts_in(
    test: ast.expr, first: int, last: int, own: str, holds: bool
) -> Iterator[tuple[int, int, str, tuple[str, ...]]]:
    """The lines of a branch that need an attribute of `self` to be one of some texts, or to hold one."""
    for one, on in conjuncts(test, holds):
        match one:
            case ast.Compare(ast.Attribute(ast.Name(name), attribute), [ast.Eq() | ast.In()], [wanted]):
                parts = [wanted] if isinstance(wanted, ast.Constant) else getattr(wanted, "elts", [])
                texts = [part.value for part in parts if isinstance(part, ast.Constant)]
                known = tuple(text for text in texts if isinstance(text, str))
                if on and name == own and len(known) == len(parts) > 0:
                    yield first, last, attribute, known
            case ast.Compare(ast.Constant(str() as text), [ast.In()], [ast.Attribute(owner, attribute)]):
                if on and is_name(owner, own):
                    yield first, last, attribute, (f"*{text}*",)


def _named(owner: ast.expr) -> Iterator[Expr]:
    """The object that is asked, as the facts have it: a name, or an attribute of one."""
    match owner:
        case ast.Name(id=name):
            yield Name(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            yield Attribute(Name(name), attribute)


def flags(test: ast.expr, holds: bool, answers: Mapping[str, ast.expr] = _NO_FLAGS) -> Iterator[Narrowed]:
    """The attributes of names that are on or off where a test holds, or where it does not."""
    for one, on in conjuncts(test, holds):
        match one:
            case ast.Name(id=name) if name in answers:
                yield from flags(answers[name], on)
            case ast.Compare(
                left=asked, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(None)]
            ):
                if on is isinstance(op, ast.Is):  # what is not None may be off all the same
                    yield from flags(asked, False, answers)
            case ast.Compare(left=ast.Attribute() as asked, ops=[ast.Gt()], comparators=[ast.Constant(0)]):
                yield from flags(asked, on, answers)  # a rate, or a number of something: never negative
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                yield Narrowed(Name(name), Display(FLAG, (Constant(attribute),)), on)
            case ast.Call(
                func=ast.Name(id="getattr"),
                args=[owner, ast.Constant(value=str() as attribute), ast.Constant(value=default)],
            ):
                known = (Constant(attribute), Constant(bool(default)))
                yield from (Narrowed(asked, Display(FLAG, known), on) for asked in _named(owner))


TELLING = frozenset({ast.Call, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Name})
"""The tests that may say anything."""
_NONE: Mapping[str, ast.expr] = {}
TEXT = "text"
"""The kind of a `Display` that lists the texts that a name may be, instead of types of its value."""


def narrowings(
    test: ast.expr,
    read_type: Callable[[ast.expr], Expr | None],
    holds: bool = True,
    answers: Mapping[str, ast.expr] = _NONE,
) -> Iterator[Narrowed]:
    """The names whose type or text is known where `test` is true, or where it is not if `holds` is false.

    `read_type` translates the types themselves; `answers` are names that hold the answer of a test.
    """
    for one, on in conjuncts(test, holds):
        yield from _narrowings(one, read_type, on, answers)


def _narrowings(
    test: ast.expr, read_type: Callable[[ast.expr], Expr | None], holds: bool, answers: Mapping[str, ast.expr]
) -> Iterator[Narrowed]:
    match test:
        case ast.Name(id=name) if name in answers:
            yield from narrowings(answers[name], read_type, holds)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), types]):
            yield Narrowed(Name(name), read_type(types) or UNKNOWN, holds)
        case ast.Call(
            func=ast.Name(id="isinstance"), args=[ast.Attribute(value=ast.Name(id=name), attr=attr), types]
        ):
            yield Narrowed(Attribute(Name(name), attr), read_type(types) or UNKNOWN, holds)
        case ast.Call(
            func=ast.Name(id="hasattr"), args=[ast.Name(id=name), ast.Constant(value=str() as text)]
        ):
            yield Narrowed(Name(name), Display(HAVING, (Constant(text),)), holds)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)]),
            ops=[ast.Is() | ast.Eq()],
            comparators=[types],
        ) if holds:
            yield Narrowed(Name(name), read_type(types) or UNKNOWN)
        case ast.Compare(left=ast.Attribute(value=of, attr="__name__" | "__qualname__")):
            yield from _by_class_name(test, _whose_class(of), holds)
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn() as op]):
            texts = _classes_listed(test.comparators[0])
            if texts:
                same = isinstance(op, ast.Eq | ast.In)
                yield Narrowed(Name(name), Display(TEXT, texts), same is holds)
        case ast.BoolOp(op=ast.Or(), values=values):
            found = [fact for value in values for fact in narrowings(value, read_type, True, answers)]
            same = len({(fact.value, tests_attributes(fact.types)) for fact in found}) == 1
            if same and all(fact.holds for fact in found) and len(found) == len(values):
                yield Narrowed(found[0].value, _any_of([fact.types for fact in found]))


def matched_strings(test: ast.expr) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names that are one of some texts where a test is true, and these."""
    for fact in narrowings(test, lambda _: None):
        match fact:
            case Narrowed(Name(name), Display("text", texts), True):
                yield name, tuple(str(text.value) for text in texts if isinstance(text, Constant))


def matched_members(test: ast.expr) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names that are one of some members of enumerations where a test is true, and these."""
    match test:
        case ast.BoolOp(ast.And(), parts):
            for part in parts:
                yield from matched_members(part)
        case ast.Compare(ast.Name(name), [ast.Eq() | ast.Is()], [ast.Attribute() as member]):
            if text := member_text(member):
                yield name, (text,)
        case ast.Compare(ast.Name(name), [ast.In()], [ast.Tuple() | ast.List() | ast.Set() as several]):
            texts = [text for member in several.elts if (text := member_text(member))]
            if len(texts) == len(several.elts):
                yield name, tuple(texts)


def member_text(member: ast.expr) -> str | None:
    """`Mode.FAST`, if an expression may be a member of an enumeration that is called so."""
    match member:
        case ast.Attribute(ast.Name(owner) | ast.Attribute(attr=owner), name) if owner[:1].isupper():
            return f"{owner}.{name}"
    return None


def _any_of(options: list[Expr]) -> Expr:
    if not tests_attributes(options[0]):
        return Choice(tuple(options))
    return Display(HAVING, tuple(Constant(name) for option in options for name in attributes_in(option)))


def tested(test: ast.expr) -> str | None:
    """The name that an `isinstance`, `hasattr` or `getattr` is about, or several joined by `or` or `and`."""
    match test:
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr"), args=[ast.Name(id=name), _]):
            return name
        case ast.Call(
            func=ast.Name(id="getattr"),
            args=[ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name)), _, ast.Constant()],
        ):
            return name
        case ast.BoolOp(values=values):
            names = {tested(value) for value in values}
            return names.pop() if len(names) == 1 else None
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return tested(inner)
    return None


def note_keys(keys: dict[str, tuple[Expr, str]], target: ast.expr, value: Expr) -> None:
    """The names of loop variables that may be keys, with the variable that holds the value beside them."""
    match target, value:
        case ast.Name(id=key), _:
            keys[key] = value, ""
        case (
            ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=beside)]),
            Element(Call(Attribute(container, "items" | "named_children"))),
        ):
            keys[key] = container, beside


def leading_facts(found: Iterator[Narrowed], keys: dict[str, tuple[Expr, str]]) -> Iterator[Narrowed]:
    """The facts that lead somewhere: of texts those of keys, and what they tell of the value beside a key."""
    for fact in found:
        of = keys.get(fact.value.id) if isinstance(fact.value, Name) else None
        if not compares_strings(fact.types):
            yield fact
        elif of is not None:
            yield fact
            container, beside = of
            if beside:
                yield Narrowed(Name(beside), Subscript(container, fact.types), fact.holds)


def compares_strings(types: Expr) -> bool:
    """Whether a fact is about what a text says."""
    options = types.options if isinstance(types, Choice) else (types,)
    return all(isinstance(option, Display) and option.kind == TEXT for option in options)


def _by_class_name(test: ast.Compare, name: str | None, holds: bool) -> Iterator[Narrowed]:
    """The narrowing by `type(x).__name__ == "Block"`, also with `in` and a literal list, or negated."""
    texts = _classes_listed(test.comparators[0]) if len(test.ops) == 1 else ()
    if name is None or not texts or not isinstance(test.ops[0], ast.Eq | ast.In | ast.NotEq | ast.NotIn):
        return
    same = isinstance(test.ops[0], ast.Eq | ast.In)
    yield Narrowed(Name(name), Display("tuple", texts), same is holds)


def _whose_class(node: ast.expr) -> str | None:
    """`x` for `type(x)` and `x.__class__`."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)]):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr="__class__"):
            return name
    return None


def _classes_listed(node: ast.expr) -> tuple[Expr, ...]:
    """The names of classes that a literal lists; none if anything else is in it."""
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    texts = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return tuple(Constant(text) for text in texts) if len(texts) == len(items) else ()


TEST = "test"
"""The kind of a `Display` of what is looped over, the test, and the variables of the name and the module."""
_NAMED = frozenset({"named_modules", "named_children", "items"})
_PASSING = frozenset({"list", "tuple", "reversed", "sorted", "tqdm", "dict"})
_LOOKING = frozenset({"isinstance", "hasattr", "getattr", "callable", "id", "len", "print"})
"""Builtins that look at something else of a module than what it is called or of which class it is."""
_TRUTHS = frozenset(
    {"any", "all", "bool", "isinstance", "startswith", "endswith", "isdigit", "match", "search"}
)
_LONGEST = 8
"""A function with more statements than this does more than judge."""
Loops = dict[str, tuple[Expr, str]]
"""Variables of loops over modules: what is looped over, and the variable that has the name beside it."""


def note_loop(loops: Loops, target: ast.expr, iterable: Expr) -> None:
    """A loop that may yield modules, alone or with their names."""
    match target, iterable:
        case ast.Name(id=module), _:
            loops[module] = iterable, ""
        case ast.Tuple(elts=[_, inner]), Call(Name("enumerate"), (pairs, *_)):
            note_loop(loops, inner, pairs)
        case ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=module)]), _:
            while isinstance(iterable, Call) and isinstance(iterable.function, Name) and iterable.arguments:
                if iterable.function.id not in _PASSING:
                    return
                iterable = iterable.arguments[0]
            match iterable:
                case Call(Attribute(_, method)) if method in _NAMED:
                    loops[module] = iterable, name


def loop_selections(test: ast.expr, loops: Loops, holds: bool) -> Iterator[Narrowed]:
    """Narrowing by a test: of the modules of the enclosing loops, those that it leaves."""
    used = {node.id for node in nodes(test) if isinstance(node, ast.Name)}
    for module, (iterable, name) in loops.items():
        if (name and name in used) or (module in used and _judges(test, module)):
            parts = (iterable, Constant(ast.unparse(test)), Constant(name), Constant(module))
            yield Narrowed(Name(module), Display(TEST, parts), holds)


def _judges(test: ast.expr, module: str) -> bool:
    """Whether a test asks for the class of a module by its name, or hands the module to a function."""
    for node in nodes(test):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="__class__") if name == module:
                return True
            case ast.Call(func=callee, args=arguments) if any(
                is_name(argument, module) for argument in arguments
            ):
                if not (isinstance(callee, ast.Name) and callee.id in _LOOKING):
                    return True
    return False


_JUDGING = (ast.Assign, ast.If, ast.For, ast.Return)
"""The statements of a function that only tells something."""


def judgement(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str | None:
    """The source of a function that only tells something of a name or a module, or which names are meant.

    None for any other.
    """
    positional = node.args.posonlyargs + node.args.args
    if not 1 <= len(positional) <= 3 or isinstance(node, ast.AsyncFunctionDef):
        return None
    if isinstance(node, ast.Lambda):
        return ast.unparse(node) if _is_truth(node.body) else None
    body = [
        one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    if not body or len(body) > _LONGEST or not isinstance(body[-1], ast.Return):
        return None
    plain = all(isinstance(one, _JUDGING) for one in body)
    returned = body[-1].value
    if not plain or returned is None or not (_is_truth(returned) or _is_selection(returned)):
        return None
    if not any(_tells(part) for one in body for part in nodes(one)):
        return None
    return "\n".join([f"def judge({ast.unparse(node.args)}):", *(_indented(one) for one in body)])


def _indented(statement: ast.stmt) -> str:
    return "\n".join(f"    {line}" for line in ast.unparse(statement).splitlines())


def _is_truth(value: ast.expr) -> bool:
    match value:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=values):
            return all(_is_truth(one) for one in values)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _TRUTHS
    return False


def _is_selection(value: ast.expr) -> bool:
    """A name that the function has bound, or those of some names that fit."""
    match value:
        case ast.Name():
            return True
        case ast.SetComp(generators=[generator]) | ast.ListComp(generators=[generator]):
            return bool(generator.ifs)
    return False


def _tells(node: ast.AST) -> bool:
    """Whether a part of a function may concern a name or a class."""
    match node:
        case ast.Constant(value=str()) | ast.Attribute(attr="__name__") | ast.Name(id="isinstance"):
            return True
    return False
