"""The region stage as a whole: facts of all files in, everything that is compiled out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dynamo_lint.evaluation import attributes, expressions, parameters, reaching_definitions
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.program.dependencies import Recorder
from dynamo_lint.program.project import Project
from dynamo_lint.program.tables import NO_TABLES, FilledTables
from dynamo_lint.regions.declared import assumed_entries, declared_entries, idle_declarations
from dynamo_lint.regions.entries import find_entries
from dynamo_lint.regions.model import Regions, Skipped
from dynamo_lint.regions.options import ENTRY, RegionOptions
from dynamo_lint.regions.unresolved import closures_alone, compile_flags, hidden_libraries, left_to_many
from dynamo_lint.regions.walk import trace
from dynamo_lint.values.points_to import Answers, PointsTo

ANSWERS = Answers(
    value=expressions.value_of,
    item=expressions.item_of,
    elements=expressions.elements_of,
    assigned=expressions.assigned_to,
    before=reaching_definitions.reaching_definitions,
    attribute=attributes.of_value,
    returned=expressions.returned,
    parameter=parameters.parameter_values,
    passed_by=parameters.passed_by,
    call_sites=parameters.call_sites,
    constructions=parameters.constructions,
)
"""Who answers each question of the points-to analysis."""
_DECLARED = "its target is unknown, but a declaration names what it may compile"


def resolve(
    files: Mapping[str, FileFacts],
    options: RegionOptions,
    notes: Recorder | None = None,
    gathered: FilledTables = NO_TABLES,
    go_on: Callable[[], None] = lambda: None,
) -> tuple[Project, Regions]:
    """Link the facts by path and find every hot function.

    The project is returned too: later stages ask it what names and attributes mean, and what is asked of
    facts is noted in `notes`. `gathered` are the tables by name as far as somebody has filled them already.
    `go_on` is called while this and later stages are under way: it may raise what ends them.
    """
    project = Project(files, notes, gathered, go_on)
    project.memo[PointsTo] = PointsTo(project, ANSWERS, guesses=options.guesses)
    found, unresolved, skipped = find_entries(project, options)
    declared, comments, unknown = declared_entries(project, options)
    answers = {_name(project, root.symbol) for root in declared}
    answered = {site for site in unresolved if not answers.isdisjoint((*site.candidates, *site.examples))}
    unresolved = [site for site in unresolved if site not in answered]
    skipped += (
        Skipped(one.path, one.line, one.expression, _DECLARED) for one in answered if one.kind == ENTRY
    )
    roots = [*found, *declared, *assumed_entries(project, options.assume)]
    if not (roots or unresolved or comments or unknown):
        unresolved = compile_flags(project)
    hot, calls, cuts = trace(project, roots, options)
    cuts = tuple(site for site in cuts if answers.isdisjoint(site.candidates))
    entries = tuple(root.entry for root in roots)
    none = tuple(sorted(set(skipped), key=lambda one: (one.path, one.line, one.expression)))
    idle = idle_declarations(project, options, unknown, comments)
    regions = Regions(entries, hot, (*unresolved, *comments), calls, none, idle, options)
    gaps = *cuts, *left_to_many(project, hot), *closures_alone(project, regions), *hidden_libraries(project)
    return project, replace(regions, unresolved=(*regions.unresolved, *gaps))


def _name(project: Project, symbol: str) -> str:
    """A class or function as it is written in the configuration: `package.module:Name`."""
    path, _, key = symbol.partition("::")
    return f"{project.files[path].module}:{key}"
