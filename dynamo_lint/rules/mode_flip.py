"""DYN110: gradients, autocast or training mode change between calls of a region."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.models.drivers import AUTOCAST, GRADIENTS
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.driving import Driver, Visit, drivers, loops_over, position, root_name, targets
from dynamo_lint.rules.interpreted import stated, turning
from dynamo_lint.rules.training import cares_for_training
from dynamo_lint.state.provenance import Tables

FROZEN = "`requires_grad` of the blocks"
FAMILIES = {
    "no_grad": "gradient mode",
    "inference_mode": "gradient mode",
    "enable_grad": "gradient mode",
    "set_grad_enabled": "gradient mode",
    "autocast": "autocast",
}


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per mode that takes turns in a loop around compiled code."""
    training = None
    for driver in drivers(tables):
        calls = driver.calls()
        seen: set[str] = set()
        for visit in driver.visits:
            what = _context(visit, calls) or _switch(visit, driver, calls) or _frozen(visit, driver)
            if what == "training mode":
                training = cares_for_training(tables) if training is None else training
                what = what if training else ""
            node = visit.node
            if not what or what in seen or not isinstance(node, ast.expr | ast.stmt):
                continue
            seen.add(what)
            frozen = what == FROZEN
            claim = Claim(
                message=f"{what} changes between calls of the compiled code in this loop, and Dynamo "
                "guards on it",
                cost="one compiled version per state, 2 in all",
                effect="per-instance" if frozen else "once",
                entries=2,
                subject=f"{driver.ref.id}: {what}",
                advice="accept one extra compile, or keep the mode the same for all compiled calls",
                step=f"changes {what}",
            )
            yield placed(rule, context, driver.ref.path, position(node), driver.ref.id, claim)
    yield from _interpreted(rule, tables, context)


def _interpreted(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """A mode that some calls of a program have and others have not: a warm-up under `no_grad`."""
    for one in turning(tables, lambda met: met.what if met.what in (GRADIENTS, AUTOCAST) else ""):
        effect, entries = one.effect(context)
        what = one.met[-1].what
        claim = Claim(
            message=f"{what} differs between calls of the compiled code, and Dynamo guards on it",
            cost=one.cost(context, "it"),
            effect=effect,
            entries=entries,
            subject=f"{one.site.where.id}: {what}",
            advice="accept the extra compile, or keep the mode the same for all compiled calls",
            step=f"changes {what}",
        )
        yield stated(rule, tables, context, one.site, claim, one.met[-1])


def _context(visit: Visit, calls: list[Visit]) -> str:
    """The mode that a `with` sets for some of the compiled calls of its loop."""
    match visit:
        case Visit(ast.Call() as node, Visit(ast.withitem(), Visit(ast.With() as scope)), (outermost, *_)):
            pass
        case _:
            return ""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else root_name(node.func)
    family = FAMILIES.get(name, "")
    if not family:
        return ""
    inside = [call for call in calls if scope in call.above]
    same = [call for call in calls if call.loops[:1] == (outermost,)]
    called = {ast.unparse(call.node.func) for call in inside if isinstance(call.node, ast.Call)}
    outside = [
        call
        for call in same
        if call not in inside and isinstance(call.node, ast.Call) and ast.unparse(call.node.func) in called
    ]
    switched = [*node.args[:1], *(k.value for k in node.keywords if k.arg in {"enabled", "mode"})]
    varies = any(not isinstance(value, ast.Constant | ast.Attribute) for value in switched)
    return family if inside and (outside or (varies and name in {"set_grad_enabled", "autocast"})) else ""


def _switch(visit: Visit, driver: Driver, calls: list[Visit]) -> str:
    """The mode that a call or store on the compiled model sets in the loop that runs it."""
    match visit.node:
        case ast.Call(func=ast.Attribute(value=owner, attr="train" | "requires_grad_" as name), args=[value]):
            pass
        case ast.Assign(targets=[ast.Attribute(value=owner, attr="requires_grad" as name)], value=value):
            pass
        case ast.Call(func=ast.Attribute(value=owner, attr="eval" as name), args=[]):
            value = owner
        case _:
            return ""
    if root_name(owner) not in driver.models or isinstance(value, ast.Constant):
        return ""
    if not visit.loops or visit.loops not in [call.loops for call in calls]:
        return ""
    if name == "eval" and not _back_again(owner, visit, driver):
        return ""
    return "`requires_grad`" if name.startswith("requires_grad") else "training mode"


def _frozen(visit: Visit, driver: Driver) -> str:
    """Some blocks of a list learn and some do not, and all share compiled code."""
    loop = visit.loops[-1] if visit.loops and driver.regional else None
    match visit.node:
        case ast.Call(func=ast.Attribute(value=owner, attr="requires_grad_"), args=[value]) if isinstance(
            loop, ast.For
        ) and not isinstance(value, ast.Constant):
            ours = root_name(owner) in targets(loop) and loops_over(loop) in driver.models
            return FROZEN if ours else ""
    return ""


def _back_again(owner: ast.expr, visit: Visit, driver: Driver) -> bool:
    """`model.train()` in the same loop."""
    wanted = f"{ast.unparse(owner)}.train"
    return any(
        isinstance(other.node, ast.Call)
        and ast.unparse(other.node.func) == wanted
        and other.loops[:1] == visit.loops[:1]
        for other in driver.visits
    )


MODE_FLIP = Rule("DYN110", "mode-flip", check)
