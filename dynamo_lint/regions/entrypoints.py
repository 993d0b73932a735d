"""What a program finds by `importlib.metadata.entry_points`, of what the project itself offers."""

from __future__ import annotations

from dynamo_lint.index.facts import Call
from dynamo_lint.index.packaging import ENTRY_POINT
from dynamo_lint.program.refs import Tier
from dynamo_lint.regions import choices
from dynamo_lint.regions.values import EMPTY, Loadable, Scope, Text, Values, each, freeze, union
from dynamo_lint.values.points_to import Evaluation

POINT = f"{ENTRY_POINT.module}.{ENTRY_POINT.name}"
_FINDING = frozenset(
    f"{package}.entry_points" for package in ("importlib.metadata", "importlib_metadata")
) | {"pkg_resources.iter_entry_points"}
LOADING = frozenset({"load", "resolve"})
"""Methods of an entry point that give what it names."""


def finds(dotted: str) -> bool:
    """Whether a function of a library gives entry points."""
    return dotted in _FINDING


def found(ev: Evaluation, call: Call, scope: Scope) -> Values:
    """The entry points of the group that a call asks for; of all groups, those are asked for one of them."""
    asked = dict(call.keywords).get("group", call.arguments[0] if call.arguments else None)
    if asked is None:
        return EMPTY
    groups = [value.value for value in ev.value(asked, scope) if isinstance(value, Text)]
    table = ev.project.named("settings")
    rows = [row for group in groups for row in table.get(group, ()) if row[1].call.function == ENTRY_POINT]
    return each(union((ev.value(one.call, Scope(where)) for where, one in rows), Tier.LIKELY))


def made(ev: Evaluation, call: Call, scope: Scope) -> Values:
    """An entry point of what it is made with; which of a group is loaded, a configuration says."""
    if len(call.arguments) != 1:
        return EMPTY  # by the text of its value, in code that makes its own
    offered = ev.value(call.arguments[0], scope)
    choices.note(ev.project, offered)
    return {Loadable(freeze(offered)): Tier.LIKELY} if offered else EMPTY
