"""DYN512: one setting gets different values at different places, or a value after it was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dynamo_lint.findings import Finding
from dynamo_lint.models.settings import DYNAMO, Made, name_today
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.limits import DEFAULTS
from dynamo_lint.rules.practices import at_line, is_named, is_quiet, together
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.points_to import points_to_of

_AT_ONCE = re.compile(
    r"limit|recompile|verbose|log|suppress|disable|error|report|print|debug|trace|repro|stance"
)
"""Settings that are read whenever something compiles or runs: they may change at any time."""
_PAIRS = (
    *(("enter", "exit"), ("begin", "end"), ("start", "stop"), ("enable", "disable"), ("push", "pop")),
    *(("setup", "teardown"), ("set_up", "tear_down"), ("setUp", "tearDown"), ("set", "restore")),
)
"""Parts of the names of functions of which one undoes what the other does."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line, for the first of the reasons that there is."""
    project = tables.project
    sites = [one for one in tables.practice.settings if one.stored and not is_quiet(project, one.where)]
    homes = {one.where for one in sites if _is_called_by(tables, one.where, sites)}
    sites.sort(key=lambda one: one.where not in homes)  # what `configure()` sets comes before its callers
    late = {(one.where, one.line): name for one, name in _late(tables, sites)}
    for number, site in enumerate(sites):
        broken = _broken(tables, context, site) or late.get((site.where, site.line))
        if why := broken or _differs(tables, site, sites[:number]):
            claim = Claim(
                message=f"`{site.name}` {why}",
                cost="which value a compile sees depends on what ran before it",
                effect="",
                severity="warning" if broken else "note",
                subject=site.name,
                advice="make all settings in one function that runs before anything is compiled",
                step="makes a setting",
            )
            yield at_line(rule, tables, context, site.where, site.line, claim)


def _is_called_by(tables: Tables, where: FunctionRef, sites: Sequence[Made]) -> bool:
    """Whether a function that makes other settings calls this one."""
    callers = {caller.function for caller, _ in points_to_of(tables.project).call_sites(where)}
    return any(one.where in callers for one in sites if one.where != where)


def _broken(tables: Tables, context: Context, site: Made) -> str:
    """The objection of the contract to a site; empty for none."""
    contract, name = context.contract_of(site.where.path), name_today(f"{site.module}.{site.name}")
    value = constant(tables.project, site.value, site.where)
    wanted = {name_today(one): told for one, told in contract.settings}
    home = contract.settings_site
    if home and site.module == DYNAMO and not is_named(tables.project, site.where, (home,)):
        return f"is set outside of `{home}`, the `settings-site` of the contract"
    told = name in wanted and site.name not in DEFAULTS
    if told and value is not None and value.value != wanted[name]:
        return f"is set to {value.value!r}, and the contract says {wanted[name]!r}"
    return ""


def _differs(tables: Tables, site: Made, before: Sequence[Made]) -> str:
    """The other value that a site of the same program gives, as each may have reason to; empty for none."""
    name, value = name_today(f"{site.module}.{site.name}"), constant(tables.project, site.value, site.where)
    for other in before:
        same = name_today(f"{other.module}.{other.name}") == name
        first = constant(tables.project, other.value, other.where) if same else None
        if first is None or value is None or first == value or not _apart(tables, other, site):
            continue
        place = f"{other.where.path}:{other.line}"
        return f"is set to {value.value!r} here, and to {first.value!r} at {place}"
    return ""


def _apart(tables: Tables, one: Made, other: Made) -> bool:
    """Whether two sites are in different functions of one program, which do not undo each other."""
    if one.where == other.where or not together(tables.project, one.where, other.where):
        return False
    first, second = (site.where.key.rpartition(".")[2] for site in (one, other))
    return not any(
        do in this and this.replace(do, undo) == that
        for do, undo in _PAIRS
        for this, that in ((first, second), (second, first))
    )


def _late(tables: Tables, sites: Sequence[Made]) -> Iterator[tuple[Made, str]]:
    """The settings made between two calls of the same compiled function, with the reason."""
    asked = [one for one in sites if not _AT_ONCE.search(one.name)]
    places = [(one, where, line) for one in asked for where, line in _runs_at(tables, one)]
    wanted = {where for _, where, _ in places}
    calls: dict[FunctionRef, list[tuple[int, object]]] = {}
    for where, call, hot in tables.policies.calls() if places else ():
        if where in wanted:
            calls.setdefault(where, []).append((call.line, (hot.function, hot.receiver)))
    anew = {(one.where, one.line) for one in tables.practice.resets}
    anew |= {(one.where, one.line) for one in tables.practice.compiles}
    for one, where, line in places:
        made = calls.get(where, ())
        earlier = {
            hot for at, hot in made if at < line and not tables.project.function(where).apart(at, line)
        }
        loops = [one for one in tables.project.function(where).loops if one[0] <= line <= one[1]]
        again = any(
            hot in earlier and (at > line or any(first <= at <= last for first, last in loops))
            for at, hot in made
        )
        if again and not any(home == where and at > min(a for a, _ in made) for home, at in anew):
            yield one, "is set after the first call of what it is meant for, which stays as it was compiled"


def _runs_at(tables: Tables, site: Made) -> Iterator[tuple[FunctionRef, int]]:
    """Where a setting is made: at its line, or at the calls of the function around it."""
    yield site.where, site.line
    for caller, call in points_to_of(tables.project).call_sites(site.where):
        yield caller.function, call.call.line


SCATTERED_SETTINGS = Rule("DYN512", "scattered-settings", check)
