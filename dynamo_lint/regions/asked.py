"""What a compile entry asks for: the keywords of its call."""

from __future__ import annotations

from collections import defaultdict

from dynamo_lint.index import facts
from dynamo_lint.regions.model import Entry
from dynamo_lint.regions.project import Project


def calls_at(project: Project, path: str, line: int) -> list[facts.Call]:
    """The calls that begin on a line, decorators among them; what looks for them asks for many lines."""
    key = ("calls by line", path)
    if key not in project.memo:
        table: dict[int, list[facts.Call]] = defaultdict(list)
        for function in project.files[path].functions.values():
            for call in (*(site.call for site in function.calls), *function.decorators):
                if isinstance(call, facts.Call):
                    table[call.line].append(call)
        project.memo[key] = dict(table)
    return project.memo[key].get(line, [])  # type: ignore[attr-defined, no-any-return]


def entry_keywords(project: Project, entry: Entry) -> dict[str, object]:
    """Literal keyword arguments of the call that is an entry: `isolate_recompiles=True`."""
    if entry.path not in project.files:
        return {}
    return {
        name: value.value
        for call in calls_at(project, entry.path, entry.line)
        for name, value in call.keywords
        if name is not None and isinstance(value, facts.Constant)
    }
