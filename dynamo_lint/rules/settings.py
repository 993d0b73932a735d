"""Rules about the settings of torch's compiler: raised limits, scattered values, unknown names."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import Call, Constant, Display, Expr, Name
from dynamo_lint.index.spelling import spelled
from dynamo_lint.models.settings import DYNAMO, KnownSettings, Made, fits, known_settings, name_today
from dynamo_lint.program.files import one_program
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, is_named, is_quiet, named, nodes_of
from dynamo_lint.rules.contrary_settings import contrary
from dynamo_lint.rules.off_switches import ERRORS_CODE, OFF_CODE, is_allowed, is_off_switch, reading
from dynamo_lint.rules.settings_path import breaches
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.practice import Options
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.points_to import points_to_of

_MOST_NAMED = 3


@named("DYN511", "raised-limit")
def raised_limit(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per value above what the contract allows, or torch by itself."""
    for where, line, name, value in _given(tables):
        if is_quiet(tables.project, where):
            continue
        limit = _limit(name)
        allowed, whose, severity = _allowed(limit, where.path, context)
        number = number_of(tables.project, value, where)
        statement = statement_of(tables, where, line, name) if number is None else None
        if statement is not None:
            number = computed(tables, where, statement)
        added = added_by(statement) if number is None else ""
        if not added and (number is None or number <= allowed):
            continue
        how = f"by `{added}`, beyond" if added else f"to {number}, above"
        claim = Claim(
            message=f"`{name}` is raised {how} {whose} of {allowed}",
            cost="what recompiles is compiled up to so many times before the limit tells of it",
            severity=severity,
            subject=name,
            advice="end the recompiles and leave the limit, which tells of the next ones; for instances that "
            "differ by design there is `torch.compile(…, isolate_recompiles=True)`",
            step="raises the limit",
        )
        yield at_line(rule, tables, context, where, line, claim)


def _given(tables: Tables) -> Iterator[tuple[FunctionRef, int, str, Expr]]:
    """The values that settings and options of a compile call give limits."""
    for one in tables.practice.settings:
        if name_today(f"{one.module}.{one.name}") in {f"{DYNAMO}.{name}" for name in DEFAULTS}:
            yield one.where, one.line, one.name, one.value
    for site in tables.practice.compiles:
        for name, value in site.keywords:
            if name == "recompile_limit":
                yield site.where, site.line, name, value


def _limit(name: str) -> str:
    """The setting that a name means today: `recompile_limit` for `cache_size_limit`."""
    return name_today(name).rpartition(".")[2]


def _allowed(limit: str, path: str, context: Context) -> tuple[int, str, str]:
    """The highest value that is fine, who says so, and how loud it is to go beyond.

    Who raises torch's own limit means to: that is a note, unless the team has said what it wants.
    """
    settings = {name_today(name): value for name, value in context.contract_of(path).settings}
    wanted = settings.get(f"{DYNAMO}.{limit}")
    if isinstance(wanted, int):
        return wanted, "the contract's limit", "warning"
    if limit == "recompile_limit" and context.configured_limit > DEFAULTS[limit]:
        return context.configured_limit, "the configured limit", "warning"
    return DEFAULTS[limit], "torch's limit", "note"


def with_hidden(found: Iterable[Finding], tables: Tables) -> Iterator[Finding]:
    """The findings, each raised limit with those of which it keeps torch from telling."""
    kept = [*found]
    behind = [one for one in kept if one.severity != "note" and _hits_the_limit(one)]
    sites = {(site.where.path, site.line) for site in tables.practice.compiles}
    for one in kept:
        place = one.span.path, one.span.line
        hidden = [
            other
            for other in behind
            if (
                other.region == place
                if place in sites
                else one_program(tables.project, place[0], other.span.path)
            )
        ]
        yield _hiding(one, hidden) if one.code == raised_limit.code and hidden else one


def _hits_the_limit(one: Finding) -> bool:
    """Whether a finding compiles so often that torch's own limit would tell of it."""
    return one.effect == "storm" or (one.entries or 0) > DEFAULTS["recompile_limit"]


