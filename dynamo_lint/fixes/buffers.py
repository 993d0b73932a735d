"""Numbers that compiled code changes, and sums that start as None, become buffers of their module."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Literal

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Edit, Finding, Fix, Span
from dynamo_lint.fixes.assignments import apart, parts
from dynamo_lint.fixes.attribute_uses import (
    Declaration,
    Family,
    Init,
    Mention,
    Place,
    calls_parent,
    check_parents_first,
    declaration_of,
    default_of,
    family_of,
    init_of,
    is_same,
    place_of,
    plain_init_of,
    speaks_of,
    torch_name,
)
from dynamo_lint.fixes.edit_session import Elsewhere, OpenFile, Unclear, Workbench, fix_of
from dynamo_lint.fixes.graph_breaks import SILENCED, is_silenced, only_writes, silenced
from dynamo_lint.fixes.safety import reason, trains_on_ranks, unlisted
from dynamo_lint.fixes.tensor_values import key_of
from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.fixes.uses import ARITHMETIC, ATOMS, Flow, Seen, clamped, flow
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.lower import as_fact
from dynamo_lint.interpreter.find import runs
from dynamo_lint.program.refs import ClassRef, Position
from dynamo_lint.state import kinds as K
from dynamo_lint.state.model import AttributeState, Key, Kind, Kinds, Outside
from dynamo_lint.values.model import Context, Instance
from dynamo_lint.values.points_to import evaluate

DTYPES = {Kind.INT: "long", Kind.BOOL: "bool", Kind.FLOAT: "float32"}
SIGNS = dict(zip(ARITHMETIC, ("+", "-", "*", "/", "//", "%", "**"), strict=True))
_TAKEN = frozenset({"training", "call_super_init", "dump_patches"})
"""Numbers of every module: `register_buffer` refuses their names."""
_OF_TYPES: Mapping[type | None, Kind] = {int: Kind.INT, float: Kind.FLOAT, bool: Kind.BOOL}
PYTHON = {Kind.INT: "int", Kind.BOOL: "bool", Kind.FLOAT: "float"}


@dataclass(frozen=True, slots=True)
class Plan:
    """Facts that the rewrite of one attribute needs at every mention."""

    bench: Workbench
    family: Family
    kind: Kind
    init: Init | Place
    declaration: Declaration
    torch: str
    """The name of torch in the file of the declaration."""
    imports: tuple[Edit, ...]
    flows: tuple[Flow, ...]
    """The ways of the value through compiled code."""
    silenced: tuple[Edit, ...]
    """The edits that keep decisions which only write messages out of compiled code."""
    unlisted: str | None
    """Why it must be a plain tensor, which `buffers()` does not give; None for a buffer."""
    holder: Literal["module", "object", "class"] = "module"
    """What has the number: a module moves from one device to another."""

    @property
    def rebind(self) -> bool:
        """The value enters math whose backward may still need it, so it must never change in place.

        Nor may that of an object which anything may copy, or that of a class which others inherit.
        """
        return self.holder != "module" or any(flow.math for flow in self.flows)

    @property
    def start(self) -> str:
        """The statement that declares the tensor."""
        value = self.init.file.one_line(self.declaration.value)
        dtype = f"{self.torch}.{DTYPES[self.kind]}"
        start = f"{self.torch}.tensor({value}, dtype={dtype})"
        if value in {"0", "0.0"} and self.kind != Kind.BOOL:
            start = f"{self.torch}.zeros((), dtype={dtype})"
        me = self.init.me
        if self.holder == "class":
            return f"{self.family.name} = {start}"
        if self.unlisted is not None:
            return f"{me}.{self.family.name} = {start}"
        return f'{me}.register_buffer("{self.family.name}", {start}, persistent=False)'

    @property
    def advice(self) -> str:
        """The edit in words."""
        if self.holder != "module":
            return f"keep it in a tensor (`{self.start}`), which stays on the CPU, and rebind it"
        update = "update it in place"
        if self.rebind:
            update = "rebind it, since a backward may still need the old value"
        if self.unlisted is not None:
            return f"keep it in a tensor (`{self.start}`; no buffer, since {self.unlisted}) and {update}"
        kept = "`persistent=False`, so that old checkpoints still load"
        return f"keep it in a buffer (`{self.start}`) and {update}; {kept}"


def number_fix(finding: Finding, bench: Workbench) -> Fix:
    """The rewrite of the attribute that a finding is about; raises Unclear if it cannot become a tensor."""
    return kept_in_tensor(plan_of(bench, *_buffer_at(bench, finding), states_at(bench, finding)))


def constant_fix(finding: Finding, bench: Workbench) -> Fix:
    """The same for a number that differs between instances; raises Unclear if one may have something else."""
    key, project = key_of(finding, bench), bench.tables.project
    if key.owner.key not in project.files[key.owner.path].classes:
        raise Unclear("it is no attribute of an instance")
    declared_in = bench.tables.initial.declared_in(key)
    if not project.is_module(declared_in):
        raise Elsewhere("only a module has buffers")
    check_name(key.attribute)
    states = [state for state in bench.tables.attributes if state.key == key]
    values = {
        type(value.leaf) if value.kind == "const" else None
        for one in bench.tables.units.differences
        if bench.tables.initial.declared_in(Key(one.owner, one.attribute)) == declared_in
        if one.attribute == key.attribute
        for value in one.values
    } | {*_types_met(bench, declared_in, key.attribute)}
    known = _OF_TYPES.get(next(iter(values))) if len(values) == 1 else None
    return kept_in_tensor(plan_of(bench, declared_in, key.attribute, states, known))


def _types_met(bench: Workbench, declared_in: ClassRef, name: str) -> Iterator[type]:
    """The types of what an attribute has held in runs where it asked for a compile."""
    for recompile in (one for run in runs(bench.tables) for one in run.recompiles):
        keys = (key for key in recompile.keys[:1] if key.attribute == name)
        if any(bench.tables.initial.declared_in(key) == declared_in for key in keys):
            yield type(recompile.now)


def kept_in_tensor(plan: Plan) -> Fix:
    """The edits of a plan, and what stands against them."""
    bench = plan.bench
    why = SILENCED if plan.silenced else reason(bench, plan.family, plan.kind == Kind.FLOAT, plan.flows)
    return fix_of(plan.advice, dict.fromkeys((*plan.silenced, *_number_edits(plan))), why)


def states_at(bench: Workbench, finding: Finding) -> list[AttributeState]:
    """The attributes that a finding's line writes, hot or not: one for each class of `self`."""
    span = finding.span
    hot = bench.states.get((span.path, span.line, span.column))
    return hot or bench.states_outside.get((span.path, span.line), [])


