"""The common part of rules about the practice of a project: where lines stand, which sites go together."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_lint.findings import Finding
from dynamo_lint.program.files import in_tests, one_program
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.options import matches
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.eager_code import line_of
from dynamo_lint.state.provenance import Tables


def at_line(
    rule: Rule, tables: Tables, context: Context, where: FunctionRef, line: int, claim: Claim
) -> Finding:
    """A finding about a line of any function."""
    return placed(rule, context, where.path, line_of(tables, where, line), where.id, claim)


def is_quiet(project: Project, where: FunctionRef) -> bool:
    """Whether code is that of tests, which may do as they like."""
    return where.path not in project.files or in_tests(where.path)


def is_named(project: Project, where: FunctionRef, patterns: Iterable[str]) -> bool:
    """Whether a function, or one around it, is one of those that patterns name."""
    parts = where.key.split(".<locals>.")
    around = [FunctionRef(where.path, ".<locals>.".join(parts[: n + 1])) for n in range(len(parts))]
    patterns = tuple(patterns)
    return any(matches(project, one, patterns) for one in around)


def together(project: Project, one: FunctionRef, other: FunctionRef) -> bool:
    """Whether one program may run two functions."""
    return one_program(project, one.path, other.path)