def _hiding(one: Finding, hidden: list[Finding]) -> Finding:
    named = [f"{other.code} at {other.span.path}:{other.span.line}" for other in hidden[:_MOST_NAMED]]
    if len(hidden) > _MOST_NAMED:
        named.append(f"{len(hidden) - _MOST_NAMED} more")
    last = named.pop()
    told = f"{', '.join(named)} and {last}" if named else last
    related = (
        Related(
            other.span.path, other.span.line, other.span.column, f"recompiles: {other.code} {other.subject}"
        )
        for other in hidden
    )
    return replace(one, message=f"{one.message}, and hides {told}", related=tuple(related))


DEFAULTS = {"recompile_limit": 8, "accumulated_recompile_limit": 256}
"""The limits, and their values in torch/_dynamo/config.py."""
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda one, other: one // (other or 1),
    ast.LShift: lambda one, other: one << min(max(other, 0), 64),
    ast.Pow: lambda one, other: one ** min(max(other, 0), 64),
}
_RAISING = (ast.Add, ast.Mult, ast.LShift, ast.Pow)


def number_of(project: Project, value: Expr, where: FunctionRef) -> int | None:
    """The number that a value is, or is at least: `max(config.recompile_limit, 64)`."""
    if isinstance(value, Call) and value.function == Name("max"):
        found = [number_of(project, one, where) for one in value.arguments]
        return max((one for one in found if one is not None), default=None)
    known = constant(project, value, where)
    if isinstance(known, Constant) and isinstance(known.value, int) and not isinstance(known.value, bool):
        return known.value
    return None


def statement_of(
    tables: Tables, where: FunctionRef, line: int, name: str
) -> ast.Assign | ast.AugAssign | None:
    """The assignment to a setting on a line."""
    for node in nodes_of(tables, where):
        if isinstance(node, ast.Assign | ast.AugAssign) and node.lineno == line:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Attribute) and one.attr == name for one in targets):
                return node
    return None


def computed(tables: Tables, where: FunctionRef, statement: ast.Assign | ast.AugAssign) -> int | None:
    """The number that an assignment gives or may give: `limit + 8` for `limit += 8`."""
    value = statement.value
    if isinstance(statement, ast.AugAssign):
        value = ast.BinOp(statement.target, statement.op, value)
    return _computed(tables, where, value)


def _computed(tables: Tables, where: FunctionRef, node: ast.expr) -> int | None:
    """The number that an expression gives or may give, where a limit that it reads is that of torch."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return number_of(tables.project, Name(name), where)
        case ast.Attribute(attr=name):
            return DEFAULTS.get(_limit(name))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            numbers = [_computed(tables, where, one) for one in (left, right)]
            known = [one for one in numbers if one is not None]
            return _OPERATORS[type(op)](*known) if len(known) == len(numbers) else None
        case ast.IfExp(body=body, orelse=orelse):
            return max(filter(None, (_computed(tables, where, one) for one in (body, orelse))), default=None)
        case ast.Call(func=ast.Name(id="max"), args=args):
            return max(filter(None, (_computed(tables, where, one) for one in args)), default=None)
    return None


def added_by(statement: ast.Assign | ast.AugAssign | None) -> str:
    """The text of a number that only a run knows, and that is added to a limit; empty for none."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, _RAISING):
        return spelled(statement.value)
    return ""


_AT_ONCE = re.compile(
    r"limit|recompile|verbose|log|suppress|disable|error|report|print|debug|trace|repro|stance"
)
"""Settings that are read whenever something compiles or runs: they may change at any time."""
_PAIRS = (
    *(("enter", "exit"), ("begin", "end"), ("start", "stop"), ("enable", "disable"), ("push", "pop")),
    *(("setup", "teardown"), ("set_up", "tear_down"), ("setUp", "tearDown"), ("set", "restore")),
)
"""Parts of the names of functions of which one undoes what the other does."""


_CLAIM = Claim(
    message="",
    cost="which value a compile sees depends on what ran before it",
    subject="",
    advice="make all settings in one function that runs before anything is compiled",
    step="makes a setting",
)


_LEAVE = "leave it to the environment, which the contract is about"