def module_attribute(bench: Workbench, finding: Finding) -> tuple[ClassRef, str]:
    """The one attribute of a module that a finding's line writes, and the class that declares it."""
    states = states_at(bench, finding)
    owners = {(state.declared_in, state.key.attribute) for state in states} or _set_at(bench, finding.span)
    if len(owners) != 1:
        several = "it changes several attributes" if owners else "it is not known which attribute it changes"
        raise Unclear(several)
    ((declared_in, name),) = owners
    if finding.keys and not any(f".{name}{end}" in f"{key}." for key in finding.keys for end in ".["):
        raise Unclear("what changes is held by something else")
    plain = name.isidentifier() and declared_in.key != MODULE_KEY
    if not plain or not (bench.tables.project.is_module(declared_in) or _mixes_in(bench, declared_in)):
        raise Elsewhere("only a module has buffers")
    if any(state.argument for state in states):
        raise Unclear("the object is an argument")
    return declared_in, name


def _mixes_in(bench: Workbench, ref: ClassRef) -> bool:
    """Whether a class is a part of modules alone, whose `__init__` runs that of `nn.Module` first."""
    project = bench.tables.project
    heirs = [heir for heir in bench.below.get(ref, ()) if heir != ref]
    if not heirs or not all(project.is_module(heir) for heir in heirs) or project.external_bases(ref):
        return False
    for heir in heirs:
        for base in project.bases(heir):
            if base == ref:
                break
            if not isinstance(base, ClassRef) or project.is_module(base):
                return False
    return not any(
        symbol == ref
        for where in project.functions()
        for site in project.function(where).calls
        for symbol in project.symbols(site.call.function, where.path, where.key)
    )


