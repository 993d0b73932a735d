"""Lines that switch compiling off or hide its errors, and whether they run where nobody asks for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.contract import Contract
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import Constant
from dynamo_lint.models.drivers import SETTINGS_OFF, STANCE, STANCES_OFF
from dynamo_lint.models.environment import OFF
from dynamo_lint.models.settings import DYNAMO, Made
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.rules.base import NO_CONTRACT, Context, is_named, is_quiet, nodes_of
from dynamo_lint.state.by_default import ByDefault
from dynamo_lint.state.environment_writes import environment_writes
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.option_defaults import OptionDefaults
from dynamo_lint.state.provenance import Tables

OFF_CODE, ERRORS_CODE = "DYN504", "DYN505"
_SUPPRESS = "suppress_errors"
FORBID = "forbid"


@dataclass(frozen=True, slots=True)
class OffSwitch:
    """A line that, where it runs, keeps code from being compiled."""

    where: FunctionRef
    line: int
    text: str
    code: str
    """The rule that it belongs to: compiling is switched off, or its errors are hidden."""


@dataclass(frozen=True, slots=True)
class Objection:
    """The word of the contract against such a line."""

    why: str
    severity: str


def reading(tables: Tables) -> ByDefault:
    """The reading of what runs where no variable, no option and no file of settings says otherwise."""
    memo, key = tables.project.memo, "by default"
    if key not in memo:
        options = OptionDefaults(tables.project, tables.bodies)
        memo[key] = ByDefault(tables.project, tables.bodies, options)
    return memo[key]  # type: ignore[return-value]


def off_switches(tables: Tables) -> Iterator[OffSwitch]:
    """Every such line, outside of tests."""
    project = tables.project
    for one in _all(tables):
        if not is_quiet(project, one.where):
            yield one


def _all(tables: Tables) -> Iterator[OffSwitch]:
    project = tables.project
    for made in tables.practice.settings:
        if is_off_switch(tables, made):
            code = ERRORS_CODE if made.name == _SUPPRESS else OFF_CODE
            yield OffSwitch(made.where, made.line, made.name, code)
    for name in sorted({one.rpartition(".")[2] for one in STANCE}):
        for where, call in project.calls_of(name):
            symbols = project.symbols(call.call.function, where.path, where.key)
            if any(isinstance(one, ExternalSymbol) and one.dotted in STANCE for one in symbols):
                stance = constant(project, call.call.arguments[0], where) if call.call.arguments else None
                if stance is not None and stance.value in STANCES_OFF:
                    yield OffSwitch(where, call.call.line, f'set_stance("{stance.value}")', OFF_CODE)
    for write in environment_writes(project):
        if write.key in OFF and write.sets and write.value == "1":
            yield OffSwitch(write.where, write.line, write.key, OFF_CODE)
    for site in tables.practice.compiles:
        value = dict(site.keywords).get("disable") if site.sure else None
        if value is not None and value not in (Constant(False), Constant(None)):
            yield OffSwitch(site.where, site.line, "disable=…", OFF_CODE)


def is_off_switch(tables: Tables, made: Made) -> bool:
    """Whether a setting is one that turns compiling off, or hides its errors, and may be given that value."""
    if made.module != DYNAMO or made.name not in {*SETTINGS_OFF, _SUPPRESS}:
        return False
    value = constant(tables.project, made.value, made.where)
    return value is None or bool(value.value)


def is_allowed(tables: Tables, context: Context, where: FunctionRef, code: str) -> bool:
    """Whether the contract names a function as a place for such lines."""
    return is_named(tables.project, where, _sites(context.contract_of(where.path), code))


def objection(tables: Tables, context: Context, one: OffSwitch) -> Objection | None:
    """The objection of the contract to a line; None if it says nothing of it."""
    contract = context.contract_of(one.where.path)
    sites = _sites(contract, one.code)
    if is_named(tables.project, one.where, sites):
        return None
    if sites:
        key = "suppress-sites" if contract.suppress_sites == sites else "off-sites"
        return Objection(f"outside of `{key}` of the contract", "warning")
    if contract.off_switches == FORBID:
        return Objection("and the contract forbids off-switches", "warning")
    hides = one.code == ERRORS_CODE and contract != NO_CONTRACT
    if hides and reading(tables).runs(one.where, one.line):
        return Objection("in every run, under a contract", "error")
    return None


def _sites(contract: Contract, code: str) -> tuple[str, ...]:
    if code == ERRORS_CODE and contract.suppress_sites:
        return contract.suppress_sites
    return contract.off_sites


def hatches(tables: Tables, where: FunctionRef, line: int) -> tuple[str, ...]:
    """The variables and options that decide whether a compile happens."""
    read = reading(tables)
    found = [*read.switches(where, line)]
    for node in nodes_of(tables, where):
        if isinstance(node, ast.Call) and node.lineno == line:
            for keyword in node.keywords:
                if keyword.arg == "disable":
                    found += read.asked(keyword.value, where)
    return tuple(dict.fromkeys(found))
