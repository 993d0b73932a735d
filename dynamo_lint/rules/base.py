"""The base of every rule: its identity, the settings that change a verdict, and how findings are made."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial

from dynamo_lint.calls.decorators import is_replaced
from dynamo_lint.calls.model import Step
from dynamo_lint.conditions.constructor import is_left_off
from dynamo_lint.contract import Contract
from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding, Fix, Related, Span
from dynamo_lint.guards import Identity
from dynamo_lint.models.releases import holds
from dynamo_lint.program.files import in_tests, is_measured
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef, Position
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.regions.options import matches
from dynamo_lint.state.model import AttributeState, Key, Place
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.points_to import points_to_of

NO_CONTRACT = Contract()


@dataclass(frozen=True, slots=True)
class Context:
    """Settings that change what a rule says."""

    torch_version: tuple[int, int] = (2, 13)
    pedantic: bool = False
    """Also report what costs nothing but breaks a house policy."""
    recompile_limit: int = 8
    unspec_int: bool = False
    """`allow_unspec_int_on_nn_module`: an int attribute of a module becomes dynamic when it changes."""
    configured_limit: int = 8
    """The recompile limit of the configuration; `recompile_limit` may be one that the code sets."""
    contract: Contract = NO_CONTRACT
    guards: frozenset[Identity] | None = None
    """The guarded values that the team agreed on; None if it has no list of them."""
    own_contracts: tuple[tuple[str, Contract], ...] = ()
    """Those of files that state terms for themselves."""

    def has(self, change: str) -> bool:
        """Whether the torch has a change of models/releases.toml."""
        return holds(change, self.torch_version)

    def contract_of(self, path: str) -> Contract:
        """The contract that holds in a file."""
        return next((own for file, own in self.own_contracts if file == path), self.contract)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a code, a name, and a function from tables to findings."""

    code: str
    name: str
    check: Callable[[Rule, Tables, Context], Iterable[Finding]]


def named(code: str, name: str) -> Callable[[Callable[[Rule, Tables, Context], Iterable[Finding]]], Rule]:
    """A rule of this code and name that checks by the function below."""
    return partial(Rule, code, name)


@dataclass(frozen=True, slots=True)
class Claim:
    """The part of a finding that a rule decides."""

    message: str
    cost: str
    subject: str
    advice: str
    step: str
    """The action of the line, as the last link of the chain."""
    effect: str = ""
    entries: int | None = None
    severity: str | None = None
    """Only where the effect does not decide."""
    related: tuple[Related, ...] = ()
    also: tuple[str, ...] = ()
    """Other state that the same advice is about."""
    keys: Collection[Key] = ()
    """The state, as the tables name it."""


def finding(
    rule: Rule,
    tables: Tables,
    context: Context,
    hot: CompiledFunction,
    position: Position,
    claim: Claim,
    outside: FunctionRef | None = None,
    *,
    shown: bool = False,
) -> Finding:
    """A finding in a hot function, or in one outside that changes its state; `shown` if a program ran it."""
    return placed(rule, tables, context, outside or hot.function, position, claim, hot, shown=shown)


def at_line(
    rule: Rule,
    tables: Tables,
    context: Context,
    where: FunctionRef,
    line: int,
    claim: Claim,
    hot: CompiledFunction | None = None,
) -> Finding:
    """A finding about a line of any function."""
    text = tables.bodies.line(where, line)
    position = Position(line, len(text) - len(text.lstrip()) + 1, line, len(text.rstrip()) + 1)
    return placed(rule, tables, context, where, position, claim, hot)


def placed(
    rule: Rule,
    tables: Tables,
    context: Context,
    where: FunctionRef,
    position: Position,
    claim: Claim,
    hot: CompiledFunction | None = None,
    confidence: str = "certain",
    elsewhere: str | None = None,
    *,
    shown: bool = False,
) -> Finding:
    """A finding about any function; `hot` is the compiled code that it concerns, `elsewhere` another file."""
    path, symbol = elsewhere or where.path, where.id
    entries = [tables.regions.entries[number] for number in hot.entries] if hot is not None else []
    # What only a test or a benchmark compiles says nothing of how the users of the code around it run that.
    known = [one for one in entries if one.confidence < Confidence.POSSIBLE]
    unproven = (
        bool(known) and not is_measured(path) and all(one.tested or is_measured(one.path) for one in known)
    )
    # And a test tries what recompiles, and one variant after the other: a run of it costs nobody more.
    unproven = unproven or (
        in_tests(path) and claim.effect in {"break", "per-value", "per-instance", "storm"}
    )
    if hot is not None and not shown:
        unproven = unproven or not tables.chosen.isdisjoint(claim.keys) or is_aside(tables, hot, position)
        unproven = unproven or (where == hot.function and is_idle(tables, hot, position))
    entry = entries[0] if entries else None
    chain = hot.chain if hot is not None else ()
    shared = tuple(_shared(tables, entry.target, (path, position.line))) if entry is not None else ()
    return Finding(
        code=rule.code,
        name=rule.name,
        span=Span(path, position.line, position.column, position.end_line, position.end_column),
        message=claim.message,
        cost=claim.cost,
        severity="note" if unproven else claim.severity or severity(claim.effect, claim.entries, context),
        effect=claim.effect,
        confidence=hot.confidence.word if hot is not None else confidence,
        symbol=symbol,
        subject=claim.subject,
        also=claim.also,
        entries=claim.entries,
        region=(entry.path, entry.line) if entry is not None else None,
        unit=hot.unit if entry is not None and hot is not None else "",
        chain=(*chain, Step(path, position.line, symbol, claim.step)),
        related=(*claim.related, *shared),
        fix=Fix("display", claim.advice),
        keys=tuple(sorted({key.id for key in claim.keys})),
    )


