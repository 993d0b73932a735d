"""What the members of an enumeration stand for: `class Model(Enum): LLAMA = Llama`, and `model.value()`."""

from __future__ import annotations

from dynamo_lint.index.facts import MODULE_KEY, Definition
from dynamo_lint.program.refs import ClassRef, FunctionRef, Tier
from dynamo_lint.regions import choices
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import Scope, Values, union
from dynamo_lint.values.points_to import Evaluation


def is_enumeration(project: Project, ref: ClassRef) -> bool:
    """Whether instances of a class are its members (enum)."""
    return any(base.startswith("enum.") for base in project.external_bases(ref))


def values_of(ev: Evaluation, ref: ClassRef) -> Values:
    """The `value` of a member that only the run knows."""
    class_ = ev.project.class_(ref)
    outer = Scope(FunctionRef(ref.path, class_.outer or MODULE_KEY))
    found = union(
        (ev.value(one.value, outer) for one in class_.bindings if not isinstance(one.value, Definition)),
        Tier.LIKELY,
    )
    choices.note(ev.project, found)
    return found
