"""Rules about the practice of a project around compiled code, beside its settings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import MODULE_KEY, Constant, Display, Name
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.files import one_program
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import (
    NO_CONTRACT,
    Claim,
    Context,
    Rule,
    at_line,
    finding,
    is_named,
    is_quiet,
    named,
    region,
    spell,
    subject,
)
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.model import AttributeState, MutationSite, WriteSite
from dynamo_lint.state.practice import FunctionLine, Options, Practice
from dynamo_lint.state.process_groups import groups_made, is_distributed
from dynamo_lint.state.provenance import Tables
from dynamo_lint.state.tuning import Tuning
from dynamo_lint.values.points_to import points_to_of

Place = tuple[str, int]
"""A file and a line of it."""


@named("DYN510", "reset-site")
def reset_site(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Resets outside the sites of the contract; without one, those beside the one that compiles anew."""
    project, practice = tables.project, tables.practice
    sites = [one for one in practice.resets if not is_quiet(project, one.where)]
    for site in sites:
        allowed = context.contract_of(site.where.path).reset_sites
        if allowed:
            misplaced = not is_named(project, site.where, allowed)
        else:
            near = [one.where for one in sites if one_program(project, one.where.path, site.where.path)]
            home = next((one for one in near if _rebuilds(practice, one)), near[0])
            misplaced = site.where != home and not _rebuilds(practice, site.where)
        importing = not allowed and _is_import(tables, site)
        if not misplaced and not importing:
            continue
        why = "outside of `reset-sites`" if allowed else "beside another place that does so"
        why = why if misplaced else "when the file is imported"
        claim = Claim(
            message=f"compiled code is thrown away here, {why}",
            cost="everything compiles again at its next call, on this rank alone if others do not come here",
            severity="warning" if allowed else "note",
            subject="torch._dynamo.reset",
            advice="reset in one function that compiles anew, and name it in `reset-sites` of the contract",
            step="resets the compiler",
        )
        yield at_line(rule, tables, context, site.where, site.line, claim)


def _is_import(tables: Tables, site: FunctionLine) -> bool:
    """Whether a line runs when its file is imported, and the file is not there to be run by itself."""
    where = site.where
    alone = tables.project.files[where.path].is_script
    return (
        where.key == MODULE_KEY and not alone and not tables.project.function(where).is_conditional(site.line)
    )


def _rebuilds(practice: Practice, where: FunctionRef) -> bool:
    """Whether a function compiles something, too."""
    return any(one.where == where for one in practice.compiles)


