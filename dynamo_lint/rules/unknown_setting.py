"""DYN515: a setting, a mode or an option that torch does not have, or a value of the wrong type for it."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import Display, Expr
from dynamo_lint.models.settings import KnownSettings, fits, known_settings
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.practices import at_line, is_quiet
from dynamo_lint.rules.setting_faults import Fault, fault_of, meant, mistyped, nearest
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.practice import Options
from dynamo_lint.state.provenance import Tables

_INDUCTOR = "torch._inductor.config"
_OWN_OPTIONS = frozenset({"guard_filter_fn", "use_aoti"})
"""Options that torch.compile takes for itself (torch/__init__.py)."""
_KEYWORDS = {
    "fullgraph": "bool",
    "dynamic": "bool | None",
    "disable": "bool",
    "recompile_limit": "int | None",
}


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per setting and option; none where code asks first what torch has."""
    for where, line, fault in _faults(tables, context):
        if is_quiet(tables.project, where) or _asks_first(tables.project, where, line):
            continue
        subject, what, then, advice = fault
        claim = Claim(
            message=f"`{subject}` {what}",
            cost=then,
            effect="",
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


UNKNOWN_SETTING = Rule("DYN515", "unknown-setting", check)
