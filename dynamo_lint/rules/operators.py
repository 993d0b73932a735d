"""DYN405 and DYN526: custom operators that do not do all that torch asks of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.files import one_program
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, is_quiet, named, region
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.gradient_buffers import GradientFlow
from dynamo_lint.state.operator_parts import (
    Fault,
    Parts,
    called_parts,
    opaque_lines,
    read_values,
    returned_arguments,
    taken_into_graphs,
    undeclared_changes,
)
from dynamo_lint.state.provenance import Tables

_OPAQUE = knowledge.table("break_rules")["DYN405"]
_TRAINS = ("backward", "grad")


@named("DYN405", "opaque-kernel")
def opaque_kernel(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each line of compiled code, and of what is traced for it behind an operator."""
    words = {key: text for key, text in _OPAQUE.items() if key != "name"}
    yield from broken(rule, tables, context, Wording(**words))
    project, said = tables.project, set[tuple[FunctionRef, int]]()
    allowed = taken_into_graphs(project, tables.regions)
    found = [(one, hot, "is put into the graph as it is") for one, hot in allowed]
    for parts in called_parts(project, tables.regions):
        found += [(one, parts.hot, "is the derivative of an operator") for one in parts.backwards]
    for where, hot, what in found:
        for fault in opaque_lines(project, tables.bodies, where):
            if (fault.where, fault.line) in said or is_quiet(project, fault.where):
                continue
            said.add((fault.where, fault.line))
            claim = Claim(
                message=f"`{fault.text}` needs the memory of a tensor, and `{where.key}` {what}: torch runs "
                "it on tensors that have none",
                cost="the first call fails: `Cannot access data pointer of Tensor`",
                effect="eager",
                severity="error",
                subject=fault.text,
                advice="make it an operator of its own, with a fake, and call that",
                step="needs the memory of a tensor",
            )
            yield at_line(rule, tables, context, fault.where, fault.line, claim, hot)


@named("DYN526", "incomplete-operator")
def incomplete_operator(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each fault of an operator that compiled code calls."""
    said: set[tuple[FunctionRef, int, str]] = set()
    for parts in called_parts(tables.project, tables.regions):
        for where, line, claim in _faults(tables, parts):
            if (where, line, claim.subject) not in said and not is_quiet(tables.project, where):
                said.add((where, line, claim.subject))
                yield at_line(rule, tables, context, where, line, claim, parts.hot)


def _faults(tables: Tables, parts: Parts) -> Iterator[tuple[FunctionRef, int, Claim]]:
    one, project, bodies = parts.operator, tables.project, tables.bodies
    name = one.name or one.operator
    made = FunctionRef(one.path, MODULE_KEY)
    severity = None if parts.differentiable else _needs_derivative(tables, parts)
    if severity is not None:
        claim = Claim(
            message=f"`{name}` has no derivative, and is trained in `{region(tables, parts.hot)}`",
            cost="no gradient comes through it"
            if one.defined
            else "the first call fails: `no autograd formula was registered`",
            effect="eager",
            severity=severity,
            subject=f"{name}: derivative",
            advice=f"register one: `{name}.register_autograd(backward, setup_context=…)`; if that launches a "
            "kernel, it is an operator, too",
            step="an operator without a derivative",
            related=(Related(parts.hot.function.path, parts.call, 1, "called here"),),
        )
        yield made, one.line, claim
    for fake in parts.fakes:
        for fault in read_values(project, bodies, fake, one):
            yield fake, fault.line, _of_fake(name, fault)
    if one.kernel is not None:
        declared = one.mutates
        changes = undeclared_changes(project, bodies, one.kernel, declared) if declared is not None else ()
        for fault in changes:
            yield one.kernel, fault.line, _of_change(name, fault)
        for fault in returned_arguments(project, bodies, one.kernel):
            yield one.kernel, fault.line, _of_return(name, fault)


def _of_fake(name: str, fault: Fault) -> Claim:
    return Claim(
        message=f"the fake of `{name}` takes a value out of a tensor, which has none there: `{fault.text}`",
        cost="a graph break at each call of the operator, or an error with `fullgraph=True`",
        effect="break",
        severity="warning",
        subject=f"{name}: {fault.text}",
        advice="make what it returns from sizes; `torch.library.get_ctx().new_dynamic_size()` stands for one "
        "that depends on values",
        step="takes a value out of a tensor",
    )


def _of_change(name: str, fault: Fault) -> Claim:
    return Claim(
        message=f"the operator `{name}` changes `{fault.name}`, which its `mutates_args` does not name",
        cost="compiled code may read the old value, or leave the call out: a wrong result without a message",
        effect="stale",
        severity="error",
        subject=f"{name}: {fault.name}",
        advice=f'`mutates_args=("{fault.name}",)`, or change a copy',
        step="changes an argument",
    )


def _of_return(name: str, fault: Fault) -> Claim:
    return Claim(
        message=f"the operator `{name}` returns its argument `{fault.name}`, or a view of it",
        cost="a RuntimeError at its call: what it returns may not share memory with what it is given",
        effect="eager",
        severity="error",
        subject=f"{name}: returns {fault.name}",
        advice=f"return a copy, `{fault.name}.clone()`, or nothing if it changes the argument",
        step="returns an argument",
    )


def _needs_derivative(tables: Tables, parts: Parts) -> str | None:
    """How sure it is that a gradient has to go through an operator: by a severity; None if none has to."""
    project, hot = tables.project, parts.hot
    entry = tables.regions.entries[hot.entries[0]].path
    trains = any(
        one_program(project, where.path, path) and not is_quiet(project, where)
        for name in _TRAINS
        for where, _ in project.calls_of(name)
        for path in dict.fromkeys((entry, hot.function.path))
    )
    if not trains:
        return None
    flow = GradientFlow(project, hot.receiver, project.self_name(hot.function) or "")
    body = tables.bodies.of(hot.function) or ()
    flow.block(body)
    parameters = {one.name for one in project.function(hot.function).parameters} - {flow.owner}
    unknown = False
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Call) and node.lineno == parts.call and _is_named(node.func, parts):
            if any(map(flow.needs, node.args)):
                return "error"
            given = {inner.id for one in node.args for inner in _loads(one)}
            unknown = unknown or not given.isdisjoint(parameters)
    regional = tables.regions.entries[hot.entries[0]].regional or not hot.compiled
    return "warning" if unknown and regional else None


def _is_named(callee: ast.expr, parts: Parts) -> bool:
    names = {parts.operator.name, parts.operator.operator.rpartition("::")[2]}
    parts_of_name = (part for part in ast.walk(callee) if isinstance(part, ast.Name | ast.Attribute))
    return any((part.id if isinstance(part, ast.Name) else part.attr) in names for part in parts_of_name)


def _loads(node: ast.expr) -> Iterator[ast.Name]:
    """The names that an expression reads, but for what is detached."""
    match node:
        case ast.Name():
            yield node
        case ast.Call(func=ast.Attribute(attr="detach")) | ast.Attribute(attr="data"):
            return
        case _:
            for one in ast.iter_child_nodes(node):
                if isinstance(one, ast.expr):
                    yield from _loads(one)