def _set_at(bench: Workbench, span: Span) -> set[tuple[ClassRef, str]]:
    """The attributes that a statement sets that begins where a finding does, as far as its text shows."""
    file, tables = bench.open(span.path), bench.tables
    statement = file.at(Position(span.line, span.column, span.line, span.column), ast.Assign, ast.AugAssign)
    match statement:
        case ast.AugAssign(target=ast.Attribute() as target):
            pass
        case ast.Assign(targets=[ast.Attribute() as target]):
            pass
        case _:
            return set()
    where = file.reference(target)
    owners = evaluate(tables.project, as_fact(target.value), Context(where, tables.project.owner(where)))
    if not all(isinstance(owner, Instance) for owner in owners):
        return set()
    keys = [Key(owner.ref, target.attr) for owner in owners if isinstance(owner, Instance)]
    return {(tables.initial.declared_in(key), key.attribute) for key in keys}


def _buffer_at(bench: Workbench, finding: Finding) -> tuple[ClassRef, str]:
    """The attribute that a finding's line writes, if a buffer can have its name."""
    declared_in, name = module_attribute(bench, finding)
    if not bench.tables.project.is_module(declared_in):
        check_parents_first(bench, declared_in, name)
    check_name(name)
    return declared_in, name


def check_name(name: str) -> None:
    """Refuse a name that no buffer can have."""
    if name.startswith("__"):
        raise Unclear("Python spells a name of two underscores otherwise in each class")
    if name in _TAKEN:
        raise Unclear("every module has an attribute of that name")


def plan_of(
    bench: Workbench,
    declared_in: ClassRef,
    name: str,
    states: list[AttributeState],
    given: Kind | None = None,
) -> Plan:
    """The parts of a rewrite; `given` is the kind that every instance is made with."""
    of_module = bench.tables.project.is_module(declared_in) or _mixes_in(bench, declared_in)
    init = place_of(bench, declared_in) if of_module else plain_init_of(bench, declared_in)
    default = default_of(bench, declared_in, name, init)
    family = family_of(bench, declared_in, name, default=default)
    stores = [mention for mention in family.mentions if isinstance(mention.node.ctx, ast.Store)]
    kind = given if len(stores) == 1 and not states else None
    kind = kind or kind_of(bench, states, family, default)
    if default is not None:
        declaration = default
    elif isinstance(init, Init):
        declaration = declaration_of(init, family)
    else:
        raise Unclear(f"`{declared_in.name}` has no `__init__`")
    family, silenced = without_messages(bench, family)
    flows = flows_of(bench, family, kind)
    torch, imports = torch_name(init.file)
    why = unlisted(bench) if of_module else "its object is no module"
    holder: Literal["module", "object"] = "module" if of_module else "object"
    return Plan(bench, family, kind, init, declaration, torch, imports, flows, silenced, why, holder)


def kind_of(
    bench: Workbench, states: list[AttributeState], family: Family, default: Declaration | None
) -> Kind:
    """One kind for everything that is ever stored."""
    stored: set[Kinds] = set() if states else {_kinds_in_text(bench, family, default)}
    for state in states:
        stored |= {site.write.value.kinds for site in state.writes}
        for outside in state.outside:
            stored.add(outside.kinds or _kind_at(bench, family, outside))
    if not all(stored):
        raise Unclear("the stored value is unknown")
    kinds = frozenset[Kind]().union(*stored)
    if kinds == {Kind.INT, Kind.FLOAT}:
        return Kind.FLOAT
    if len(kinds) != 1 or not kinds <= DTYPES.keys():
        raise Unclear("it holds more than numbers")
    return next(iter(kinds))


def _kinds_in_text(bench: Workbench, family: Family, default: Declaration | None) -> Kinds:
    """The kinds of all that is stored, where each store shows its own; none if one does not."""
    kinds = K.of_constant(getattr(default.value, "value", ...)) if default is not None else K.UNKNOWN
    stores = [mention for mention in family.mentions if isinstance(mention.node.ctx, ast.Store)]
    values = [(mention, _stored_value(mention)) for mention in stores]
    for of_itself in (False, True):
        kind = Kind.FLOAT if Kind.FLOAT in kinds else next(iter(kinds), None)
        for mention, value in values:
            if value is not None and speaks_of(value, family.name) != of_itself:
                continue
            judge = Judge(bench, mention.file, asked=(family.name, kind))
            number = judge.number(value) if value is not None else None
            if number is None:
                return frozenset()
            kinds |= {number}
    return kinds


def _stored_value(mention: Mention) -> ast.expr | None:
    """The value that a statement puts into an attribute; None where that has no expression of its own."""
    match statement := mention.file.statement(mention.node):
        case ast.AugAssign(target=target, op=op, value=value):
            return ast.BinOp(target, op, value)
        case _:
            return next((part.value for part in parts(statement) if part.target is mention.node), None)