@named("DYN512", "scattered-settings")
def scattered_settings(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line, for the first of the reasons that there is."""
    project = tables.project
    undone: set[tuple[FunctionRef, int]] = set()
    for one in contrary(tables, context):
        undone.add((one.where, one.line))
        claim = replace(_CLAIM, message=one.message, cost=one.cost, subject=one.subject)
        claim = replace(claim, severity=_severity(context, one.where), advice=_LEAVE)
        yield at_line(rule, tables, context, one.where, one.line, claim)
    for breach in breaches(tables, context):
        severity = "note" if breach.note else _severity(context, breach.where)
        claim = replace(_CLAIM, message=breach.message, severity=severity, subject=breach.subject)
        claim = replace(claim, related=breach.related, step="leaves settings as they were")
        yield at_line(rule, tables, context, breach.where, breach.line, claim)
    sites = [
        one
        for one in tables.practice.settings
        if one.stored and not is_quiet(project, one.where) and not _is_hatch(tables, context, one)
    ]
    homes = {one.where for one in sites if _is_called_by(tables, one.where, sites)}
    sites.sort(key=lambda one: one.where not in homes)  # what `configure()` sets comes before its callers
    late = {(one.where, one.line): name for one, name in _late(tables, sites)}
    for number, site in enumerate(sites):
        if (site.where, site.line) in undone:
            continue
        broken = _broken(tables, context, site) or late.get((site.where, site.line))
        if why := broken or _differs(tables, site, sites[:number]):
            severity = _severity(context, site.where) if broken else "note"
            claim = replace(_CLAIM, message=f"`{site.name}` {why}", severity=severity, subject=site.name)
            yield at_line(rule, tables, context, site.where, site.line, claim)


def _severity(context: Context, where: FunctionRef) -> str:
    """How bad it is to break the contract about settings."""
    return "error" if context.contract_of(where.path).enforce == "error" else "warning"


def _is_hatch(tables: Tables, context: Context, site: Made) -> bool:
    """Whether a site switches compiling off, where somebody asks for it or the contract allows it."""
    if not is_off_switch(tables, site):
        return False
    code = ERRORS_CODE if site.name == "suppress_errors" else OFF_CODE
    allowed = is_allowed(tables, context, site.where, code)
    return allowed or not reading(tables).runs(site.where, site.line)


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
    told = name in wanted and _limit(name) not in DEFAULTS  # DYN511 is about those
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
    if one.where == other.where or not one_program(tables.project, one.where.path, other.where.path):
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


_INDUCTOR = "torch._inductor.config"
_OWN_OPTIONS = frozenset({"guard_filter_fn", "use_aoti"})
"""Options that torch.compile takes for itself (torch/__init__.py)."""
_KEYWORDS = {
    "fullgraph": "bool",
    "dynamic": "bool | None",
    "disable": "bool",
    "recompile_limit": "int | None",
}


@named("DYN515", "unknown-setting")
def unknown_setting(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per setting and option; none where code asks first what torch has."""
    for where, line, fault in _faults(tables, context):
        if is_quiet(tables.project, where) or _asks_first(tables.project, where, line):
            continue
        subject, what, then, advice = fault
        claim = Claim(
            message=f"`{subject}` {what}",
            cost=then,
            severity="error",
            subject=subject,
            advice=advice,
            step="makes a setting",
        )
        yield at_line(rule, tables, context, where, line, claim)


def _faults(tables: Tables, context: Context) -> Iterator[tuple[FunctionRef, int, Fault]]:
    known = known_settings()
    for one in tables.practice.settings:
        value = constant(tables.project, one.value, one.where)
        if fault := fault_of(known, context, one.module, one.name, value):
            yield one.where, one.line, fault
    for site in tables.practice.compiles:
        if site.sure or _is_site(tables, site):
            for fault in _of_options(tables.project, known, context, site):
                yield site.where, site.line, fault


def _of_options(project: Project, known: KnownSettings, context: Context, site: Options) -> Iterator[Fault]:
    """The faults in the keywords of a call that compiles."""
    given = dict(site.keywords)
    for name, kind in _KEYWORDS.items():
        value = constant(project, given[name], site.where) if name in given else None
        if value is not None and not fits(value.value, kind):
            yield mistyped(name, value.value, kind, "torch takes any text for true")
    backend = _text(project, given.get("backend"), site.where)
    mode = _text(project, given.get("mode"), site.where)
    inductor = "backend" not in given or backend == "inductor"
    if mode is not None and mode not in known.modes and inductor:
        advice = meant(nearest(mode, known.modes)) or f"one of {', '.join(known.modes)}"
        yield f'mode="{mode}"', "is no mode of torch.compile", "a RuntimeError at this call", advice
    if backend is not None and _misspelled(project, known, backend):
        advice = meant(nearest(backend, known.backends))
        yield f'backend="{backend}"', "is no backend", "InvalidBackend at the first call", advice
    options = given.get("options")
    if mode is not None and isinstance(options, Display):
        yield "options", "is given beside `mode`", "a RuntimeError at this call", "say all of it in `options`"
    if isinstance(options, Display) and options.kind == "dict" and inductor:
        for key, item in zip(options.keys, options.items, strict=False):
            if key is not None and key not in _OWN_OPTIONS:
                literal = constant(project, item, site.where)
                fault = fault_of(known, context, _INDUCTOR, key.replace("-", "_"), literal)
                if fault is not None:
                    yield key, fault[1].replace("setting", "option"), "a RuntimeError at this call", fault[3]


def _misspelled(project: Project, known: KnownSettings, backend: str) -> bool:
    """Whether a backend is not that of a library or the project, but nearly one of torch's."""
    if backend in known.backends or not nearest(backend, known.backends):
        return False
    return not (project.decorated_with("register_backend") or project.calls_of("register_backend"))


def _is_site(tables: Tables, site: Options) -> bool:
    """Whether a call of a method is a compile site."""
    place, regions = (site.where.path, site.line), tables.regions
    return (
        any((one.path, one.line) == place for one in regions.entries)
        or any((one.path, one.line) == place for one in regions.unresolved)
        or any((one.path, one.line) == place for one in regions.skipped)
    )


def _asks_first(project: Project, where: FunctionRef, line: int) -> bool:
    """Whether a line runs only where code has asked what torch has, or which version it is."""
    tests = project.function(where).process_tests
    return any(first <= line <= last and kind == "version" for first, last, kind, _, _ in tests)


def _text(project: Project, value: Expr | None, where: FunctionRef) -> str | None:
    known = constant(project, value, where) if value is not None else None
    return known.value if known is not None and isinstance(known.value, str) else None


Fault = tuple[str, str, str, str]
"""The subject, what is wrong with it, what torch does about it, and what to do."""


def fault_of(
    known: KnownSettings, context: Context, module: str, short: str, value: Constant | None
) -> Fault | None:
    """The fault of a setting and its value."""
    name = f"{module}.{short}"
    if name not in known.types:
        names = [one[len(module) + 1 :] for one in known.types if one.startswith(f"{module}.")]
        near = nearest(short, names)
        if context.torch_version != known.torch and not near:
            return None  # what other versions have is not known
        version = ".".join(map(str, known.torch))
        what = f"is no setting of `{module}` in torch {version}"
        return name, what, "an AttributeError where it is set", meant(near)
    since = known.since.get(name)
    if since is not None and context.torch_version < since:
        older = next((one for one, today in known.aliases.items() if today == name), "")
        what = f"is new in torch {'.'.join(map(str, since))}"
        return name, what, "an AttributeError where it is set", meant(older.rpartition(".")[2])
    if value is None or fits(value.value, known.types[name]):
        return None
    return mistyped(name, value.value, known.types[name], "nothing checks that until something is compiled")


def mistyped(name: str, value: object, kind: str, then: str) -> Fault:
    """The fault of a value of another type."""
    return name, f"is {value!r}, and takes `{kind}`", then, f"give it a value of type `{kind}`"


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that is probably meant; empty if none is near."""
    return next(iter(get_close_matches(name, [*names], 1, 0.8)), "")


def meant(name: str) -> str:
    """The advice for a name that does not exist, with the one that is probably meant."""
    return f"did you mean `{name}`?" if name else "remove it, or ask with `hasattr` first"