@named("DYN516", "missing-fake")
def missing_fake(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such operator and compiled function that calls it, where the operator is made."""
    for one in tables.fakeless:
        claim = Claim(
            message=f"`{one.name}` is a custom operator without a fake, called in the compiled "
            f"`{region(tables, one.hot)}`: Dynamo cannot tell what it gives",
            cost="the call fails with a TorchRuntimeError; with `suppress_errors`, all of it runs eagerly",
            effect="eager",
            subject=one.name,
            advice=f"register one: `@{one.name}.register_fake`, a function that makes an empty result",
            step="an operator without a fake",
            related=(Related(one.hot.function.path, one.line, 1, "called here"),),
        )
        maker = FunctionRef(one.path, MODULE_KEY)
        yield at_line(rule, tables, context, maker, one.made, claim, one.hot)


@named("DYN517", "wrapped-checkpoint")
def wrapped_checkpoint(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per `state_dict()` of a wrapper that is saved."""
    for saved in tables.practice.saved:
        strictly = "a strict load into the plain model raises"
        claim = Claim(
            message="this `state_dict()` is that of a wrapper: each of its keys begins with `_orig_mod.`",
            cost=strictly if saved.strict else f"{strictly}, and `strict=False` loads nothing, silently",
            severity="warning" if saved.strict else "error",
            subject="state_dict",
            advice="compile in place with `model.compile()`, or save `model._orig_mod.state_dict()`",
            step="saves a wrapper",
        )
        yield at_line(rule, tables, context, saved.where, saved.line, claim)


_COUNT = re.compile(
    r"(n|num|total|max|cu|nr)?_?(tokens?|seq_?lens?|seqlens?|sequence_?lengths?|rows|seqs)(_[qk])?|n_?ctx"
    r"|batch(_?size)?|bsz|n_?elements|numel",
    re.IGNORECASE,
)
"""The names of arguments that differ from batch to batch."""


@named("DYN519", "autotune-keys")
def autotune_keys(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per kernel, for all that is wrong with how it is tuned."""
    for one in tables.practice.tunings:
        faults = [] if is_quiet(tables.project, one.where) else list(_faults(one, context))
        if not faults:
            continue
        claim = Claim(
            message=f"`triton.autotune` {' and '.join(what for what, _, _ in faults)}",
            cost=faults[0][1],
            severity="warning" if any(held for _, _, held in faults) else "note",
            subject="triton.autotune",
            advice="a short list of configurations, and dimensions of the model as the key",
            step="tunes a kernel",
        )
        yield at_line(rule, tables, context, one.where, one.line, claim)


def _faults(one: Tuning, context: Context) -> Iterator[tuple[str, str, bool]]:
    """The faults, each with what it costs, and whether the contract says so."""
    many = one.configurations
    if many != 1:
        counts = [name for name in one.key or () if _COUNT.fullmatch(name)]
        if counts:
            tried = f"{many} configurations" if many is not None else "all configurations"
            yield (
                f"has `{counts[0]}` in its key",
                f"{tried} are tried for each number of tokens that comes up",
                False,
            )
        if one.key == ():
            yield "has an empty key", "what is fastest for the first call is used for all sizes", False
    most = context.contract_of(one.where.path).max_autotune_configs
    if most is not None and many is not None and many > most:
        yield f"tries {many} configurations, and the contract allows {most}", "tuning takes that long", True


@named("DYN520", "mutable-state")
def mutable_state(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line that writes state, under a contract or a preset that forbids it."""
    for state in (*tables.attributes, *tables.globals):
        if not state.scoped and _is_buffer(tables.project, state):
            continue
        sites: tuple[WriteSite | MutationSite, ...] = (*state.writes, *state.mutations)
        for site in sites:
            if context.contract_of(site.hot.function.path).mutable_state != "forbid":
                continue
            place = site.write.place if isinstance(site, WriteSite) else site.mutation.place
            where = region(tables, site.hot)
            claim = Claim(
                message=f"`{spell(place)}` is written in the compiled `{where}`, which house policy forbids",
                cost="none by itself: Python state in compiled code costs as soon as something reads it",
                severity="warning",
                subject=subject(state),
                advice="keep it in a buffer, return it, or write it outside of compiled code",
                step=f"writes `{spell(place)}`",
            )
            yield finding(rule, tables, context, site.hot, site.position, claim)


def _is_buffer(project: Project, state: AttributeState) -> bool:
    """Whether an attribute is a buffer, which torch keeps and moves with its module."""
    if any(terminal_name(one.value) == "Buffer" for one in state.outside if one.initial):
        return True
    line = project.mro(state.declared_in)
    return any(
        project.owner(where) in line
        for where, site in project.calls_of("register_buffer")
        if site.call.arguments[:1] == (Constant(state.key.attribute),)
    )


_TALK = re.compile(r"verbose|log|report|print|debug|trace|repro|cache_dir")
"""Settings that change what is said, not what is compiled."""
_DEEPEST = 3
Ranked = tuple[str, bool]
"""The source of a test, and whether it holds."""


@named("DYN521", "divergent-ranks")
def divergent_ranks(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line that some ranks alone come to."""
    seen: dict[tuple[FunctionRef, int], tuple[str, Ranked]] = {}
    compiles: dict[tuple[FunctionRef, int], list[Options]] = defaultdict(list)
    for site in tables.practice.compiles:
        compiles[site.where, site.line].append(site)
    for where, line, what in _sites(tables):
        asked = _asked(tables.project, where, line)
        if asked is None:
            asked = _chosen(tables, compiles, where, line)
        if asked is None and not is_quiet(tables.project, where):
            asked = _on_all_ways(tables.project, where, 0)
        if asked is not None and not is_quiet(tables.project, where):
            seen.setdefault((where, line), (what, asked))
    for (where, line), (what, asked) in seen.items():
        if _also_otherwise(tables.project, where, what, asked, seen):
            continue
        test, holds = asked
        claim = Claim(
            message=f"{what} only on ranks where `{test}` {'holds' if holds else 'does not hold'}",
            cost="a rank waits in a collective for another that still compiles, until a timeout ends the job",
            severity="error",
            subject=what,
            advice="do it on every rank alike, and leave only what is printed to one",
            step="depends on the rank",
        )
        yield at_line(rule, tables, context, where, line, claim)


def _sites(tables: Tables) -> Iterator[tuple[FunctionRef, int, str]]:
    """The lines that compile or change how, with what they do."""
    project, practice = tables.project, tables.practice
    entries = dict.fromkeys((one.path, one.line) for one in tables.regions.entries)
    for one in practice.compiles:
        if one.sure or (one.where.path, one.line) in entries:
            yield one.where, one.line, "this compiles"
    for (_, line), where in _around(project, entries).items():
        yield where, line, "this compiles"
    for made in practice.settings:
        if not _TALK.search(made.name):
            yield made.where, made.line, f"`{made.name}` is set"
    for site in practice.resets:
        yield site.where, site.line, "compiled code is thrown away"


def _chosen(
    tables: Tables,
    compiles: Mapping[tuple[FunctionRef, int], Sequence[Options]],
    where: FunctionRef,
    line: int,
) -> Ranked | None:
    """A test of the rank that decides about an option of a compile, which has a name."""
    sites = compiles.get((where, line), ())
    names = {value.id for site in sites for _, value in site.keywords if isinstance(value, Name)}
    bindings = [one for name in names for one in tables.project.bindings_of(where).get(name, ())]
    return next((asked for one in bindings if (asked := _asked(tables.project, where, one.line))), None)


def _around(project: Project, places: Collection[Place]) -> dict[Place, FunctionRef]:
    """The innermost function around each call that compiles in place."""
    around: dict[Place, FunctionRef] = {}
    for path in dict.fromkeys(path for path, _ in places):
        for key, function in project.files[path].functions.items() if path in project.files else ():
            for line in {site.call.line for site in function.calls}:
                inside = key == MODULE_KEY or function.first_line <= line <= function.end_line
                if inside and (path, line) in places:
                    around[path, line] = FunctionRef(path, key)
    return {place: around[place] for place in places if place in around}


def _asked(project: Project, where: FunctionRef, line: int) -> Ranked | None:
    """The innermost test of the rank around a line."""
    tests = project.function(where).process_tests
    around = [row for row in tests if row[0] <= line <= row[1] and row[2] == "rank"]
    inner = max(around, key=lambda row: (row[0], -row[1], row[4]), default=None)
    return (inner[3], inner[4]) if inner is not None else None


def _on_all_ways(project: Project, where: FunctionRef, depth: int) -> Ranked | None:
    """A test that every known call of a function stands under."""
    calls = list(points_to_of(project).call_sites(where)) if depth < _DEEPEST else []
    found = [
        _asked(project, caller.function, site.call.line) or _on_all_ways(project, caller.function, depth + 1)
        for caller, site in calls
        if caller.function != where
    ]
    return found[0] if found and all(found) else None


def _also_otherwise(
    project: Project,
    where: FunctionRef,
    what: str,
    asked: Ranked,
    seen: dict[tuple[FunctionRef, int], tuple[str, Ranked]],
) -> bool:
    """Whether the same function does the same on the other ranks, too."""
    test, holds = asked
    return any(
        other == where and (did, rank) == (what, (test, not holds))
        for (other, _), (did, rank) in seen.items()
    )


_TUNING = ("max-autotune", "max-autotune-no-cudagraphs")
_TUNES = ("max_autotune", "max_autotune_gemm", "max_autotune_pointwise")


@named("DYN525", "rank-timeout")
def rank_timeout(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each group that waits too short, and for each compile that tunes on every rank."""
    project = tables.project
    for group in groups_made(project):
        least = context.contract_of(group.where.path).min_group_timeout
        if least is None or group.seconds is None or group.seconds >= least or is_quiet(project, group.where):
            continue
        claim = Claim(
            message=f"the process group waits {group.seconds:g} seconds, and the contract says {least:g}",
            cost="a rank that compiles for longer than that ends the job, as if it hung",
            severity="warning",
            subject="timeout",
            advice=f"`timeout=timedelta(seconds={least:g})`, longer than the longest compile",
            step="makes a process group",
        )
        yield at_line(rule, tables, context, group.where, group.line, claim)
    for where, line, how in _tuned(tables):
        if is_quiet(project, where) or not is_distributed(project, _program(project, where.path)):
            continue
        agreed = context.contract_of(where.path) != NO_CONTRACT
        claim = Claim(
            message=f"{how} tunes kernels on each of several ranks",
            cost="minutes at the first call, and a rank may choose other kernels than the others; one "
            "that is done waits in a collective until a timeout",
            severity="warning" if agreed else "note",
            subject=how,
            advice="tune once, in a job of one process with the same cache, or leave the mode away",
            step="tunes on every rank",
        )
        yield at_line(rule, tables, context, where, line, claim)


def _tuned(tables: Tables) -> Iterator[tuple[FunctionRef, int, str]]:
    """The compiles and settings that tune kernels."""
    project = tables.project
    for site in tables.practice.compiles:
        given = dict(site.keywords)
        mode = constant(project, given["mode"], site.where) if "mode" in given else None
        if mode is not None and mode.value in _TUNING:
            yield site.where, site.line, f'`mode="{mode.value}"`'
        options = given.get("options")
        if isinstance(options, Display):
            for key, value in zip(options.keys, options.items, strict=False):
                if key in _TUNES and value == Constant(True):
                    yield site.where, site.line, f"`{key}`"
    for made in tables.practice.settings:
        if made.name in _TUNES and constant(project, made.value, made.where) == Constant(True):
            yield made.where, made.line, f"`{made.name}`"


def _program(project: Project, path: str) -> frozenset[str]:
    """The files that one program runs together with a file."""
    return frozenset(other for other in project.files if one_program(project, path, other))
