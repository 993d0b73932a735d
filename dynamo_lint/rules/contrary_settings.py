"""Settings in code that are contrary to a variable in the contract's environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dynamo_lint.contract import Expectation
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import Display
from dynamo_lint.models.environment import Variable, environment, reads_on
from dynamo_lint.models.environment import reading as read_as
from dynamo_lint.models.settings import known_settings, name_today
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Context, is_quiet
from dynamo_lint.rules.off_switches import reading
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.provenance import Tables

_INDUCTOR = "torch._inductor.config"
_CACHES_OFF = "torch.compiler.config.force_disable_caches"
"""The setting that turns all caches of the compiler off, whatever their variables say."""
_FRESH = ("fresh_cache", "fresh_inductor_cache")
"""Context managers that put the caches into a new folder for a while."""
_FOLDER = "TORCHINDUCTOR_CACHE_DIR"


@dataclass(frozen=True, slots=True)
class Contrary:
    """Such a line."""

    where: FunctionRef
    line: int
    subject: str
    message: str
    cost: str


def contrary(tables: Tables, context: Context) -> Iterator[Contrary]:
    """Every such line once, but for those that run only where somebody asks for it."""
    said: set[tuple[FunctionRef, int]] = set()
    for one in (*_settings(tables, context), *_fresh_folders(tables, context)):
        quiet = is_quiet(tables.project, one.where) or reading(tables).runs(one.where, one.line) is False
        if not quiet and (one.where, one.line) not in said:
            said.add((one.where, one.line))
            yield one


def _settings(tables: Tables, context: Context) -> Iterator[Contrary]:
    """The settings that are assigned, patched, or given as options."""
    given = [(one.where, one.line, f"{one.module}.{one.name}", one.value) for one in tables.practice.settings]
    for site in tables.practice.compiles:
        options = dict(site.keywords).get("options")
        if isinstance(options, Display) and options.kind == "dict":
            pairs = zip(options.keys, options.items, strict=False)
            given += ((site.where, site.line, f"{_INDUCTOR}.{key}", value) for key, value in pairs if key)
    for where, line, dotted, expression in given:
        demands = context.contract_of(where.path).environment
        value = constant(tables.project, expression, where) if demands else None
        found = _variable(name_today(dotted), value.value, demands) if value is not None else None
        if value is None or found is None:
            continue
        variable, wins = found
        short = dotted.rpartition(".config.")[2]
        yield Contrary(
            where,
            line,
            short,
            f"`{short}` is set to {value.value!r}, against the contract's `{variable}`",
            "the variable wins where it is set; where it is not, it is this line that counts"
            if wins
            else "the job runs with this value, whatever its environment was checked for",
        )


def _fresh_folders(tables: Tables, context: Context) -> Iterator[Contrary]:
    for name in _FRESH:
        for where, call in tables.project.calls_of(name):
            if _FOLDER in dict(context.contract_of(where.path).environment):
                message = f"`{name}()` puts the caches into a new folder, against the contract's `{_FOLDER}`"
                cost = "what compiles in there is compiled again by each start of the job"
                yield Contrary(where, call.call.line, name, message, cost)


def _variable(
    name: str, value: object, demands: Sequence[tuple[str, Expectation]]
) -> tuple[str, bool] | None:
    """The variable of the contract that a setting is contrary to, and whether that wins where it is set."""
    known = known_settings()
    for variable, wanted in demands:
        row = environment().variables.get(variable)
        if row is None:
            continue
        if name == _CACHES_OFF and value is True and _asks_for_cache(row, wanted):
            return variable, False
        wins = variable in known.overriding.get(name, ())
        if not wins and variable not in known.variables.get(name, ()):
            continue
        if wanted.equals is not None:
            made = read_as(row, wanted.equals)
            if made is not None and made != value:
                return variable, wins
        elif wanted.forbidden and row.is_flag and value is not (row.default == "on"):
            return variable, wins
    return None


def _asks_for_cache(row: Variable, wanted: Expectation) -> bool:
    """Whether a demand is one for a cache: that one is on, or that there is a folder for it."""
    if "CACHE" not in row.name or wanted.forbidden:
        return False
    if row.name.endswith("FORCE_DISABLE_CACHES"):
        return wanted.equals is not None and not reads_on(row, wanted.equals)
    if row.is_flag:
        return wanted.equals is not None and reads_on(row, wanted.equals)
    return row.kind == "folder"