def _kind_at(bench: Workbench, family: Family, outside: Outside) -> Kinds:
    """The kind that a line outside compiled code stores, as far as its own function shows."""
    found: set[Kind | None] = set()
    for mention in family.mentions:
        statement = mention.file.statement(mention.node)
        if (mention.file.path, statement.lineno) == (outside.path, outside.line):
            match statement:
                case ast.Assign(value=value) | ast.AugAssign(value=ast.expr() as value):
                    found.add(Judge(bench, mention.file).number(value))
    return frozenset(kind for kind in found if kind is not None) if None not in found else frozenset()


def without_messages(bench: Workbench, family: Family) -> tuple[Family, tuple[Edit, ...]]:
    """The family with decisions that only write messages left to eager code, and the edits that do so."""
    edits: dict[Edit, None] = {}
    mentions: list[Mention] = []
    for mention in family.mentions:
        file, eager = mention.file, False
        inner: ast.AST = mention.node
        asked = mention.hot and isinstance(mention.node.ctx, ast.Load)
        for above in file.above(mention.node) if asked else ():
            match above:
                case ast.If() if is_silenced(above):
                    eager |= inner not in above.orelse
                case ast.If() if only_writes(file, bench, above):
                    torch, imports = torch_name(file)
                    edits |= dict.fromkeys((*imports, silenced(file, above, torch)))
                    eager = True
            inner = above
        mentions.append(replace(mention, hot=False) if eager else mention)
    return replace(family, mentions=tuple(mentions)), tuple(edits)


def flows_of(bench: Workbench, family: Family, kind: Kind) -> tuple[Flow, ...]:
    """The ways of the value through compiled code, from each load of it."""
    walked: Seen = set()
    return tuple(
        flow(Judge(bench, mention.file), mention.node, family.name, kind == Kind.BOOL, walked)
        for mention in family.mentions
        if mention.hot and isinstance(mention.node.ctx, ast.Load)
    )


# --- the edits ------------------------------------------------------------------------------------------


def _number_edits(plan: Plan) -> Iterator[Edit]:
    yield from _declare(plan)
    walked: Seen = set()
    joint: dict[ast.stmt, list[Mention]] = defaultdict(list)
    for mention in plan.family.mentions:
        statement = mention.file.statement(mention.node)
        if statement is plan.declaration.statement:
            continue
        if len(parts(statement)) > 1:
            joint[statement].append(mention)
            continue
        match mention.node.ctx:
            case ast.Store():
                yield from _write(plan, mention, statement)
            case _:
                yield from _loaded(plan, mention, walked)
    for statement, mentions in joint.items():
        yield from _write_apart(plan, statement, mentions, walked)


def _loaded(plan: Plan, mention: Mention, walked: Seen) -> Iterator[Edit]:
    if isinstance(mention.node.ctx, ast.Del):
        raise Unclear("it is deleted")
    yield from _builtins(plan, mention, walked) if mention.hot else _read(plan, mention)


def _write_apart(plan: Plan, statement: ast.stmt, mentions: list[Mention], walked: Seen) -> Iterator[Edit]:
    """A statement that sets several things, as one statement for each, if the number is among them."""
    reads: list[Edit] = []
    texts: dict[ast.expr, str] = {}
    for mention in mentions:
        if not isinstance(mention.node.ctx, ast.Store):
            reads += _loaded(plan, mention, walked)
            continue
        target = _target(plan, mention)
        value = next((part.value for part in parts(statement) if part.target is mention.node), None)
        if value is None or speaks_of(value, plan.family.name):
            raise Unclear(f"line {statement.lineno} sets it together with something else")
        texts[mention.node] = _stored(plan, target, mention.file.one_line(value))
    yield from (apart(mentions[0].file, statement, texts, reads),) if texts else reads


def _declare(plan: Plan) -> Iterator[Edit]:
    file, declared = plan.init.file, plan.declaration
    statement = declared.statement
    of_module = plan.holder == "module"
    yield from plan.imports
    if plan.holder == "class":
        yield file.replace(statement, plan.start)
        return
    if isinstance(plan.init, Place):
        if plan.unlisted is not None:
            raise Unclear("its class has no `__init__`")
        yield file.remove_with_gap(statement)
        yield plan.init.written(plan.start)
        return
    yield from moves(plan.init, plan.family.name) if of_module and plan.unlisted is not None else ()
    early = of_module and statement.lineno <= plan.init.parent_call.lineno
    if not early and isinstance(declared.target, ast.Attribute):
        yield apart(file, statement, {declared.target: plan.start}, ())
        return
    # A module takes buffers only after `super().__init__()`.
    plain = declared.alone and isinstance(declared.value, ast.Constant)
    if not (plain and file.alone(statement)):
        raise Unclear("it is set before `super().__init__()`")
    yield file.remove_with_gap(statement)
    yield file.insert_after(plan.init.parent_call, plan.start)


