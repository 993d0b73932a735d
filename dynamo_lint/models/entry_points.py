"""`importlib.metadata` entry points of the project."""

from __future__ import annotations

from dynamo_lint import knowledge
from dynamo_lint.index.ir import Call
from dynamo_lint.index.packaging import ENTRY_POINT
from dynamo_lint.program.refs import Confidence
from dynamo_lint.values import alternatives
from dynamo_lint.values.model import EMPTY, Context, EntryPoint, Text, ValueSet, each, freeze, union
from dynamo_lint.values.points_to import PointsTo

POINT = f"{ENTRY_POINT.module}.{ENTRY_POINT.name}"
_FINDING = knowledge.names("finds_entry_points")
LOADING = frozenset({"load", "resolve"})
"""Methods of an entry point that give what it names."""


def is_lookup(dotted: str) -> bool:
    """Whether a function of a library gives entry points."""
    return dotted in _FINDING


def entry_points(pts: PointsTo, call: Call, context: Context) -> ValueSet:
    """The entry points of the group that a call asks for; of all groups, those are asked for one of them."""
    asked = dict(call.keywords).get("group", call.arguments[0] if call.arguments else None)
    if asked is None:
        return EMPTY
    groups = [value.value for value in pts.value(asked, context) if isinstance(value, Text)]
    table = pts.project.named("settings")
    rows = [row for group in groups for row in table.get(group, ()) if row[1].call.function == ENTRY_POINT]
    return each(union((pts.value(one.call, Context(where)) for where, one in rows), Confidence.LIKELY))


def entry_point(pts: PointsTo, call: Call, context: Context) -> ValueSet:
    """An entry point of what it is made with; which of a group is loaded, a configuration says."""
    if len(call.arguments) != 1:
        return EMPTY  # by the text of its value, in code that makes its own
    offered = pts.value(call.arguments[0], context)
    alternatives.note(pts.project, offered)
    return {EntryPoint(freeze(offered)): Confidence.LIKELY} if offered else EMPTY
