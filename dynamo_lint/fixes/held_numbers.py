"""Numbers that a plain object or a class holds, which compiled code changes, become tensors there.

Such a tensor stays on the CPU, and each update makes another: whoever copied the object, or inherits from the
class, keeps the value that was there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.findings import Finding, Fix
from dynamo_lint.fixes.attribute_uses import Place, family_of, in_body, torch_name
from dynamo_lint.fixes.buffers import (
    Plan,
    check_name,
    flows_of,
    kept_in_tensor,
    kind_of,
    plan_of,
    states_at,
    without_messages,
)
from dynamo_lint.fixes.edit_session import Elsewhere, Unclear, Workbench
from dynamo_lint.fixes.safety import records_graphs
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.state.initial import PLAIN_BASES


def object_fix(finding: Finding, bench: Workbench) -> Fix:
    """The same for a number of an object that is no module; raises Unclear where it may be anything else."""
    states = states_at(bench, finding)
    declared_in, name = _owner_at(bench, finding)
    project = bench.tables.project
    for ref in (declared_in, *bench.below.get(declared_in, ())):
        if project.is_module(ref) or _is_strange(bench, ref) or project.class_(ref).decorators:
            raise Elsewhere(f"`{ref.name}` is more than a plain class")
    if name in project.class_bindings(declared_in):
        raise Elsewhere("the body of the class has a value for it")
    if any(state.argument for state in states):
        raise Unclear("the object is an argument")
    check_name(name)
    _check_graphs(bench)
    return kept_in_tensor(plan_of(bench, declared_in, name, states))


def _is_strange(bench: Workbench, ref: ClassRef) -> bool:
    """Whether a class derives from one that is neither of the project nor known to do nothing with it."""
    bases = set(bench.tables.project.external_bases(ref)) - PLAIN_BASES
    return any(not base.startswith("typing.") for base in bases)


def _owner_at(bench: Workbench, finding: Finding) -> tuple[ClassRef, str]:
    """The one attribute that a finding's line writes, and the class of the project that declares it."""
    owners = {(state.declared_in, state.key.attribute) for state in states_at(bench, finding)}
    if len(owners) != 1:
        several = "it changes several attributes" if owners else "it is not known which attribute it changes"
        raise Elsewhere(several)
    ((declared_in, name),) = owners
    if not name.isidentifier() or declared_in.key not in bench.tables.project.files[declared_in.path].classes:
        raise Elsewhere("no object has it under a name")
    return declared_in, name


def _check_graphs(bench: Workbench) -> None:
    """Refuse a tensor that stays on the CPU where CUDA graphs are asked for."""
    if place := records_graphs(bench):
        raise Unclear(f"a tensor on the CPU ends the CUDA graphs that {place} asks for")


def class_fix(finding: Finding, bench: Workbench) -> Fix:
    """The same for a number of a class itself; raises Unclear where an object may get one of its own."""
    declared_in, name = _owner_at(bench, finding)
    declaration, place, class_ = in_body(bench, declared_in, name)
    if class_.keywords or class_.decorator_list or _is_strange(bench, declared_in):
        raise Unclear(f"a decorator or a base makes `{declared_in.name}` what it is")
    family = family_of(bench, declared_in, name, default=declaration, by_class=True)
    for mention in family.mentions:
        if not isinstance(mention.node.ctx, ast.Load) and (mention.guessed or not mention.of_class):
            raise Unclear(f"line {mention.node.lineno} may set it for one object alone")
    check_name(name)
    _check_graphs(bench)
    kind = kind_of(bench, states_at(bench, finding), family, declaration)
    torch, imports = torch_name(place.file)
    if not any(isinstance(one, ast.Import | ast.ImportFrom) for one in _above(place, class_)):
        raise Unclear("nothing is imported above the class")
    family, silenced = without_messages(bench, family)
    flows = flows_of(bench, family, kind)
    plan = Plan(bench, family, kind, place, declaration, torch, imports, flows, silenced, "", "class")
    return kept_in_tensor(plan)


def _above(place: Place, class_: ast.ClassDef) -> Iterator[ast.stmt]:
    return (statement for statement in place.file.tree.body if statement.lineno < class_.lineno)