def moves(place: Init, name: str) -> Iterator[Edit]:
    """Lines of `_apply` that move a tensor which is no buffer with its module, as `.to(device)` does buffers.

    Left on the CPU, it would be updated there by a kernel of its own, which a C++ compiler builds: on an H100
    the first ten steps took 88 s once instead of 34 s, and the rest ran 15 % slower (bench/gpu).
    """
    file, init = place.file, place.node
    body = file.parents[init].body  # type: ignore[attr-defined]
    own = next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == "_apply"), None)
    if own is None:
        me, outer = place.me, file.indent(init)
        inner = outer + file.indent(init.body[0]).removeprefix(outer)
        yield file.add_lines(
            init,
            "",
            f"{outer}def _apply({me}, fn, recurse=True):",
            f"{inner}super()._apply(fn, recurse)",
            f"{inner}{me}.{name} = fn({me}.{name})",
            f"{inner}return {me}",
        )
        return
    match own.args.args, own.body[-1]:
        case [ast.arg(me), ast.arg(moving), *_], ast.Return(ast.Name(what)) as end if (
            what == me and len(own.body) > 1
        ):
            yield file.insert_before(end, f"{me}.{name} = {moving}({me}.{name})")


def _write(plan: Plan, mention: Mention, statement: ast.stmt) -> Iterator[Edit]:
    file, name = mention.file, mention.node.attr
    target = _target(plan, mention)
    match statement:
        case ast.AugAssign(op=op, value=value) if isinstance(op, ARITHMETIC):
            if plan.rebind:
                yield _rebound(file, statement, target, value)
            elif plan.kind == Kind.BOOL or isinstance(op, ast.Div | ast.Pow):
                raise Unclear("it cannot be updated in place")
        case ast.Assign(targets=[ast.Attribute()], value=value) | ast.AnnAssign(value=ast.expr() as value):
            if speaks_of(value, name) and not any(is_same(part, mention.node) for part in _attributes(value)):
                raise Unclear(f"line {statement.lineno} sets it to that of another object")
            if any(statement in flow.stored for flow in plan.flows):
                _check_is_tensor(plan, mention, value)  # the local name holds one, and so does the next value
            elif not speaks_of(value, name):
                yield file.replace(statement, _stored(plan, target, file.one_line(value)))
            elif not plan.rebind and (step := _step(file, mention.node, value)):
                yield file.replace(statement, f"{target} {step}")
            elif not mention.hot:
                flow(Judge(plan.bench, file), _own(value, name), name, plan.kind == Kind.BOOL)
        case ast.Expr(value=ast.Call(args=[_, _, value])):
            yield from _set_by_name(plan, mention, statement, value)
        case _:
            raise Unclear(f"line {statement.lineno} sets it together with something else")


def _set_by_name(plan: Plan, mention: Mention, statement: ast.stmt, value: ast.expr) -> Iterator[Edit]:
    """The edit of `setattr(x, "n", v)`, which becomes an assignment."""
    file, name, target = mention.file, mention.node.attr, _target(plan, mention)
    of_itself = speaks_of(value, name)
    same = all(is_same(part, mention.node) for part in _attributes(value) if part.attr == name)
    if any(isinstance(one, ast.Call | ast.UnaryOp) for one in ast.walk(value)) or not same:
        raise Unclear(f"line {statement.lineno} computes what it sets by name")
    if of_itself and not mention.hot:
        raise Unclear(f"line {statement.lineno} computes what it sets by name")
    step = None if plan.rebind else _step(file, mention.node, value)
    text = f"{target} {step}" if step else f"{target} = {file.one_line(value)}"
    yield file.replace(statement, text if of_itself else _stored(plan, target, file.one_line(value)))


def _check_is_tensor(plan: Plan, mention: Mention, value: ast.expr) -> None:
    """Refuse a next value, made of local names, that is a number on some of the ways to it."""
    if not Judge(plan.bench, mention.file, kept=plan.family.name).is_tensor(value):
        raise Unclear(f"line {mention.node.lineno} may set it to a number by way of a local name")