def _shared(tables: Tables, target: str, here: tuple[str, int]) -> Iterator[Related]:
    """The `forward` that several compiled classes inherit, and how many they are."""
    if (forward := _inherited(tables).get(target)) is None:
        return
    line, count = tables.project.function(forward).line, [*_inherited(tables).values()].count(forward)
    if (forward.path, line) != here:
        yield Related(forward.path, line, 1, f"runs for {count} compiled classes")


def is_idle(tables: Tables, hot: CompiledFunction, position: Position) -> bool:
    """Whether a compiled line runs only with a setting that no code of the project asks for."""
    if hot.receiver is None:
        return False
    return is_left_off(points_to_of(tables.project), hot.receiver, hot.function, position.line)


_DEBUGGING = re.compile(r"(?:^|[/_])(?:debug|verbose|profil(?:e|er|ing))(?:[/_.]|$)")


def is_aside(tables: Tables, hot: CompiledFunction, position: Position) -> bool:
    """Whether a compiled line stands aside from what its users run.

    It is reached by one of very many ways that its calls allow, from one of the classes that a compile site
    picks one from, through a file or by a test of a flag for debugging or profiling, or it stands in a method
    in whose place a decorator of the class puts another, which need not call it.
    """
    if hot.guessed:
        return True
    files = tables.project.files
    lines = [(step.path, step.symbol.rpartition("::")[2], step.line) for step in hot.chain[1:]]
    for path, key, line in (*lines, (hot.function.path, hot.function.key, position.line)):
        if _DEBUGGING.search(path):
            return True
        function = files[path].functions.get(key)
        for first, last, flag, on in function.flags if function is not None else ():
            if on and first <= line <= last and _DEBUGGING.search(flag):
                return True
    return is_replaced(tables.project, hot.function)


def severity(effect: str, entries: int | None, context: Context) -> str:
    """How bad an effect is."""
    if effect in {"storm", "stale", "eager"}:
        return "error"
    if effect in {"per-value", "per-instance"}:
        return "error" if entries is not None and entries > context.recompile_limit else "warning"
    return "warning" if effect == "break" else "note"


def region(tables: Tables, hot: CompiledFunction) -> str:
    """The compiled region of a hot function, as a person would name it: `MoE.forward`.

    Where several compiled classes inherit it, that of the class which defines it.
    """
    target = tables.regions.entries[hot.entries[0]].target
    path, _, name = target.rpartition("::")
    if name not in tables.project.files[path].classes:
        return name
    forward = _inherited(tables).get(target)
    return f"{name}.forward" if forward is None else forward.id.partition("::")[2]


def _inherited(tables: Tables) -> Mapping[str, FunctionRef]:
    """The `forward` that runs for a compiled class, for those of which several have the same one."""
    project, key = tables.project, "inherited forward"
    if key not in project.memo:
        found = {}
        for target in dict.fromkeys(entry.target for entry in tables.regions.entries):
            path, _, name = target.rpartition("::")
            if path in project.files and name in project.files[path].classes:
                found[target] = project.method(ClassRef(path, name), "forward")
        shared = Counter(found.values())
        project.memo[key] = {
            target: forward for target, forward in found.items() if shared[forward] > 1 and forward
        }
    return project.memo[key]  # type: ignore[return-value]


def spell(place: Place) -> str:
    """A place as the line spells it: `self.cfg.step`."""
    return place[0] + "".join(step if step.startswith("[") else f".{step}" for step in place[1:])


def subject(state: AttributeState) -> str:
    """An attribute with the class that owns it: `MoE._overflow_total`; a global goes by its name alone."""
    if state.root in {"global", "closure"} and state.scoped:
        return state.key.attribute
    return f"{state.declared_in.name}.{state.key.attribute}"


def storm(limit: int, what: str = "this code", per: str = "call") -> str:
    """Every call, or every new value, compiles `what`; `limit` is the recompile limit."""
    return (
        f"one recompile per {per} until the recompile limit ({limit}); "
        f"after that {what} is never compiled again and runs eagerly"
    )


def bounded(entries: int, unit: str = "value") -> str:
    """One version for each of a known number of values, keys or lengths."""
    return f"one compiled version per {unit}, {entries} in all"


ONCE = "one extra compile, at the first change"


def costs(
    effect: str, entries: int | None, limit: int, once: str, each: str = "value", who: str = "it"
) -> str:
    """Return the cost of state that changes, by its effect; `once` says what one compile more buys."""
    if effect == "storm":
        return storm(limit)
    if effect == "once":
        return once
    if entries is not None:
        return bounded(entries, each)
    return f"one compiled version per {each}; beyond the recompile limit ({limit}) {who} runs eagerly"


def nodes_of(tables: Tables, where: FunctionRef) -> Iterator[ast.AST]:
    """The syntax of a function or a file; nothing where it cannot be read."""
    return (node for statement in tables.bodies.of(where) or () for node in ast.walk(statement))


def is_quiet(project: Project, where: FunctionRef) -> bool:
    """Whether code is that of tests, which may do as they like."""
    return where.path not in project.files or in_tests(where.path)


def is_named(project: Project, where: FunctionRef, patterns: Iterable[str]) -> bool:
    """Whether a function, or one around it, is one of those that patterns name."""
    parts = where.key.split(".<locals>.")
    around = [FunctionRef(where.path, ".<locals>.".join(parts[: n + 1])) for n in range(len(parts))]
    patterns = tuple(patterns)
    return any(matches(project, one, patterns) for one in around)
