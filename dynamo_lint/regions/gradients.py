"""Where gradients are off: nothing of an autograd function is compiled there but its forward."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import MODULE_KEY, Call, Constant
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.program.refs import ClassRef, External, FunctionRef, Node
from dynamo_lint.regions.edges import Edge
from dynamo_lint.regions.project import Project

_OFF = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
_ON = ("enable_grad", "set_grad_enabled", "inference_mode")
"""What may turn gradients on again."""
_APPLY = "apply"


def without_gradients(
    project: Project, starts: Iterable[Node], edges: Mapping[Node, Iterable[Edge]]
) -> frozenset[Node]:
    """The backwards that nothing applies but what runs below functions that turn gradients off."""
    applied = {
        edge.target
        for found in edges.values()
        for edge in found
        if edge.callee == _APPLY and edge.target.function.key.endswith(".backward")
    }
    if not applied:
        return frozenset()
    on: set[object] = {ref for name in _ON for ref in project.named("callers").get(name, ())}
    on.update(ref for name in _ON for ref, _ in project.decorated_with(name) if not _turns_off(project, ref))
    pending = [*starts, *(node for node in edges if node.function in on)]
    with_them: set[Node] = set()
    while pending:
        node = pending.pop()
        if node not in with_them and (node.function in on or not _turns_off(project, node.function)):
            with_them.add(node)
            pending += (edge.target for edge in edges.get(node, ()))
    named = {edge.target for found in edges.values() for edge in found if edge.callee != _APPLY}
    return frozenset(applied - with_them - named)


def _turns_off(project: Project, ref: FunctionRef | ClassRef) -> bool:
    """Whether a decorator turns gradients off while a function runs."""
    function = project.function(ref) if isinstance(ref, FunctionRef) else project.class_(ref)
    for decorator in function.decorators:
        callee = decorator.function if isinstance(decorator, Call) else decorator
        given = arguments_of(decorator) if isinstance(decorator, Call) else ()
        if any(argument != Constant(True) for argument in given):
            continue  # `@inference_mode(False)`
        if terminal_name(callee) in ("no_grad", "inference_mode"):
            symbols = project.symbols(callee, ref.path, function.outer or MODULE_KEY)
            if any(isinstance(one, External) and one.dotted in _OFF for one in symbols):
                return True
    return False