def _target(plan: Plan, mention: Mention) -> str:
    """The target of a write; raises Unclear where it cannot be said twice, or comes too early."""
    target = f"{mention.owner}.{mention.node.attr}"
    if plan.holder != "class":
        _check_order(plan, mention)
    if "\n" in target or not (_repeatable(mention.node.value) or _is_class_of(mention.node.value)):
        raise Unclear("the object it is written on is computed")
    return target


def _check_order(plan: Plan, mention: Mention) -> None:
    """Refuse a write that may run before the buffer is registered."""
    scope = mention.file.scope(mention.node)
    if scope is None or (isinstance(plan.init, Init) and scope is plan.init.node):
        return
    if scope.name == "__init__":
        line = next((s.lineno for s in scope.body if calls_parent(s)), None)
        if line is None or mention.node.lineno < line:
            raise Unclear("a subclass sets it before the base class does")
        return
    if isinstance(plan.init, Place):
        return  # the base class sets it
    declared = plan.declaration.statement.lineno
    if plan.bench.first_said(plan.init.node).get(scope.name, declared) < declared:
        raise Unclear(f"`__init__` calls `{scope.name}` before it sets it")


def _rebound(file: OpenFile, statement: ast.AugAssign, target: str, value: ast.expr) -> Edit:
    """`n += k` as `n = n + k`."""
    text = file.one_line(value)
    sign = SIGNS[type(statement.op)]
    whole = text if isinstance(value, ATOMS) else f"({text})"
    return file.replace(statement, f"{target} = {target} {sign} {whole}")


def _step(file: OpenFile, target: ast.Attribute, value: ast.expr) -> str | None:
    """`+= k` for `n + k`: in place, so that the buffer stays where it is."""
    match value:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            if ast.dump(left) == ast.dump(ast.Attribute(target.value, target.attr, ast.Load())):
                return None if speaks_of(right, target.attr) else f"{SIGNS[type(op)]}= {file.one_line(right)}"
    return None


def _stored(plan: Plan, target: str, text: str) -> str:
    """The statement that gives the buffer a value that is not computed from its own."""
    if plan.rebind:
        zero = text in {"0", "0.0"} and plan.kind != Kind.BOOL
        return f"{target} = {target}.new_zeros(())" if zero else f"{target} = {target}.new_full((), {text})"
    return f"{target}.zero_()" if text in {"0", "0.0", "False"} else f"{target}.fill_({text})"


def _builtins(plan: Plan, mention: Mention, walked: Seen) -> Iterator[Edit]:
    """`min(n + 1, 3)` becomes `(n + 1).clamp(max=3)`, and `not flag` becomes `~flag`."""
    file = mention.file
    judge = Judge(plan.bench, file)
    for node in flow(judge, mention.node, plan.family.name, plan.kind == Kind.BOOL, walked).builtins:
        match node:
            case ast.Call():
                yield clamped(file, node)
            case ast.UnaryOp(operand=operand) if plan.kind == Kind.BOOL:
                yield file.replace(node, f"~{file.text(operand)}")
            case _:
                raise Unclear("it is used as a condition")


def _read(plan: Plan, mention: Mention) -> Iterator[Edit]:
    yield from as_number(mention.file, mention.node, PYTHON[plan.kind])


def as_number(file: OpenFile, node: ast.expr, python: str) -> Iterator[Edit]:
    """Eager code gets the number back; formatting a tensor without dimensions shows the number anyway."""
    match file.parents[node]:
        case ast.FormattedValue(conversion=-1):
            return
        case ast.Call(func=ast.Name(id="int" | "float" | "bool"), args=[_]):
            return
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            raise Unclear("eager code asks for its identity")
    if any(isinstance(above, ast.JoinedStr) for above in file.above(node)):
        raise Unclear("a formatted string computes with it")  # before Python 3.12 its position is not known
    statement = file.statement(node)
    match node, statement:
        case ast.Attribute(), ast.Assign([target, *_]) if is_same(target, node):
            return  # `n = n + 1`: rewritten as a write
    yield file.replace(node, f"{python}({file.text(node)})")


def _repeatable(node: ast.expr) -> bool:
    """A chain of names: saying it twice runs nothing."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_class_of(node: ast.expr) -> bool:
    """`type(name)`."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[ast.Name()], keywords=[]):
            return True
    return False


