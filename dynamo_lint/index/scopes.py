"""Collecting the facts of one function or class while its body is walked."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index.conditions import (
    COMPARED,
    FLAGGED,
    GIVEN,
    SWITCHED,
    Flag,
    Lines,
    Loops,
    TestFacts,
    amount_tested,
    compiles,
    exceeds,
    facts_of_test,
    filled_in,
    is_switch,
    last_line,
    matched_members,
    matched_strings,
    may_be_off,
    ranges,
    switched,
    tested,
    tests_attributes,
    texts_in,
    truth_when_compiling,
)
from dynamo_lint.index.ir import (
    Attribute,
    Binding,
    Call,
    CallSite,
    Choice,
    Class,
    Constant,
    Expr,
    Function,
    Name,
    Narrowed,
    Parameter,
    Store,
)
from dynamo_lint.index.process_tests import kind_of_test, tells_rank


@dataclass(slots=True)
class FunctionScope:
    """A function whose body is being read; `finish` turns it into a fact."""

    key: str
    qualname: str
    line: int
    first_line: int
    end_line: int
    owner: str | None = None
    outer: str | None = None
    parameters: tuple[Parameter, ...] = ()
    decorators: tuple[Expr, ...] = ()
    returns: list[Expr] = field(default_factory=list)
    returned_at: list[int] = field(default_factory=list)
    annotation: Expr | None = None
    bindings: list[Binding] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    loads: dict[Attribute, None] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    comprehensions: dict[tuple[str, int], None] = field(default_factory=dict)
    eager_lines: list[tuple[int, int]] = field(default_factory=list)
    loop_lines: list[tuple[int, int]] = field(default_factory=list)
    branch_lines: list[tuple[int, int]] = field(default_factory=list)
    arms: list[tuple[int, ...]] = field(default_factory=list)
    exceeding: list[tuple[int, int]] = field(default_factory=list)
    texts: list[tuple[int, int, str, tuple[str, ...]]] = field(default_factory=list)
    picked: list[tuple[int, int, str, tuple[str | bool | None, ...]]] = field(default_factory=list)
    excluded: list[tuple[int, int, str, tuple[str, ...]]] = field(default_factory=list)
    enough: list[tuple[int, int, frozenset[str]]] = field(default_factory=list)
    patched: list[tuple[int, int, Expr]] = field(default_factory=list)
    process_tests: list[tuple[int, int, str, str, bool]] = field(default_factory=list)
    ranked: set[str] = field(default_factory=set)
    """Locals that hold the answer of a test for which process this is."""
    submodules: list[tuple[str, int]] = field(default_factory=list)
    lookups: bool = False
    environment: bool = False
    judgement: str | None = None
    set_either_way: tuple[str, ...] = ()
    cut: bool = False

    ranks: bool | None = None
    """Whether the file is of a program of several processes; None if its tests are of no interest."""

    # Where the walk stands inside this function.
    loaded: set[int] = field(default_factory=set)
    """Identities of `loads`: to compare them by what they hold takes long."""
    eager: bool = False
    conditions: list[tuple[ast.expr, bool]] = field(default_factory=list)
    """The tests around, and whether they hold here."""
    passed: list[ast.If] = field(default_factory=list)
    """The `if` statements that the code before has left by: their tests do not hold here."""
    asked: tuple[tuple[object, ...] | None, tuple[tuple[str, ...], bool]] = (None, ((), False))
    """Where the tests were asked last, and what they said."""
    said: dict[tuple[ast.expr, bool], TestFacts] = field(default_factory=dict)
    """The facts that each enclosing test states, where it holds and where it does not."""
    context: Expr | None = None
    loops: list[Expr] = field(default_factory=list)
    keys: dict[str, tuple[Expr, str]] = field(default_factory=dict)
    """Loop variables that are keys or names: of what, and the variable that holds the value beside them."""
    modules: Loops = field(default_factory=dict)
    narrowed: list[Narrowed | None] = field(default_factory=list)
    """The narrowing of names by tests; None where a name was assigned again since."""
    within: str = ""
    """The comprehensions around, as they stand in a qualname."""
    flags: list[Flag] = field(default_factory=list)
    filled: list[Lines] = field(default_factory=list)
    aliases: dict[str, bool] = field(default_factory=dict)
    """Locals that hold the answer of an `is_compiling()` test."""
    answers: dict[str, tuple[ast.expr, int]] = field(default_factory=dict)
    """Locals that hold the answer of an `isinstance` or `hasattr` test, with the loops around it."""

    def tests(self) -> list[tuple[ast.expr, bool]]:
        """The tests around and those that were left by before, each with whether it holds here."""
        return [*self.conditions, *((one.test, False) for one in self.passed)]

    def here(self) -> tuple[tuple[str, ...], bool]:
        """The tests around the current call: `given` and `optional` of its `CallSite`.

        They say the same until a test begins or ends, and most lines have several calls.
        """
        if not (self.conditions or self.passed):
            return (), False
        around = self.conditions[-1] if self.conditions else None
        before = self.passed[-1] if self.passed else None
        at = (around, len(self.conditions), before, len(self.passed))
        if self.asked[0] != at:  # syntax trees are equal if they are the same
            self.asked = at, (self._given(), self._is_optional())
        return self.asked[1]

    def _given(self) -> tuple[str, ...]:
        """The names that tests have shown not to be None where the walk stands.

        Those that are no parameters may be switches, which are tested for themselves, and left by early.
        """
        parameters = [parameter.name for parameter in self.parameters]
        around = [self._facts(test, holds) for test, holds in self.conditions]
        before = [self._facts(one.test, False) for one in self.passed]
        shown = [name for one in (*around, *before) for name in one.on if name not in parameters]
        return (*(name for one in around for name in one.filled), *shown)

    def _is_optional(self) -> bool:
        """Whether the walk stands where it comes only with some parameter left at None, or after it is given,
        or only with one of some types, or with a local on that may be off.

        What is refused (`if bias is not None: raise`) is shown of no call that matters.
        """
        left = [
            self._facts(one.test, False) for one in self.passed if not isinstance(one.body[-1], ast.Raise)
        ]
        around = [*(self._facts(test, holds) for test, holds in self.conditions), *left]
        if any(one.in_doubt for one in around):
            return True
        shown = {name for one in around for name in (*one.empty, *one.judged)}
        shown.update(name for one in left for name in one.filled)
        if any(one.name in shown for one in self.parameters):
            return True
        on = {name for one in around for name in one.on}
        return bool(on) and any(one.name in on and may_be_off(one.value) for one in self.bindings)

    def _facts(self, test: ast.expr, holds: bool) -> TestFacts:
        """The facts that an enclosing test states: the same for every call in its branch."""
        known = self.said.get((test, holds))
        if known is None:
            known = self.said[test, holds] = facts_of_test(test, holds)
        return known

    def note_flags(self, test: ast.expr, body: Sequence[ast.stmt], *, holds: bool) -> None:
        """Statements that run only where a test holds, or where it does not."""
        if not body:
            return
        lines = body[0].lineno, last_line(body)
        if test.__class__ in COMPARED and holds and exceeds(test):
            self.exceeding.append(lines)
        if not self.parameters:
            return
        if self.owner is not None and test.__class__ in FLAGGED:
            self.flags += ranges(test, *lines, self.parameters[0].name, holds)
            self.filled += filled_in(test, *lines, self.parameters[0].name, holds)
            self.texts += texts_in(test, *lines, self.parameters[0].name, holds)
        if test.__class__ in SWITCHED:
            for name, on in switched(test, holds):
                if any(one.name == name and is_switch(one) for one in self.parameters):
                    self.picked.append((*lines, name, (on,)))
        if test.__class__ in GIVEN:
            asked = self._facts(test, holds)
            open_ = {one.name for one in self.parameters if one.default in (None, Constant(None))}
            given = [name for name in asked.on if name in open_]
            if given and compiles(body):
                self.picked += [(*lines, name, (None if name in asked.filled else True,)) for name in given]

    def note_process_test(
        self,
        test: ast.expr,
        body: Sequence[ast.stmt | ast.expr],
        other: Sequence[ast.stmt] = (),
        *,
        holds: bool,
    ) -> None:
        """Code that runs only where a test of the process or of torch's version holds, or does not.

        A rank that comes to the other way and raises there ends the program: all that go on are alike.
        """
        if self.ranks is not None and body and (kind := kind_of_test(test, self.ranked, self.ranks)):
            if kind == "rank" and other and isinstance(other[-1], ast.Raise):
                return
            last = body[-1].end_lineno or body[-1].lineno
            self.process_tests.append((body[0].lineno, last, kind, ast.unparse(test), holds))

    def note_rank(self, targets: list[ast.expr], value: ast.expr) -> None:
        """Names are assigned what may tell which process this is."""
        if self.ranks and tells_rank(value, self.ranked):
            self.ranked.update(target.id for target in targets if isinstance(target, ast.Name))
            self.note_process_test(value, [value], holds=True)

    def choice(self, test: ast.expr, body: Expr, orelse: Expr) -> Choice:
        """One of two, with the parameter of a constructor that alone decides which."""
        name, on = amount_tested(test)
        own = self.qualname.endswith(".__init__") and any(one.name == name for one in self.parameters)
        return Choice((body, orelse) if on or not own else (orelse, body), name if own else None)

    def mark(self) -> tuple[bool, int, int]:
        """Where a block begins: what is shown in it is shown in it alone."""
        return self.eager, len(self.narrowed), len(self.passed)

    def back_to(self, mark: tuple[bool, int, int]) -> None:
        """The block that began there ends."""
        self.eager, narrowed, passed = mark
        del self.narrowed[narrowed:], self.passed[passed:]

    def forget(self, name: str) -> None:
        """A name is assigned: what tests have shown of its old value is no longer true."""
        for position, fact in enumerate(self.narrowed):
            if fact is not None and isinstance(fact.value, Name) and fact.value.id == name:
                self.narrowed[position] = None
        for known in [known for known, (test, _) in self.answers.items() if name in (known, tested(test))]:
            del self.answers[known]

    def note_alias(self, targets: list[ast.expr], value: ast.expr) -> None:
        """Names are assigned what may be the answer of an `is_compiling()` test."""
        truth = truth_when_compiling(value, self.aliases)
        for target in targets:
            if isinstance(target, ast.Name):
                # Only a test is an alias: `flag = True` may be rebound at any time.
                if truth is not None and not isinstance(value, ast.Constant):
                    self.aliases[target.id] = truth
                else:
                    self.aliases.pop(target.id, None)

    def note_answer(self, targets: list[ast.expr], value: ast.expr) -> None:
        """A name is assigned the answer of a test: it holds until what was tested is assigned again."""
        match targets:
            case [ast.Name(name)] if tested(value) not in (None, name):
                if sum(binding.name == name for binding in self.bindings) == 1:
                    self.answers[name] = value, len(self.loops)

    def note_strings(
        self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], *, leaves: bool
    ) -> None:
        """Note the lines that run only where a parameter is one of some strings, or members of enumerations,
        or never if it is: the other branch, and what comes after one that always `leaves`."""
        if not isinstance(test, ast.Compare | ast.BoolOp):
            return
        names = {parameter.name for parameter in self.parameters}
        for name, texts in (*matched_strings(test), *matched_members(test)):
            if name in names:
                self.picked.append((body[0].lineno, last_line(body), name, texts))
                if orelse and isinstance(test, ast.Compare):
                    self.excluded.append((orelse[0].lineno, last_line(orelse), name, texts))
                if leaves and isinstance(test, ast.Compare):
                    self.excluded.append((last_line(body) + 1, self.end_line, name, texts))

    def gives(self, value: Expr, line: int) -> None:
        """The function returns or yields a value."""
        self.returns.append(value)
        self.returned_at.append(line)

    def answered(self) -> dict[str, ast.expr]:
        """The names that hold the answer of a test: in another loop its subject may be another by now."""
        return {name: test for name, (test, loops) in self.answers.items() if loops == len(self.loops)}

    def tested_types(self) -> Iterator[Narrowed]:
        """The types of names that tests have shown."""
        return (fact for fact in self.narrowed if fact is not None and not tests_attributes(fact.types))

    def dropped(self, result: Expr) -> None:
        """A statement leaves a value to nobody, which matters if the value is what was compiled."""
        if isinstance(result, Call) and self.calls and self.calls[-1].call is result:
            match result.function:
                case Attribute(_, name) | Name(name) if "compile" in name:
                    self.calls[-1] = replace(self.calls[-1], unused=True)

    def note_enough(self, test: ast.expr, branch: list[ast.stmt]) -> None:
        """A branch leaves where a value does not exceed an attribute: what comes after it may set that."""
        asked = frozenset(part.attr for part in ast.walk(test) if isinstance(part, ast.Attribute))
        self.enough.append((last_line(branch) + 1, self.end_line, asked))

    def note_leaving(self, branch: list[ast.stmt]) -> None:
        """A branch returns: what comes after it is as good as another branch, and sees nothing it assigns."""
        if branch and isinstance(branch[-1], ast.Return):
            first, last = branch[0].lineno, last_line(branch)
            if last < self.end_line and any(binding.line >= first for binding in self.bindings):
                self.arms.append((first, last + 1, self.end_line))

    def _grown(self) -> Iterator[tuple[int, int]]:
        """The lines behind `if self.length >= length: return` that set what is asked there."""
        for first, last, asked in self.enough:
            if any(first <= store.line <= last and store.name in asked for store in self.stores):
                yield first, last

    def finish(self) -> Function:
        """The collected facts, frozen."""
        return Function(
            key=self.key,
            qualname=self.qualname,
            line=self.line,
            first_line=self.first_line,
            end_line=self.end_line,
            owner=self.owner,
            outer=self.outer,
            parameters=self.parameters,
            decorators=self.decorators,
            returns=tuple(self.returns),
            returned_at=tuple(self.returned_at),
            annotation=self.annotation,
            bindings=tuple(self.bindings),
            stores=tuple(self.stores),
            calls=tuple(self.calls),
            loads=tuple(self.loads),
            globals=frozenset(self.globals),
            comprehensions=tuple(self.comprehensions),
            eager_lines=tuple(self.eager_lines),
            loops=tuple(self.loop_lines),
            branches=tuple(self.branch_lines),
            arms=tuple(self.arms),
            picked=tuple(self.picked),
            excluded=tuple(self.excluded),
            exceeding=(*self.exceeding, *self._grown()),
            texts=tuple(self.texts),
            patched=tuple(self.patched),
            lookups=self.lookups,
            environment=self.environment,
            judgement=self.judgement,
            set_either_way=self.set_either_way,
            flags=tuple(self.flags),
            filled=tuple(self.filled),
            cut=self.cut,
            process_tests=tuple(self.process_tests),
            submodules=tuple(self.submodules),
        )


@dataclass(slots=True)
class ClassScope:
    """A class whose body is being read; its calls and loads belong to the function around it."""

    key: str
    qualname: str
    line: int
    first_line: int
    end_line: int
    outer: str
    bases: tuple[Expr, ...] = ()
    decorators: tuple[Expr, ...] = ()
    bindings: list[Binding] = field(default_factory=list)
    annotations: list[tuple[str, Expr]] = field(default_factory=list)

    def finish(self) -> Class:
        """The collected facts, frozen."""
        return Class(
            key=self.key,
            qualname=self.qualname,
            line=self.line,
            first_line=self.first_line,
            end_line=self.end_line,
            outer=self.outer,
            bases=self.bases,
            decorators=self.decorators,
            bindings=tuple(self.bindings),
            annotations=tuple(self.annotations),
        )


def unused(key: str, taken: dict[str, FunctionScope] | dict[str, ClassScope]) -> str:
    """`key`, or `key#2`, `key#3`, … if the file defines the name again."""
    if key not in taken:
        return key
    number = 2
    while f"{key}#{number}" in taken:
        number += 1
    return f"{key}#{number}"
