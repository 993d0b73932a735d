"""DYN302: a forward hook is registered inside a region after the region was compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.calls.hooks import FORWARD_HOOKS
from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.driving import Driver, Visit, drivers, position, root_name
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per registration that compiled code will not see."""
    for driver in drivers(tables):
        calls = driver.calls()
        for visit in driver.visits:
            node = visit.node
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr not in FORWARD_HOOKS or not _inside(node.func.value, driver):
                continue
            target = ast.unparse(node.func.value)
            if _late(visit, calls, driver):
                message = (
                    f"`{target}.{node.func.attr}(...)` is called after compiled code that ran `{target}`"
                )
                cost = "the hook is never called: Dynamo does not guard on hooks of inner modules"
                advice = (
                    "register hooks before the first compiled call, or call `torch.compiler.reset()` after"
                )
            elif driver.regional and _one_of_many(node.func.value):
                message = (
                    f"`{target}` gets a hook that its siblings lack, and all share one compiled `forward`"
                )
                cost = "the instance that is compiled first decides for all of them whether the hook runs"
                advice = "give every instance the hook, and let the hook decide from its arguments"
            else:
                continue
            claim = Claim(
                message=message,
                cost=cost,
                effect="stale",
                subject=f"{target}.{node.func.attr}",
                advice=advice,
                step="registers a hook",
            )
            yield placed(rule, context, driver.ref.path, position(node), driver.ref.id, claim)


def _inside(owner: ast.expr, driver: Driver) -> bool:
    """The module is a part of what was compiled; hooks of the compiled module itself are seen."""
    return isinstance(owner, ast.Attribute | ast.Subscript) and root_name(owner) in driver.models


def _late(visit: Visit, calls: list[Visit], driver: Driver) -> bool:
    if not calls:
        return False
    if not driver.compiles and any(isinstance(above, ast.If) for above in visit.above):
        return True  # the function runs again and again, and does this only at some point
    line = getattr(visit.node, "lineno", 0)
    for call in calls:
        if set(map(id, call.loops)) & set(map(id, visit.loops)):
            return True
        if getattr(call.node, "lineno", 0) < line:
            return True
    return False


def _one_of_many(owner: ast.expr) -> bool:
    """`model.blocks[3].norm`: a part of one element, by number."""
    while isinstance(owner, ast.Attribute):
        owner = owner.value
        if isinstance(owner, ast.Subscript) and isinstance(owner.slice, ast.Constant):
            return True
    return False


LATE_HOOK = Rule("DYN302", "late-hook", check)