def _attributes(node: ast.expr) -> Iterator[ast.Attribute]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Attribute))


def _own(node: ast.expr, name: str) -> ast.Attribute:
    return next(n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == name)


COUNTING = frozenset(
    {"long", "int", "argmax", "argmin", "argsort", "bool", "count_nonzero", "numel", "eq", "ne"}
)
"""A sum of these is an integer, and its buffer would have to be one."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A statement that adds to what is there."""

    file: OpenFile
    statement: ast.stmt
    target: ast.Attribute
    term: ast.expr


def sum_fix(finding: Finding, bench: Workbench) -> Fix:
    """Declaration, sums and resets; raises Unclear where the attribute is no such sum."""
    declared_in, name = _buffer_at(bench, finding)
    init = init_of(bench, declared_in)
    family = family_of(bench, declared_in, name)
    declaration = declaration_of(init, family)
    if not _is_start(declaration.value) or declaration.statement.lineno < init.parent_call.lineno:
        raise Unclear("`__init__` starts it with something else")
    sums = {one.statement: one for one in _sums(bench, family)}
    grows = _keeps_gradient(family, declaration.statement, sums)
    if grows and trains_on_ranks(bench):
        raise Unclear("DistributedDataParallel would overwrite the sum, and its gradient, with rank 0's")
    torch, imports = torch_name(init.file)
    start = f"{torch}.zeros((), requires_grad=True)" if grows else f"{torch}.zeros(())"
    self_name = init.me
    text = f'{self_name}.register_buffer("{name}", {start}, persistent=False)'
    edits = [*imports, apart(init.file, declaration.statement, {declaration.target: text}, ())]
    edits += [edit for one in sums.values() for edit in _added(one, grows)]
    edits += _resets(family, declaration.statement, sums, grows)
    first = "zero instead of None" if _is_none(declaration.value) else "a tensor"
    why = f"`{name}` is {first} before the first call, and " + (
        "a model that was moved to a device can be deep-copied only after a reset"
        if grows
        else "has no gradient"
    )
    message = f"start with a zero buffer (`{text}`), rebind it and reset it to zeros"
    return fix_of(message, dict.fromkeys(edits), why)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_start(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value in (None, 0, 0.0) and value.value is not False


# --- what compiled code does with it -------------------------------------------------------------------


def _sums(bench: Workbench, family: Family) -> Iterator[Sum]:
    """Every statement of compiled code that mentions the attribute has to be a sum of scalars."""
    for mention in family.mentions:
        if not mention.hot:
            continue
        one = _sum(mention, family.name)
        judge = Judge(bench, mention.file)
        if not judge.is_scalar(one.term) or _counts(one.term):
            raise Unclear(f"line {one.statement.lineno} adds a value that may not be a scalar")
        yield one


def _sum(mention: Mention, name: str) -> Sum:
    file = mention.file
    statement = file.statement(mention.node)
    for above in file.above(mention.node):
        if isinstance(above, ast.If) and (found := _branches(file, above, name)):
            return found
    found = _plain(file, statement, name)
    if found is None:
        raise Unclear(f"line {statement.lineno} does something other than adding to it")
    return found


def _plain(file: OpenFile, statement: ast.AST, name: str) -> Sum | None:
    """`a = a + t`, `a += t`, and `a = t if a is None else a + t`."""
    match statement:
        case ast.AugAssign(ast.Attribute(attr=attr) as target, ast.Add(), term) if attr == name:
            return None if _uses_of(term, target) else Sum(file, statement, target, term)
        case ast.Assign(targets=[ast.Attribute(attr=attr) as target], value=value) if attr == name:
            added = _chosen(value, target) if isinstance(value, ast.IfExp) else _term(value, target)
            return Sum(file, statement, target, added) if added is not None else None
    return None


def _chosen(value: ast.IfExp, target: ast.Attribute) -> ast.expr | None:
    """The addend of `t if a is None else a + t`."""
    none_first = _asks_for_none(value.test, target)
    first, second = (value.body, value.orelse) if none_first else (value.orelse, value.body)
    term = _term(second, target)
    same = term is not None and ast.dump(first) == ast.dump(term)
    return term if same and none_first is not None else None


def _branches(file: OpenFile, node: ast.If, name: str) -> Sum | None:
    """`if a is None: a = t`, `else: a = a + t`."""
    if len(node.body) != 1 or len(node.orelse) != 1:
        return None
    match node.test:
        case ast.Compare(left=ast.Attribute(attr=attr) as target) if attr == name:
            none_first = _asks_for_none(node.test, target)
        case _:
            return None
    first, second = (node.body[0], node.orelse[0]) if none_first else (node.orelse[0], node.body[0])
    added = _plain(file, second, name)
    match first:
        case ast.Assign(targets=[ast.Attribute(attr=attr)], value=value) if attr == name:
            if added is not None and none_first is not None and ast.dump(value) == ast.dump(added.term):
                return Sum(file, node, added.target, added.term)
    return None


def _term(value: ast.expr, target: ast.Attribute) -> ast.expr | None:
    """The addend of an update of the attribute itself."""
    match value:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for own, other in ((left, right), (right, left)):
                if is_same(own, target) and not _uses_of(other, target):
                    return other
    return None


def _asks_for_none(test: ast.expr, target: ast.Attribute) -> bool | None:
    """True for `is None`, False for `is not None`, None for any other test."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=None)]) if is_same(
            left, target
        ):
            return True if isinstance(op, ast.Is) else False if isinstance(op, ast.IsNot) else None
    return None


def _uses_of(node: ast.expr, target: ast.Attribute) -> bool:
    return any(isinstance(inner, ast.Attribute) and is_same(inner, target) for inner in ast.walk(node))


def _counts(node: ast.expr) -> bool:
    return any(
        isinstance(inner, ast.Compare) or (isinstance(inner, ast.Attribute) and inner.attr in COUNTING)
        for inner in ast.walk(node)
    )


# --- what eager code does with it ----------------------------------------------------------------------


def _keeps_gradient(family: Family, declaration: ast.stmt, sums: dict[ast.stmt, Sum]) -> bool:
    """Somebody may call backward on the sum: it is reset now and then, and read as a tensor."""
    if all(_detached(one.term) for one in sums.values()):
        return False
    eager = [m for m in family.mentions if not m.hot and m.file.statement(m.node) is not declaration]
    reset = any(isinstance(mention.node.ctx, ast.Store) for mention in eager)
    reads = [m for m in eager if isinstance(m.node.ctx, ast.Load)]
    shown = all(_only_displayed(mention) for mention in reads)
    if reads and not shown and not reset:
        raise Unclear("it is never reset, and the uses of its value are unknown")
    return reset and not (reads and shown)


def _detached(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="detach"), args=[]):
            return True
    return False


def _only_displayed(mention: Mention) -> bool:
    """It is turned into a number, formatted or printed: nothing that needs a gradient."""
    match mention.file.parents[mention.node]:
        case ast.FormattedValue() | ast.Compare(comparators=[ast.Constant(value=None)]):
            return True
        case ast.Call(func=ast.Name(id="float" | "int" | "print")):
            return True
        case ast.Attribute(attr="item" | "detach" | "tolist"):
            return True
    return False


# --- the edits ------------------------------------------------------------------------------------------


def _added(one: Sum, grows: bool) -> Iterator[Edit]:
    file, target, term = one.file, one.file.text(one.target), one.file.one_line(one.term)
    atom = isinstance(one.term, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    if not grows and not _detached(one.term):
        term = f"{term if atom else f'({term})'}.detach()"
    elif not atom and not isinstance(one.term, ast.BinOp):
        term = f"({term})"
    text = f"{target} = {target} + {term}"
    if file.text(one.statement) != text:
        yield file.replace(one.statement, text)


def _resets(family: Family, declaration: ast.stmt, sums: dict[ast.stmt, Sum], grows: bool) -> Iterator[Edit]:
    for mention in family.mentions:
        file = mention.file
        statement = file.statement(mention.node)
        if mention.hot or statement is declaration or statement in sums:
            continue
        if isinstance(mention.node.ctx, ast.Del):
            raise Unclear("it is deleted")
        if isinstance(mention.node.ctx, ast.Load):
            continue
        reset = [part for part in parts(statement) if part.target is mention.node and _is_start(part.value)]
        if not reset:
            raise Unclear(f"line {statement.lineno} sets it to something else")
        if not isinstance(mention.node.value, ast.Name | ast.Attribute):
            raise Unclear("the object that is reset is computed")
        owner = file.text(mention.node)
        text = f"{owner} = {owner}.new_zeros((){', requires_grad=True' if grows else ''})"
        yield apart(file, statement, {mention.node: text}, ())
