"""The classes that a method with a compile site runs for: those of its family that the program makes."""

from __future__ import annotations

from dynamo_lint.program.files import is_for_tests
from dynamo_lint.program.hierarchy import subclasses_running
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values.points_to import PointsTo


def receivers(pts: PointsTo, where: FunctionRef) -> dict[ClassRef, Confidence]:
    """The class of a method and the subclasses that run it too, each with how surely `self` is one.

    Where calls make instances of some of them, the others are a guess: a base that is never made compiles
    nothing itself, nor does a sibling.
    """
    owner = pts.project.owner(where)
    if owner is None:
        return {}
    below = subclasses_running(pts.project, where)
    family = {owner: Confidence.CERTAIN, **dict.fromkeys(below, Confidence.LIKELY)}
    made = {ref for ref in family if _is_made(pts, ref, where)} if below else set()
    return {
        ref: confidence if not made or ref in made else Confidence.POSSIBLE
        for ref, confidence in family.items()
    }


def _is_made(pts: PointsTo, ref: ClassRef, where: FunctionRef) -> bool:
    """Whether code other than that of tests makes instances of a class."""
    return any(not is_for_tests(c.function.path, where.path) for c, _ in pts.constructions(ref))
