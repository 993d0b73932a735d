"""Evaluates expressions of construction code to terms."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.regions.evaluate import evaluation_of
from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.project import Project, Symbol
from dynamo_lint.regions.values import ClassValue, FunctionValue, Scope
from dynamo_lint.units import keywords
from dynamo_lint.units.loops import elements, longer
from dynamo_lint.units.outside import of_global
from dynamo_lint.units.terms import OPERATORS, Term

if TYPE_CHECKING:
    from dynamo_lint.units.construct import Construction

_PARTIALS = frozenset({"functools.partial"})
_MAX_CANDIDATES = 2
"""A callee that may be more classes than this is a matter of taste: every instance gets the same one."""
_SEQUENCES = frozenset({"list", "tuple"})


@dataclass(slots=True)
class Frame:
    """One run of a function."""

    function: FunctionRef
    receiver: ClassRef | None
    names: dict[str, Term]
    attributes: dict[str, Term] = field(default_factory=dict)
    """What `self` has so far; shared by the methods that one constructor calls."""
    returned: list[tuple[tuple[Term, ...], Term]] = field(default_factory=list)
    """What it returns, and the tests that lead there; the first one that holds counts."""
    tests: tuple[Term, ...] = ()
    """The tests around the statement that runs."""
    ended: bool = False
    loops: list[Term] = field(default_factory=list)
    """What the loops of unknown length around the statement run over: it says how long a container gets."""

    def self_name(self, project: Project) -> str | None:
        """What the function calls its instance."""
        return project.self_name(self.function) if self.receiver is not None else None

    def closure(self, run: Construction, ref: FunctionRef) -> Term:
        """A nested function with the values of the local names that it mentions."""
        body = run.bodies.of(ref)
        nodes = body if body is not None else []
        return self.capture(run, ref, nodes)

    def capture(self, run: Construction, ref: FunctionRef, nodes: list[ast.stmt] | ast.expr) -> Term:
        """A function over the values it closes over."""
        own = {p.name for p in run.project.function(ref).parameters}
        trees = nodes if isinstance(nodes, list) else [nodes]
        used = {n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name)} - own
        held = {name: self.names[name] for name in sorted(used & self.names.keys())}
        held = {n: v for n, v in held.items() if v.kind not in {"class", "external"}}
        return run.terms.make("function", ref, tuple(held.values()), tuple(held))


def evaluate(run: Construction, node: ast.expr, frame: Frame) -> Term:
    """The term of an expression."""
    terms = run.terms
    match node:
        case ast.Constant(value=str() | int() | float() | bool() | None as value):
            return terms.const(value)
        case ast.Name(id=name):
            return frame.names[name] if name in frame.names else of_global(run, name, frame.function)
        case ast.Attribute(value=value, attr=attr):
            return _attribute(run, value, attr, frame)
        case ast.Call():
            return _call(run, node, frame)
        case ast.Subscript(value=value, slice=index):
            return terms.item(evaluate(run, value, frame), evaluate(run, index, frame))
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return _sequence(run, elts, "tuple" if isinstance(node, ast.Tuple) else "list", frame)
        case ast.Dict(keys=keys, values=values):
            names = ["**" if k is None else k.value if isinstance(k, ast.Constant) else None for k in keys]
            parts = tuple(evaluate(run, value, frame) for value in values)
            if all(isinstance(name, str) for name in names):
                return keywords.packed(terms, zip(map(str, names), parts, strict=True))
            return terms.make("mapping", None, parts)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            truth = evaluate(run, test, frame)
            if truth.kind == "const":
                return evaluate(run, body if truth.leaf else orelse, frame)
            return terms.choice(truth, evaluate(run, body, frame), evaluate(run, orelse, frame))
        case ast.BoolOp(op=op, values=values):
            return _boolean(run, isinstance(op, ast.Or), values, frame)
        case ast.BinOp(left=left, op=op, right=right):
            return terms.operation(
                OPERATORS[type(op)], evaluate(run, left, frame), evaluate(run, right, frame)
            )
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return terms.operation("not", evaluate(run, operand, frame))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return terms.operation("Sub", terms.const(0), evaluate(run, operand, frame))
        case ast.Compare(left=left, ops=ops, comparators=rights):
            sides = [evaluate(run, side, frame) for side in (left, *rights)]
            if len(ops) == 1:
                return terms.operation(OPERATORS[type(ops[0])], *sides)
            return terms.make("and", None, tuple(sides))
        case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item) | ast.SetComp(elt=item):
            return _comprehension(run, item, node.generators, frame)
        case ast.DictComp(value=item):
            return _comprehension(run, item, node.generators, frame)
        case ast.Lambda():
            return _lambda(run, node, frame)
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            frame.names[name] = evaluate(run, value, frame)
            return frame.names[name]
        case ast.JoinedStr(values=values):
            holes = [v.value for v in values if isinstance(v, ast.FormattedValue)]
            text = "{}".join(str(v.value) for v in values if isinstance(v, ast.Constant))
            return terms.make("text", text, tuple(evaluate(run, hole, frame) for hole in holes))
        case ast.Starred(value=value):
            return evaluate(run, value, frame)
        case ast.Slice():
            return terms.make("slice", ast.unparse(node))
        case _:
            return terms.make("symbol", f"{frame.function.id}: {ast.unparse(node)}"[:200])


def _sequence(run: Construction, elts: list[ast.expr], kind: str, frame: Frame) -> Term:
    items: list[Term] = []
    for elt in elts:
        if isinstance(elt, ast.Starred):
            inner = evaluate(run, elt.value, frame)
            if inner.kind != "seq":
                return run.terms.make("items", kind, (*items, inner))
            items += inner.parts
        else:
            items.append(evaluate(run, elt, frame))
    return run.terms.make("seq", kind, tuple(items))


def _boolean(run: Construction, stops: bool, values: list[ast.expr], frame: Frame) -> Term:
    parts: list[Term] = []
    for value in values:
        part = evaluate(run, value, frame)
        if part.kind == "const" and bool(part.leaf) == stops:
            # `False and x` is false whatever x is; behind unknown parts it only may be reached.
            return part if not parts else run.terms.make("or" if stops else "and", None, (*parts, part))
        if part.kind != "const" or value is values[-1]:
            parts.append(part)
    return parts[0] if len(parts) == 1 else run.terms.make("or" if stops else "and", None, tuple(parts))


def _comprehension(
    run: Construction, item: ast.expr, generators: list[ast.comprehension], frame: Frame
) -> Term:
    iterables: list[Term] = []
    before = dict(frame.names)

    def walk(rest: list[ast.comprehension]) -> list[Term]:
        if not rest:
            return [evaluate(run, item, frame)]
        first = rest[0]
        iterable = evaluate(run, first.iter, frame)
        found, sampled = elements(run.terms, iterable, run.sampling)
        if sampled:
            iterables.append(iterable)
        run.sampling += sampled
        results: list[Term] = []
        for element in found:
            run.assign(first.target, element, frame)
            tests = [evaluate(run, test, frame) for test in first.ifs]
            if not any(test.kind == "const" and not test.leaf for test in tests):
                results += walk(rest[1:])
        run.sampling -= sampled
        return results

    found = walk(generators)
    frame.names = before
    if iterables:
        return run.terms.make("each", len(iterables), (*iterables, *found))
    return run.terms.make("seq", "list", tuple(found))


def _lambda(run: Construction, node: ast.Lambda, frame: Frame) -> Term:
    for key, function in run.project.files[frame.function.path].functions.items():
        if function.line == node.lineno and function.qualname.endswith("<lambda>"):
            return frame.capture(run, FunctionRef(frame.function.path, key), node.body)
    return run.terms.make("symbol", f"{frame.function.path}:{node.lineno}")


def _attribute(run: Construction, value: ast.expr, attr: str, frame: Frame) -> Term:
    if isinstance(value, ast.Name) and value.id == frame.self_name(run.project):
        if attr in frame.attributes:
            return frame.attributes[attr]
        if frame.receiver is not None:
            method = run.project.method(frame.receiver, attr)
            if method is not None:
                return run.terms.make("function", method)
        return run.terms.make("symbol", f"{frame.receiver.id if frame.receiver else ''}.{attr}")
    owner = evaluate(run, value, frame)
    symbols: tuple[Symbol, ...] = ()
    if owner.kind == "class" and isinstance(owner.leaf, ClassRef):
        symbols = run.project.members(owner.leaf, attr)
    elif owner.kind == "symbol":
        expr = facts.Attribute(_expr(value), attr)
        symbols = run.project.symbols(expr, frame.function.path, frame.function.key)
    found = [term for term in map(run.symbol, symbols) if term is not None]
    return found[0] if len(found) == 1 else run.terms.attribute(owner, attr)


def _call(run: Construction, node: ast.Call, frame: Frame) -> Term:
    arguments: list[tuple[str | None, Term]] = []
    for argument in node.args:
        starred = isinstance(argument, ast.Starred)
        value = evaluate(run, argument, frame)
        if starred and value.kind == "seq":
            arguments += [(None, part) for part in value.parts]
        else:
            arguments.append(("*" if starred else None, value))
    for keyword in node.keywords:
        arguments += keywords.spread([(keyword.arg or "**", evaluate(run, keyword.value, frame))])
    match node.func:
        case ast.Call(func=ast.Name(id="super")):
            pass
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            return _parent(run, arguments, frame, node.lineno)
        case ast.Attribute(value=owner, attr="append" | "extend" | "add_module" | "register_buffer") if (
            arguments
        ):
            return _grown(run, owner, node, arguments, frame)
        case ast.Attribute(value=ast.Name(id=name), attr="pop" | "get" | "setdefault" as how) if (
            name in frame.names and isinstance(node.args[0] if node.args else None, ast.Constant)
        ):
            found = keywords.taken(run, name, how, arguments, frame)
            if found is not None:
                return found
    callee = evaluate(run, node.func, frame)
    if callee.kind not in {"class", "function", "external", "ite", "partial"}:
        callee = _resolved(run, node.func, frame) or callee
    return apply(run, callee, arguments, frame, node)


def apply(
    run: Construction,
    callee: Term,
    arguments: list[tuple[str | None, Term]],
    frame: Frame,
    node: ast.Call,
) -> Term:
    """The result of calling a term."""
    terms = run.terms
    match callee.kind, callee.leaf:
        case "class", ClassRef() as ref:
            return run.construct(ref, arguments, frame, node.lineno)
        case "function", FunctionRef() as ref:
            return _function(run, ref, arguments, frame, node)
        case "external", str() as dotted:
            if dotted in _PARTIALS and arguments:
                names = tuple(name or "*" for name, _ in arguments[1:])
                parts = tuple(value for _, value in arguments)
                return terms.make("partial", None, parts, ("", *names))
            if dotted in _SEQUENCES and len(arguments) == 1 and arguments[0][1].kind in {"seq", "each"}:
                return arguments[0][1]
            if dotted == "len" and arguments and arguments[0][1].kind == "seq":
                return terms.const(len(arguments[0][1].parts))
            if dotted in {"any", "all"} and len(arguments) == 1 and arguments[0][1].kind == "seq":
                return (terms.any if dotted == "any" else terms.all)(arguments[0][1].parts)
            if dotted == "isinstance" and len(arguments) == 2:
                return terms.operation(dotted, *(value for _, value in arguments))
            if dotted == "dict" and all(name not in {None, "*"} for name, _ in arguments):
                return keywords.packed(terms, [(str(name), value) for name, value in arguments])
            kind = "part" if dotted.startswith("torch.nn.") else "call"
            names = tuple(name or "*" for name, _ in arguments)
            return terms.make(kind, dotted, tuple(v for _, v in arguments), names, node.lineno)
        case "ite", _:
            test, then, other = callee.parts
            return terms.choice(
                test, apply(run, then, arguments, frame, node), apply(run, other, arguments, frame, node)
            )
        case "partial", _:
            held = [
                (None if n == "*" else n, v) for n, v in zip(callee.names[1:], callee.parts[1:], strict=True)
            ]
            return apply(run, callee.parts[0], [*held, *arguments], frame, node)
    names = ("", *(name or "*" for name, _ in arguments))
    return terms.make("result", None, (callee, *(value for _, value in arguments)), names)


def _function(
    run: Construction,
    ref: FunctionRef,
    arguments: list[tuple[str | None, Term]],
    frame: Frame,
    node: ast.Call,
) -> Term:
    own = (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == frame.self_name(run.project)
    )
    method = run.project.function(ref).owner is not None
    given = run.bind(ref, arguments, method=method)
    if own or ref in run.path:
        receiver = frame.receiver if own else run.project.owner(ref)
        found = run.enter(ref, receiver, dict(given), frame if own else None)
        if found is not None:
            return found
    return run.terms.make("call", ref, tuple(given.values()), tuple(given), node.lineno)


def _resolved(run: Construction, callee: ast.expr, frame: Frame) -> Term | None:
    """What the region stage knows of a callee that construction code passes around."""
    values = evaluation_of(run.project).value(_expr(callee), Scope(frame.function, frame.receiver))
    found = []
    for value, tier in values.items():
        if isinstance(value, ClassValue | FunctionValue) and tier < Tier.ASSUMED:
            kind = "class" if isinstance(value, ClassValue) else "function"
            found.append(run.terms.make(kind, value.ref))
    if not found or len(found) > _MAX_CANDIDATES:
        return None
    result = found[0]
    for other in found[1:]:
        test = run.terms.make("symbol", f"{frame.function.id}: which {ast.unparse(callee)}")
        result = run.terms.choice(test, result, other)
    return result


def _parent(run: Construction, arguments: list[tuple[str | None, Term]], frame: Frame, line: int) -> Term:
    """`super().__init__(…)` on the same attributes."""
    none = run.terms.const(None)
    owner = run.project.owner(frame.function)
    if owner is None or frame.receiver is None:
        return none
    order = run.project.mro(frame.receiver)
    for part in order[order.index(owner) + 1 :] if owner in order else ():
        init = run.project.class_bindings(part).get("__init__", ())
        for binding in init:
            if isinstance(binding.value, facts.Definition):
                ref = FunctionRef(part.path, binding.value.key)
                run.enter(ref, frame.receiver, run.bind(ref, arguments, method=True), frame)
                return none
    for base in run.project.external_bases(owner):
        if base.startswith("torch.nn.") and not base.endswith(".Module") and arguments:
            names = tuple(name or "*" for name, _ in arguments)
            frame.attributes["()"] = run.terms.make("part", base, tuple(v for _, v in arguments), names, line)
    return none


def _grown(
    run: Construction, owner: ast.expr, node: ast.Call, arguments: list[tuple[str | None, Term]], frame: Frame
) -> Term:
    """`self.layers.append(x)` and what else adds to a container or to the module itself."""
    terms, value = run.terms, arguments[-1][1]
    how = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if how in {"add_module", "register_buffer"}:
        name = arguments[0][1].leaf
        own = isinstance(owner, ast.Name) and owner.id == frame.self_name(run.project)
        if own and isinstance(name, str) and len(arguments) > 1:
            frame.attributes[name] = arguments[1][1] if how == "add_module" else terms.make("tensor")
            run.note(node, name, arguments[1][1], frame)
        return terms.const(None)
    new = value.parts if how == "extend" and value.kind == "seq" else (value,)
    more = longer(terms, evaluate(run, owner, frame), new, frame.loops, run.sampling > 0)
    if more is not None:
        run.assign(owner, more, frame)
    return terms.const(None)


def _expr(node: ast.expr) -> Expr:
    """A callee in the index's language."""
    match node:
        case ast.Name(id=name):
            return facts.Name(name)
        case ast.Attribute(value=value, attr=attr):
            return facts.Attribute(_expr(value), attr)
        case ast.Subscript(value=value, slice=ast.Constant(value=str() | int() as index)):
            return facts.Subscript(_expr(value), facts.Constant(index))
        case ast.Subscript(value=value):
            return facts.Subscript(_expr(value), facts.UNKNOWN)
        case ast.Call(func=func, args=args):
            return facts.Call(_expr(func), tuple(_expr(arg) for arg in args))
        case ast.Constant(value=str() | int() as value):
            return facts.Constant(value)
        case _:
            return facts.UNKNOWN
