"""What `torch.optim.Optimizer.__init__(params, defaults)` puts into the groups of a project's optimizer."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.state.items import item_of

BASES = frozenset({"torch.optim.Optimizer", "torch.optim.optimizer.Optimizer"})
GROUPS, STATE = "param_groups", "state"


def fills(attribute: str) -> bool:
    """An entry of a group (`param_groups[...]['lr']`) or of a parameter's state: its container is torch's."""
    return attribute.startswith((f"{GROUPS}[", f"{STATE}[")) and attribute.count("[") > 1


def default(project: Project, owner: ClassRef, item: str) -> tuple[FunctionRef, int, Expr] | None:
    """Where an optimizer passes the default of an entry such as `[...]['lr']`, and the value it passes."""
    entry = item[item.find("[", 1) :] if item.count("[") == 2 else ""
    init = project.method(owner, "__init__")
    if not entry or init is None:
        return None
    function = project.function(init)
    for site in function.calls:
        match site.call:
            case facts.Call(facts.Attribute(_, "__init__"), arguments, keywords):
                defaults = dict(keywords).get("defaults", arguments[-1] if arguments else facts.UNKNOWN)
                if isinstance(defaults, facts.Name):
                    bound = [b.value for b in function.bindings if b.name == defaults.id]
                    defaults = bound[0] if len(bound) == 1 else facts.UNKNOWN
                value = item_of(defaults, entry)
                return (init, site.call.line, value) if value != facts.UNKNOWN else None
    return None
